"""Slices of a hash, one for each level, and the sizes of keys and values in words."""

from __future__ import annotations

from typing import Any

from latchfree import words
from latchfree.ctrie.kernels import nodes, snode
from latchfree_evidence.symbolic.code import Code, Twin
from latchfree_evidence.symbolic.lemma import Case, Lemma
from latchfree_evidence.symbolic.words import Word

_LEVELS = range(0, int(nodes.LAST_LEVEL) + 1, int(nodes.STRIDE))


def _one_bit(case: Case, code: Code) -> None:
    h, level = case.word("hash"), case.word("level", below=int(nodes.LAST_LEVEL) + 1)
    flag = code[words.flag_of](h, level)
    case.claim("exactly one bit", (flag != 0) & (flag & (flag - 1) == 0))


def _all_bits(case: Case, code: Code) -> None:
    one, other = case.word("one"), case.word("other")
    case.assume(one != other)
    same: Any = True
    for level in _LEVELS:
        same = same & (code[words.flag_of](one, Word(level)) == code[words.flag_of](other, Word(level)))
    case.claim("some level tells them apart", ~same)


def _last_level(case: Case, code: Code) -> None:
    flag = code[words.flag_of](case.word("hash"), Word(nodes.LAST_LEVEL))
    case.claim("the last level has 16 slots", flag < 1 << 16)


def _enough_words(case: Case, code: Code) -> None:
    length = case.word("length", below=1 << 40)
    count = code[snode.words_for](length)
    case.claim("they hold the bytes", count * 8 >= length)
    case.claim("and one word less does not", (count == 0) | ((count - 1) * 8 < length))


LEMMAS = (
    Lemma(
        "flag-one-bit",
        "a hash has exactly one flag at each level",
        _one_bit,
        Twin(words.flag_of, "_1 << ((h >> level) & _SLOT_MASK)", "(h >> level) & _SLOT_MASK", "the slice is the flag"),
    ),
    Lemma(
        "levels-cover-the-hash",
        "two hashes that agree at all eleven levels are the same",
        _all_bits,
        Twin(words.flag_of, "_SLOT_MASK", "np.uint64(31)", "a level uses five of its six bits"),
    ),
    Lemma(
        "last-level",
        "the last level has the four bits that are left, so 16 slots",
        _last_level,
        Twin(words.flag_of, ">> level", ">> (level - np.uint64(6))", "a slice begins a level too early"),
    ),
    Lemma(
        "words-for-bytes",
        "a key or value of so many bytes gets as many words as it needs",
        _enough_words,
        Twin(snode.words_for, "length + _7", "length", "the last bytes are forgotten"),
    ),
)
