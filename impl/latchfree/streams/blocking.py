"""`Blocking`: the operations of a ring that wait: put and get with a timeout, in threads and in asyncio.

Example: a get finds the ring empty. It arms a word of the ring, looks once more, and sleeps in the kernel until the
word has changed; then it looks again. How the word is armed and changed is in `latchfree.streams.kernels.parking`.

Invariant: nothing is held while a caller sleeps: no pin, no participant, no lock, no value. So who is cancelled,
interrupted or killed asleep takes nothing along, and an arena can be closed beside sleepers.

A process can be killed between a put and the waking of who waits for it. So nobody sleeps for more than a second
without a look.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Generator
from typing import Any, Final, TypeAlias

from latchfree.arguments import flag, seconds
from latchfree.resting import rest
from latchfree.streams.border import RING
from latchfree.streams.errors import RingEmpty, RingFull, RingShutDown, RingStalled
from latchfree.streams.futex import FUTEX
from latchfree.streams.handle import LOOKS, NAP, NEWS, ROOM, WHEN_FULL, Handle
from latchfree.streams.kernels import layout
from latchfree.streams.kernels import ring as r
from latchfree.streams.kernels.entry_points import NO_COUNT
from latchfree.streams.values import checked
from latchfree.streams.watching import Watch

_DONE, _REFUSED, _STALLED = int(r.DONE), int(r.REFUSED), int(r.STALLED)
_NO_COUNT = int(NO_COUNT)

_BLOCK, _REJECT, _DROP_NEWEST, _DROP_OLDEST = range(len(WHEN_FULL))

#: Seconds that a sleeper sleeps at most without a look.
_LOOK: Final = 1.0

#: What a wait asks its caller to do: the word armed, or 0 for a nap; and the seconds.
_Steps: TypeAlias = Generator[tuple[int, float], None, int]


class Blocking(Handle):
    """What waits; `latchfree.streams.buffer` has the rest."""

    __slots__ = ()

    def put(self, value: int, timeout: float | None = None) -> bool:
        """Put a value at the end; if the ring is full, do what the ring was made to do.

        Parameters
        ----------
        value : int
            A signed integer of 64 bits.
        timeout : float, optional
            Seconds to wait for room in a ring that was made with ``when_full="block"``, the default; None waits for as
            long as it takes.

        Returns
        -------
        bool
            False if the ring was full and ``when_full="drop newest"`` had the value dropped; else True.

        Raises
        ------
        RingFull
            If there was no room in time; or at once, with ``when_full="reject"``.
        RingShutDown
            If the ring was shut down before or meanwhile.
        TypeError, ValueError
            If `value` is no integer of 64 bits (signed), or `timeout` is no number of seconds from 0 on.
        RingStalled, ArenaClosed, RingGone
            As from `try_put`.
        """
        return self._put(checked(value), until_of(timeout))

    def get(self, timeout: float | None = None) -> int:
        """Take the oldest value; wait for one if the ring is empty.

        Parameters
        ----------
        timeout : float, optional
            Seconds to wait; None waits for as long as it takes.

        Raises
        ------
        RingEmpty
            If there was no value in time.
        RingShutDown
            If the ring was shut down, before or meanwhile, and is empty.
        TypeError, ValueError
            If `timeout` is no number of seconds from 0 on.
        RingStalled, ArenaClosed, RingGone
            As from `try_get`.
        """
        return self._get(None, until_of(timeout))

    async def aput(self, value: int, timeout: float | None = None) -> bool:
        """Put a value as `put` does, and let other coroutines run meanwhile.

        A coroutine that is cancelled has put nothing.
        """
        return await self._aput(checked(value), until_of(timeout))

    async def aget(self, timeout: float | None = None) -> int:
        """Take the oldest value as `get` does, and let other coroutines run meanwhile.

        A coroutine that is cancelled has taken nothing.
        """
        return await self._aget(None, until_of(timeout))

    def shutdown(self, immediate: bool = False) -> None:
        """Let no put succeed from now on, here and in all other threads and processes.

        Gets take what the ring still has, and raise `RingShutDown` from then on. Whoever waits is woken. A ring that
        was shut down stays so.

        Parameters
        ----------
        immediate : bool
            Drop what the ring still has.

        Raises
        ------
        ArenaClosed, RingGone
            After its arena was closed, or the ring was given back.
        """
        immediate = flag(immediate, "immediate")
        shut = RING.shut
        self._settle(shut(self._base, self._me(), self._ring, self._number), NEWS)
        self._wake(NEWS)
        self._wake(ROOM)
        while immediate:
            try:
                if self._drop_once() == _DONE:
                    self._note_dropped()
                else:
                    time.sleep(NAP)
            except RingShutDown:
                return

    # once ----------------------------------------------------------------------------------------------------

    def _me(self) -> int:
        return 0 if self._alone else self._shown[0] or self._enter()

    def _put_once(self, value: Any) -> int:
        put = RING.put
        me = 0 if self._alone else self._shown[0] or self._enter()
        return self._settle(put(self._base, me, self._ring, self._number, value, LOOKS), NEWS)

    def _get_once(self, into: Any) -> tuple[int, int]:
        """Return the outcome and the value; a ring of messages gets its blocks into `into`."""
        get = RING.get
        me = 0 if self._alone else self._shown[0] or self._enter()
        outcome, value = get(self._base, me, self._ring, self._number, LOOKS)
        return self._settle(outcome, ROOM), value

    def _drop_once(self) -> int:
        return self._get_once(None)[0]

    def _arm(self, word: int) -> int:
        arm = RING.arm
        me = 0 if self._alone else self._shown[0] or self._enter()
        armed = arm(self._base, me, self._ring, self._number, word)
        if armed == _NO_COUNT:
            raise self._missing()
        return int(armed)

    def _note_dropped(self) -> None:
        note = RING.note
        me = 0 if self._alone else self._shown[0] or self._enter()
        note(self._base, me, self._ring, self._number, int(layout.DROPPED))

    # waiting -------------------------------------------------------------------------------------------------

    def _put(self, value: Any, until: float) -> bool:
        """Put what `_put_once` takes; a ring with room needs no generator."""
        outcome = self._put_once(value)
        return outcome == _DONE or self._run(ROOM, self._putting(value, until, outcome)) == _DONE

    async def _aput(self, value: Any, until: float) -> bool:
        try:
            outcome = self._put_once(value)
            return outcome == _DONE or await self._arun(ROOM, self._putting(value, until, outcome)) == _DONE
        except SystemExit:
            await rest(self._arena)
            raise

    def _get(self, into: Any, until: float) -> int:
        outcome, value = self._get_once(into)
        return value if outcome == _DONE else self._run(NEWS, self._getting(into, until, outcome))

    async def _aget(self, into: Any, until: float) -> int:
        try:
            outcome, value = self._get_once(into)
            return value if outcome == _DONE else await self._arun(NEWS, self._getting(into, until, outcome))
        except SystemExit:
            await rest(self._arena)
            raise

    def _putting(self, value: Any, until: float, outcome: int) -> _Steps:
        """Go on with a put, and ask the caller to sleep where that is needed; return DONE, or REFUSED if dropped."""
        armed, stalled = 0, 0.0
        while outcome != _DONE:
            if outcome == _STALLED:
                stalled = self._stalled(stalled, until, "put")
                yield 0, NAP
            elif self._when_full == _DROP_NEWEST:
                self._note_dropped()
                return _REFUSED
            elif self._when_full == _DROP_OLDEST:
                if self._drop_once() == _DONE:
                    self._note_dropped()
            elif self._when_full == _REJECT or time.monotonic() >= until:
                raise self._late("put")
            elif armed:
                yield armed, max(0.0, min(until - time.monotonic(), _LOOK))
                armed = 0
            else:
                armed, stalled = self._arm(ROOM), 0.0
            outcome = self._put_once(value)
        return _DONE

    def _getting(self, into: Any, until: float, outcome: int) -> _Steps:
        """Go on with a get, and ask the caller to sleep where that is needed; return the value."""
        armed, stalled, value = 0, 0.0, 0
        while outcome != _DONE:
            if outcome == _STALLED:
                stalled = self._stalled(stalled, until, "get")
                yield 0, NAP
            elif time.monotonic() >= until:
                raise self._late("get")
            elif armed:
                yield armed, max(0.0, min(until - time.monotonic(), _LOOK))
                armed = 0
            else:
                armed, stalled = self._arm(NEWS), 0.0
            outcome, value = self._get_once(into)
        return value

    def _stalled(self, stalled: float, until: float, what: str) -> float:
        """Return since when an operation waits for a claimed cell, unless that is for too long."""
        now = time.monotonic()
        if now >= until:
            raise self._late(what)
        if stalled and now - stalled > self._seconds:
            raise RingStalled(self._diagnosis(what))
        return stalled or now

    def _late(self, what: str) -> RingEmpty | RingFull:
        where = self._arena.region.where
        if what == "get":
            return RingEmpty(f"this ring in {where} had no value in time; put one, or wait for longer")
        return RingFull(
            f"this ring in {where} had no room for a {self._capacity + 1:,}th value in time; "
            "get some, wait for longer, or use a larger ring"
        )

    def _sleep(self, word: int, armed: int, until: float) -> None:
        FUTEX.wait(self._address(word), armed, max(0.0, min(until - time.monotonic(), _LOOK)))

    def _run(self, word: int, steps: _Steps) -> int:
        """Do what a wait asks for, in this thread."""
        address = self._address(word)
        try:
            while True:
                armed, seconds = next(steps)
                if armed:
                    FUTEX.wait(address, armed, seconds)
                else:
                    time.sleep(seconds)
        except StopIteration as end:
            return int(end.value)

    async def _arun(self, word: int, steps: _Steps) -> int:
        """Do what a wait asks for, in a coroutine."""
        try:
            while True:
                armed, seconds = next(steps)
                if armed:
                    await self._watch(word).wait(armed, seconds)
                else:
                    await asyncio.sleep(seconds)
        except StopIteration as end:
            return int(end.value)

    def _watch(self, word: int) -> Watch:
        watch = self._watches.get(word)
        if watch is None or watch.process != os.getpid():
            watch = self._watches[word] = Watch(self._address(word))
        return watch


def until_of(timeout: Any) -> float:
    """Return when a timeout is over."""
    return float("inf") if timeout is None else time.monotonic() + seconds(timeout, "timeout")
