"""The compiled search: Wing and Gong's, with Lowe's memo, over rows of integers.

The search is that of `plain`, as a loop that can stop and go on. All its state lives in arrays and in `control`, so the
caller looks at the clock, makes tables larger and takes endings out between two calls.

One more pruning than there: an operation that can never change the state (a get; a remove that returned nothing)
takes effect as soon as it is legal, with no alternative, since nothing is gained by waiting.

Strings are searched along what was read: states below `KNOWN` are prefixes of texts that occur in the history. They
are tried first, and where the next return is a read and no put is in flight, no other state can lead on.

Invariant: the memo is exact. Its key is (state, high, holes): which operations of the piece took effect, all below
`high` but the holes. An entry is ``[state, high, number of holes, holes..., pending bits...]`` in `pool`; entries
are compared word by word. An entry covers another entry if the keys are equal and its pending bits are a subset.

In-flight operations are a linked list over `following` / `preceding`, in order of invocation. Position 0 is the
head; operation `low + i` is at position i + 1; the position after the last is the end.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from latchfree.jit import kernel
from latchfree_lincheck.engine.compiled_models.opcodes import GET, PUT, SIZE, UNKNOWN_RESULT
from latchfree_lincheck.engine.compiled_models.states import States, mix
from latchfree_lincheck.engine.compiled_models.transition import KEYS, Rows, after, is_read, judge
from latchfree_lincheck.history.timeline import NEVER_RETURNS, Ints

Ints32 = npt.NDArray[np.int32]

# Why the search stopped.
DONE: Final = 0
SLICE: Final = 1
ENDING: Final = 2
MORE_NODES: Final = 3
MORE_POOL: Final = 4
MORE_ENTRIES: Final = 5

# Where it goes on.
ARRIVE: Final = 0
TRY: Final = 1
TRY_PENDING: Final = 2
BACK: Final = 3
TRY_KNOWN: Final = 4

# The fields of `control`.
PHASE: Final = 0
STATE: Final = 1
HIGH: Final = 2
LIMIT: Final = 3
CURSOR: Final = 4
TOP: Final = 5
STEPS: Final = 6
ENTRIES: Final = 7
BASE: Final = 8
POOL: Final = 9
BLOCKED_AT: Final = 10
BLOCKED_TOP: Final = 11
SAVED: Final = 12
LOW: Final = 13
COUNT: Final = 14
GROWTH: Final = 15
RECORD: Final = 16
KNOWN: Final = 17
FIELDS: Final = 18

FORCED: Final = -1
BITS: Final = 31


class CallArrays(NamedTuple):
    """The calls of a part.

    Attributes
    ----------
    rows : int32[n + m, 5]
        What the operations did; those that never return stand after the n others.
    returns : int64[n]
        The ranks of the returns.
    invokes : int64[n + m]
        The ranks of the invocations.
    twins : int64[m]
        For each operation that never returns, the latest identical one before it, or -1.
    pieces : int64[bytes]
        The strings appended.
    """

    rows: Rows
    returns: Ints
    invokes: Ints
    twins: Ints
    pieces: Ints


class PathArrays(NamedTuple):
    """The order so far, and what is left.

    Attributes
    ----------
    following, preceding : int64[count + 2]
        The linked list of operations that did not take effect.
    stack : int64[n + m, 4]
        (number, state, high, limit) before each operation took effect.
    saved : int64[n + m]
        The longest order that reached the latest blocked return.
    """

    following: Ints
    preceding: Ints
    stack: Ints
    saved: Ints


class MemoArrays(NamedTuple):
    """The nodes seen: a table of numbers above BASE, where each entry begins in the pool, and the pool."""

    memo: Ints
    entry: Ints
    pool: Ints32


@kernel
def hash_entry(pool: Ints32, at: int) -> np.uint64:
    """Return the hash of an entry's key."""
    h = mix(pool[at], pool[at + 1])
    for i in range(pool[at + 2]):
        h = mix(int(h), pool[at + 3 + i])
    return h


