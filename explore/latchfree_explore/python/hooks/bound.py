"""Hooks of what is called: a function or a method is looked up, then the arguments are evaluated, then it is called.

A function whose body is rewritten is what the program calls, with nothing in between. Anything else is called by way of
`call`, which tells what it touches.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from latchfree_explore.python.core.run import CONTROL, too_late
from latchfree_explore.python.facts import effects
from latchfree_explore.python.facts.lookup import answers, owner_of, shadows
from latchfree_explore.python.facts.whole import REWRITTEN
from latchfree_explore.python.hooks.calls import call, code_of, is_rewritten, method
from latchfree_explore.python.hooks.state import CODE, get, varies
from latchfree_explore.python.library.twins import twin


def called(function: Any, line: int) -> Any:
    """Return what is to be called with the arguments."""
    if CONTROL.ending:
        too_late()
    function = twin(function)
    return function if id(code_of(function)) in REWRITTEN else partial(call, line, function)


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
        return called(getattr(owner, name), line)
    known = type(owner), name
    if known in run.methods and not shadows(owner, name):
        return getattr(owner, name)
    if isinstance(owner, effects.KINDS) and effects.built_in(owner, name):
        return partial(method, line, owner, name)
    if answers(run, known[0]) or owner_of(owner, name) is not None or varies(run, owner, name):
        return called(get(owner, name, line), line)
    if is_rewritten(*known) and run.constants.constant(name + CODE):
        run.methods.add(known)
    return called(getattr(owner, name), line)
