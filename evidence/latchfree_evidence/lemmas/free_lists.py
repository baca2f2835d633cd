"""Size classes, and the heads of the shared free lists: offset and version in one word."""

from __future__ import annotations

from latchfree.arena import layout
from latchfree.arena.kernels import freelists
from latchfree_evidence.lemmas.symbolic_memory import SymbolicMemory
from latchfree_evidence.symbolic.code import Code, Twin
from latchfree_evidence.symbolic.lemma import Case, Lemma
from latchfree_evidence.symbolic.words import Word

_ME, _KIND, _EDGE, _FIRST, _BELOW = 2048, 4, 9000, 9100, 9200
_LARGEST = 1 << 20
_VERSION = 1 << 40


def _classes(case: Case, code: Code) -> None:
    words = case.word("words", below=_LARGEST + 1)
    case.assume(words > 0)
    size = code[freelists.round_up](words)
    case.claim("a class has room", size >= words)
    kind = code[freelists.size_class](size)
    case.claim("there is a list for the class", kind < freelists.CLASSES)
    case.claim("the class of a list is its size", code[freelists.class_size](kind) == size)
    case.claim("a size of a class is its own class", code[freelists.round_up](size) == size)


def _pieces(case: Case, code: Code) -> None:
    gap = case.word("gap", below=_LARGEST)
    case.assume(gap > 0)
    size = code[freelists.piece_of](gap)
    case.claim("a piece fits", size <= gap)
    case.claim("a piece is something", size > 0)
    case.claim("a piece is of a class", code[freelists.round_up](size) == size)
    case.claim("no single word is left, unless there was but one more than a piece", (gap - size != 1) | (gap <= 2))


def _version(case: Case, code: Code) -> None:
    mem, head = SymbolicMemory(), case.word("head")
    mem.write(int(layout.SHARED_LISTS) + _KIND, head)
    mem.write(_ME + int(layout.P_EDGE) + _KIND, _EDGE)
    mem.write(_EDGE, _FIRST)
    code[freelists.spill](mem, Word(_ME), Word(_KIND))
    new = mem.read(int(layout.SHARED_LISTS) + _KIND)
    case.claim("the batch is on top", new & (_VERSION - 1) == _FIRST)
    case.claim("the version is the next", new >> 40 == ((head >> 40) + 1) & ((1 << 24) - 1))
    case.claim("what was on top is below", mem.read(_FIRST + 1) == head & (_VERSION - 1))


def _popping(case: Case, code: Code) -> None:
    mem = SymbolicMemory()
    version, below = case.word("version", below=1 << 24), case.word("below", below=_VERSION)
    mem.write(int(layout.SHARED_LISTS) + _KIND, Word(_FIRST) | (version << 40))
    mem.write(_FIRST + 1, below)
    taken = code[freelists.refill](mem, Word(_ME), Word(_KIND))
    new = mem.read(int(layout.SHARED_LISTS) + _KIND)
    case.claim("the batch comes off", taken == _FIRST)
    case.claim("what was below is on top", new & (_VERSION - 1) == below)
    case.claim("the version is the next", new >> 40 == (version + 1) & ((1 << 24) - 1))


LEMMAS = (
    Lemma(
        "size-classes",
        "every size up to a million words has a class with room for it, and its list gives that class back",
        _classes,
        Twin(freelists.round_up, "words + _STEP - _1", "words", "sizes above eight are rounded down"),
    ),
    Lemma(
        "pieces-fit",
        "a gap is cut into pieces of a class, none larger than what is left",
        _pieces,
        Twin(freelists.piece_of, "size << _1 <= gap", "size <= gap", "a piece may be larger than the gap"),
    ),
    Lemma(
        "push-renews-the-version",
        "pushing a batch changes the version of the list's head (N3)",
        _version,
        Twin(freelists.spill, " + _VERSION", "", "the version stays"),
    ),
    Lemma(
        "pop-renews-the-version",
        "popping a batch changes the version of the list's head (N3)",
        _popping,
        Twin(freelists.refill, " + _VERSION", "", "the version stays"),
    ),
)
