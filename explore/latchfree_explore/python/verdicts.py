"""What is wrong with a schedule that was run, if anything."""

from __future__ import annotations

import types
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

from latchfree_explore.python.core.run import CONTROL, Diverged, Run
from latchfree_explore.python.rewriting.instrument import CannotControl

KINDS: Final = (
    "not linearizable", "invariant", "exception", "deadlock", "lost wakeup", "livelock", "endless",
)  # fmt: skip


@dataclass
class Wrong:
    """A schedule that went wrong.

    Attributes
    ----------
    kind : str
        One of `KINDS`.
    message : str
        What is wrong, in words.
    choices : list of int
        The thread of each step.
    error : BaseException or None
        What a thread raised.
    """

    kind: str
    message: str
    choices: list[int] = field(repr=False)
    error: BaseException | None = field(default=None, repr=False)


def ended_wrong(run: Run) -> Wrong | None:
    """Return how a schedule ended wrong by itself: a thread waits for ever, or raised an exception.

    Raises
    ------
    Diverged
        If the same choices led elsewhere than before.
    CannotControl
        If a thread runs an event loop of its own.
    """
    if run.problem is not None and run.problem[0] == "diverged":
        raise Diverged(run.problem[1])
    if run.problem is not None and run.problem[0] == "out of control":
        raise CannotControl(run.problem[1])
    for task in run.tasks:
        if task.error is not None:
            text = f"{task.name} raised {type(task.error).__name__}: {task.error}"
            return Wrong("exception", text.rstrip(": "), run.choices, task.error)
    if run.problem is not None:
        kind, why = run.problem
        if kind != "cut":
            return Wrong(kind, why, run.choices)
    return None


def refuse_later(result: object, who: str) -> None:
    """Raise CannotControl if a function has returned something that is still to be run, which nobody does."""
    if isinstance(result, types.CoroutineType | types.GeneratorType | types.AsyncGeneratorType):
        if not isinstance(result, types.AsyncGeneratorType):
            result.close()
        raise CannotControl(
            f"{who} returned a {type(result).__name__}, which nobody runs; fix: explore_async, or a loop"
        )


def broken(run: Run, check: Callable[..., Any], arguments: tuple[Any, ...]) -> Wrong | None:
    """Return what a check finds wrong at the end: it returned False, or raised an exception.

    What the check writes is no part of the schedule, and stays: a check may collect what it has seen.
    """
    undo, CONTROL.undo = CONTROL.undo, None
    try:
        held = check(*arguments)
        refuse_later(held, "the check")
        held = held is None or bool(held)
    except CannotControl:
        raise
    except AssertionError as error:
        return Wrong("invariant", str(error) or "the check does not hold at the end", run.choices, error)
    except (Exception, SystemExit) as error:
        return Wrong("invariant", f"the check raised {type(error).__name__}: {error}", run.choices, error)
    finally:
        CONTROL.undo = undo
    if held:
        return None
    return Wrong("invariant", "the check does not hold at the end", run.choices)
