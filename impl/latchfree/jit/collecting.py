"""What is to hold while the garbage collector works in a thread.

Example: a thread has patched a library for its own use, and makes an object. That starts the collector, which runs the
finalizers of others in this very thread. They are to see the library as it was.

Invariant: in the thread that asked, each collection begins after ``leave`` and ends before ``come_back``. Collections
do not nest, so the two calls take turns.
"""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any


@contextmanager
def while_collecting(leave: Callable[[], None], come_back: Callable[[], None]) -> Iterator[None]:
    """Call a function before each collection in this thread, and another one after it.

    Parameters
    ----------
    leave, come_back : callable
        The functions.
    """
    thread = threading.get_ident()
    away = False

    def begin(phase: str, _: Any) -> None:
        nonlocal away
        if phase == "start" and threading.get_ident() == thread:
            away = True
            leave()

    def end(phase: str, _: Any) -> None:
        nonlocal away
        if phase == "stop" and away and threading.get_ident() == thread:
            away = False
            come_back()

    gc.callbacks.insert(0, begin)  # before, and after, what others want to hear of a collection
    gc.callbacks.append(end)
    try:
        yield
    finally:
        for each in (begin, end):
            with suppress(ValueError):
                gc.callbacks.remove(each)
