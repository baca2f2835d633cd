"""By whose hash a sketch places its items: our own, or that of a library that is to read the sketch.

Example: ``HyperLogLog(hash="datasketches")`` has the shape (14, 257, 0, 0): 2**14 registers, and hash 257, which is
that of Apache DataSketches. Since the hash is part of the shape, it is in an arena and in bytes wherever the shape is,
and sketches of different hashes are not merged.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from latchfree.arguments import whole
from latchfree.structures import BLOOM, COUNT_MIN, HYPERLOGLOG

#: Our own; a sketch that is hashed by it has no such number in its shape.
OWN: Final = 0
DATASKETCHES: Final = 257
SPARK: Final = 258
SPARK_V1: Final = 259
SPARK_V2: Final = 260
#: No other number of a shape that is in its place is so high.
_FIRST: Final = 256

_ALL: Final = (1 << 64) - 1
_MOST_INT: Final = (1 << 31) - 1


class Hash(NamedTuple):
    """A hash, as a kind of sketch uses it.

    Attributes
    ----------
    number : int
        In shapes and bytes.
    name : str
        As the argument `hash` takes it.
    seed, least, most : int
        The seed if none is given, and the range of seeds.
    """

    number: int
    name: str
    seed: int
    least: int
    most: int


_OWN: Final = Hash(OWN, "latchfree", 0, 0, _ALL)
_OURS: Final = {OWN: _OWN}
_HASHES: Final[dict[int, dict[int, Hash]]] = {
    kind: _OURS | {each.number: each for each in hashes}
    for kind, hashes in {
        HYPERLOGLOG: (Hash(DATASKETCHES, "datasketches", 9001, 9001, 9001),),
        COUNT_MIN: (
            Hash(DATASKETCHES, "datasketches", 9001, 0, _ALL),
            Hash(SPARK, "spark", 0, ~_MOST_INT, _MOST_INT),
        ),
        BLOOM: (Hash(SPARK_V1, "spark-v1", 0, 0, 0), Hash(SPARK_V2, "spark-v2", 0, ~_MOST_INT, _MOST_INT)),
    }.items()
}
#: Which of the four numbers of a shape says the hash, if that is not ours.
_WHERE: Final = {HYPERLOGLOG: 1, COUNT_MIN: 3, BLOOM: 1}


def number_in(kind: int, shape: tuple[int, ...]) -> int:
    """Return the number of the hash that a shape names."""
    found = shape[_WHERE[kind]] if kind in _WHERE else OWN
    return found if found >= _FIRST else OWN


def hash_in(kind: int, shape: tuple[int, ...]) -> Hash:
    """Return the hash that a shape names.

    Raises
    ------
    ValueError
        If this latchfree does not know it.
    """
    number, known = number_in(kind, shape), _HASHES.get(kind, _OURS)
    if number not in known:
        raise ValueError(f"hash {number} is not known; use the latchfree that wrote it")
    return known[number]


def hash_named(kind: int, name: Any, seed: Any) -> tuple[int, int]:
    """Return the number of the hash of a name, and its seed as a word; None is the seed that the hash has by itself.

    Raises
    ------
    TypeError, ValueError
        If there is no such hash for the kind of sketch, or no such seed; the text says what there is.
    """
    known = {each.name: each for each in _HASHES[kind].values()}
    if not isinstance(name, str):
        raise TypeError(f"hash must be a string, got {type(name).__name__}")
    if name not in known:
        raise ValueError(f"hash must be one of {', '.join(map(repr, known))}, got {name[:60]!r}")
    found = known[name]
    if seed is not None:
        seed = whole(seed, "seed" if found.number == OWN else f"seed of hash {name!r}", found.least, found.most)
    return found.number, (found.seed if seed is None else seed) & _ALL


def seed_shown(found: Hash, word: int) -> int:
    """Return a seed, with its sign, of the word that holds it; one out of range is returned as it is."""
    return word - (1 << 64) if found.least < 0 and word >> 63 else word


def check_seed(kind: int, shape: tuple[int, ...], word: int) -> None:
    """Make sure that a seed is one of the hash that a shape names.

    Raises
    ------
    ValueError
        If it is not, or there is no such hash.
    """
    found = hash_in(kind, shape)
    if not found.least <= seed_shown(found, word) <= found.most:
        raise ValueError(f"hash {found.name!r} has no seed {word}")
