"""The kernels that Python calls, with the types of their arguments; compiled at the first call."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from numba import types

from latchfree.arena.kernels.epochs import pin, unpin
from latchfree.jit import entry_point
from latchfree.topics.concurrent.kernels.collect import Buffers
from latchfree.topics.concurrent.kernels.digits import Grammar
from latchfree.topics.concurrent.kernels.rows import Descent, add_rows, drop_rows, match_rows
from latchfree.topics.concurrent.kernels.single import add_text, drop_text, match_text
from latchfree.topics.concurrent.kernels.whole import create, scan


def _tuple_of(element: Any, kind: type[Any]) -> Any:
    """Return the type of a named tuple whose elements are all of one type."""
    named: Any = types.NamedUniTuple
    return named(element, len(kind._fields), kind)


_W = types.uint64
_I = types.int64
_WORDS = types.uint64[::1]
_INTS = types.int64[::1]
_GRAMMAR = _tuple_of(_W, Grammar)
_BUFFERS = _tuple_of(_WORDS, Buffers)
_DESCENT = _tuple_of(_WORDS, Descent)

_SIGNATURES: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "create": (create, (_W,) * 4),
    "match_rows": (match_rows, (_W,) * 4 + (_GRAMMAR, _W, _W, _INTS, _I, _INTS, _INTS, _BUFFERS)),
    "add_rows": (add_rows, (_W,) * 5 + (_INTS, _W, _W, _W, _I, _WORDS, _DESCENT)),
    "drop_rows": (drop_rows, (_W,) * 5 + (_INTS, _WORDS, _INTS, _I, _DESCENT)),
    "match_text": (match_text, (_W,) * 4 + (_GRAMMAR, _W, _INTS, _INTS, _INTS, _BUFFERS)),
    "add_text": (add_text, (_W,) * 5 + (_INTS, _W, _W, _WORDS, _DESCENT)),
    "drop_text": (drop_text, (_W,) * 5 + (_INTS, _WORDS, _INTS, _DESCENT)),
    "scan": (scan, (_W,) * 3 + (_WORDS,) * 2),
    "pin": (pin, (_W, _W)),
    "unpin": (unpin, (_W, _W)),
}


@cache
def call(name: str) -> Callable[..., Any]:
    """Return the compiled entry point of the kernel of that name, which Python calls without numba's dispatch."""
    function, arguments = _SIGNATURES[name]
    return entry_point(function, *arguments)
