"""Wake coroutines when a word changes: a thread sleeps for all of them, since an event loop cannot.

Example: two coroutines wait for a value of one ring. One thread sleeps on the word of the ring; when the word changes
it tells the event loop, which goes on with both. The thread takes no value, so a coroutine may be cancelled at any
time.

Invariant: a coroutine that waits is in `_waiting`, and the thread runs, or is about to. The thread ends when it had
nobody to wait for during some seconds.
"""

from __future__ import annotations

import asyncio
import os
import threading
from contextlib import suppress
from typing import Any, Final

from latchfree.streams.futex import FUTEX

#: Seconds that the thread sleeps at most without a look, and that it stays when nobody waits.
_LOOK: Final = 1.0
_IDLE: Final = 5.0
#: Seconds of a nap where the process can have no further thread.
_NAP: Final = 2e-3


class Watch:
    """The coroutines of this process that wait for one word to change.

    Parameters
    ----------
    address : int
        Of the word.

    Attributes
    ----------
    process : int
        The process whose thread it is: a forked child makes another one.
    """

    def __init__(self, address: int) -> None:
        self.process = os.getpid()
        self._address = address
        self._armed = 0
        self._waiting: dict[asyncio.Future[None], asyncio.AbstractEventLoop] = {}
        self._changed = threading.Condition()
        self._runs = False

    async def wait(self, armed: int, seconds: float) -> None:
        """Wait while the word is what it was when it was armed; it may end at any time.

        Parameters
        ----------
        armed : int
            What the word held when it was armed.
        seconds : float
            To wait at most.
        """
        loop = asyncio.get_running_loop()
        future: asyncio.Future[None] = loop.create_future()
        with self._changed:
            self._waiting[future] = loop
            self._armed = armed
            start, self._runs = not self._runs, True
            self._changed.notify()
        try:
            if start and not self._start():
                seconds = min(seconds, _NAP)
            await asyncio.wait({future}, timeout=seconds)
        finally:
            with self._changed:
                self._waiting.pop(future, None)

    def _start(self) -> bool:
        thread = threading.Thread(target=self._run, name="latchfree-watch", daemon=True)
        try:
            thread.start()
        except RuntimeError:
            self._runs = False
            return False
        return True

    def _run(self) -> None:
        while True:
            with self._changed:
                if not self._waiting and not self._changed.wait_for(lambda: self._waiting, _IDLE):
                    self._runs = False
                    return
                armed = self._armed
            FUTEX.wait(self._address, armed, _LOOK)
            self.tell()

    def tell(self) -> None:
        """Have all who wait now go on."""
        with self._changed:
            found, self._waiting = self._waiting, {}
        for future, loop in found.items():
            with suppress(RuntimeError):  # the loop was closed
                loop.call_soon_threadsafe(_end, future)


def _end(future: asyncio.Future[Any]) -> None:
    if not future.done():
        future.set_result(None)
