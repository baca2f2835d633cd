"""What the threads of plain Python share, as boxes: an attribute, a variable or a lock each, by its path.

Example: a map with a lock is three boxes, ``Map.items`` with ``{1: 1}``, ``Map.changes`` with ``1`` and ``Map.lock``
with ``held by thread 0``. No code of the program runs but the `repr` of what stands in a box.
"""

from __future__ import annotations

import asyncio
import types
from collections import deque
from collections.abc import Iterator
from typing import Any, Final

from latchfree_explore.python.aio.loop import ExploredLoop
from latchfree_explore.python.aio.where import waits_at
from latchfree_explore.python.core.places import named_parts
from latchfree_explore.python.core.run import Run
from latchfree_explore.python.hooks.state import short
from latchfree_explore.python.library.locks import Lock, SimpleQueue
from latchfree_teach.play.painters.picture import Box

MOST: Final = 30
_WIDE: Final = 5
_LEAVES: Final = (int, float, complex, str, bytes, bool, type, type(None), types.ModuleType, types.BuiltinFunctionType)
_CONTAINERS: Final = (dict, list, tuple, set, frozenset, deque)
_FUNCTIONS: Final = (types.FunctionType, types.MethodType)


class Painter:
    """Draws what is reached from what the threads share; a box keeps its place from state to state."""

    def __init__(self) -> None:
        self._places: dict[str, tuple[int, int]] = {}
        self._rows: dict[str, list[int]] = {}
        self._row = 0

    def paint(self, run: Run) -> list[Box]:
        """Return the boxes of a run as it stands."""
        found: list[Box] = []
        for path, text in _parts(run):
            if len(found) < MOST:
                found.append(Box(path, (), self._row_of(path), path, text, "cell"))
        return found

    def _row_of(self, path: str) -> int:
        """Return the row of a box: parts of one object stand side by side, five in a row."""
        if path not in self._places:
            owner = path.rpartition(".")[0]
            row, used = self._rows.get(owner, [0, _WIDE])
            if used == _WIDE:
                row, used = self._row, 0
                self._row += 1
            self._rows[owner] = [row, used + 1]
            self._places[path] = row, used
        return self._places[path][0]


def _parts(run: Run) -> Iterator[tuple[str, str]]:
    """Yield the path and the text of everything that is shared, nearest first."""
    waiting: deque[tuple[str, Any]] = deque()
    for root in run.roots:
        if isinstance(root, ExploredLoop):
            yield from ((task.get_name(), _state(task)) for task in root.tasks)
        elif isinstance(root, types.FunctionType):
            waiting += _variables(root, run.constants.written)
        elif not type(root).__module__.startswith("latchfree_explore."):
            waiting.append((type(root).__name__, root))
    seen: set[int] = set()
    while waiting:
        path, value = waiting.popleft()
        if isinstance(value, _FUNCTIONS) or (not isinstance(value, _LEAVES) and id(value) in seen):
            continue
        seen.add(id(value))
        if isinstance(value, Lock):
            yield path, _holder(run, value)
        elif isinstance(value, SimpleQueue):
            yield path, short(list(value._items))
        elif isinstance(value, _LEAVES):
            yield path, short(value)
        elif isinstance(value, _CONTAINERS):
            yield path, short(value)
            waiting += [(name, each) for name, each in named_parts(path, value) if _is_object(each)]
        else:
            parts = list(named_parts(path, value))
            if not parts:
                yield path, short(value)
            waiting += parts


def _variables(function: types.FunctionType, written: set[str]) -> Iterator[tuple[str, Any]]:
    """Yield the variables of closures that a function uses, and those of modules that some run has written."""
    yield from named_parts("", function)
    for name in function.__code__.co_names:
        if name in function.__globals__ and name in written:
            yield name, function.__globals__[name]


def _is_object(value: Any) -> bool:
    return not isinstance(value, (*_LEAVES, *_CONTAINERS, *_FUNCTIONS))


def _state(task: asyncio.Task[Any]) -> str:
    """Return where a task of an event loop waits, or how it ended."""
    if not task.done():
        return waits_at(task).rpartition(" at ")[2]
    return "cancelled" if task.cancelled() else "failed" if task.exception() is not None else "has ended"


def _holder(run: Run, lock: Lock) -> str:
    if lock.ready():
        return "free"
    number = lock.holder
    return "held" if number is None or not 0 < number <= len(run.tasks) else f"held by {run.tasks[number - 1].name}"
