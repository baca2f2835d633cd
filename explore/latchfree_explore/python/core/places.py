"""Where a step was taken, and how an object is called: for people, so only asked where something is told."""

from __future__ import annotations

import sys
import types
from collections import deque
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any, Final

from latchfree_explore.python.core.names import MOST_REACHED, items_of
from latchfree_explore.python.core.run import CONTROL

OUTSIDE: Final = "outside"
"""In place of a file: what happens outside the program."""

OURS: Final = str(Path(__file__).parents[1])
_LIBRARY: Final = tuple(
    str(Path(sys.modules["os"].__file__ or "").parent / name)
    for name in ("threading.py", "queue.py", "_threading_local.py", "concurrent", "asyncio")
)
_NO_DATA: Final = (int, str, bytes, float, type(None), types.ModuleType, types.CodeType, types.BuiltinFunctionType)


def is_of_the_program(file: str) -> bool:
    """Return whether a file is neither ours nor of the library under control."""
    return not file.startswith(OURS) and not file.startswith(_LIBRARY)


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
    """Return how the program reaches an object, such as ``Bank.lock``; None if it is not found.

    No code of the program runs: an attribute is looked up where it is kept.
    """
    holders = [root.__self__ if isinstance(root, types.MethodType) else root for root in roots]
    named = [
        (holder.__qualname__ if isinstance(holder, type) else type(holder).__name__, holder)
        for holder in holders
        if not type(holder).__module__.startswith("latchfree_explore.")
    ]
    return _path_from(named, target) or _path_from(_variables(), target)


def _variables() -> Iterator[tuple[str, Any]]:
    """Yield the variables of the modules that are rewritten, those that hold data."""
    for space in CONTROL.namespaces:
        for name, value in list(space.items()):
            if not name.startswith(("__", "_lf_")) and not isinstance(value, types.ModuleType | types.FunctionType):
                yield name, value


def _path_from(named: Iterable[tuple[str, Any]], target: Any) -> str | None:
    """Return how an object is reached from others that have names."""
    waiting = deque(named)
    original = CONTROL.originals.get(id(target), target)
    seen: dict[int, Any] = {}  # keeps what it has seen: what a member makes anew each time gets no address twice
    while waiting and len(seen) < MOST_REACHED:
        path, value = waiting.popleft()
        if value is target or value is original:
            return path
        if id(value) in seen or isinstance(value, _NO_DATA):
            continue
        seen[id(value)] = value
        waiting.extend(named_parts(path, value))
    return None


def named_parts(path: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Yield what a value holds, by the name with which the program reaches it."""
    if isinstance(value, dict):
        yield from ((f"{path}[{key!r}]", each) for key, each in list(dict.items(value)))
    elif isinstance(value, list | tuple | deque):
        yield from ((f"{path}[{at}]", each) for at, each in enumerate(items_of(value)))
    elif isinstance(value, types.FunctionType):
        for name, cell in zip(value.__code__.co_freevars, value.__closure__ or (), strict=True):
            try:
                yield name, cell.cell_contents
            except ValueError:
                continue
    if not isinstance(value, type | types.FunctionType):
        yield from ((f"{path}.{name}", each) for name, each in attributes(value))


def attributes(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield the attributes that an object keeps itself, by name: those of its namespace and of its slots."""
    kind = type(value)
    if kind.__dictoffset__:
        try:
            namespace = object.__getattribute__(value, "__dict__")
        except AttributeError:
            namespace = None
        if isinstance(namespace, dict):
            yield from list(namespace.items())
    for cls in kind.__mro__:
        for name, member in list(vars(cls).items()):
            if isinstance(member, types.MemberDescriptorType):
                try:
                    yield name, member.__get__(value, kind)
                except AttributeError:
                    continue


def called(roots: list[Any], target: Any) -> str:
    """Return what people call an object: its path, or its kind."""
    run, CONTROL.run = CONTROL.run, None  # a key may have a text of its own
    try:
        path = path_to(roots, target)
    finally:
        CONTROL.run = run
    if path is None:
        if isinstance(target, type):
            return target.__qualname__
        kind = type(target).__name__
        return f"an {kind}" if kind[0] in "AEIOaeio" else f"a {kind}"
    condition, waits, _ = path.partition("._waiters[")
    if waits:
        return f"a notify of {condition}"
    return path.removesuffix("._lock") if path.endswith(("cond._lock", "condition._lock")) else path
