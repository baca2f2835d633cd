"""Eight bytes of a text at once: find the separators, and tell whether a byte may be forbidden."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from latchfree import words
from latchfree_evidence.symbolic.code import Code, Twin
from latchfree_evidence.symbolic.lemma import Case, Lemma
from latchfree_evidence.symbolic.words import either

_LOWS = 0x7F7F7F7F7F7F7F7F
_ONES = 0x0101010101010101


def _places() -> Iterator[Mapping[str, int]]:
    return ({"place": place} for place in range(8))


def _zeros(case: Case, code: Code, *, place: int) -> None:
    word = case.word("word")
    found = code[words.zero_bytes](word)
    byte = (word >> (8 * place)) & 255
    case.claim("the bit of a byte says whether it is zero", (found >> (8 * place)) & 255 == either(byte == 0, 128, 0))


def _low(case: Case, code: Code, *, place: int) -> None:
    word, floor = case.word("word"), case.word("floor", below=128)
    case.assume((word >> (8 * place)) & 255 < floor)
    case.claim("a low byte is not missed", code[words.low_bytes](word, floor * _ONES) != 0)


def _none_is_low(case: Case, code: Code) -> None:
    word, floor = case.word("word"), case.word("floor", below=128)
    for place in range(8):
        case.assume((word >> (8 * place)) & 255 >= floor)
    case.claim("where no byte is low, none is suspected", code[words.low_bytes](word, floor * _ONES) == 0)


LEMMAS = (
    Lemma(
        "zero-bytes-are-found",
        "a byte of a word is found to be zero exactly if it is",
        _zeros,
        Twin(words.zero_bytes, "((word & _LOWS) + _LOWS)", "(word + _LOWS)", "a carry blurs the next byte"),
        _places,
    ),
    Lemma(
        "low-bytes-are-found",
        "a byte below the floor is never missed",
        _low,
        Twin(words.low_bytes, "& ~word & _HIGHS", "& word & _HIGHS", "bytes without their top bit are left out"),
        _places,
    ),
    Lemma(
        "no-low-byte-is-invented",
        "of a word without a byte below the floor nothing is suspected",
        _none_is_low,
        Twin(words.low_bytes, "& ~word & _HIGHS", "& _HIGHS", "bytes with their top bit set are suspected"),
    ),
)
