"""Call compiled code through an address that is found in the board.

A kernel called by name is linked into its caller, so a caller compiled once could call one operation and one strategy
only. Called through addresses, operations and strategies are compiled apart, each when it is used for the first time.

The convention is numba's own: a status is returned, and the result comes back through a pointer.
"""

from __future__ import annotations

from typing import Any, Final

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

_alloca_once: Any = cgutils.alloca_once
_WORD: Final = ir.IntType(64)
_STATUS: Final = ir.IntType(32)

#: Statuses of a call that has raised no exception: there is a result, or it is None.
RETURNED_VALUE: Final = 0
RETURNED_NONE: Final = -2


def _call_with(words: int) -> Any:
    """Return signature and code of a call with so many words; the result goes to the word at address `result`."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        code, result, *given = args
        pointer = ir.IntType(8).as_pointer()
        kind = ir.FunctionType(_STATUS, [_WORD.as_pointer(), pointer.as_pointer(), *[_WORD] * words])
        problem = _alloca_once(builder, pointer)
        return builder.call(
            builder.inttoptr(code, kind.as_pointer()),
            [builder.inttoptr(result, _WORD.as_pointer()), problem, *given],
        )

    word = types.int64
    return types.int32(*[word] * (2 + words)), codegen


#: ``callN(code, result, *words)`` with N words; returns the status.
call1: Any = intrinsic(lambda typingctx, code, result, a: _call_with(1))
call2: Any = intrinsic(lambda typingctx, code, result, a, b: _call_with(2))
call4: Any = intrinsic(lambda typingctx, code, result, a, b, c, d: _call_with(4))
call5: Any = intrinsic(lambda typingctx, code, result, a, b, c, d, e: _call_with(5))
call6: Any = intrinsic(lambda typingctx, code, result, a, b, c, d, e, f: _call_with(6))
call7: Any = intrinsic(lambda typingctx, code, result, a, b, c, d, e, f, g: _call_with(7))


def address_of(kernel: Any, *kinds: Any) -> int:
    """Compile a kernel for arguments of these types and return the address of its code.

    The code lasts as long as the kernel.
    """
    kernel.compile(kinds)
    compiled = kernel.overloads[kinds]
    return int(compiled.library.get_pointer_to_function(compiled.fndesc.llvm_func_name))
