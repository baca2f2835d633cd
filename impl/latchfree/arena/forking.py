"""Forks: each region that is open is opened once more before the process forks, for the child.

Example: a server opens an arena and forks two workers. Each worker finds the arena open, with an identity of its own,
and goes on when the server is killed.

Invariant: when `os.fork` returns, parent and child share no opening. The child's opening is made, and alive, before
the fork; so nobody takes the child for dead at any instant. A child for which there was no descriptor left, or no
memory for its mapping, finds the region closed.

A signal handler may raise between any two steps of a hook, for example on Ctrl-C. Python then prints the exception and
goes on with the next hook. So each hook is registered several times, and each time goes on where it was interrupted.
What must not come apart (a lock is taken, and this is noted) is one call of a built-in function, in which no handler
runs.
"""

from __future__ import annotations

import functools
import operator
import os
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final, NamedTuple, Protocol

from latchfree.jit import when_started

#: Seconds that a fork waits for the locks of matchers, and between two attempts to get them all.
_PATIENCE: Final = 5.0
_NAP: Final = 0.001

#: How often each hook is registered: handlers have to raise as often in one fork to leave the hook's work undone.
_TIMES: Final = 4


class Bequest(NamedTuple):
    """An opening for a forked child.

    Attributes
    ----------
    fd, identity : int
    replaces : bool
        Whether the descriptor of the region still is that of the parent's opening.
    """

    fd: int
    identity: int
    replaces: bool


class Heir(Protocol):
    """A region, as far as a fork goes."""

    def bequeath(self, descriptors: list[int]) -> Bequest:
        """Open the region once more; raise `OSError` if there is no descriptor left.

        Each new descriptor is appended to the list, in the same step as the descriptor is made.
        """

    def inherit(self, bequest: Bequest | None, descriptors: list[int]) -> bool:
        """Go on in the child with the opening made for the child; None: close the region there.

        What the region keeps is removed from the list; the rest is closed later. May be called again with the same
        bequest. Returns whether the region is open.
        """


_open: weakref.WeakSet[Heir] = weakref.WeakSet()
#: Held while the process forks. Reentrant: a region may be finalized at any point.
_forking = threading.RLock()
#: In the child, a lock that another thread holds would stay so.
_locks: list[Any] = [_forking]
#: Those of matchers with a lock: held, too, while the process forks, if they are to be had soon.
_others: weakref.WeakValueDictionary[int, Any] = weakref.WeakValueDictionary()
_acquire: Final[Callable[[Any], bool]] = type(_forking).acquire
_try: Final[Callable[[Any], bool]] = operator.methodcaller("acquire", False)
_release: Final[Callable[[Any], None]] = type(_forking).release


class _Fork:
    """What was done so far for one fork."""

    def __init__(self) -> None:
        self.parent = os.getpid()
        self.locks: list[Any] = []
        self.others: list[Any] = []
        self.until = time.monotonic() + _PATIENCE
        self.descriptors: list[int] = []
        self.bequests: dict[Heir, Bequest] = {}
        self.child = 0  # once it has inherited


class _Thread(threading.local):
    """The forks that this thread has under way, by level: a signal handler may fork in the midst of a fork."""

    def __init__(self) -> None:
        self.levels: list[None] = []
        self.forks: dict[int, _Fork] = {}

    @property
    def level(self) -> int:
        return len(self.levels)


_thread = _Thread()


def enroll(region: Heir) -> None:
    """Have children inherit a region from now on."""
    with _forking:
        _open.add(region)


def dismiss(region: Heir) -> bool:
    """Have children inherit a region no more; return whether they would have."""
    with _forking:
        found = region in _open
        _open.discard(region)
        return found


def new_lock() -> Any:
    """Return a reentrant lock that no forked child finds taken by another thread, with half a change behind it.

    A fork waits for the lock, but not for ever: who has it may wait for the fork, in code of users.
    """
    lock = threading.RLock()
    _others[id(lock)] = lock
    return lock


