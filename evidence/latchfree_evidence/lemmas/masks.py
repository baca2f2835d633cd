"""The hashes of the mask index: a topic has the key of each pattern that it matches, and hashing loses nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations

import numpy as np

from latchfree.topics.mask.groups import group_table
from latchfree.topics.mask.kernels import group_keys, table, texts
from latchfree_evidence.lemmas.symbolic_memory import SymbolicMemory
from latchfree_evidence.symbolic.code import Code, Twin
from latchfree_evidence.symbolic.lemma import Case, Lemma
from latchfree_evidence.symbolic.words import BITS, Word

_WORDS = 6
"""Words of the longest patterns looked at: enough for more wildcards than a group has places of its own."""
_WIDE = 1 << 22
"""Bits of a filter that is not asked at once."""


def _inverse(odd: int) -> int:
    return pow(odd, -1, 1 << BITS)


def _masks() -> Iterator[Mapping[str, int]]:
    """All sets of up to four wildcards in a pattern of some words."""
    for most in range(5):
        for places in combinations(range(_WORDS), most):
            yield {"mask": sum(1 << place for place in places)}


def _key_of_pattern(case: Case, code: Code, *, mask: int) -> None:
    hashes, prefix, keys = SymbolicMemory(), SymbolicMemory(), SymbolicMemory()
    literals, wanted = Word(0), Word(0)
    prefix.write(0, literals)
    for place in range(_WORDS):
        word = case.word(f"hash{place}")
        hashes.write(place, word)
        literals = literals ^ word
        prefix.write(place + 1, literals)
        if not mask >> place & 1:
            wanted = wanted ^ word
    hashes.write(group_keys.NOWHERE, 0)
    entries = SymbolicMemory()
    for at, word in enumerate(group_table(np.array([mask], np.uint64), np.array([_WORDS]))[0].tolist()):
        entries.write(at, word)
    found = code[group_keys.hash_groups](
        entries, 0, 1, False, hashes, prefix, SymbolicMemory(), Word(_WIDE), Word(0), keys, SymbolicMemory(), Word(0)
    )  # fmt: skip
    salt = Word(int(table.salt_of(np.uint64(0))))
    case.claim("one key", found == 1)
    case.claim("it is that of the words that are no wildcards", keys.read(0) == code[table.key_of](wanted, salt))


def _positions() -> Iterator[Mapping[str, int]]:
    return ({"position": position} for position in range(group_keys.NOWHERE + 1))


def _at_position(case: Case, code: Code, *, position: int) -> None:
    word = case.word("hash")
    factor = (int(texts.GOLDEN) + 2 * position) % (1 << BITS)
    moved = code[texts.at_position](word, Word(position))
    case.claim("it is a product by an odd number, which can be undone", moved * _inverse(factor | 1) == word)


def _salts(case: Case, code: Code) -> None:
    group = case.word("group", below=1 << 16)
    salt = code[table.salt_of](group)
    case.claim("the group can be told from it", salt * _inverse(int(table.GROUP_STEP)) - 1 == group)


def _folding(case: Case, code: Code) -> None:
    word = case.word("word")
    spread = code[texts.fold](word)
    product = (word ^ (word >> 32)) * int(texts.MIX)
    case.claim("the last step is undone by itself", spread ^ (spread >> 32) == product)
    case.claim("the product is undone", product * _inverse(int(texts.MIX)) == word ^ (word >> 32))
    first = word ^ (word >> 32)
    case.claim("and so is the first step", first ^ (first >> 32) == word)


LEMMAS = (
    Lemma(
        "key-of-the-literals",
        "under each mask a topic has the key of the pattern with its words and those wildcards",
        _key_of_pattern,
        Twin(group_keys.hash_groups, "more &= more - _1", "more = _0", "of more than three wildcards some are left in"),
        _masks,
    ),
    Lemma(
        "words-at-positions",
        "different hashes stay different at each position",
        _at_position,
        Twin(texts.at_position, "_2 * position", "position", "at every other position the factor is even"),
        _positions,
    ),
    Lemma(
        "salts-of-groups",
        "different groups have different salts",
        _salts,
        Twin(
            table.salt_of,
            "(np.uint64(group) + _1) * GROUP_STEP",
            "((np.uint64(group) + _1) >> _1) * GROUP_STEP",
            "two share one",
        ),
    ),
    Lemma(
        "folding-is-a-bijection",
        "spreading the bits of a hash can be undone",
        _folding,
        Twin(texts.fold, "return word ^ (word >> _32)", "return word | (word >> _32)", "the last step loses bits"),
    ),
)
