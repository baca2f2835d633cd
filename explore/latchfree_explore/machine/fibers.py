"""What runs on a fiber: the operations of one thread, called through their addresses.

An operation is a kernel ``operation(mem, root, thread, *arguments)`` compiled for the explored handle. It is called
by numba's own convention: a status is returned, the result comes back through a pointer.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from latchfree.jit import callback, kernel
from latchfree.kinds import Word
from latchfree_explore.board import layout as b
from latchfree_explore.board.effects import leave
from latchfree_explore.board.layout import get, put
from latchfree_explore.board.stacks import GIVEN
from latchfree_explore.machine.access import access
from latchfree_explore.machine.scheduler import enter, next_thread

_WORD = ir.IntType(64)
_STATUS = ir.IntType(32)
_NONE_STATUS = -2


def _call_with(arity: int) -> Any:
    """Signature and code of a call of an operation; its result goes to the word at address `result`."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        code, result, *given = args
        pointer = ir.IntType(8).as_pointer()
        kind = ir.FunctionType(_STATUS, [_WORD.as_pointer(), pointer.as_pointer(), *[_WORD] * (4 + arity)])
        problem = builder.alloca(pointer)
        return builder.call(
            builder.inttoptr(code, kind.as_pointer()),
            [builder.inttoptr(result, _WORD.as_pointer()), problem, *given],
        )

    word = types.int64
    signature = types.int32(*[word] * (6 + arity))
    return signature, codegen


#: ``call(code, result, base, board, root, thread, *arguments)``, by number of arguments.
_call0: Any = intrinsic(lambda typingctx, code, result, base, board, root, me: _call_with(0))
_call1: Any = intrinsic(lambda typingctx, code, result, base, board, root, me, p: _call_with(1))
_call2: Any = intrinsic(lambda typingctx, code, result, base, board, root, me, p, q: _call_with(2))
_call3: Any = intrinsic(lambda typingctx, code, result, base, board, root, me, p, q, r: _call_with(3))


@kernel
def _perform(board: Word, me: Word, call: Word) -> Word:
    """Call an operation; returns numba's status."""
    code, result = get(call, b.C_CODE), call + 8 * b.C_RESULT
    base, root, arity = get(board, b.BASE), get(board, b.ROOT), get(call, b.C_ARITY)
    p, q, r = get(call, b.C_ARGUMENTS), get(call, b.C_ARGUMENTS + 1), get(call, b.C_ARGUMENTS + 2)
    put(call, b.C_RESULT, 0)
    if arity == 0:
        return _call0(code, result, base, board, root, me)
    if arity == 1:
        return _call1(code, result, base, board, root, me, p)
    if arity == 2:
        return _call2(code, result, base, board, root, me, p, q)
    return _call3(code, result, base, board, root, me, p, q, r)


@kernel
def run_fiber(board: Word, me: Word) -> None:
    """Run all operations of fiber `me`, then let others go on for good."""
    f = b.fiber(board, me)
    for k in range(get(f, b.F_FIRST), get(f, b.F_END)):
        call = b.call(board, k)
        put(f, b.F_CALL, k)
        put(f, b.F_INVOKING, 1)
        status = _perform(board, me, call)
        if status != 0 and status != _NONE_STATUS:
            leave(board, b.RAISED)
        if get(board, b.MODE) == b.ALONE:
            put(call, b.C_BEFORE, get(board, b.RETURNED))
        else:
            if get(f, b.F_INVOKING):
                access(board, b.NOTHING, b.NOWHERE, 0, 0, 0)
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
    """The C function that every fiber starts in; it never returns."""
    return callback(types.void(types.uint64, types.uint64), _entry)
