"""The instruction that calls the step of a user's own model; loaded with the compiler."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic


@intrinsic
def call_step(typing: Any, address: Any, call: Any, state: Any, after: Any) -> Any:
    """Call a C function of three pointers that returns an integer."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        word = ir.IntType(64)
        pointer = word.as_pointer()
        function = builder.inttoptr(arguments[0], ir.FunctionType(word, [pointer] * 3).as_pointer())
        return builder.call(function, [builder.inttoptr(each, pointer) for each in arguments[1:]])

    return types.int64(types.int64, types.int64, types.int64, types.int64), emit
