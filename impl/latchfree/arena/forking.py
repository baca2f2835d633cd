"""Forks: each region that is open is opened once more before the process forks, for the child.

Example: a server opens an arena and forks two workers. Each worker finds the arena open, with an identity of its own,
and goes on when the server is killed.

Invariant: when `os.fork` returns, parent and child share no opening. The child's opening is made, and alive, before
the fork; so nobody takes the child for dead at any instant. A child for which there was no descriptor left finds the
region closed.
"""

from __future__ import annotations

import os
import threading
import weakref
from contextlib import suppress
from typing import Any, NamedTuple, Protocol

from numba.core.compiler_lock import global_compiler_lock


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

    def bequeath(self) -> Bequest:
        """Open the region once more; raise `OSError` if there is no descriptor left."""

    def inherit(self, bequest: Bequest | None) -> None:
        """Go on in the child with the opening made for the child; None: close the region there."""


_open: weakref.WeakSet[Heir] = weakref.WeakSet()
_compiling: Any = global_compiler_lock
#: Held while the process forks. Reentrant: a region may be finalized at any point.
_forking = threading.RLock()
#: The regions a child is about to inherit, for each fork under way: a signal handler may fork in the midst of a fork.
_forks: list[list[tuple[Heir, Bequest]] | None] = []


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


def _before() -> None:
    # First: whoever compiles may have to finalize a region. In the child, a lock held by another thread would stay so.
    _compiling.acquire()
    _forking.acquire()
    bequests: list[tuple[Heir, Bequest]] = []
    _forks.append(bequests)
    for region in list(_open):
        with suppress(OSError):
            bequests.append((region, region.bequeath()))


def _after_in_parent() -> None:
    # spec: Lifecycle!ForkParent -- the child alone keeps its opening from here on.
    _close(_forks.pop())
    _release()


def _after_in_child() -> None:
    bequests = _forks.pop()
    if bequests is not None:
        found = {id(region): bequest for region, bequest in bequests}
        for region in list(_open):
            bequest = found.pop(id(region), None)
            region.inherit(bequest)
            if bequest is None:
                _open.discard(region)
        for bequest in found.values():  # for a region that was closed, by a finalizer, after the bequest was made
            os.close(bequest.fd)
        # Of forks in whose midst this child was forked, nothing is left to inherit.
        for k, outer in enumerate(_forks):
            _close(outer)
            _forks[k] = None
    _release()


def _close(bequests: list[tuple[Heir, Bequest]] | None) -> None:
    for _, bequest in bequests or ():
        os.close(bequest.fd)


def _release() -> None:
    _forking.release()
    _compiling.release()


os.register_at_fork(before=_before, after_in_parent=_after_in_parent, after_in_child=_after_in_child)
