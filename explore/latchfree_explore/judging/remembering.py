"""Each graph judged once: the answers of the compiled axioms, kept under the rows of the graph.

Example: of 20,000 random schedules of a program, 4,000 end in a deadlock that the memory model forbids. They are a
handful of graphs. Each is judged once, and found again 4,000 times. A schedule that ends well may have a wrong outcome;
the checker says so once for each graph and outcome.

Invariant: an entry holds all rows of its graph, not a sum of them; so no two graphs share an answer. When the room is
used up, all is forgotten.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np

from latchfree.jit import kernel
from latchfree.kinds import Flag, Word
from latchfree_explore.board.layout import get, put
from latchfree_explore.judging import axioms
from latchfree_explore.judging.recording import MOST_EVENTS, SHEET_WORDS, add_outcome, record
from latchfree_explore.weak.axioms import MODELS, Model

#: Graphs kept, and words of their rows; powers of two.
MOST_GRAPHS: Final = 1 << 14
_MOST_WORDS: Final = 1 << 20

_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
_SHIFT = np.uint64(32)

# Answers.
FORBIDDEN: Final = 0
ALLOWED: Final = 1
UNKNOWN: Final = 2  # the schedule is none that is judged here

_ENTRIES: Final = 0
_KEPT: Final = 1
_JUDGED: Final = 2
_REFUSED: Final = 3
_START: Final = 0
_ROWS: Final = 1
_ANSWER: Final = 2


class Tables(NamedTuple):
    """What the kernels take: addresses of tables, and arrays for the axioms. A slot holds an entry plus one, or 0."""

    asked: int  # the model, a bit of `latchfree_explore.judging.axioms`
    graphs: int  # how many entries there may be, and how many words
    words: int
    slots: int
    entries: int  # for each its start among the words kept, how many rows it has, and the answer
    kept: int
    totals: int  # entries, words kept; graphs judged, and outcomes refused, ever
    sheet: int
    events: Any
    relations: Any
    masks: Any


class Memory:
    """What was answered about one memory model, and room to judge in.

    Parameters
    ----------
    model : {"sc", "tso", "sra", "rc11"}
        Which one.
    graphs : int
        How many graphs are kept: a power of two, or 0 to judge each schedule anew.
    words : int
        How many words of rows are kept.

    Attributes
    ----------
    tables : Tables
        For the kernels.
    """

    def __init__(self, model: Model, graphs: int = MOST_GRAPHS, words: int = _MOST_WORDS) -> None:
        row = MOST_EVENTS // 64
        self._held = slots, entries, kept = [np.zeros(size, np.int64) for size in (2 * graphs, 3 * graphs, words)]
        self._totals = np.zeros(4, np.int64)
        self._sheet = np.zeros(SHEET_WORDS, np.int64)
        self.tables = Tables(
            1 << MODELS.index(model),
            graphs,
            words,
            slots.ctypes.data,
            entries.ctypes.data,
            kept.ctypes.data,
            self._totals.ctypes.data,
            self._sheet.ctypes.data,
            self._sheet[: MOST_EVENTS * axioms.COLUMNS].reshape(MOST_EVENTS, axioms.COLUMNS),
            np.zeros((axioms.RELATIONS, MOST_EVENTS, row + 1), np.uint64),
            np.zeros((axioms.MASKS, row + 1), np.uint64),
        )

    @property
    def judged(self) -> int:
        """How often the axioms were asked."""
        return int(self._totals[_JUDGED])


@kernel
def _judge(tables: Any, count: Word) -> Word:
    """Ask the axioms about the graph of so many events on the sheet."""
    row = (count + 63) // 64
    put(tables.totals, _JUDGED, get(tables.totals, _JUDGED) + 1)
    relations, masks = tables.relations[:, :count, :row], tables.masks[:, :row]
    found = axioms.allowing(tables.events[:count], relations, masks, tables.asked)
    return ALLOWED if found == tables.asked else FORBIDDEN


@kernel
def _hash(sheet: Word, rows: Word) -> Word:
    h = np.uint64(rows)
    for i in range(rows):
        row = sheet + 8 * axioms.COLUMNS * i
        what = get(row, axioms.THREAD) ^ get(row, axioms.KIND) << 8 ^ get(row, axioms.WORD) << 16
        for word in (what, get(row, axioms.SOURCE), get(row, axioms.PLACE)):
            h = (h ^ np.uint64(word)) * _MULTIPLIER
            h ^= h >> _SHIFT
    return np.int64(h >> np.uint64(1))


@kernel
def _same(entry: Word, kept: Word, sheet: Word, rows: Word) -> Flag:
    if get(entry, _ROWS) != rows:
        return False
    start = kept + 8 * get(entry, _START)
    different = 0
    for k in range(rows * axioms.COLUMNS):
        different |= get(start, k) ^ get(sheet, k)
    return different == 0


@kernel
def _slot(slots: Word, graphs: Word, entries: Word, kept: Word, sheet: Word, rows: Word) -> Word:
    """Return the slot of some rows, an empty one if they are new."""
    mask = 2 * graphs - 1
    slot = _hash(sheet, rows) & mask
    while get(slots, slot) != 0 and not _same(entries + 24 * (get(slots, slot) - 1), kept, sheet, rows):
        slot = (slot + 1) & mask
    return slot


@kernel
def _keep(tables: Any, slot: Word, rows: Word, answer: Word) -> None:
    """Keep an answer, or forget all if there is no room."""
    number, at = get(tables.totals, _ENTRIES), get(tables.totals, _KEPT)
    if number == tables.graphs or at + rows * axioms.COLUMNS > tables.words:
        for k in range(2 * tables.graphs):
            put(tables.slots, k, 0)
        put(tables.totals, _ENTRIES, 0)
        put(tables.totals, _KEPT, 0)
        return
    put(tables.slots, slot, number + 1)
    entry = tables.entries + 24 * number
    put(entry, _START, at)
    put(entry, _ROWS, rows)
    put(entry, _ANSWER, answer)
    for k in range(rows * axioms.COLUMNS):
        put(tables.kept, at + k, get(tables.sheet, k))
    put(tables.totals, _ENTRIES, number + 1)
    put(tables.totals, _KEPT, at + rows * axioms.COLUMNS)


@kernel
def answer(board: Word, tables: Any) -> Word:
    """Return whether the memory model allows the last schedule, or that this is unknown."""
    count = record(board, tables.sheet)
    if count < 0:
        return UNKNOWN
    if tables.graphs == 0:
        return _judge(tables, count)
    slot = _slot(tables.slots, tables.graphs, tables.entries, tables.kept, tables.sheet, count)
    held = get(tables.slots, slot)
    if held != 0:
        return get(tables.entries + 24 * (held - 1), _ANSWER)
    found = _judge(tables, count)
    _keep(tables, slot, count, found)
    return found


@kernel
def is_refused(board: Word, tables: Any, operations: Word) -> Flag:
    """Return whether the last schedule's graph is known as forbidden, and its outcome as wrong."""
    if get(tables.totals, _REFUSED) == 0 or tables.graphs == 0:
        return False
    rows = add_outcome(board, tables.sheet, record(board, tables.sheet), operations)
    if rows < 0:
        return False
    slot = _slot(tables.slots, tables.graphs, tables.entries, tables.kept, tables.sheet, rows)
    return get(tables.slots, slot) != 0


@kernel
def refuse(board: Word, tables: Any, operations: Word) -> None:
    """Keep that the last schedule's graph is forbidden, and its outcome wrong."""
    rows = add_outcome(board, tables.sheet, record(board, tables.sheet), operations)
    if rows < 0 or tables.graphs == 0:
        return
    slot = _slot(tables.slots, tables.graphs, tables.entries, tables.kept, tables.sheet, rows)
    if get(tables.slots, slot) == 0:
        put(tables.totals, _REFUSED, get(tables.totals, _REFUSED) + 1)
        _keep(tables, slot, rows, FORBIDDEN)
