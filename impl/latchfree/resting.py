"""`rest`: what a coroutine does when the interpreter ends beside it.

Example: a daemon thread runs three coroutines that wait in a rate limiter. The program ends, and its arena is left. A
coroutine calls, and SystemExit would end the daemon thread silently. But asyncio prints an exception of a task that
nobody asks for, so the coroutine sleeps instead, and goes with the process.

Invariant: only coroutines of daemon threads sleep, and only after the arena was left at the end of the interpreter. No
lock of a thread is held meanwhile, and the loop runs on.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from latchfree.arena.arena import Arena


async def rest(arena: Arena | None) -> None:
    """Sleep until cancelled, if the interpreter ends and this is no coroutine of the main thread; else return."""
    if arena is not None and arena.is_left:
        await asyncio.get_running_loop().create_future()
