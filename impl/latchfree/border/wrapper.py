"""Write the function that the interpreter calls: it takes the arguments apart, runs a kernel, and makes the result.

Example: for ``scan(mem, keys) -> int`` this is written, and compiled as the body of a builtin function:

    def scan(bound, given, count):
        if bad_count(count, 2):
            return zero
        views = room(10)
        clear_view(views + 0)
        result = zero
        x0 = take_word(peek(given, 0))
        if not failed():
            take_view(peek(given, 1), views + 0, 8, 0)
            if not failed():
                x1 = carray(as_pointer(start_of(views + 0)), length_of(views + 0, 8), int64)
                thread = release_gil()
                found = kernel(x0, x1)
                take_gil(thread)
                result = make_int(found)
        end_view(views + 0)
        return result

The interpreter passes `bound`, which is None, the address of the arguments' addresses, and how many there are.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from types import CodeType, FunctionType
from typing import Any, Final

import numpy as np
from numba.np.numpy_support import carray

from latchfree.atomics import peek
from latchfree.border import objects
from latchfree.border.kinds import FLAG, INT, NONE, PAIR, WORD, Array, Fields

_MADE: Final = {
    WORD: "make_word(found)",
    INT: "make_int(found)",
    FLAG: "make_flag(found)",
    PAIR: "make_pair(make_word(found[0]), make_int(found[1]))",
}
_NAMES: Final = {name: getattr(objects, name) for name in objects.__all__} | {
    "carray": carray, "peek": peek, "zero": np.uint64(0), "word": np.uint64,
    "uint64": np.uint64, "int64": np.int64, "uint32": np.uint32, "int32": np.int32, "uint8": np.uint8,
    "bool_": np.bool_,
}  # fmt: skip


class _Writer:
    """The lines that convert arguments, one after the other; each group of lines is in the block of those before."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.depth = 1
        self.views = 0
        self.names: dict[str, Any] = {}
        self._numbers = count()

    def add(self, line: str) -> None:
        self.lines.append("    " * self.depth + line)

    def let(self, expression: str) -> str:
        name = f"x{next(self._numbers)}"
        self.add(f"{name} = {expression}")
        return name

    def go_on(self) -> None:
        self.add("if not failed():")
        self.depth += 1

    def take(self, kind: Any, thing: str) -> str:
        """Write what converts an object, and return the name of what the kernel gets."""
        if isinstance(kind, Array):
            view = f"views + word({8 * objects.VIEW_WORDS * self.views})"
            self.views += 1
            take = "take_view" if kind.dimensions == 1 else "take_table"
            self.add(f"{take}({thing}, {view}, word({kind.size}), {int(kind.written)})")
            self.go_on()
            one = f"length_of({view}, word({kind.size}))"
            shape = one if kind.dimensions == 1 else f"(rows_of({view}), columns_of({view}))"
            return self.let(f"carray(as_pointer(start_of({view})), {shape}, {kind.item})")
        if isinstance(kind, Fields):
            self.add(f"take_fields({thing}, {len(kind.kinds)})")
            self.go_on()
            parts = [self.take(each, self.let(f"field({thing}, {at})")) for at, each in enumerate(kind.kinds)]
            if kind.cls is not None:
                self.names[kind.cls.__name__] = kind.cls
            return self.let(f"{kind.cls.__name__ if kind.cls else ''}({', '.join(parts)},)")
        taken = self.let(f"take_{kind}({thing})")
        self.go_on()
        return taken


def written(name: str, arguments: tuple[Any, ...], result: str, *, nogil: bool) -> tuple[str, dict[str, Any]]:
    """Return the source of a wrapper, and the names it uses beside ``kernel``."""
    body = _Writer()
    taken = [body.take(kind, f"peek(given, word({at}))") for at, kind in enumerate(arguments)]
    if nogil:
        body.add("thread = release_gil()")
    body.add(f"found = kernel({', '.join(taken)})" if result != NONE else f"kernel({', '.join(taken)})")
    if nogil:
        body.add("take_gil(thread)")
    if result == NONE:
        body.add("incref(bound)")
        body.add("result = bound")
    else:
        body.add(f"result = {_MADE[result]}")
    views = [f"views + word({8 * objects.VIEW_WORDS * at})" for at in range(body.views)]
    lines = [
        f"def {name}(bound, given, count):",
        f"    if bad_count(count, {len(arguments)}):",
        "        return zero",
        *([f"    views = room({objects.VIEW_WORDS * body.views})"] if views else []),
        *(f"    clear_view({view})" for view in views),
        "    result = zero",
        *body.lines,
        *(f"    end_view({view})" for view in views),
        "    return result",
    ]
    return "\n".join(lines), _NAMES | body.names


def wrapper(name: str, module: str, file: str, call: Any) -> Callable[..., Any]:
    """Return the function of a call for numba to compile, of the signature ``uint64(uint64, uint64, int64)``.

    Parameters
    ----------
    name : str
        What the function is called.
    module, file : str
        The module that declares the call, and the module's file: compiled code is kept as long as that file, and what
        it imports, is unchanged.
    call : Call
        The compiled function, with the kinds of its arguments and of its result.
    """
    source, names = written(name, call.arguments, call.result, nogil=call.nogil)
    space = names | {"kernel": call.kernel, "__name__": module, "__file__": file}
    # Not by `exec`, which could import anything: a key of compiled code would have all of the package in it.
    (code,) = (each for each in compile(source, file, "exec").co_consts if isinstance(each, CodeType))
    return FunctionType(code, space)
