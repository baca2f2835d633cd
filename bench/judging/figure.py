"""Figures of the checker, each beside what is asked of it and, where there is one, beside Porcupine."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from latchfree_lincheck import History, check
from latchfree_model import CompiledModel
from peers.porcupine import Porcupine

_REPEATS = 3


PORCUPINE: list[Porcupine] = []
"""The peer, if there is one."""


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured figure; `asked` is an upper bound, or a lower one when `least`."""

    name: str
    unit: str
    asked: float
    reached: float
    least: bool = False
    note: str = ""

    @property
    def missed(self) -> bool:
        """Whether it is worse than asked."""
        return self.reached < self.asked if self.least else self.reached > self.asked


def best(run: Callable[[], Any]) -> float:
    """Return the seconds of the fastest of a few runs, after one to warm up."""
    run()
    found = []
    for _ in range(_REPEATS):
        started = time.perf_counter()
        run()
        found.append(time.perf_counter() - started)
    return min(found)


def ok(history: History, model: str | CompiledModel, **options: Any) -> str:
    """Judge a history that is linearizable; return which engine did."""
    verdict = check(history, model, **options)
    if verdict.verdict != "ok":
        raise SystemExit(f"{history.name}: expected ok, but the verdict is {verdict.explain()}")
    return verdict.engine


def beside(histories: Sequence[History], model: str, verdicts: Sequence[str], seconds: float) -> str:
    """Return how Porcupine does on the same histories, to be added to a note."""
    if not PORCUPINE:
        return ""
    judged = PORCUPINE[0].judge(histories, model)
    if any(theirs not in (ours, "unknown") for ours, theirs in zip(verdicts, judged.verdicts, strict=True)):
        raise SystemExit(f"{histories[0].name}: Porcupine and the checker disagree")
    return f"; {judged}: {judged.seconds / seconds:.3g} times as long"
