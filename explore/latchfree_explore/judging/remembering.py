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
from latchfree.kinds import Array, Flag, Word
from latchfree_explore.judging import axioms
from latchfree_explore.judging.recording import MOST_EVENTS, Sheet, add_outcome, new_sheet, record
from latchfree_explore.weak.axioms import MODELS, Model

#: Graphs kept, and words of their rows; powers of two.
MOST_GRAPHS: Final = 1 << 14
_WORDS: Final = 1 << 20

_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
_SHIFT = np.uint64(32)

# Answers.
FORBIDDEN: Final = 0
ALLOWED: Final = 1
UNKNOWN: Final = 2  # the schedule is none that is judged here


class Memory(NamedTuple):
    """The model asked about, what was answered, and room to judge in. A slot holds an entry plus one, or 0."""

    model: Any  # (1,) a bit of `latchfree_explore.judging.axioms`
    slots: Any
    starts: Any  # (entry,) where its rows begin among the words
    sizes: Any  # (entry,) events
    answers: Any  # (entry,)
    words: Any
    totals: Any  # (4,) entries, words used; graphs judged, and outcomes refused, ever
    sheet: Sheet
    relations: Any
    masks: Any


def new_memory(model: Model, graphs: int = MOST_GRAPHS, words: int = _WORDS) -> Memory:
    """Make an empty memory for so many graphs, a power of two, or 0 to judge each schedule anew."""
    row = MOST_EVENTS // 64
    return Memory(
        np.array([1 << MODELS.index(model)], np.int64),
        np.zeros(2 * graphs, np.int64),
        np.zeros(graphs, np.int64),
        np.zeros(graphs, np.int64),
        np.zeros(graphs, np.int64),
        np.zeros(words, np.int64),
        np.zeros(4, np.int64),
        new_sheet(),
        np.zeros((axioms.RELATIONS, MOST_EVENTS, row + 1), np.uint64),
        np.zeros((axioms.MASKS, row + 1), np.uint64),
    )


@kernel
def _judge(memory: Any, events: Array) -> Word:
    """Ask the axioms about a graph."""
    count = events.shape[0]
    row = (count + 63) // 64
    memory.totals[2] += 1
    asked = memory.model[0]
    relations, masks = memory.relations[:, :count, :row], memory.masks[:, :row]
    return ALLOWED if axioms.allowing(events, relations, masks, asked) == asked else FORBIDDEN


@kernel
def _hash(events: Array) -> Word:
    h = np.uint64(events.shape[0])
    for i in range(events.shape[0]):
        what = events[i, axioms.THREAD] ^ events[i, axioms.KIND] << 8 ^ events[i, axioms.WORD] << 16
        for word in (what, events[i, axioms.SOURCE], events[i, axioms.PLACE]):
            h = (h ^ np.uint64(word)) * _MULTIPLIER
            h ^= h >> _SHIFT
    return np.int64(h >> np.uint64(1))


@kernel
def _same(memory: Any, entry: Word, events: Array) -> Flag:
    if memory.sizes[entry] != events.shape[0]:
        return False
    at = memory.starts[entry]
    different = 0
    for i in range(events.shape[0]):
        for column in range(axioms.COLUMNS):
            different |= memory.words[at] ^ events[i, column]
            at += 1
    return different == 0


@kernel
def _slot(memory: Any, events: Array) -> Word:
    """Return the slot of some rows, an empty one if they are new."""
    mask = len(memory.slots) - 1
    slot = _hash(events) & mask
    while memory.slots[slot] != 0 and not _same(memory, memory.slots[slot] - 1, events):
        slot = (slot + 1) & mask
    return slot


@kernel
def _keep(memory: Any, slot: Word, events: Array, answer: Word) -> None:
    """Keep an answer, or forget all if there is no room."""
    entry, at = memory.totals[0], memory.totals[1]
    if entry == len(memory.starts) or at + events.size > len(memory.words):
        memory.slots[:] = 0
        memory.totals[:2] = 0
        return
    memory.slots[slot] = entry + 1
    memory.starts[entry] = at
    memory.sizes[entry] = events.shape[0]
    memory.answers[entry] = answer
    for i in range(events.shape[0]):
        for column in range(axioms.COLUMNS):
            memory.words[at] = events[i, column]
            at += 1
    memory.totals[0] = entry + 1
    memory.totals[1] = at


@kernel
def answer(board: Word, memory: Any) -> Word:
    """Return whether the memory model allows the last schedule, or that this is unknown."""
    count = record(board, memory.sheet)
    if count < 0:
        return UNKNOWN
    events = memory.sheet.events[:count]
    if len(memory.slots) == 0:
        return _judge(memory, events)
    slot = _slot(memory, events)
    if memory.slots[slot] != 0:
        return memory.answers[memory.slots[slot] - 1]
    found = _judge(memory, events)
    _keep(memory, slot, events, found)
    return found


@kernel
def is_refused(board: Word, memory: Any, operations: Word) -> Flag:
    """Return whether the last schedule's graph is known as forbidden, and its outcome as wrong."""
    if memory.totals[3] == 0:
        return False
    rows = add_outcome(board, memory.sheet, record(board, memory.sheet), operations)
    return rows > 0 and memory.slots[_slot(memory, memory.sheet.events[:rows])] != 0


@kernel
def refuse(board: Word, memory: Any, operations: Word) -> None:
    """Keep that the last schedule's graph is forbidden, and its outcome wrong."""
    rows = add_outcome(board, memory.sheet, record(board, memory.sheet), operations)
    if rows > 0 and len(memory.slots) > 0:
        events = memory.sheet.events[:rows]
        slot = _slot(memory, events)
        if memory.slots[slot] == 0:
            memory.totals[3] += 1
            _keep(memory, slot, events, FORBIDDEN)
