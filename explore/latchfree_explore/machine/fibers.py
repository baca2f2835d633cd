"""What runs on a fiber: the operations of one thread, called through their addresses.

An operation is a kernel ``operation(mem, root, thread, *arguments)`` compiled for the explored handle.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types

from latchfree.jit import callback, kernel
from latchfree.kinds import Word
from latchfree_explore.board import layout as b
from latchfree_explore.board.calling import RETURNED_NONE, RETURNED_VALUE, call4, call5, call6, call7
from latchfree_explore.board.effects import leave
from latchfree_explore.board.layout import get, put
from latchfree_explore.board.stacks import GIVEN
from latchfree_explore.machine.access import access
from latchfree_explore.machine.scheduler import enter, next_thread
from latchfree_explore.views.clocks import returned


@kernel
def perform(board: Word, me: Word, call: Word) -> Word:
    """Call an operation and return numba's status."""
    code, result = get(call, b.C_CODE), call + 8 * b.C_RESULT
    base, root, arity = get(board, b.BASE), get(board, b.ROOT), get(call, b.C_ARITY)
    p, q, r = get(call, b.C_ARGUMENTS), get(call, b.C_ARGUMENTS + 1), get(call, b.C_ARGUMENTS + 2)
    put(call, b.C_RESULT, 0)
    if arity == 0:
        return call4(code, result, base, board, root, me)
    if arity == 1:
        return call5(code, result, base, board, root, me, p)
    if arity == 2:
        return call6(code, result, base, board, root, me, p, q)
    return call7(code, result, base, board, root, me, p, q, r)


@kernel
def run_fiber(board: Word, me: Word) -> None:
    """Run all operations of fiber `me`, then let others go on for good."""
    f = b.fiber(board, me)
    for k in range(get(f, b.F_FIRST), get(f, b.F_END)):
        call = b.call(board, k)
        put(f, b.F_CALL, k)
        put(f, b.F_INVOKING, 1)
        status = perform(board, me, call)
        if status != RETURNED_VALUE and status != RETURNED_NONE:
            leave(board, b.RAISED)
        if get(board, b.MODE) == b.ALONE:
            put(call, b.C_BEFORE, get(board, b.RETURNED))
        else:
            if get(f, b.F_INVOKING):
                access(board, b.NOTHING, b.NOWHERE, 0, 0, 0)
            returned(board, me)
            last = b.step(board, get(f, b.F_LAST) - 1)
            put(last, b.S_FLAGS, get(last, b.S_FLAGS) | b.RETURNS)
            put(call, b.C_RETURN, get(f, b.F_LAST) - 1)
        put(board, b.RETURNED, get(board, b.RETURNED) | 1 << k)
    put(f, b.F_READY, 0)
    if get(board, b.MODE) == b.ALONE:
        leave(board, b.DONE)
    enter(board, next_thread(board))


def _entry(save: Word, stack: Word) -> None:
    given = np.int64(stack) + 8 * GIVEN
    run_fiber(get(given, 0), get(given, 1))


def entry() -> Any:
    """Return the C function that every fiber starts in; that function never returns."""
    return callback(types.void(types.uint64, types.uint64), _entry)
