"""The last schedule as events for the compiled axioms, as `latchfree_explore.machine.executions` makes it in Python.

Example: two schedules differ in which thread ran first, but each load read the same write. The events are the same, row
for row: thread 0 first, each thread's in program order, then the initial write of each word. Words are numbered as they
come up.

Invariant: two schedules with the same rows have the same execution graph, up to the names of words. A schedule with
more events than there is room for, or one cut short within a write, gives no rows: Python judges it.
"""

from __future__ import annotations

from typing import Final

from latchfree.jit import kernel
from latchfree.kinds import Flag, Word
from latchfree_explore.board import layout as b
from latchfree_explore.board.layout import get, put
from latchfree_explore.judging import axioms
from latchfree_explore.views import tables as t
from latchfree_explore.views.weakening import AS_CODED, AS_STORE, RELAXED, weakening

MOST_EVENTS: Final = 256
_MOST_MESSAGES: Final = 2 * MOST_EVENTS
_FIRST: Final = -(1 << 62)
# What an event reads, before events are numbered: nothing, a message (0 is the initial one), or news of an operation.
_NOTHING: Final = -1
_NEWS: Final = -2
OUTCOME: Final = -2  # the thread of a row that is an outcome


# A sheet is words at one address, as a board is: arrays by value would be most of the time.
# Its events; the address of each word (news of operation k is the address -1 - k); of each message the event that made
# it, -1 for none, and its place in modification order; of each operation the event that tells of its return, and its
# thread, -1 if it was not invoked; and how many events, words and operations there are so far.
EVENTS: Final = 0
_WORDS: Final = MOST_EVENTS * axioms.COLUMNS
_EVENT_OF: Final = _WORDS + MOST_EVENTS
_PLACE_OF: Final = _EVENT_OF + _MOST_MESSAGES
_RETURN_OF: Final = _PLACE_OF + _MOST_MESSAGES
_THREAD_OF: Final = _RETURN_OF + b.MOST_OPERATIONS
_EVENTS_USED: Final = _THREAD_OF + b.MOST_OPERATIONS
_WORDS_USED: Final = _EVENTS_USED + 1
_OPERATIONS: Final = _EVENTS_USED + 2
SHEET_WORDS: Final = _EVENTS_USED + 3


@kernel
def _word(sheet: Word, at: Word) -> Word:
    """Return the number of a word, a new one if it comes up for the first time."""
    words = get(sheet, _WORDS_USED)
    for k in range(words):
        if get(sheet, _WORDS + k) == at:
            return k
    if words < MOST_EVENTS:
        put(sheet, _WORDS + words, at)
        put(sheet, _WORDS_USED, words + 1)
    return words


@kernel
def _add(sheet: Word, thread: Word, kind: Word, word: Word, order: Word, source: Word, place: Word) -> Word:
    """Add an event if there is room; return its number."""
    n = get(sheet, _EVENTS_USED)
    if n < MOST_EVENTS:
        row = sheet + 8 * axioms.COLUMNS * n
        put(row, axioms.THREAD, thread)
        put(row, axioms.KIND, kind)
        put(row, axioms.WORD, word)
        put(row, axioms.ORDER, order)
        put(row, axioms.SOURCE, source)
        put(row, axioms.PLACE, place)
    put(sheet, _EVENTS_USED, n + 1)
    return n


@kernel
def _place_messages(board: Word, sheet: Word) -> Word:
    """Note the place of each message; return how many were poked."""
    pokes = 0
    for r in range(1, get(board, b.ROWS_USED) + 1):
        newest = get(get(board, b.ROWS) + 8 * t.ROW_WORDS * r, t.R_NEWEST)
        length = 0
        k = newest
        while k != 0:
            length += 1
            k = get(t.message(board, k), t.M_BEFORE)
        k = newest
        while k != 0:
            length -= 1
            put(sheet, _PLACE_OF + k, length)
            put(sheet, _EVENT_OF + k, -1)
            pokes += get(t.message(board, k), t.M_SORT) == t.PLAIN
            k = get(t.message(board, k), t.M_BEFORE)
    return pokes


@kernel
def order_of(kind: Word, how: Word) -> Word:
    """Return the order of an access, weakened or not."""
    if how == RELAXED:
        return axioms.RELAXED
    if kind == b.LOAD or kind == b.LOAD_UNSURE:
        return axioms.ACQUIRE
    if kind == b.STORE:
        return axioms.RELEASE
    if how == AS_CODED:
        return axioms.SEQ
    if how == AS_STORE:
        return axioms.RELEASE
    return axioms.ACQUIRE if kind == b.LOAD_SEQ else axioms.BOTH


@kernel
def _access(board: Word, sheet: Word, step: Word) -> Flag:
    """Add the event of a step, if it is one; return whether the step was made as a whole."""
    kind, thread = get(step, b.S_KIND), get(step, b.S_THREAD)
    if kind > b.FENCE or kind == b.PEEK or kind == b.POKE:
        return True
    how = weakening(board, get(step, b.S_SITE))
    if kind == b.FENCE:
        if how == AS_CODED:
            _add(sheet, thread, axioms.FENCE, -1, axioms.SEQ, _NOTHING, -1)
        return True
    word, order = _word(sheet, get(step, b.S_AT)), order_of(kind, how)
    made, source = get(step, b.S_MADE), get(step, b.S_FROM)
    if made == 0:
        what = axioms.FAILED if kind == b.CAS else axioms.READ
        _add(sheet, thread, what, word, order, source, -1)
        return kind < b.STORE or kind == b.CAS
    writes = kind == b.STORE or (kind == b.EXCHANGE and how == AS_STORE)
    what = axioms.WRITE if writes else axioms.UPDATE
    place = get(sheet, _PLACE_OF + made)
    put(sheet, _EVENT_OF + made, _add(sheet, thread, what, word, order, _NOTHING if writes else source, place))
    return True


