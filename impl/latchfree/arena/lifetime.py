"""`Lifetime`: how an opening of an arena ends, and what a forked child makes of it.

Example: a program ends, and has not closed its arena. A thread of the program still reads many keys. The interpreter
waits two seconds for the call, and then leaves the arena as a killed process would: the reaper of another process
adopts the slots when the kernel has ended the thread.

Invariant: an opening of a shared arena ends once, whoever asks for the end (`close`, the garbage collector, the end of
the interpreter), and not while a call is under way. A forked child has an opening, a lifetime and a reaper of its own,
and none of its parent's slots.
"""

from __future__ import annotations

import atexit
import time
import weakref
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import partial
from typing import Any, Final, Protocol

from latchfree.arena import forking, layout, reaper
from latchfree.arena.cells import Cells
from latchfree.arena.lending import Lender
from latchfree.arena.region import Region

#: Seconds that the end of the interpreter waits for calls of threads that still run.
_AT_EXIT: Final = 2.0


class Holding(Protocol):
    """What a process holds in a shared arena and gives back when it closes the arena."""

    #: Those of a lower rank are ended first.
    rank: int

    def end(self) -> None:
        """Give back what is held."""


class Lifetime:
    """The lifetime of one opening.

    Parameters
    ----------
    arena : Reapable
        The opening is closed when nobody refers to this any more.
    region : Region
    cells : Cells
    lender : Lender

    Attributes
    ----------
    holdings : WeakSet of Holding
        What this opening holds in the arena, if the arena is shared: ended when the arena is closed.

    Raises
    ------
    OSError
        If the process can have no thread for the reaper; the region is closed then.
    """

    def __init__(self, arena: reaper.Reapable, region: Region, cells: Cells, lender: Lender) -> None:
        self._arena = weakref.ref(arena)
        self._region = region
        self._cells = cells
        self._lender = lender
        self.holdings: weakref.WeakSet[Holding] = weakref.WeakSet()
        if region.shared:
            self._begin(arena)
        _all.add(self)  # after the finalizer: a signal handler may fork between any two steps
        cells.address(region.identity)  # after that: who is forked before this was not renewed, and has another one
        if region.shared:
            try:
                reaper.start(arena)
            except BaseException:
                _finish(self._finalizer)
                raise

    def _begin(self, arena: reaper.Reapable) -> None:
        self._finalizer = weakref.finalize(arena, _close, self._region, self._cells, self._lender, self.holdings)
        self._finalizer.atexit = False
        self._lender.when_idle = partial(_finish, self._finalizer)

    def close(self) -> None:
        """End a shared arena here, unless it has ended: now, or with the last call of this thread that is under way."""
        if self._region.shared and self._finalizer.alive and self._lender.stop():
            _finish(self._finalizer)

    def leave(self, until: float) -> None:
        """End it at the end of the interpreter; if calls go on `until` then, leave it as a killed process would."""
        if not self._region.shared:
            return
        if self._lender.stop(patience=until - time.monotonic(), exiting=True):
            _finish(self._finalizer)
        else:
            # spec: Lifecycle!CloseLeave -- the kernel takes the byte back when the threads have ended.
            self._finalizer.detach()

    def renew(self) -> None:
        """Begin anew in a forked child: the slots are the parent's, and so was any thread that was at work."""
        self._lender.renew()
        if self._region.shared:
            self._cells.address(self._region.identity)  # first: an empty cell is filled by whoever comes
            self._cells.empty()
            self._finalizer.detach()
            arena = self._arena()
            if arena is None:
                return
            if self._region.closed:  # or no descriptor was left to open it once more
                self._lender.closing = True
            else:
                self._begin(arena)
                with suppress(OSError):  # the reapers of other processes do its work
                    reaper.start(arena)
        else:
            # The memory is a copy, and so are the slots of threads that do not exist here.
            words = self._region.words
            for slot, _ in list(claimed(words)):
                if slot != self._cells.shown[0]:
                    words[slot + int(layout.P_PIN)] = 0
                    words[slot + int(layout.P_STATE)] = 0


_all: weakref.WeakSet[Lifetime] = weakref.WeakSet()


def claimed(words: Any) -> Iterator[tuple[int, int]]:
    """Yield offset and state of every claimed slot of an arena."""
    for k in range(int(words[layout.H_CLAIMED])):
        slot = layout.PARTICIPANTS + k * layout.PARTICIPANT_WORDS
        state = int(words[slot + int(layout.P_STATE)])
        if state:
            yield slot, state


def _close(region: Region, cells: Cells, lender: Lender, holdings: Any) -> None:
    """Give back all that this opening holds in a region, and close the region; calls find no participant any more."""
    lender.closing = True
    for holding in _sorted(holdings):
        holding.end()
    cells.empty()
    lender.release_all()
    with suppress(OSError):
        region.close()


def _finish(finalizer: Any) -> None:
    """Call a finalizer unless it was called, also at the end of the interpreter, when `weakref.finalize` calls none."""
    found = finalizer.detach()
    if found is not None:
        _, function, arguments, _ = found
        function(*arguments)


def _sorted(holdings: Iterable[Holding]) -> list[Holding]:
    while True:
        with suppress(RuntimeError):  # another thread holds one thing more
            return sorted(holdings, key=lambda holding: holding.rank)


def _at_exit() -> None:
    until = time.monotonic() + _AT_EXIT
    for lifetime in list(_all):
        lifetime.leave(until)


def _after_fork_in_child() -> None:
    for lifetime in list(_all):
        lifetime.renew()


forking.in_child(_after_fork_in_child)
atexit.register(_at_exit)
