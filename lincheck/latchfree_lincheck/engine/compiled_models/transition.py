"""The effect of one row on a state: the built-in models as two compiled functions.

A state is an integer: the value itself where an object holds one value, else the number of a tree or a chain in the
store of `states`. Equal states have equal numbers.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from latchfree.jit import kernel
from latchfree_lincheck.engine.compiled_models.opcodes import (
    ABSENT,
    ADD,
    APPEND,
    CLEAR,
    CONTAINS,
    DELETE,
    ENQUEUE,
    GET,
    INSERT,
    OFFER,
    OWN,
    PUSH,
    PUT,
    PUT_IF_ABSENT,
    REMOVE,
    REMOVE_IF,
    REPLACE,
    REPLACE_IF,
    SIZE,
    SNAPSHOT,
    TAKE,
    UNKNOWN_RESULT,
)
from latchfree_lincheck.engine.compiled_models.own import after_own, judge_own
from latchfree_lincheck.engine.compiled_models.states import cons, extend, fetch, insert, length, update
from latchfree_lincheck.history.timeline import Ints, int64

Rows = npt.NDArray[np.int32]


class PartArrays(NamedTuple):
    """The arrays of one part, for compiled code; see `latchfree_lincheck.engine.encoding.problem.Problem`.

    Attributes
    ----------
    events : int64[e]
        ``2 * operation`` for an invocation, one more for a return, in order of time.
    return_ : int64[n]
        The rank of each return.
    rows : int32[n, 5]
        What the operations did.
    contents : int64[s, keys]
        What snapshots saw.
    pieces : int64[bytes]
        The strings appended.
    """

    events: Ints
    return_: Ints
    rows: Rows
    contents: Ints
    pieces: Ints


# The fields of `shape`.
DEPTH: Final = 0
KEYS: Final = 1
EMPTY: Final = 2
"""The state with no value."""
SHAPE_FIELDS: Final = 3


@kernel
def is_read(rows: Rows, number: int) -> bool:
    """Return whether a row, by its result, changes no state in which it is legal."""
    code, a, b, result = rows[number, 0], rows[number, 2], rows[number, 3], rows[number, 4]
    if code in (GET, CONTAINS, SNAPSHOT, SIZE):
        return True
    if code == ADD:
        return bool(a == 0)
    if code == APPEND:
        return bool(b == 0)
    if code in (REMOVE, REPLACE, TAKE):
        return bool(result == ABSENT or (code == REPLACE and result == a))
    if code == PUT:
        return bool(result == a)
    if code == PUT_IF_ABSENT:
        return bool(result >= 0)
    if code in (REPLACE_IF, REMOVE_IF, INSERT, DELETE, ENQUEUE):
        return bool(result == 0 or (code == REPLACE_IF and result == 1 and a == b))
    return bool(code == OWN and result == 1)


@kernel
def judge(nodes: Ints, shape: Ints, rows: Rows, number: int, state: int) -> tuple[bool, int]:
    """Return whether a row is legal in `state`, and the value it leaves at its key."""
    code, result = rows[number, 0], rows[number, 4]
    if code >= PUSH:
        if code == OWN:
            return judge_own(nodes, shape, rows[number, 2], state, result == 1), 0
        return _judge_list(nodes, rows, number, state), 0
    free = result == UNKNOWN_RESULT
    if SNAPSHOT <= code <= APPEND:
        if code == SNAPSHOT:
            return free or result == state, 0
        if code == SIZE and not free:
            present = 0
            for k in range(shape[KEYS]):
                if fetch(nodes, shape[DEPTH], state, k) != ABSENT:
                    present += 1
            return present == result, 0
        return True, 0
    a = rows[number, 2]
    held = fetch(nodes, shape[DEPTH], state, rows[number, 1])
    value = held
    expected = held
    if code == PUT:
        value = int64(a)
    elif code == REMOVE:
        value = int64(ABSENT)
    elif code == PUT_IF_ABSENT:
        if held == ABSENT:
            value = int64(a)
    elif code == REPLACE:
        if held != ABSENT:
            value = int64(a)
    elif code == CONTAINS:
        expected = int64(held != ABSENT)
    elif code == REPLACE_IF:
        expected = int64(held == a)
        if held == a:
            value = int64(rows[number, 3])
    elif code == REMOVE_IF:
        expected = int64(held == a and held != ABSENT)
        if held == a:
            value = int64(ABSENT)
    elif code == INSERT:
        expected = int64(held == ABSENT)
        value = int64(0)
    elif code == DELETE:
        expected = int64(held != ABSENT)
        value = int64(ABSENT)
    elif code == ADD:
        value = held + a
    return free or result == expected, value


@kernel
def _judge_list(nodes: Ints, rows: Rows, number: int, state: int) -> bool:
    """Return whether a row on a list is legal."""
    code, result = rows[number, 0], rows[number, 4]
    if result == UNKNOWN_RESULT:
        return True
    if code == TAKE:
        return bool(result == (ABSENT if state == ABSENT else nodes[state, 1]))
    capacity = rows[number, 3]
    return bool(code != ENQUEUE or capacity == ABSENT or result == int64(length(nodes, state) < capacity))


@kernel
def after(
    nodes: Ints,
    slots: Ints,
    size: Ints,
    shape: Ints,
    rows: Rows,
    number: int,
    state: int,
    value: int,
    pieces: Ints,
    path: Ints,
) -> int:
    """Return the state after a row that writes; `value` is what `judge` returned just before, `path` is scratch."""
    code, a, b = rows[number, 0], rows[number, 2], rows[number, 3]
    if code == CLEAR:
        return shape[EMPTY]  # type: ignore[no-any-return]
    if code == APPEND:
        return extend(nodes, slots, size, state, pieces[a : a + b])
    if code == TAKE:
        return ABSENT if state == ABSENT else int64(nodes[state, 0])
    if code == OWN:
        return after_own(nodes, slots, size, shape)
    if code == PUSH:
        return cons(nodes, slots, size, state, a)
    if code == OFFER:
        return insert(nodes, slots, size, state, a, True, path)
    if code == ENQUEUE:
        if b != ABSENT and length(nodes, state) >= b:
            return state
        return insert(nodes, slots, size, state, a, False, path)
    return update(nodes, slots, size, shape[DEPTH], state, rows[number, 1], value, path)
