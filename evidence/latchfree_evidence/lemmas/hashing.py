"""The hash of an integer key: a bijection, so different keys have different hashes."""

from __future__ import annotations

from typing import Any

from latchfree import words
from latchfree_evidence.symbolic.code import Code, Twin
from latchfree_evidence.symbolic.lemma import Case, Lemma
from latchfree_evidence.symbolic.words import Word

_M1, _M2 = int(words.MIX_1), int(words.MIX_2)


def _stages(word: Any) -> list[Word]:
    """Return the mixed word, computed step by step; each step can be undone."""
    first = word ^ (word >> 32)
    second = first * _M1
    third = second ^ (second >> 29)
    fourth = third * _M2
    return [first, second, third, fourth, fourth ^ (fourth >> 32)]


def _is_its_stages(case: Case, code: Code) -> None:
    word = case.word("word")
    mixed = code[words.mix](word)
    case.claim("mixing is its five steps", mixed == _stages(word)[-1])
    case.claim("a shift by 32 is undone by itself", _unshift32(word ^ (word >> 32)) == word)
    case.claim("a shift by 29 is undone by two more", _unshift29(word ^ (word >> 29)) == word)
    case.claim("the first product is undone", word * _M1 * pow(_M1, -1, 1 << 64) == word)
    case.claim("the second product is undone", word * _M2 * pow(_M2, -1, 1 << 64) == word)


def _unshift32(word: Any) -> Any:
    return word ^ (word >> 32)


def _unshift29(word: Any) -> Any:
    return word ^ (word >> 29) ^ (word >> 58)


LEMMAS = (
    Lemma(
        "mix-is-a-bijection",
        "hashing an integer can be undone, so no two integers share all 64 bits",
        _is_its_stages,
        Twin(words.mix, "return word ^ (word >> _S32)", "return word | (word >> _S32)", "the last step loses bits"),
    ),
)
