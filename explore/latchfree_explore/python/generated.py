"""Explore a generated program of calls on an object: what ``@linearizable(explore=...)`` calls.

`latchfree_lincheck.testing` stands below this package and loads this module by its name, when a test asks for it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from latchfree_explore.python.aio.object_tasks import ObjectTasks
from latchfree_explore.python.calling import performer
from latchfree_explore.python.exploring import explore_program
from latchfree_explore.python.given.owners import Methods
from latchfree_explore.python.objects import ObjectCalls, Script
from latchfree_explore.python.result import ExplorationFailed
from latchfree_model import SequentialModel

SCHEDULES: Final = 2_000
"""Schedules of one program; a program that has more classes of schedules is explored so far."""


def failure_of(
    make: Callable[[], Any],
    script: Script,
    model: SequentialModel[Any],
    methods: Methods,
    *,
    switches: str,
    tasks: bool,
    told: str,
    timeout: float,
) -> ExplorationFailed | None:
    """Return the error of the first schedule of a program that goes wrong, None if there is none.

    Parameters
    ----------
    make, script, model
        See `ObjectCalls`.
    methods : mapping of str to str or callable
        See `latchfree_explore.explore_object`.
    switches : str
        See `explore_threads`.
    tasks : bool
        Whether the calls are coroutines: then the program's threads are tasks of an event loop.
    told : str
        The program in words.
    timeout : float
        Seconds.

    Raises
    ------
    ValueError
        If switches are neither "free" nor "gil".
    CannotControl, Diverged
        See `explore_threads`.
    KeyboardInterrupt
        If Ctrl-C is pressed: no further program is to be explored.
    """
    program = (ObjectTasks if tasks else ObjectCalls)(make, script, model, performer(methods))
    result = explore_program(program, switches=switches, schedules=SCHEDULES, timeout=timeout)
    if result.interrupted:
        raise KeyboardInterrupt
    result.scenario = told
    return None if result.wrong is None else ExplorationFailed(result)
