"""Functions that cannot be rewritten: they stay as they are, and end a schedule that calls them.

What they touch is not seen, so no schedule in which they run can be judged. Most are never called: what a notebook's
timed cell or `eval` has left in a module, and what the reload of a module has left behind.
"""

from __future__ import annotations

import types
from typing import Any, Final

from latchfree_explore.python.core.run import CONTROL

_PLACE: Final = "what is called"


def stand_in(function: types.FunctionType, why: str) -> types.CodeType:
    """Return code for a function: within a run it ends the schedule and says why, else it does what the function does.

    Parameters
    ----------
    function : function
        As it is now; the code fits its closure.
    why : str
        What cannot be done, and the way out.
    """
    plain = types.FunctionType(
        function.__code__, function.__globals__, function.__name__, function.__defaults__, function.__closure__
    )
    plain.__kwdefaults__, plain.__module__ = function.__kwdefaults__, function.__module__

    def called(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if CONTROL.run is not None:
            CONTROL.run.stop("out of control", why)
        return CONTROL.call(0, plain, *args, **kwargs)

    code = _outline.__code__
    constants = tuple(called if each == _PLACE else each for each in code.co_consts)
    return code.replace(
        co_consts=constants, co_freevars=function.__code__.co_freevars, co_name=function.__code__.co_name,
        co_qualname=function.__code__.co_qualname,
    )  # fmt: skip


def _outline(*args: Any, **kwargs: Any) -> Any:
    function: Any = "what is called"
    return function(args, kwargs)


def is_left_behind(function: types.FunctionType) -> bool:
    """Return whether a function is not what its module has by that name: its module was loaded anew, or it is inner."""
    first, *others = function.__code__.co_qualname.split(".")
    at: Any = function.__globals__.get(first)
    for part in others:
        held = vars(at).get(part) if isinstance(at, type) else None
        at = getattr(held, "__func__", held)
    parts = [at, *(getattr(at, name, None) for name in ("fget", "fset", "fdel", "func", "__wrapped__"))]
    return not any(each is function for each in parts)
