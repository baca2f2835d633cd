"""A judged history as the JSON document that the page draws.

Texts are interned, operations are columns, times are numbered in order, and states are splices (`states`), so that
10,000 operations take well under a megabyte.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any, Final

from latchfree_lincheck.history import Operation
from latchfree_lincheck.show.judging import Judged, Part, label
from latchfree_lincheck.show.states import MAPPINGS, Trail, text_of
from latchfree_lincheck.show.steps import plain
from latchfree_model import UNKNOWN, Call, Model

NONE: Final = -1
"""Stands for no text, no key or no time in a column."""

EXACT: Final = 1 << 53
"""JavaScript's numbers are exact below; larger ones are written as text."""


class Texts:
    """Numbers for texts: equal texts share one."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def __call__(self, text: str) -> int:
        """Return the number of a text."""
        return self._numbers.setdefault(text, len(self._numbers))

    def all(self) -> list[str]:
        """Return the texts in order of their numbers."""
        return list(self._numbers)


def document(judged: Judged) -> dict[str, Any]:
    """Return a judged history as JSON values.

    The columns of ``operations`` have one entry an operation; ``invoke`` and ``return`` are positions in the list
    of all different times, whose differences are ``times``. A part's ``deltas`` has one entry for each operation of
    its ``order``: 0 if the state stays, else flat splices (at, removed, count, texts).
    """
    texts = Texts()
    verdict = judged.verdict
    operations = judged.history.operations
    times = sorted({time for each in operations for time in (each.invoke, each.return_) if time is not None})
    place = {time: number for number, time in enumerate(times)}
    processes = sorted({each.process for each in operations}, key=lambda name: (isinstance(name, str), name))
    lane = {name: number for number, name in enumerate(processes)}
    keys: dict[str, int] = {}
    part_of = {index: number for number, part in enumerate(judged.parts) for index in part.operations}
    return {
        "name": judged.history.name,
        "source": judged.source,
        "model": judged.model.name,
        "verdict": verdict.verdict,
        "reason": verdict.reason,
        "engine": verdict.engine,
        "seconds": verdict.seconds,
        "processes": [str(name) for name in processes],
        "times": _differences(times),
        "operations": {
            "process": [lane[each.process] for each in operations],
            "invoke": [place[each.invoke] for each in operations],
            "return": [NONE if each.return_ is None else place[each.return_] for each in operations],
            "call": [texts(_call(each)) for each in operations],
            "result": [_result(each, texts) for each in operations],
            "key": [_key(judged.model, each, keys) for each in operations],
            "part": [part_of[index] for index in range(len(operations))],
        },
        "keys": list(keys),
        "parts": [_part(judged, part, texts) for part in judged.parts],
        "steps": [plain(step) for step in judged.steps],
        "texts": texts.all(),
    }


def _differences(times: list[int]) -> list[int | str]:
    """Return the first time, then how much each is later than the one before."""
    steps = [later - time for time, later in zip([0, *times], times, strict=False)]
    return [step if abs(step) < EXACT else str(step) for step in steps]


def _call(operation: Operation) -> str:
    text = f"{operation.f}({', '.join(map(text_of, operation.arguments))})"
    return text if operation.object is None else f"{operation.object}.{text}"


def _result(operation: Operation, texts: Texts) -> int:
    return NONE if operation.result is UNKNOWN else texts(text_of(operation.result))


def _key(model: Model[Any], operation: Operation, keys: dict[str, int]) -> int:
    """Return the number of what the operation touches, or NONE if that is all there is."""
    name = label(operation.object, model.partition(operation.call))
    return keys.setdefault(name, len(keys)) if name else NONE


def _part(judged: Judged, part: Part, texts: Texts) -> dict[str, Any]:
    """Return a part: its order, and the states along it."""
    model = judged.model
    calls = judged.history.operations
    state = model.init()
    trail = Trail(state, pairs=model.name in MAPPINGS)
    first = list(map(texts, trail.items))
    deltas: list[int | list[int]] = []
    for index in part.order:
        _, state = model.step(state, calls[index].call)
        delta = [
            number
            for at, removed, added in trail.follow(state)
            for number in (at, removed, len(added), *map(texts, added))
        ]
        deltas.append(delta or 0)
    failing = part.verdict.failing if part.verdict.verdict == "violation" else None
    return {
        "label": part.label,
        "verdict": part.verdict.verdict,
        "reason": part.verdict.reason,
        "message": part.verdict.message,
        "order": list(part.order),
        "first": first,
        "deltas": deltas,
        "failing": NONE if failing is None else failing,
        "next": [] if failing is None else list(_next(judged, part, failing, state)),
    }


def _next(judged: Judged, part: Part, failing: int, state: Hashable) -> Iterable[tuple[int, int, str]]:
    """Yield each operation that might come after the longest order, whether it is legal there, and the model's word.

    Nothing after the failing operation's return may come before it.
    """
    operations = judged.history.operations
    limit = operations[failing].return_
    ordered = set(part.order)
    for index in part.operations:
        operation = operations[index]
        if index not in ordered and (limit is None or operation.invoke <= limit):
            legal, text = _say(judged.model, state, operation.call)
            yield index, int(legal), text


def _say(model: Model[Any], state: Hashable, call: Call) -> tuple[bool, str]:
    legal, _ = model.step(state, call)
    return legal, model.describe(state, call)
