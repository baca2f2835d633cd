"""Compile the operations of a target for the explored handle, or say in one line why one cannot be."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Final

import numpy as np
from numba import typeof, types
from numba.core.errors import NumbaError, UnsupportedBytecodeError

from latchfree_explore.board.calling import address_of
from latchfree_explore.machine.access import Explored
from latchfree_explore.target import DOCS, Memory, Target

_typeof: Any = typeof
_HANDLE: Final = _typeof(Explored(np.uint64(0), np.uint64(0)))
_PLACE: Final = re.compile(r'File "([^"]+)", line (\d+)')
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
    signature = (_HANDLE, types.uint64, types.int64, *[types.int64] * operation.arity)
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


def _wrong(target: Target, name: str, kernel: Any, problem: str, place: str = "") -> ValueError:
    function = kernel.py_func
    own = f"{Path(function.__code__.co_filename).name}:{function.__code__.co_firstlineno}"
    where = f"{function.__name__} ({place or own})"
    return ValueError(f"{target.name}.{name}: {where} cannot be explored: {problem}; {DOCS}")


def _problem(error: Exception) -> tuple[str, str]:
    """Return what numba says is wrong, in a line, and where, as "file:line"; empty if it does not say."""
    text = str(error)
    lines = [line.strip() for line in text.splitlines()]
    said = next(line for line in [*lines, text] if line and not line.startswith(("Failed in ", "During: ")))
    tried = next((line.removeprefix(">>> ") for line in lines if line.startswith(">>> ")), "")
    if said.startswith("No implementation of function") and tried:
        said = f"there is no {tried}"
    found = _PLACE.search(text)
    return said.rstrip(".:; "), f"{Path(found[1]).name}:{found[2]}" if found else ""
