"""Judge a history part by part, so that a page can show an order for every part and each violation.

The verdict on a linearizable history orders all operations. The verdict on a violation orders only the part that has
the violation. Then the parts are judged one by one: objects, and the keys of an object where the model's partition
names one for each of its calls. Linearizability is local, so the history is linearizable if and only if all parts are.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from latchfree_lincheck.checking.checker import check
from latchfree_lincheck.checking.verdict import Verdict
from latchfree_lincheck.history import History
from latchfree_lincheck.show.steps import Step
from latchfree_model import Model, get_model


@dataclass(frozen=True, slots=True)
class Part:
    """Operations that are judged together.

    Parameters
    ----------
    label : str
        The object or key they touch; empty if the history has one part only.
    operations : tuple of int
        Their indices in the history.
    verdict : Verdict
        The judgement on them; its indices are the history's.
    """

    label: str
    operations: tuple[int, ...]
    verdict: Verdict

    @property
    def order(self) -> Sequence[int]:
        """The order to draw: the witness, or on a violation the longest that explains what came before."""
        return self.verdict.partial if self.verdict.verdict == "violation" else self.verdict.witness


@dataclass(frozen=True, slots=True)
class Judged:
    """A history with its verdict.

    Parameters
    ----------
    history : History
        What happened.
    model : Model
        What it was judged against.
    verdict : Verdict
        The judgement on the whole.
    parts : tuple of Part
        The judgements on its parts.
    source : str
        Where it came from, for instance a file's name.
    steps : tuple of Step
        The atomic steps of the run, if an exploration recorded them.
    """

    history: History
    model: Model[Any]
    verdict: Verdict
    parts: tuple[Part, ...]
    source: str = ""
    steps: tuple[Step, ...] = ()


def judge_parts(
    history: History,
    model: str | Model[Any] = "map",
    *,
    timeout: float | None = None,
    source: str = "",
    steps: Sequence[Step] = (),
    on_part: Callable[[int, int], None] | None = None,
) -> Judged:
    """Judge a history and its parts.

    Parameters
    ----------
    history : History
        What happened.
    model : str or Model
        A built-in model's name, or any sequential model.
    timeout : float, optional
        Seconds after which the verdict is "unknown"; as much again may go into judging the parts.
    source : str
        Where the history came from.
    steps : sequence of Step
        The atomic steps of the run, if an exploration recorded them.
    on_part : callable, optional
        Called with the number of parts judged and of all parts.

    Raises
    ------
    ValueError
        If the history has a call that the model does not.
    """
    if isinstance(model, str):
        model = get_model(model)
    verdict = check(history, model, timeout=timeout)
    verdict = replace(verdict, witness=_found(verdict.witness), partial=_found(verdict.partial))
    groups = divide(history, model)
    if verdict.verdict == "ok":
        parts = _share(verdict, groups)
    elif len(groups) == 1:
        parts = [Part(label, indices, verdict) for label, indices in groups]
    else:
        until = None if timeout is None else time.monotonic() + timeout
        parts = []
        for done, (label, indices) in enumerate(groups):
            if on_part is not None:
                on_part(done, len(groups))
            left = None if until is None else max(until - time.monotonic(), 0.001)
            parts.append(Part(label, indices, _alone(history, model, indices, left)))
    return Judged(history, model, verdict, tuple(parts), source, tuple(steps))


def divide(history: History, model: Model[Any]) -> list[tuple[str, tuple[int, ...]]]:
    """Return each part's label and operations, in order of their first operation."""
    places = [(operation.object, model.partition(operation.call)) for operation in history.operations]
    whole = {name for name, key in places if key is None}
    groups: dict[tuple[str | None, Hashable | None], list[int]] = {}
    for index, (name, key) in enumerate(places):
        groups.setdefault((name, None if name in whole else key), []).append(index)
    return [(label(*place), tuple(indices)) for place, indices in groups.items()]


def label(name: str | None, key: Hashable | None) -> str:
    """Return what to call a key of an object, or the object where there is no key."""
    return " ".join(([] if name is None else [name]) + ([] if key is None else [f"key {key!r}"]))


def _share(verdict: Verdict, groups: Sequence[tuple[str, tuple[int, ...]]]) -> list[Part]:
    """Give each part its operations of the whole's witness."""
    part_of = {index: number for number, (_, indices) in enumerate(groups) for index in indices}
    orders: list[list[int]] = [[] for _ in groups]
    for index in verdict.witness:
        orders[part_of[index]].append(index)
    return [
        Part(label, indices, replace(verdict, witness=order, operations=len(indices)))
        for (label, indices), order in zip(groups, orders, strict=True)
    ]


def _alone(history: History, model: Model[Any], indices: tuple[int, ...], timeout: float | None) -> Verdict:
    """Return the verdict on some of the operations, in the history's indices."""
    verdict = check(History(history.name, [history.operations[i] for i in indices]), model, timeout=timeout)
    return replace(
        verdict,
        witness=[indices[i] for i in _found(verdict.witness)],
        partial=[indices[i] for i in _found(verdict.partial)],
        failing=None if verdict.failing is None else indices[verdict.failing],
    )


def _found(order: Sequence[int]) -> list[int]:
    """Return an order; none if the checker knows that there is one but raises, when asked, that it found none."""
    try:
        return list(order)
    except RuntimeError:
        return []