def in_child(hook: Callable[[], None]) -> None:
    """Have each forked child call a function, again if the function was interrupted; regions are inherited before."""
    done = [os.getpid()]

    def once() -> None:
        if done[0] != os.getpid():
            hook()
            done[0] = os.getpid()

    if hasattr(os, "register_at_fork"):
        for _ in range(_TIMES):
            os.register_at_fork(after_in_child=once)


def _before() -> None:
    fork = _thread.forks.get(_thread.level)
    if fork is None or fork.parent != os.getpid():
        fork = _thread.forks[_thread.level] = _Fork()
    while fork.locks != _locks:  # the compiler's may have come just now
        _empty(fork.locks, _release)
        fork.locks.extend(filter(_acquire, list(_locks)))  # in one step
    _take_others(fork)
    for region in list(_open):
        if region not in fork.bequests:
            with suppress(OSError):
                fork.bequests[region] = region.bequeath(fork.descriptors)


def _take_others(fork: _Fork) -> None:
    """Take the locks of matchers: all together or none, so that nobody waits for one while we wait for another."""
    while fork.others != (others := _alive()) and time.monotonic() < fork.until:
        _empty(fork.others, _release)
        fork.others.extend(filter(_try, others))  # in one step
        if fork.others != others:
            _empty(fork.others, _release)
            time.sleep(_NAP)


def _alive() -> list[Any]:
    """Return the locks of matchers; others may make matchers meanwhile."""
    return [lock for each in _others.valuerefs() if (lock := each()) is not None]


def _mind_the_compiler() -> None:
    """Hold the compiler's lock, too, while the process forks; first, since whoever compiles may finalize a region."""
    from numba.core.compiler_lock import global_compiler_lock

    with _forking:  # not in the midst of another thread's fork
        if len(_locks) == 1:
            _locks.insert(0, global_compiler_lock._lock)


def _after_in_parent() -> None:
    # spec: Lifecycle!ForkParent -- the child alone keeps its opening from here on.
    fork = _thread.forks.get(_thread.level)
    if fork is not None and fork.parent == os.getpid():
        _finish(fork)
        del _thread.forks[_thread.level]


def _inherit() -> None:
    fork = _thread.forks.get(_thread.level)
    if fork is None or fork.child not in (0, os.getpid()):
        fork = _Fork()  # each of the hooks before the fork was interrupted: there is nothing to inherit
    if not fork.child:
        for region in list(_open):
            if not region.inherit(fork.bequests.get(region), fork.descriptors):
                _open.discard(region)
        fork.child = os.getpid()
    # Of forks in whose midst this child was forked, nothing is left to inherit.
    for begun in [fork, *_thread.forks.values()]:
        begun.bequests.clear()
        _finish(begun)


def _finish(fork: _Fork) -> None:
    _empty(fork.descriptors, os.close)
    _empty(fork.others, _release)
    _empty(fork.locks, _release)


def _empty(items: list[Any], function: Callable[[Any], object]) -> None:
    """Call a built-in function with each item, the last one first; the item is removed in the same step."""
    deque(map(function, map(items.pop, [-1] * len(items))), maxlen=0)


# `_thread.levels.append(None)` and `_thread.levels.pop(-1)`, in built-in functions only: no handler runs in between.
_ascend = functools.partial(functools.reduce, operator.call, (operator.attrgetter("levels.append"), _thread, None))
_descend = functools.partial(functools.reduce, operator.call, (operator.attrgetter("levels.pop"), _thread, -1))

when_started(_mind_the_compiler)
in_child(_inherit)
if hasattr(os, "register_at_fork"):  # Windows has no fork
    for _ in range(_TIMES):
        os.register_at_fork(before=_before, after_in_parent=_after_in_parent)
    # Hooks before the fork are called in reverse order, those after the fork in order: so these are the outermost.
    os.register_at_fork(before=_ascend, after_in_parent=_descend, after_in_child=_descend)