@kernel
def _pokes(board: Word, sheet: Word, thread: Word, steps: Word) -> Word:
    """Add what a thread poked after so many steps; return how many pokes these are."""
    found = 0
    for k in range(1, get(board, b.MESSAGES_USED) + 1):
        m = t.message(board, k)
        if get(m, t.M_SORT) == t.PLAIN and get(m, t.M_THREAD) == thread and get(m, t.M_STEPS) == steps:
            found += 1
            for r in range(1, get(board, b.ROWS_USED) + 1):
                row = get(board, b.ROWS) + 8 * t.ROW_WORDS * r
                other = get(row, t.R_NEWEST)
                while other != 0 and other != k:
                    other = get(t.message(board, other), t.M_BEFORE)
                if other == k:
                    word = _word(sheet, get(row, t.R_WORD))
                    place = get(sheet, _PLACE_OF + k)
                    put(sheet, _EVENT_OF + k, _add(sheet, thread, axioms.WRITE, word, axioms.PLAIN, _NOTHING, place))
    return found


@kernel
def _hear(board: Word, sheet: Word, call: Word, ended: Word) -> None:
    """Add what an operation may have heard of when it began: the others that had returned."""
    thread, begun = get(sheet, _THREAD_OF + call), get(b.call(board, call), b.C_INVOKE)
    for k in range(get(sheet, _OPERATIONS)):
        other = get(sheet, _THREAD_OF + k)
        if ended >> k & 1 and other >= 0 and other != thread and begun > get(b.call(board, k), b.C_RETURN):
            _add(sheet, thread, axioms.READ, _word(sheet, -1 - k), axioms.ACQUIRE, _NEWS - k, -1)


@kernel
def _resolve(sheet: Word) -> None:
    """Give each event the number of the one that it reads, and add the initial writes."""
    threads, words = get(sheet, _EVENTS_USED), get(sheet, _WORDS_USED)
    for n in range(threads):
        row = sheet + 8 * axioms.COLUMNS * n
        source = get(row, axioms.SOURCE)
        if source <= _NEWS:
            put(row, axioms.SOURCE, get(sheet, _RETURN_OF + _NEWS - source))
        elif source >= 0:
            made = get(sheet, _EVENT_OF + source) if source > 0 else -1
            put(row, axioms.SOURCE, made if made >= 0 else threads + get(row, axioms.WORD))
    for word in range(words):
        _add(sheet, -1, axioms.WRITE, word, axioms.RELAXED, _NOTHING, _FIRST)


@kernel
def record(board: Word, sheet: Word) -> Word:
    """Write the events of the last schedule into a sheet; return how many there are, -1 if Python has to judge."""
    steps = get(board, b.STEPS)
    if get(board, b.MESSAGES_USED) >= _MOST_MESSAGES:
        return -1
    pokes = _place_messages(board, sheet)
    ended = get(board, b.RETURNED) if get(board, b.REAL_TIME) else 0
    for used in (_EVENTS_USED, _WORDS_USED, _OPERATIONS):
        put(sheet, used, 0)
    for k in range(steps):
        step = b.step(board, k)
        call = get(step, b.S_CALL)
        for new in range(get(sheet, _OPERATIONS), call + 1):
            put(sheet, _THREAD_OF + new, -1)
            put(sheet, _OPERATIONS, new + 1)
        put(sheet, _THREAD_OF + call, get(step, b.S_THREAD))
    whole = True
    for thread in range(get(board, b.THREADS)):
        running = -1
        for k in range(steps):
            step = b.step(board, k)
            if get(step, b.S_THREAD) != thread or not whole:
                continue
            call = get(step, b.S_CALL)
            if call != running:
                _hear(board, sheet, call, ended)
                running = call
            whole = _access(board, sheet, step)
            if pokes > 0:
                pokes -= _pokes(board, sheet, thread, k + 1)
            if ended >> call & 1 and get(b.call(board, call), b.C_RETURN) == k:
                news = _word(sheet, -1 - call)
                put(sheet, _RETURN_OF + call, _add(sheet, thread, axioms.WRITE, news, axioms.RELEASE, _NOTHING, 1))
            whole = whole and get(sheet, _EVENTS_USED) < MOST_EVENTS
    if not whole or pokes != 0 or get(sheet, _EVENTS_USED) + get(sheet, _WORDS_USED) > MOST_EVENTS:
        return -1
    _resolve(sheet)
    return get(sheet, _EVENTS_USED)


@kernel
def add_outcome(board: Word, sheet: Word, count: Word, operations: Word) -> Word:
    """Add a row for each operation's outcome, which is no event; return how many rows there are, -1 if too many."""
    if count < 0 or count + operations > MOST_EVENTS:
        return -1
    put(sheet, _EVENTS_USED, count)
    for k in range(operations):
        call = b.call(board, k)
        _add(sheet, OUTCOME, 0, 0, 0, get(call, b.C_RESULT), get(call, b.C_BEFORE))
    return count + operations
