"""Look at how far a job is while it runs."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

LOOK: Final = 0.5
"""Seconds between two looks, if nobody says otherwise."""


@contextmanager
def watched(look: Callable[[float], None], every: float | None = None) -> Iterator[None]:
    """Have a thread look at how far the work is, again and again, given the seconds since it began."""
    over = threading.Event()
    began = time.monotonic()

    def watch() -> None:
        while not over.wait(LOOK if every is None else every):
            look(time.monotonic() - began)

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        over.set()
        watcher.join()
