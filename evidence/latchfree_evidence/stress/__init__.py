"""Stress a compiled structure with real threads and judge the recorded histories.

The compiled parts are loaded by the first run, not by the import, so that a mutant can replace a function before
anything that calls it is compiled.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from latchfree_evidence.stress.shapes import MEMORIES, SHAPES

if TYPE_CHECKING:
    from latchfree_evidence.stress.result import StressResult

__all__ = ["MEMORIES", "OPERATIONS", "SHAPES", "run_stress"]

#: How many operations a run has unless it is told.
OPERATIONS: Final = {"ctrie": 1_000_000, "topic-trie": 100_000}


def run_stress(
    target: str = "ctrie",
    *,
    threads: int = 4,
    operations: int | None = None,
    keys: int = 16,
    seed: int = 0,
    mutant: str | None = None,
    shape: str | None = None,
    memory: str | None = None,
    timeout: float | None = None,
    on_progress: Callable[[int, int], None] | None = None,
) -> StressResult:
    """Stress a structure with real threads and judge every recorded history.

    Parameters
    ----------
    target : str
        "ctrie" or "topic-trie".
    threads, operations, keys : int
        How many; at least 2 threads, 1 key and 1 operation a thread. Of a topic trie the keys are subscriptions: pairs
        of pattern and subscriber. By default a million operations, of a topic trie, whose histories take longer to
        judge, 100,000.
    seed : int
        Of the random choices of operations. The interleaving is the machine's, so a seed repeats the workload,
        not the schedule.
    mutant : str, optional
        Run a seeded bug instead of the real code; see `latchfree_evidence.mutants`. It must be the first use of
        the structure in the process.
    shape : str, optional
        Only this shape of trie, a name of `SHAPES`; by default they take turns.
    memory : str, optional
        Only this kind of memory, a name of `MEMORIES`; by default "bare" and "jittered" take turns. On "poisoned"
        memory the use of a freed node is a violation; a mutant that frees nodes too early runs on this memory only. It
        must be the first use of the structure in the process.
    timeout : float, optional
        Seconds for everything; then the verdict is "unknown" unless a violation was found.
    on_progress : callable, optional
        Called with the operations judged so far and in all.

    Returns
    -------
    StressResult

    Raises
    ------
    ValueError
        For an unknown target, mutant, shape or memory, a memory that the mutant does not run on, or a number out of
        range.
    RuntimeError
        If a mutant or poisoned memory is asked for in a process that has loaded the structure already.
    """
    if target not in SHAPES:
        raise ValueError(f"unknown target {target!r}; there are: {', '.join(SHAPES)}")
    if shape is not None and shape not in SHAPES[target]:
        raise ValueError(f"unknown shape {shape!r} of {target}; there are: {', '.join(SHAPES[target])}")
    if memory is not None and memory not in MEMORIES:
        raise ValueError(f"unknown memory {memory!r}; there are: {', '.join(MEMORIES)}")
    if operations is None:
        operations = OPERATIONS[target]
    for name, value, low, high in (
        ("threads", threads, 2, 64),
        ("keys", keys, 1, 64),
        ("operations", operations, threads, 1 << 30),
    ):
        if not low <= value <= high:
            raise ValueError(f"{name} must be from {low} to {high}, got {value}")
    if mutant is not None:
        from latchfree_evidence.mutants import MUTANTS, apply_mutant

        if mutant in MUTANTS and MUTANTS[mutant].target != target:
            raise ValueError(f"mutant {mutant} is one of {MUTANTS[mutant].target}, not of {target}")
        if mutant in MUTANTS and MUTANTS[mutant].frees:
            if memory not in (None, "poisoned"):
                raise ValueError(
                    f"mutant {mutant} uses freed nodes, which only memory 'poisoned' survives; leave it out"
                )
            memory = "poisoned"
        elif memory == "poisoned":
            raise ValueError(f"mutant {mutant} frees no nodes, so there is nothing to poison; take memory 'jittered'")
        apply_mutant(mutant)
    elif memory == "poisoned":
        from latchfree_evidence.mutants.applying import apply_poison

        apply_poison(target)
    from latchfree_evidence.stress.phases import run

    return run(
        target,
        threads=threads,
        operations=operations,
        keys=keys,
        seed=seed,
        mutant=mutant,
        shape=shape,
        memory=memory,
        timeout=timeout,
        on_progress=on_progress,
    )
