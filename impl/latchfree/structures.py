"""The kinds of structures that an arena of this package can hold: their numbers in a file, and who frees their wholes.

Example: an arena's directory says that ``stock`` is a structure of kind 1. `name_of` says that this is a ``Ctrie``.

The arena itself knows no structure. A structure registers here: by its number, which is written to files and never
changes; by the name of its class; and, if it defers more than single nodes (`latchfree.arena.kernels.epochs.defer`), by
the function that frees such a whole. Entries are names of modules and not the modules themselves, for a process may
open an arena whose structures it has not loaded and may never load.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any, Final, NamedTuple


class StructureKind(NamedTuple):
    """A kind of structure.

    Attributes
    ----------
    kind : int
        Its number in the directory of an arena.
    name : str
        The class.
    reclaim : str or None
        ``module:function``, of the arena's address and a function that returns a participant: frees everything on the
        list `P_DEFERRED` of the participant, and lets go of what the nodes on the list `P_HOLDERS` hold. Kinds that
        are built of the same nodes share one function; None for a kind that defers nothing.
    """

    kind: int
    name: str
    reclaim: str | None = None


_TREES = "latchfree.ctrie.border:reclaim"

CTRIE: Final = 1
TOPIC_TRIE: Final = 2
# Sketches have numbers of their own, from 16 on.
BLOOM: Final = 16
HYPERLOGLOG: Final = 17
COUNT_MIN: Final = 18
INVERSE_BLOOM: Final = 19
PARTITIONED_BLOOM: Final = 20
COUNTING_BLOOM: Final = 21
SCALABLE_BLOOM: Final = 22
STABLE_BLOOM: Final = 23
TOP_K: Final = 24
MIN_HASH: Final = 25
KLL: Final = 26
# What else has a record as sketches have.
RATE_LIMITER: Final = 48
RING_BUFFER: Final = 49

STRUCTURES: Final = (
    StructureKind(CTRIE, "Ctrie", _TREES),
    StructureKind(TOPIC_TRIE, "ConcurrentTrie", _TREES),
    StructureKind(BLOOM, "Bloom"),
    StructureKind(HYPERLOGLOG, "HyperLogLog"),
    StructureKind(COUNT_MIN, "CountMin"),
    StructureKind(INVERSE_BLOOM, "InverseBloom"),
    StructureKind(PARTITIONED_BLOOM, "PartitionedBloom"),
    StructureKind(COUNTING_BLOOM, "CountingBloom"),
    StructureKind(SCALABLE_BLOOM, "ScalableBloom"),
    StructureKind(STABLE_BLOOM, "StableBloom"),
    StructureKind(TOP_K, "TopK"),
    StructureKind(MIN_HASH, "MinHash"),
    StructureKind(KLL, "KLL"),
    StructureKind(RATE_LIMITER, "RateLimiter"),
    StructureKind(RING_BUFFER, "RingBuffer"),
)

#: The kinds that are tries, whose root records are those of `latchfree.ctrie.kernels.shape`.
TRIES: Final = frozenset(structure.kind for structure in STRUCTURES if structure.reclaim == _TREES)

_NAMES: Final = {structure.kind: structure.name for structure in STRUCTURES}


def name_of(kind: int) -> str:
    """Return the name of a kind of structure.

    Raises
    ------
    ValueError
        If there is no such kind; the text lists those there are.
    """
    if kind not in _NAMES:
        known = ", ".join(f"{number} ({name})" for number, name in _NAMES.items())
        raise ValueError(f"structure kind {kind}, expected one of {known}")
    return _NAMES[kind]


def class_of(kind: int, values: str) -> str:
    """Return the class that opens a structure of a kind whose directory says that it holds such values."""
    return "MessageRing" if kind == RING_BUFFER and values != "int" else name_of(kind)


def mismatch(name: str, found: str, wanted: str, call: str) -> str:
    """Return the text of an error: a call of one class met a structure of another one.

    >>> mismatch("jobs", "Ctrie", "Bloom", "unlink")
    "structure 'jobs' is a Ctrie, not a Bloom; unlink it with Ctrie.unlink"
    """
    return f"structure {name!r} is a {found}, not a {wanted}; {call} it with {found}.{call}"


@cache
def reclaimers() -> tuple[Callable[..., Any], ...]:
    """Return the functions that free what structures have deferred, each once."""
    found = {}
    for structure in STRUCTURES:
        if structure.reclaim is None:
            continue
        module, _, function = structure.reclaim.partition(":")
        found[structure.reclaim] = getattr(import_module(module), function)
    return tuple(found.values())
