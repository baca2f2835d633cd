"""Lending: calls that give up the interpreter lock borrow a participant of the arena, one slot a call.

Example: a thread looks up a million keys. `Lender.lend` takes a free slot of this opening, or claims one; the compiled
call works in the slot; at the end of the ``with`` block the slot is free for the next call of any thread.

Invariant: a slot is lent to one call at a time, and a call that is made in the midst of another one (by a signal
handler, a finalizer or a user's own code) gets another slot. A call is entered in `under_way` before it looks whether
the arena is closing, and whoever closes the arena says so before looking at `under_way`; so no call begins after the
arena was found idle. Single operations on dicts and lists are atomic under the interpreter lock, so nothing here takes
a lock that a signal handler, or a forked child, could find taken.
"""

from __future__ import annotations

import itertools
import os
import sys
import threading
import time
import weakref
from collections.abc import Callable
from contextlib import suppress
from threading import get_ident
from typing import Any, ClassVar, Final

from latchfree.arena import layout
from latchfree.arena.border import ARENA
from latchfree.arena.region import Region
from latchfree.errors import ArenaClosed, MadeBeforeFork, ParticipantsExhausted

#: Calls that may have a slot at the same time; a call in the midst of another one is not counted.
_MOST: Final = 64
#: Free slots that an opening keeps.
_KEPT: Final = 8
#: Seconds between two attempts to get a slot, and altogether.
_NAP: Final = 0.002
_PATIENCE: Final = 30.0

_SHIFT = int(layout.IDENTITY_SHIFT)
_PID, _ADDRESS, _FD = int(layout.P_PID), int(layout.P_ADDRESS), int(layout.P_FD)


class Call:
    """A call under way, which keeps the arena open."""

    __slots__ = ("_lender",)
    borrows: ClassVar = False

    def __init__(self, lender: Lender) -> None:
        self._lender = lender

    def __enter__(self) -> int:
        lender = self._lender
        # spec: Lifecycle!Lend, Lifecycle!AdoptBegin -- entered before the look at `closing`.
        lender.under_way[id(self)] = get_ident(), self.borrows
        if lender.closing and not lender.goes_on():
            self.__exit__()
            lender.refuse()
        return 0

    def __exit__(self, *exception: object) -> None:
        lender = self._lender
        lender.under_way.pop(id(self), None)
        if lender.is_late and not lender.under_way:
            lender.when_idle()

    def __del__(self) -> None:
        # A signal handler may raise between two steps of entering or leaving.
        lender = getattr(self, "_lender", None)
        if lender is not None and id(self) in lender.under_way:
            self.__exit__()


class Loan(Call):
    """A call under way with a slot of its own; entering yields the word offset of the slot."""

    __slots__ = ("_home", "_maker", "_slot")
    borrows: ClassVar = True

    def __init__(self, lender: Lender, maker: int) -> None:
        self._lender = lender
        self._maker = maker
        self._home, self._slot = lender.free, 0

    def __enter__(self) -> int:
        lender = self._lender
        Call.__enter__(self)
        try:
            while not self._slot:
                age = lender.age
                slot = lender.take()
                # Else a handler has forked meanwhile, and the slot is the parent's, though the child may have claimed
                # one of the same number. The age is looked at last: no handler runs between that and the next line.
                if lender.has(slot, self._maker) and lender.age == age:
                    self._home, self._slot = lender.free, slot
        except BaseException:
            self.__exit__()
            raise
        return self._slot

    def __exit__(self, *exception: object) -> None:
        lender, slot = self._lender, self._slot
        self._slot = 0
        if slot:
            lender.take_back(slot, self._home)
        Call.__exit__(self)


