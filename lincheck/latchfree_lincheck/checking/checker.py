"""Check one history against a sequential model.

Linearizability is local: a history is linearizable if and only if its part on each independent object is. So the
history is split by object, and by the model's partition where every call has one, and the parts are searched
one by one (P-compositionality).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from latchfree_lincheck.checking.verdict import EngineName, Order, Verdict
from latchfree_lincheck.engine.bounds import MEMORY, Deadline
from latchfree_lincheck.engine.decide import Decision
from latchfree_lincheck.engine.engines import ENGINES
from latchfree_lincheck.history import History
from latchfree_lincheck.history.compiled_code import clock
from latchfree_lincheck.history.timeline import Ints
from latchfree_model import Call, Model, get_model

_LOOK_AT_CLOCK: Final = 1024
_EXCERPT: Final = 10

TIME_TO_COMPILE: Final = 10.0
"""Seconds: with a shorter timeout nothing is compiled."""


def check(
    history: History,
    model: str | Model[Any] = "map",
    *,
    timeout: float | None = None,
    memory: int = MEMORY,
    budget: int | None = None,
    engine: EngineName = "auto",
) -> Verdict:
    """Judge whether a history is linearizable.

    Parameters
    ----------
    history : History
        The history to judge.
    model : str or Model
        A built-in model's name, or any sequential model.
    timeout : float, optional
        Seconds after which the verdict is "unknown". Compiling the engines, once for a machine, is not counted. With a
        timeout below 10 s nothing is compiled: what no compiled code is there for is judged in plain Python.
    memory : int
        Bytes of search tables after which the verdict is "unknown".
    budget : int, optional
        Steps of all searches together after which the verdict is "unknown". Unlike `timeout`, a budget gives the same
        verdict on every machine. Monitors take no steps, and Z3 counts none.
    engine : str
        =============  =====================================================================================
        ``auto``       monitors where they serve, then just-in-time and depth-first search in competition;
                       plain Python for models that are not built in
        ``monitor``    monitors only; "unknown" where they do not serve
        ``frontier``   just-in-time linearization only
        ``wgl``        depth-first search only
        ``python``     the same search in plain Python, for any model
        ``smt``        an independent judge for small histories, by Z3
        =============  =====================================================================================

    Raises
    ------
    ValueError
        If there is no such engine, it does not know the model, the budget is below 1, or the history has a call that
        the model does not.

    References
    ----------
    Wing and Gong, "Testing and Verifying Concurrent Objects", 1993; Lowe, "Testing for Linearizability", 2017;
    Horn and Kroening, "Faster Linearizability Checking via P-Compositionality", 2015.
    """
    deadline = Deadline(timeout, budget, compiles=timeout is None or timeout >= TIME_TO_COMPILE)
    return check_until(deadline, history, model, memory, engine)


def check_until(deadline: Deadline, history: History, model: str | Model[Any], memory: int, engine: str) -> Verdict:
    """Judge whether a history is linearizable, until a deadline; see `check`."""
    started = clock()
    if isinstance(model, str):
        model = get_model(model)
    chosen = ENGINES.get(engine)
    if chosen is None:
        raise ValueError(f"there is no engine {engine!r}; choose one of {', '.join(ENGINES)}")
    if deadline.budget is not None and deadline.budget < 1:
        raise ValueError(f"a budget of {deadline.budget} steps: give at least 1, or None for no bound")
    if not chosen.accepts(model):
        raise ValueError(f"the engine {engine!r} does not know the model {model.name!r}; use engine='python'")
    decision = chosen.decide(history, model, memory, deadline)
    told = _violation(history, model, decision, deadline) if decision.verdict == "violation" else {}
    if decision.verdict == "ok":
        told = {"witness": Order(lambda: merge(decision.orders(), history.times()[0]))}
    return Verdict(
        verdict=decision.verdict,
        reason=told.pop("reason", "linearizable") if told else limit_of(decision, memory, deadline),
        operations=len(history),
        seconds=clock() - started,
        engine=decision.engine,
        why=decision.why,
        steps=deadline.steps,
        **told,
    )


def _violation(history: History, model: Model[Any], decision: Decision, deadline: Deadline) -> dict[str, Any]:
    """Say where no order leads on, and what the model says there."""
    outcome = decision.outcome
    assert outcome.blocked is not None
    failing = history.operation(outcome.blocked)
    invoke, return_, returned = history.times()
    during = running_with(outcome.blocked, decision.members, invoke, return_, returned)
    return {
        "reason": f"no order explains {failing.call} by process {failing.process}",
        "failing": outcome.blocked,
        "partial": outcome.order.tolist(),
        "message": _message(history, model, outcome.order, failing.call, deadline),
        "excerpt": (failing, *map(history.operation, during)),
    }


def _message(history: History, model: Model[Any], partial: Ints, failing: Call, deadline: Deadline) -> str:
    """Replay the longest order and let the model say what is wrong with the failing call then."""
    state = model.init()
    for position, index in enumerate(partial.tolist()):
        if position % _LOOK_AT_CLOCK == 0 and deadline.passed():
            return ""
        _, state = model.step(state, history.operation(index).call)
    return objection(model, state, failing)


def objection(model: Model[Any], state: Any, failing: Call) -> str:
    """Return what the model says about a failing call in a state."""
    legal, _ = model.step(state, failing)
    try:
        text = model.describe(state, failing)
    except Exception as error:  # the repr of a result, or of an argument
        text = f"{failing.f} returned a {type(failing.result).__name__}; no text of it or of the state ({error!r})"
    return f"{text}, yet no order that allows it explains the calls before it" if legal else text


def running_with(failing: int, members: Ints, invoke: Ints, return_: Ints, returned: Any) -> list[int]:
    """Return operations among `members` that ran while the failing one did, ten at most."""
    over = returned[members] & (return_[members] < invoke[failing])
    during = members[~over & (invoke[members] < return_[failing]) & (members != failing)]
    found: list[int] = during[:_EXCERPT].tolist()
    return found


def limit_of(decision: Decision, memory: int, deadline: Deadline) -> str:
    """Return why a decision is "unknown"."""
    reasons = {
        "timeout": f"{deadline} reached",
        "uncompiled": f"{deadline} reached in plain Python: the fast engines are not compiled yet, and a timeout below "
        f"{TIME_TO_COMPILE:g} s leaves no time to; check once without a timeout",
        "budget": f"budget of {deadline.budget or 0:,} steps reached",
        "memory": f"memory bound of {memory >> 20:,} MB reached",
        "crowded": "more operations are in flight at once than the engine can tell apart",
        "large": "the history is too large for this engine",
        "unserved": decision.why,
    }
    return reasons[decision.gave_up]


def merge(orders: Sequence[Ints], invoke: Ints) -> list[int]:
    """Merge orders of independent parts into one that respects real time across them.

    Each operation is given the earliest time its part's order allows: the latest invocation up to it. It returns
    after that time, so whatever is invoked after its return gets a later one.
    """
    if not orders:
        return []
    times = [np.maximum.accumulate(invoke[order]) for order in orders]
    merged: list[int] = np.concatenate(orders)[np.argsort(np.concatenate(times), kind="stable")].tolist()
    return merged
