"""Where a step was taken, and how an object is called: for people, so only asked where something is told."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any, Final

from latchfree_explore.python.core.names import MOST_REACHED

OUTSIDE: Final = "outside"
"""In place of a file: what happens outside the program."""

_OURS: Final = str(Path(__file__).parents[1])
_LIBRARY: Final = tuple(
    str(Path(sys.modules["os"].__file__ or "").parent / name)
    for name in ("threading.py", "queue.py", "_threading_local.py", "concurrent", "asyncio")
)


def is_of_the_program(file: str) -> bool:
    """Return whether a file is neither ours nor of the library under control."""
    return not file.startswith(_OURS) and not file.startswith(_LIBRARY)


def caller() -> tuple[str, int]:
    """Return the file and line of the nearest frame that is neither ours nor of the library under control."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        file = frame.f_code.co_filename
        if is_of_the_program(file):
            return file, frame.f_lineno
        frame = frame.f_back
    return "", 0


def path_to(roots: list[Any], target: Any) -> str | None:
    """Return how the program reaches an object, such as ``Bank.lock``; None if it is not found."""
    waiting: deque[tuple[str, Any]] = deque()
    for root in roots:
        holder = getattr(root, "__self__", root)
        if type(holder).__module__.startswith("latchfree_explore."):
            continue
        waiting.append((type(holder).__name__, holder))
    seen: set[int] = set()
    while waiting and len(seen) < MOST_REACHED:
        path, value = waiting.popleft()
        if value is target:
            return path
        if id(value) in seen or isinstance(value, int | str | bytes | float | type(None)):
            continue
        seen.add(id(value))
        waiting.extend(_named_parts(path, value))
    return None


def _named_parts(path: str, value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        yield from ((f"{path}[{key!r}]", each) for key, each in list(dict.items(value)))
    elif isinstance(value, list | tuple | deque):
        yield from ((f"{path}[{at}]", each) for at, each in enumerate(list(value)))
    elif getattr(value, "__closure__", None):
        for name, cell in zip(value.__code__.co_freevars, value.__closure__, strict=True):
            try:
                yield name, cell.cell_contents
            except ValueError:
                continue
    namespace = getattr(value, "__dict__", None)
    if isinstance(namespace, dict) and not callable(value):
        yield from ((f"{path}.{name}", each) for name, each in list(namespace.items()))
    for cls in type(value).__mro__:
        for name in getattr(cls, "__slots__", ()):
            if isinstance(name, str) and hasattr(value, name):
                yield f"{path}.{name}", getattr(value, name)


def called(roots: list[Any], target: Any) -> str:
    """Return what people call an object: its path, or its kind."""
    path = path_to(roots, target)
    if path is None:
        return f"a {type(target).__name__}"
    condition, waits, _ = path.partition("._waiters[")
    if waits:
        return f"a notify of {condition}"
    return path.removesuffix("._lock") if path.endswith(("cond._lock", "condition._lock")) else path