class Lender:
    """The slots of one opening, and the calls under way in it.

    Parameters
    ----------
    region : Region
    release_dead : weak reference to a method
        Releases the slots of dead openings.

    Attributes
    ----------
    under_way : dict
        The thread of each call, and whether the call has a slot.
    free : list of int
        Slots that no call has.
    closing : bool
        Whether the arena is being closed, or is.
    age : int
        How often the process was forked since the arena was opened.
    is_late : bool
        Whether the arena was closed in the midst of a call of the same thread.
    when_idle : callable
        Called when the last call ends, if `is_late`.
    """

    def __init__(self, region: Region, release_dead: weakref.WeakMethod[Callable[[], None]]) -> None:
        self._region = region
        self._base: int = region.words.ctypes.data
        self._release_dead = release_dead
        self.age = -1
        self._incarnations = itertools.count()
        self.under_way: dict[int, tuple[int, bool]] = {}
        self.free: list[int] = []
        self.closing = self.is_late = False
        self.when_idle: Callable[[], object] = int
        self._exiting = False
        self.renew()

    def renew(self) -> None:
        """Begin anew, in a process that has just been forked: nothing of the parent's is ours."""
        me = get_ident()
        self.age += 1
        self._states: dict[int, int] = {}
        self.free = []
        self._last: dict[int, int] = {}
        self.under_way = {call: whose for call, whose in self.under_way.items() if whose[0] == me}

    # slots ----------------------------------------------------------------------------------------------------

    def word(self) -> int:
        """Return the state of a slot that this opening claims or adopts now."""
        incarnation = next(self._incarnations) % (1 << _SHIFT)
        return self._region.identity << _SHIFT | incarnation

    def claim(self) -> int:
        """Claim a slot of the arena for this opening; 0 if there is none."""
        claim = ARENA.claim
        address, number = self._region.reserve_through()
        process, state = os.getpid(), self.word()
        # A signal handler that forks during or after the claim leaves the slot to the parent, whose `states` these are.
        states = self._states
        slot: int = claim(self._base, state)
        if slot:
            words = self._region.words
            words[slot + _PID] = process
            words[slot + _ADDRESS], words[slot + _FD] = address, number
            states[slot] = state
        return slot

    def has(self, slot: int, maker: int) -> bool:
        """Return whether a slot is this process's; raise as `check_maker` does. No handler runs after the looks."""
        if maker and maker != self._region.identity:
            self.check_maker(maker)
        return slot in self._states

    def release(self, slot: int) -> None:
        """Give a slot back to the arena."""
        state = self._states.pop(slot, 0)
        if state:
            ARENA.release(self._base, slot, state)

    def release_free(self) -> None:
        """Give the slots that no call has back to the arena."""
        while self.free:
            with suppress(IndexError):  # another thread was faster
                self.release(self.free.pop())

    def release_all(self) -> None:
        """Give all slots back; the caller has stopped all calls."""
        for slot in list(self._states):
            self.release(slot)

    def take(self) -> int:
        """Return a slot for a call: that of this thread's last one, if it is free.

        Free memory is kept by slots. A thread that stays with its slot gets memory that its own processor wrote last.
        """
        last = self._last.get(get_ident(), 0)
        at = {slot: place for place, slot in enumerate(self.free)}.get(last, -1)
        try:
            return self.free.pop(at)  # whatever stands there by now: any free slot will do
        except IndexError:
            return self.another()

    def another(self, *, wait: bool = True) -> int:
        """Return a slot, of the arena or of a call that has just ended.

        Raises
        ------
        ParticipantsExhausted
            If all slots of the arena are in use by living openings for half a minute.
        """
        until = 0.0
        while True:
            if len(self._states) - len(self.free) < _MOST or sum(self._own_calls()) > 1 or not wait:
                slot = self.claim()
                if slot:
                    return slot
                release_dead = self._release_dead()
                if release_dead is not None:
                    release_dead()
            try:
                return self.free.pop()
            except IndexError:
                now = time.monotonic()
                until = until or now + _PATIENCE
                if now > until:
                    raise ParticipantsExhausted(
                        f"all {layout.PARTICIPANT_COUNT} participant slots of the arena are in use by living openings; "
                        "close some, or make fewer calls at the same time"
                    ) from None
            time.sleep(_NAP)

    def _own_calls(self) -> list[bool]:
        """Return of each call of this thread that is under way whether it has a slot."""
        me = get_ident()
        return [borrows for thread, borrows in list(self.under_way.values()) if thread == me]

    def take_back(self, slot: int, home: list[int]) -> None:
        """Have a slot that a call has finished with; `home` is the list `free` of when the slot was taken.

        In a forked child that is the parent's list, and the slot the parent's, who takes it back.
        """
        if len(home) < _KEPT:
            if len(self._last) > _MOST:  # threads that have ended
                self._last.clear()
            self._last[get_ident()] = slot
            home.append(slot)
        else:
            self.release(slot)

    # closing --------------------------------------------------------------------------------------------------

    def goes_on(self) -> bool:
        """Return whether this thread enters a call in the midst of another one, which keeps the arena open."""
        return not self._region.closed and len(self._own_calls()) > 1

    def stop(self, *, patience: float | None = None, exiting: bool = False) -> bool:
        """Let no call begin, and wait for the calls of other threads; return whether no call is under way.

        Parameters
        ----------
        patience : float, optional
            Seconds to wait at most.
        exiting : bool
            The interpreter is about to end: threads that call are ended without a word.
        """
        self._exiting = exiting
        # spec: Lifecycle!CloseBegin
        self.closing = True
        me = get_ident()
        until = None if patience is None else time.monotonic() + patience
        # spec: Lifecycle!CloseWait -- after `closing` was set (mutant O4).
        while any(thread != me for thread, _ in list(self.under_way.values())):
            if until is not None and time.monotonic() > until:
                return False
            time.sleep(_NAP)
        self.is_late = bool(self.under_way)
        return not self.is_late

    def is_left(self) -> bool:
        """Return whether the interpreter ends, and this is not its main thread."""
        return self._exiting and threading.current_thread() is not threading.main_thread()

    def refuse(self) -> Any:
        """Raise the error of a call on a closed arena.

        Raises
        ------
        ArenaClosed
            In a thread that goes on.
        SystemExit
            In a daemon thread while the interpreter ends: the thread ends, too.
        """
        if self.is_left():
            sys.exit()
        raise ArenaClosed(f"{self._region.where} is closed; open it again with Arena.open")

    def check_maker(self, maker: int) -> None:
        """Raise `MadeBeforeFork` unless this is the opening of the identity `maker`, or `maker` is 0."""
        if maker and maker != self._region.identity:
            raise MadeBeforeFork(
                f"this snapshot or private structure in {self._region.where} was made before the fork and belongs to "
                "the parent process; take a new snapshot, or make another structure, in the child"
            )
