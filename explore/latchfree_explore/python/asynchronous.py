"""`explore_async`: run a program of asyncio with everything from outside at every moment that makes a difference."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Coroutine, Sequence
from typing import Any

from latchfree_explore.python.aio.program import AsyncProgram
from latchfree_explore.python.exploring import SCHEDULES, Switches, explore_program
from latchfree_explore.python.given.arguments import require_arguments, require_function, seconds, whole
from latchfree_explore.python.result import PythonExploration, raise_if_wrong


def explore_async(
    main: Callable[[], Coroutine[Any, Any, Any]],
    *,
    check: Callable[[Any], Any] | None = None,
    cancels: int = 0,
    switches: Switches = "free",
    strategy: str = "auto",
    bound: int = 2,
    schedules: int = SCHEDULES,
    timeout: float | None = None,
    seed: int = 0,
    include: Sequence[str] = (),
    raises: bool = True,
) -> PythonExploration:
    """Run a coroutine function on an event loop, with events from outside at every moment that makes a difference.

    What is ready runs in asyncio's order, first in, first out. The outside is free: when an `outside_event` lands, when
    time passes to the next timer, when a task is cancelled. Functions in threads (`asyncio.to_thread`) are interleaved
    as `explore_threads` does.

    Parameters
    ----------
    main : callable
        A coroutine function without arguments, run as `asyncio.run` does.
    check : callable, optional
        Called with what main returned; wrong if it returns False or raises.
    cancels : int
        How many tasks the outside cancels at most: any but main and those that `asyncio.wait_for` makes, at any of
        their waits.
    switches : "free" or "gil"
        Where threads may change, if the program has any; see `explore_threads`.
    strategy, bound, schedules, timeout, seed, include, raises
        See `explore_threads`. "bounded" takes every schedule in which the outside acts at most `bound` times while the
        loop has something to run.

    Returns
    -------
    PythonExploration

    Raises
    ------
    ExplorationFailed
        If a schedule goes wrong.
    KeyboardInterrupt
        If Ctrl-C is pressed before one does, and `raises` is true.
    TypeError
        If main is no coroutine function.
    CannotControl, Diverged, latchfree.errors.MissingExtra
        See `explore_threads`.

    Examples
    --------
    >>> explore_async(transfer_twice, check=lambda account: account.balance >= 0)
    """
    __tracebackhide__ = True
    if not callable(main) or inspect.iscoroutine(main):
        raise TypeError(f"main is a coroutine function, not {type(main).__name__}; fix: give main, not main()")
    if check is not None:
        require_function("check", check)
        require_arguments("check", check, "what main returned")
    require_arguments("main", main)
    cancels = whole("cancels", cancels, 0)
    result = explore_program(
        AsyncProgram(main, check, cancels), switches=switches, strategy=strategy, bound=bound,
        schedules=schedules, timeout=seconds("timeout", timeout), seed=seed, include=include,
    )  # fmt: skip
    result.tasks, result.cancels = True, cancels
    if raises:
        raise_if_wrong(result)
    return result
