"""Compile the operations of a target for the explored handle, or say in one line why one cannot be."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Final

from numba import types
from numba.core.errors import NumbaError, UnsupportedBytecodeError

from latchfree_explore.board.calling import address_of
from latchfree_explore.machine.access import EXPLORED
from latchfree_explore.target import DOCS, Memory, Target

_PLACE: Final = re.compile(r'File "([^"]+)", line (\d+)(?::\s*def (\w+))?')
_ERRORS: Final = (NumbaError, UnsupportedBytecodeError)


def code_of(target: Target, name: str) -> int:
    """Return the address of an operation compiled for the explored handle.

    Raises
    ------
    ValueError
        Naming the function, where it is and what is wrong with it.
    """
    operation = target.operation(name)
    kernel = operation.kernel
    signature = (EXPLORED, types.uint64, types.int64, *[types.int64] * operation.arity)
    try:
        address = address_of(kernel, *signature)
    except _ERRORS as error:
        raise _wrong(target, name, kernel, *_problem(error)) from None
    returned = kernel.overloads[signature].signature.return_type
    if not isinstance(returned, types.Integer | types.Boolean | types.NoneType):
        raise _wrong(target, name, kernel, f"it returns {returned}, not an integer, a truth value or nothing")
    return address


def prepared(target: Target, threads: int, keys: str) -> Memory:
    """Return the memory of a target, with an empty structure in it.

    Raises
    ------
    ValueError
        Naming setup, where it is and what is wrong with it.
    """
    try:
        return target.prepare(threads, keys)
    except _ERRORS as error:
        raise _wrong(target, "setup", target.setup, *_problem(error)) from None


def _wrong(target: Target, name: str, kernel: Any, problem: str, function: str = "", place: str = "") -> ValueError:
    """Return the error that names an operation, the function that is wrong, where it is, and the problem."""
    outer = kernel.py_func
    if not place:
        function, place = outer.__name__, f"{Path(outer.__code__.co_filename).name}:{outer.__code__.co_firstlineno}"
    where = f"{function or outer.__name__} ({place})"
    return ValueError(f"{target.name}.{name}: {where} cannot be explored: {problem}; {DOCS}")


def _problem(error: Exception) -> tuple[str, str, str]:
    """Return what numba says is wrong, in a line, and the function and "file:line" of it; empty if it does not say."""
    text = str(error)
    lines = [line.strip() for line in text.splitlines()]
    said = next(line for line in [*lines, text] if line and not line.startswith(("Failed in ", "During: ")))
    tried = next((line.removeprefix(">>> ") for line in lines if line.startswith(">>> ")), "")
    if said.startswith("No implementation of function") and tried:
        said = f"there is no {tried}"
    if EXPLORED.name in said:
        said = _misuse(said)
    found = _PLACE.search(text)
    if found is None:
        return said.rstrip(".:; "), "", ""
    return said.rstrip(".:; "), found[3] or "", f"{Path(found[1]).name}:{found[2]}"


def _misuse(said: str) -> str:
    """Return what to do instead of using the memory handle as `said`, for what that does would be no step."""
    if "setitem(" in said:
        return "it writes to the memory by subscript; use store(mem, at, value)"
    if "getitem(" in said:
        return "it reads the memory by subscript; use load(mem, at)"
    return f"it takes the memory handle apart ({said}); use load(mem, at)"
