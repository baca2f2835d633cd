"""The theorems about any number of threads, and the four checks that each must pass.

1. Every obligation is proved (`prove_system`).
2. A small instance of the same text takes every case, and nothing is broken in it: the proof is not about nothing.
3. The system is that of its module of the specification: over the whole graph of a bounded model (`compare`).
4. Each wrong variant is refuted twice: an obligation fails, and a run of the small instance breaks the theorem.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from latchfree_evidence.inductive.bonds import deadlists as deadlists_bond
from latchfree_evidence.inductive.bonds import epochs as epochs_bond
from latchfree_evidence.inductive.bonds import free_list as free_list_bond
from latchfree_evidence.inductive.bonds import gcas as gcas_bond
from latchfree_evidence.inductive.bonds import inverse_bloom as inverse_bloom_bond
from latchfree_evidence.inductive.bonds import ring as ring_bond
from latchfree_evidence.inductive.bonds import trie as trie_bond
from latchfree_evidence.inductive.instance import Instance, Run
from latchfree_evidence.inductive.proving import TIMEOUT, Failure, Induction, prove_system
from latchfree_evidence.inductive.system import System
from latchfree_evidence.inductive.systems import epochs, free_list, inverse_bloom, ring_strict, ring_weak
from latchfree_evidence.inductive.systems.deadlists.protocol import Deadlists
from latchfree_evidence.inductive.systems.deadlists.small import SMALL as SMALL_DEADLISTS
from latchfree_evidence.inductive.systems.gcas import protocol
from latchfree_evidence.inductive.systems.trie.protocol import Trie
from latchfree_evidence.inductive.systems.trie.small import SMALL as SMALL_TRIES
from latchfree_evidence.inductive.tie import Bond, Projection

STATES: Final = 60_000
"""The most states of a run."""


@dataclass(frozen=True, slots=True)
class Theorem:
    """A protocol, and what is proved of it.

    Attributes
    ----------
    name : str
        The name of the system.
    says : str
        What holds, in one sentence.
    system : type of System
        The system; called with a wrong variant, else right.
    small : tuple of callables
        Small instances of it.
    bond : Bond or Projection
        How it is tied to its module.
    """

    name: str
    says: str
    system: Callable[[str], System]
    small: tuple[Callable[[System], Instance], ...]
    bond: Bond | Projection


THEOREMS: Final[dict[str, Theorem]] = {
    theorem.name: theorem
    for theorem in (
        Theorem(
            "ring_strict",
            "the strict ring is an atomic queue, first in, first out",
            ring_strict.RingStrict,
            (ring_strict.small,),
            ring_bond.STRICT,
        ),
        Theorem(
            "ring_weak",
            "the weak ring is first in, first out; full and empty are true, or one who makes it seem so is at work",
            ring_weak.RingWeak,
            (ring_weak.small,),
            ring_bond.WEAK,
        ),
        Theorem(
            "inverse_bloom",
            "the inverse Bloom filter says seen of nothing new, and not seen once, unless the item was evicted",
            inverse_bloom.InverseBloom,
            (inverse_bloom.small,),
            inverse_bloom_bond.INVERSE_BLOOM,
        ),
        Theorem(
            "gcas",
            "updates by GCAS never commit after a snapshot by RDCSS, and the snapshot is one atomic step",
            protocol.Gcas,
            protocol.SMALL,
            gcas_bond.GCAS,
        ),
        Theorem(
            "trie",
            "over atomic cells, each key has one path, updates change their key alone, and a snapshot stays as it is",
            Trie,
            SMALL_TRIES,
            trie_bond.TRIE,
        ),
        Theorem(
            "free_list",
            "the free list is an atomic stack, lock-free, and each batch is in one place",
            free_list.FreeList,
            (free_list.small,),
            free_list_bond.FREE_LIST,
        ),
        Theorem(
            "epochs",
            "nothing is freed while a pinned thread may hold it, and each node is in one place",
            epochs.Epochs,
            (epochs.small,),
            epochs_bond.EPOCHS,
        ),
        Theorem(
            "deadlists",
            "no node is retired that a snapshot sees, and what is on its list it sees",
            Deadlists,
            SMALL_DEADLISTS,
            deadlists_bond.DEADLISTS,
        ),
    )
}
"""All theorems by name."""


@dataclass(frozen=True, slots=True)
class Variant:
    """A wrong variant, and how it was refuted.

    Attributes
    ----------
    name, says : str
        The variant.
    failure : Failure or None
        The first obligation that is not proved, if any.
    run : Run
        The run that breaks the theorem.
    """

    name: str
    says: str
    failure: Failure | None
    run: Run

    @property
    def refuted(self) -> bool:
        """Whether an obligation fails and a run breaks the theorem."""
        return bool(self.failure and self.failure.answer == "refuted" and self.run.broken)

    @property
    def open(self) -> bool:
        """Whether the solver gave up."""
        return bool(self.failure and self.failure.answer == "unknown" and self.run.broken)


def prove_theorem(theorem: Theorem, *, seed: int = 0, timeout: float = TIMEOUT) -> Induction:
    """Try the obligations of a theorem."""
    return prove_system(theorem.system(""), seed=seed, timeout=timeout)


def run_small(theorem: Theorem) -> tuple[Run, tuple[str, ...]]:
    """Explore the small instances of a theorem; return what came of all, and the cases that none ever took."""
    runs = [small(theorem.system("")).explore(limit=STATES) for small in theorem.small]
    taken = sum((run.taken for run in runs), Counter[str]())
    bad = next((run for run in runs if run.broken), runs[0])
    whole = all(run.whole for run in runs)
    run = Run(sum(run.states for run in runs), taken.total(), taken, bad.broken, bad.path, whole)
    return run, tuple(case for case in cases(theorem) if case not in taken)


def cases(theorem: Theorem) -> tuple[str, ...]:
    """Return all cases of all actions but those that are proved never to be taken."""
    instance = theorem.small[0](theorem.system(""))
    start = instance.state(next(instance.system.starts(instance.domains)))
    found: dict[str, None] = {}
    for name, part in instance.system.actions.items():
        for case in part.run(start, *instance.points(part.sorts)[0]):
            found[f"{name}:{case.label}".rstrip(":")] = None
    return tuple(case for case in found if case not in instance.system.never)


def refute(theorem: Theorem, variant: str, *, seed: int = 0, timeout: float = TIMEOUT) -> Variant:
    """Look for an obligation that a wrong variant fails, and for a run that breaks the theorem."""
    system = theorem.system(variant)
    for small in theorem.small:
        run = small(theorem.system(variant)).explore(limit=STATES, names=system.theorem)
        if run.broken:
            break
    induction = prove_system(theorem.system(variant), seed=seed, timeout=timeout, stop=1, beside=theorem.system(""))
    return Variant(variant, system.variants[variant], next(iter(induction.failures), None), run)