@kernel
def remember(
    control: Ints, following: Ints, bits: Ints32, memo: Ints, entry: Ints, pool: Ints32, state: int, high: int
) -> bool:
    """Add the node to the memo; return False if the memo holds a node that covers it."""
    at = control[POOL]
    pool[at] = state
    pool[at + 1] = high
    holes = 0
    position = following[0]
    while position < high:
        pool[at + 3 + holes] = position
        holes += 1
        position = following[position]
    pool[at + 2] = holes
    length = 3 + holes
    words = len(bits)
    for i in range(words):
        pool[at + length + i] = bits[i]
    base = control[BASE]
    mask = np.uint64(len(memo) - 1)
    slot = hash_entry(pool, at) & mask
    while memo[slot] > base:
        other = entry[memo[slot] - base - 1]
        same = True
        for i in range(length):
            if pool[other + i] != pool[at + i]:
                same = False
                break
        if same:
            for i in range(length, length + words):
                if pool[other + i] & ~pool[at + i] != 0:
                    same = False
                    break
            if same:
                return False
        slot = (slot + np.uint64(1)) & mask
    entry[control[ENTRIES]] = at
    control[ENTRIES] += 1
    memo[slot] = base + control[ENTRIES]
    control[POOL] = at + length + words
    return True


@kernel
def doomed(control: Ints, rows: Rows, returns: Ints, invokes: Ints, following: Ints, bits: Ints32, limit: int) -> bool:
    """Return whether a string that starts no text of the history meets a read that must come next."""
    low = control[LOW]
    position = following[0]
    while position != control[COUNT] + 1 and invokes[low + position - 1] < limit:
        number = low + position - 1
        if rows[number, 0] == PUT:
            return False
        if returns[number] == limit and (rows[number, 0] != GET or rows[number, 4] == UNKNOWN_RESULT):
            return False
        position = following[position]
    completed = len(returns)
    for pending in range(len(invokes) - completed):
        if invokes[completed + pending] > limit:
            break
        used = bits[pending // BITS] >> (pending % BITS) & 1
        if rows[completed + pending, 0] == PUT and not used:
            return False
    return True


@kernel
def rehash_memo(control: Ints, memo: Ints, entry: Ints, pool: Ints32) -> None:
    """Fill an empty memo with all entries."""
    mask = np.uint64(len(memo) - 1)
    for number in range(control[ENTRIES]):
        slot = hash_entry(pool, entry[number]) & mask
        while memo[slot] != 0:
            slot = (slot + np.uint64(1)) & mask
        memo[slot] = control[BASE] + number + 1


@kernel
def search(
    control: Ints,
    shape: Ints,
    calls: CallArrays,
    path: PathArrays,
    bits: Ints32,
    seen: MemoArrays,
    states: States,
    scratch: Ints,
    steps: int,
) -> int:
    """Go on for about `steps` steps; return why it stopped.

    Parameters
    ----------
    control : int64[FIELDS]
        Where the search is.
    shape : int64[SHAPE_FIELDS]
        The shape of a state.
    calls, path, seen, states : CallArrays, PathArrays, MemoArrays and States
        What is searched, the order so far, the nodes seen, and the store of states.
    bits : int32[words]
        Which pending operations took effect.
    scratch : int64[...]
        Room for a path through a state.
    steps : int
        How many steps.
    """
    rows, returns, invokes, twins, pieces = calls
    following, preceding, stack, saved = path
    memo, entry, pool = seen
    nodes, slots, size = states
    completed = len(returns)
    pendings = len(twins)
    low = control[LOW]
    end = control[COUNT] + 1
    phase, state, high = control[PHASE], control[STATE], control[HIGH]
    limit, cursor, top = control[LIMIT], control[CURSOR], control[TOP]
    known = control[KNOWN]
    texts = known >= 0
    stop_at = control[STEPS] + steps
    why = SLICE
    while control[STEPS] < stop_at:
        control[STEPS] += 1
        if size[0] + 2 * control[GROWTH] > len(nodes):
            why = MORE_NODES
            break
        if control[POOL] + control[RECORD] > len(pool):
            why = MORE_POOL
            break
        if control[ENTRIES] >= len(entry):
            why = MORE_ENTRIES
            break
        number = -1
        following_state = state
        if phase == ARRIVE:
            position = following[0]
            if position == end:
                phase = BACK
                why = ENDING
                break
            limit = NEVER_RETURNS
            while position != end and invokes[low + position - 1] < limit:
                if is_read(rows, low + position - 1):
                    if rows[low + position - 1, 0] == SIZE:
                        control[STEPS] += shape[KEYS]
                    legal, _ = judge(nodes, shape, rows, low + position - 1, state)
                    if legal:
                        number = low + position - 1
                        break
                limit = min(limit, returns[low + position - 1])
                position = following[position]
            if number >= 0:
                stack[top, 0] = number
                stack[top, 1] = state
                stack[top, 2] = high
                stack[top, 3] = FORCED
                top += 1
                following[preceding[position]] = following[position]
                preceding[following[position]] = preceding[position]
                high = max(high, position)
            elif texts and state >= known and doomed(control, rows, returns, invokes, following, bits, limit):
                phase = TRY_PENDING
                cursor = pendings
            else:
                phase = TRY_KNOWN if texts else TRY
                cursor = following[0]
        elif phase in (TRY, TRY_KNOWN):
            if cursor == end or invokes[low + cursor - 1] > limit:
                if phase == TRY_KNOWN:
                    phase = TRY
                    cursor = following[0]
                else:
                    phase = TRY_PENDING
                    cursor = 0
                continue
            position = cursor
            cursor = following[position]
            mine = low + position - 1
            legal, value = judge(nodes, shape, rows, mine, state)
            if not legal or is_read(rows, mine):
                continue
            following_state = after(nodes, slots, size, shape, rows, mine, state, value, pieces, scratch)
            if texts and (following_state < known) != (phase == TRY_KNOWN):
                continue
            following[preceding[position]] = following[position]
            preceding[following[position]] = preceding[position]
            if remember(control, following, bits, memo, entry, pool, following_state, max(high, position)):
                stack[top, 0] = low + position - 1
                stack[top, 1] = state
                stack[top, 2] = high
                stack[top, 3] = limit
                top += 1
                high = max(high, position)
                state = following_state
                phase = ARRIVE
            else:
                following[preceding[position]] = position
                preceding[following[position]] = position
        elif phase == TRY_PENDING:
            if cursor == pendings or invokes[completed + cursor] > limit:
                if limit > control[BLOCKED_AT] or (limit == control[BLOCKED_AT] and top > control[BLOCKED_TOP]):
                    for i in range(control[SAVED], top):
                        saved[i] = stack[i, 0]
                    control[BLOCKED_AT] = limit
                    control[BLOCKED_TOP] = top
                    control[SAVED] = top
                phase = BACK
                continue
            pending = cursor
            cursor += 1
            twin = twins[pending]
            if bits[pending // BITS] >> (pending % BITS) & 1 or (
                twin >= 0 and not bits[twin // BITS] >> (twin % BITS) & 1
            ):
                continue
            mine = completed + pending
            legal, value = judge(nodes, shape, rows, mine, state)
            if not legal or is_read(rows, mine):
                continue
            following_state = after(nodes, slots, size, shape, rows, mine, state, value, pieces, scratch)
            if following_state == state:
                continue
            if top > 0 and stack[top - 1, 0] >= completed:
                before = stack[top - 1, 1]
                _, value = judge(nodes, shape, rows, mine, before)
                if after(nodes, slots, size, shape, rows, mine, before, value, pieces, scratch) == following_state:
                    continue
            bits[pending // BITS] |= 1 << (pending % BITS)
            if remember(control, following, bits, memo, entry, pool, following_state, high):
                stack[top, 0] = completed + pending
                stack[top, 1] = state
                stack[top, 2] = high
                stack[top, 3] = limit
                top += 1
                state = following_state
                phase = ARRIVE
            else:
                bits[pending // BITS] &= ~(1 << (pending % BITS))
        else:
            if top == 0:
                why = DONE
                break
            top -= 1
            control[SAVED] = min(control[SAVED], top)
            number = stack[top, 0]
            came_from = state
            state = stack[top, 1]
            high = stack[top, 2]
            limit = stack[top, 3]
            if number >= completed:
                pending = number - completed
                bits[pending // BITS] &= ~(1 << (pending % BITS))
                cursor = pending + 1
                phase = TRY_PENDING
                continue
            position = number - low + 1
            following[preceding[position]] = position
            preceding[following[position]] = position
            if limit != FORCED:
                cursor = following[position]
                phase = TRY_KNOWN if texts and came_from < known else TRY
    control[PHASE], control[STATE], control[HIGH] = phase, state, high
    control[LIMIT], control[CURSOR], control[TOP] = limit, cursor, top
    return why
