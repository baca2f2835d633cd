"""`threading.local` under control: a namespace for each task, kept in the one that the real thread has.

All tasks run on one thread of the system, so the real object has one namespace for all of them. Whenever another task
than before touches the object, the content is exchanged. Classes that a program derives from `threading.local` get
`Local` as their base for a while: it adds nothing to the layout of the objects.
"""

from __future__ import annotations

import _thread
import weakref
from functools import partial
from typing import Any, Final

from latchfree_explore.python.core.run import CONTROL
from latchfree_explore.python.library.locks import OUTSIDE, get_ident


class _Spaces:
    """The namespaces of one object.

    Attributes
    ----------
    run : Run or None
        The run in which the object was made, or touched last.
    owner : int
        The task whose namespace is in place.
    put_away : dict
        The content of the namespaces of others.
    """

    def __init__(self, local: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.run = CONTROL.run
        self.owner = get_ident()
        self.put_away: dict[int, dict[str, Any]] = {}
        self.args, self.kwargs = args, kwargs
        # Bound, not by name: an object may outlive the names of this module at the end of the interpreter.
        self.alive = weakref.ref(local, partial(_forget, _SPACES, id(local)))


def _forget(spaces: dict[int, _Spaces], at: int, _: object) -> None:
    spaces.pop(at, None)


_SPACES: Final[dict[int, _Spaces]] = {}


class Local(_thread._local):
    """A namespace for each task."""

    __slots__ = ()

    def __new__(cls, *args: Any, **kwargs: Any) -> Local:
        """Make the object and keep the arguments for tasks to come."""
        made = super().__new__(cls, *args, **kwargs)
        _SPACES[id(made)] = _Spaces(made, args, kwargs)
        return made

    def __getattribute__(self, name: str) -> Any:
        _enter(self)
        return super().__getattribute__(name)

    def __setattr__(self, name: str, value: Any) -> None:
        _enter(self)
        super().__setattr__(name, value)

    def __delattr__(self, name: str) -> None:
        _enter(self)
        super().__delattr__(name)


def _enter(local: Local) -> None:
    """Put the running task's namespace in place."""
    run = CONTROL.run
    spaces = _SPACES.get(id(local))
    if run is not None and (spaces is None or spaces.run is not run):
        spaces = _in_this_run(local, spaces)
    ident = get_ident()
    if spaces is None or spaces.owner == ident:
        return
    space = _thread._local.__getattribute__(local, "__dict__")
    spaces.put_away[spaces.owner] = dict(space)
    space.clear()
    spaces.owner = ident
    known = spaces.put_away.pop(ident, None)
    if known is not None:
        space.update(known)
        return
    kind: Any = type(local)
    kind.__init__(local, *spaces.args, **spaces.kwargs)


def _in_this_run(local: Local, spaces: _Spaces | None) -> _Spaces:
    """Begin with the namespace of an object that is older than the run; have it put back at the end."""
    space = _thread._local.__getattribute__(local, "__dict__")
    before = dict(space)
    if spaces is None:
        spaces = _SPACES[id(local)] = _Spaces(local, (), {})
    found = spaces
    found.run, found.owner = CONTROL.run, OUTSIDE

    def restore() -> None:
        space.clear()
        space.update(before)
        found.put_away.clear()
        found.owner = OUTSIDE

    assert CONTROL.run is not None
    CONTROL.run.undo.restore(restore)
    return found
