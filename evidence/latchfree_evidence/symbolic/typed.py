"""Look at the types that numba gives to a function, since the proofs take all numbers for unsigned words.

Example: ``(word + 1) >> 63`` of a 64-bit word is 0 or 1, and a proof says so. Numba takes the sum of an unsigned word
and the literal 1 for a signed number, whose shift copies the sign, so the compiled function may return 2**64 - 1. With
``np.uint64(1)`` both are the same function.

So a function under proof must compute with unsigned words and truth values alone. Types are inferred as numba does when
it compiles; no machine code is made.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from functools import cache
from types import FunctionType
from typing import Any


@cache
def _kinds() -> dict[str, Any]:
    """Return the machine type of each name of `latchfree.kinds`; what has no name there is a word."""
    from numba import types

    return {"Flag": types.boolean, "Array": types.Array(types.uint64, 1, "C")}


@cache
def other_numbers(function: FunctionType) -> tuple[str, ...]:
    """Return each place of a function where numba computes with signed numbers or floats, as "name:line: what".

    Parameters
    ----------
    function : function
        The Python function of a compiled one.

    Returns
    -------
    tuple of str
        Empty if there is none; one entry with the reason if numba cannot type the function on words.
    """
    from numba import types
    from numba.core import compiler, errors, ir, typed_passes
    from numba.core.registry import cpu_target

    from latchfree.jit.lowering import lowering

    definition = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]
    assert isinstance(definition, ast.FunctionDef)
    names = [getattr(each.annotation, "id", "") for each in definition.args.args]
    arguments = tuple(_kinds().get(name, types.uint64) for name in names)
    frontend: Any = compiler.run_frontend
    inference: Any = typed_passes.type_inference_stage
    with lowering():
        cpu_target.typing_context.refresh()
        cpu_target.target_context.refresh()
        try:
            form = frontend(function)
            found = inference(cpu_target.typing_context, cpu_target.target_context, form, arguments, None)
        except errors.NumbaError as error:
            return (f"{function.__name__}: numba cannot type it on words: {str(error).splitlines()[0]}",)
    places = [
        (each.loc.line, found.typemap[each.target.name])
        for block in form.blocks.values()
        for each in block.body
        if isinstance(each, ir.Assign) and not isinstance(each.value, ir.Const | ir.Global | ir.FreeVar)
    ]
    wrong = sorted({(line, str(kind)) for line, kind in places if _is_other(kind)})
    name = function.__name__
    if not wrong and _is_other(found.return_type):
        return (f"{name}:{function.__code__.co_firstlineno}: returns {found.return_type}",)
    return tuple(f"{name}:{line}: computes with {kind}" for line, kind in wrong)


def _is_other(kind: Any) -> bool:
    from numba import types

    if isinstance(kind, types.Literal):
        return False
    return isinstance(kind, types.Float) or bool(isinstance(kind, types.Integer) and vars(kind)["signed"])
