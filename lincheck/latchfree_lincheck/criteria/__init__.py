"""The promises of concurrent objects, by name: linearizability and weaker ones.

==============================  ==============================================================================
``linearizability``             one order for all, that keeps every real-time order (`latchfree_lincheck.check`)
``sequential-consistency``      one order for all, that keeps each process's own order (`sequential`)
``quiescent-consistency``       one order for all, that keeps the order across quiet moments (`quiescent`)
``intermediate-value``          every read between its least and its greatest legal value (`intermediate`)
==============================  ==============================================================================

Linearizability implies each of the others; none of the others implies another.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Protocol, cast

from latchfree_lincheck.engine.bounds import MEMORY
from latchfree_model import Model, get_model

if TYPE_CHECKING:
    from latchfree_lincheck.checking.verdict import Verdict
    from latchfree_lincheck.criteria.intermediate import intermediate_value_linearizable
    from latchfree_lincheck.criteria.quiescent import quiescently_consistent
    from latchfree_lincheck.criteria.sequential import sequentially_consistent
    from latchfree_lincheck.history import History

__all__ = [
    "CRITERIA",
    "intermediate_value_linearizable",
    "judge",
    "quiescently_consistent",
    "sequentially_consistent",
]


class Criterion(Protocol):
    """A judge of one history by one criterion."""

    def __call__(
        self, history: History, model: Model[Any], *, timeout: float | None, memory: int, **options: int
    ) -> Verdict:
        """Judge a history."""
        ...


CRITERIA: Final[Mapping[str, tuple[str, str]]] = MappingProxyType({
    "linearizability": ("checking.checker", "check"),
    "sequential-consistency": ("criteria.sequential", "sequentially_consistent"),
    "quiescent-consistency": ("criteria.quiescent", "quiescently_consistent"),
    "intermediate-value": ("criteria.intermediate", "intermediate_value_linearizable"),
})  # fmt: skip
"""The module and function of each criterion."""


def judge(
    history: History,
    model: str | Model[Any] = "map",
    *,
    criterion: str = "linearizability",
    timeout: float | None = None,
    memory: int = MEMORY,
    relaxation: int = 0,
) -> Verdict:
    """Judge a history by the criterion with that name.

    Parameters
    ----------
    history : History
        What happened.
    model : str or Model
        A built-in model's name, or any sequential model.
    criterion : str
        One of `CRITERIA`.
    timeout : float, optional
        Seconds after which the verdict is "unknown".
    memory : int
        Bytes of search tables after which the verdict is "unknown".
    relaxation : int
        Of ``intermediate-value``: how many of its last updates each process may keep back.

    Raises
    ------
    ValueError
        If there is no such criterion, the criterion cannot be applied to the model or has no relaxation, or the history
        has a call that the model does not have.
    """
    if criterion not in CRITERIA:
        raise ValueError(f"no criterion is called {criterion!r}; choose one of {', '.join(CRITERIA)}")
    chosen = get_model(model) if isinstance(model, str) else model
    if relaxation and criterion != "intermediate-value":
        raise ValueError(f"{criterion} has no relaxation; intermediate-value has")
    options = {"relaxation": relaxation} if relaxation else {}
    return _load(criterion)(history, chosen, timeout=timeout, memory=memory, **options)


def _load(criterion: str) -> Criterion:
    """Import the function of a criterion."""
    module, function = CRITERIA[criterion]
    return cast(Criterion, getattr(importlib.import_module(f"latchfree_lincheck.{module}"), function))


def __getattr__(name: str) -> Criterion:
    """Import a criterion on first use."""
    for criterion, (_, function) in CRITERIA.items():
        if name == function and name in __all__:
            return _load(criterion)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
