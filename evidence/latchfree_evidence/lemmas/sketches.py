"""Where the cells of sketches are, and how packed cells change: ranks, registers, counters, bits, slices.

Example: a register of a byte is raised from 3 to 7. Its word has seven other registers, which stay as they are, as the
sum carries nothing into them.

Widths are proved one by one, hashes all at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from latchfree.sketches.kernels import bloom, counting, hyperloglog, record
from latchfree_evidence.lemmas.symbolic_memory import SymbolicMemory
from latchfree_evidence.symbolic.code import Code, Twin
from latchfree_evidence.symbolic.lemma import Case, Lemma
from latchfree_evidence.symbolic.words import Word, either

_RECORD, _AT = 64, 128
_TOP = 255
_FIRST = int(record.FIRST_CELL)


def _precisions() -> Iterator[Mapping[str, int]]:
    return ({"precision": precision} for precision in range(4, 22))


def _bytes() -> Iterator[Mapping[str, int]]:
    return ({"byte": byte} for byte in range(8))


def _widths() -> Iterator[Mapping[str, int]]:
    return ({"width": width} for width in (1, 2, 3, 8, 24, 1000, 2719, 1 << 20, (1 << 26) - 8))


def _rank(case: Case, code: Code, precision: int) -> None:
    h = case.word("h")
    rank = code[hyperloglog.rank_of](h, Word(precision))
    rest, most = h >> precision, 65 - precision
    case.claim("a rank is 1 at least", rank >= 1)
    case.claim("a rank fits its register", rank <= most)
    case.claim("it is one more than the zeros at the end", (rest & ((Word(1) << (rank - 1)) - 1)) == 0)
    case.claim("which a one ends, or the end of the hash", ((rest >> (rank - 1)) & 1 == 1) | (rank == most))


def _others(case: Case, before: Word, after: Word, byte: int) -> None:
    mask = ((1 << 64) - 1) ^ (_TOP << (8 * byte))
    case.claim("the other cells of the word are as they were", (before & mask) == (after & mask))


def _register(case: Case, code: Code, byte: int) -> None:
    word, rank = case.word("word"), case.word("rank", below=62)
    mem = SymbolicMemory()
    mem.write(_AT, word)
    code[hyperloglog.raise_register](mem, Word(_AT), Word(8 * byte), rank)
    held, now = (word >> (8 * byte)) & _TOP, (mem.read(_AT) >> (8 * byte)) & _TOP
    case.claim("a register is the greater of both", now == either(held >= rank, held, rank))
    _others(case, word, mem.read(_AT), byte)


def _raised(case: Case, code: Code, byte: int) -> None:
    word, more = case.word("word"), case.word("more", below=256)
    mem = SymbolicMemory()
    mem.write(_AT, word)
    code[counting.raise_counter](mem, Word(_AT), Word(8 * byte), more)
    held, now = (word >> (8 * byte)) & _TOP, (mem.read(_AT) >> (8 * byte)) & _TOP
    case.claim("a counter is raised up to the top", now == either(held + more >= _TOP, _TOP, held + more))
    _others(case, word, mem.read(_AT), byte)


def _lowered(case: Case, code: Code, byte: int) -> None:
    word = case.word("word")
    mem = SymbolicMemory()
    mem.write(_AT, word)
    code[counting.lower_counter](mem, Word(_AT), Word(8 * byte))
    held, now = (word >> (8 * byte)) & _TOP, (mem.read(_AT) >> (8 * byte)) & _TOP
    stays = (held == 0) | (held == _TOP)
    case.claim("a counter is lowered by one, unless it is empty or full", now == either(stays, held, held - 1))
    _others(case, word, mem.read(_AT), byte)


def _slice(case: Case, code: Code, width: int) -> None:
    mixed = case.word("mixed")
    for k in range(3):
        whole = code.abstracting(mix=lambda word: mixed)
        at = whole[counting.counter_of](case.word(f"h{k}"), Word(k), Word(width))
        case.claim("a counter is in its slice", (at >= k * width) & (at < (k + 1) * width))


def _block(case: Case, code: Code, width: int) -> None:
    h, words = case.word("h"), 4
    mem = SymbolicMemory()
    mem.write(_RECORD + int(bloom.BLOCKS), width)
    mem.write(_RECORD + int(bloom.WORDS), words)
    at = code[bloom.block_of](mem, Word(_RECORD), h) - (_RECORD + _FIRST)
    case.claim("a block is one of the filter's", at <= (width - 1) * words)
    case.claim("a block begins where one begins", at % words == 0)


def _mask(case: Case, code: Code, bits: int) -> None:
    g = case.word("g")
    mask = code[bloom.mask_of](g, Word(bits))
    rest, said = g, Word(0)
    for _ in range(bits):
        bit = Word(1) << (rest & 63)
        case.claim("each piece of the hash says a bit", (mask & bit) != 0)
        rest, said = rest >> 6, said | bit
    case.claim("and no other bit is set", mask == said)


LEMMAS = (
    Lemma(
        "hll-rank",
        "the rank of a hash is one more than its zeros, 1 at least, and fits a register",
        _rank,
        Twin(hyperloglog.rank_of, "(_64 - precision)", "(_64 - _1)", "zeros beyond the hash are counted"),
        _precisions,
    ),
    Lemma(
        "hll-register",
        "a register of a word is raised to a rank, and no other register changes",
        _register,
        Twin(hyperloglog.raise_register, "(rank - held) << shift", "rank << shift", "a rank is added to what is held"),
        _bytes,
    ),
    Lemma(
        "counter-raised",
        "a counter of a counting filter is raised up to 255, and no other counter of its word changes",
        _raised,
        Twin(counting.raise_counter, "min(held + more, TOP)", "held + more", "a counter carries into the next one"),
        _bytes,
    ),
    Lemma(
        "counter-lowered",
        "a counter of a counting filter is lowered unless it is 0 or 255, and no other counter of its word changes",
        _lowered,
        Twin(counting.lower_counter, "held in (TOP, _0)", "held == TOP", "a counter of 0 borrows from the next one"),
        _bytes,
    ),
    Lemma(
        "counter-slice",
        "the counter of an item in a slice is in that slice, whatever the hash",
        _slice,
        Twin(counting.counter_of, "k * width +", "width +", "slices lie on each other"),
        _widths,
    ),
    Lemma(
        "bloom-block",
        "the block of an item is one of the filter's, whatever the hash",
        _block,
        Twin(bloom.block_of, "peek(mem, record + BLOCKS))", "peek(mem, record + BLOCKS) + _1)", "one block too many"),
        _widths,
    ),
    Lemma(
        "bloom-mask",
        "an item sets the bits of a word that six bits each of its hash say, and no others",
        _mask,
        Twin(bloom.mask_of, "g >>= _6", "g >>= _6 >> _1", "pieces of the hash overlap"),
        lambda: ({"bits": bits} for bits in range(1, 11)),
    ),
)
