"""What is wrong with a schedule that was run, if anything."""

from __future__ import annotations

import traceback
import types
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from latchfree_explore.python.core.places import is_of_the_program
from latchfree_explore.python.core.run import CONTROL, Diverged, Run
from latchfree_explore.python.rewriting.instrument import CannotControl, is_installed

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
        What is wrong, in words, in one line.
    choices : list of int
        The thread of each step.
    error : BaseException or None
        What a thread raised.
    """

    kind: str
    message: str
    choices: list[int] = field(repr=False)
    error: BaseException | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if len(self.message.splitlines()) > 1:
            self.message = " ".join(self.message.split())


def told(error: BaseException) -> str:
    """Return the kind of an exception and what it says; its text is code of the program."""
    try:
        words = str(error)
    except Exception as other:
        words = f"<its text raises {type(other).__name__}>"
    return f"{type(error).__name__}: {words}".rstrip(": ")


def in_a_line(error: BaseException) -> str:
    """Return what `told` does, in one line."""
    return " ".join(told(error).split())


def raised_at(error: BaseException) -> str:
    """Return the line of the program that an exception comes from, and its function; nothing if it is not known."""
    frames = [
        (frame.f_code, line)
        for frame, line in traceback.walk_tb(error.__traceback__)
        if is_of_the_program(frame.f_code.co_filename) and not is_installed(frame.f_code.co_filename)
    ]
    if not frames:
        return ""
    code, line = frames[-1]
    return f", at {Path(code.co_filename).name}:{line} in {code.co_name}"


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
            text = f"{task.name} raised {told(task.error)}{raised_at(task.error)}"
            return Wrong("exception", text, run.choices, task.error)
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
        return Wrong("invariant", f"the check raised {told(error)}{raised_at(error)}", run.choices, error)
    finally:
        CONTROL.undo = undo
    if held:
        return None
    return Wrong("invariant", "the check does not hold at the end", run.choices)
