"""Hooks of what is called: a function or a method is looked up, then the arguments are evaluated, then it is called.

A function whose body is rewritten is what the program calls, with nothing in between. Anything else is called by way of
`call`, which tells what it touches.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from latchfree_explore.python.core.places import called as name_of
from latchfree_explore.python.core.run import CONTROL, Run
from latchfree_explore.python.core.steps import READ
from latchfree_explore.python.hooks import effects
from latchfree_explore.python.hooks.calls import _code_of, _is_rewritten, call, method
from latchfree_explore.python.hooks.state import answers, get, owner_of, shadows, told
from latchfree_explore.python.hooks.whole import REWRITTEN
from latchfree_explore.python.library.twins import twin


def called(function: Any, line: int) -> Any:
    """Return what is to be called with the arguments."""
    run = CONTROL.run
    function = twin(function)
    if run is None or id(_code_of(function)) in REWRITTEN:
        return function
    return partial(call, line, function)


def spreading(function: Any, line: int) -> Any:
    """Return what is to be called with arguments of which some are spread out; errors name the function itself."""
    new = called(function, line)
    if isinstance(new, partial) and new is not function:
        for name in ("__module__", "__qualname__"):
            if hasattr(function, name):
                setattr(new, name, getattr(function, name))
    return new


def bound(owner: Any, name: str, line: int) -> Any:
    """Look up a method; return what is to be called with the arguments.

    That the objects of a class have no attribute in place of a method is assumed until some run writes one.
    """
    run = CONTROL.run
    owner = twin(owner)
    if run is None:
        return twin(getattr(owner, name))
    known = type(owner), name
    if known in run.methods and name not in run.constants.written and not shadows(owner, name):
        return getattr(owner, name)
    if isinstance(owner, effects.KINDS) and effects.built_in(owner, name):
        return partial(method, line, owner, name)
    if answers(run, known[0]) or owner_of(owner, name) is not None:
        return called(get(owner, name, line), line)
    if _is_rewritten(*known):
        run.methods.add(known)
        if not run.constants.constant(name) and known[0].__dictoffset__:
            _look_for(run, owner, name, line)
    return called(getattr(owner, name), line)


def _look_for(run: Run, owner: Any, name: str, line: int) -> None:
    """Look whether an object has an attribute in place of a method."""
    run.at(line)
    run.record(owner, name, READ)
    if run.telling:
        told(run, line, f"look for {name_of(run.roots, owner)}.{name}")
