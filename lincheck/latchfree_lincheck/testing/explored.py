"""Every interleaving of a generated program, not those that happen: the explorer of plain Python runs it.

The explorer stands above this package, and may be missing; so the module is loaded by its name when a test asks for it.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from typing import Any, Final

from latchfree_lincheck.testing.menu import Menu, Step
from latchfree_lincheck.testing.programs import program_text

SWITCHES: Final = ("free", "gil")
_EXPLORER: Final = (".python.generated", "latchfree_explore")
"""The one module of a higher floor that this floor knows, and only by its name: it makes no import at the start."""


def checked(explore: str | None, criterion: str) -> None:
    """Refuse what cannot be explored.

    Raises
    ------
    ValueError
        If it is neither "free" nor "gil", or another criterion than linearizability is asked for.
    """
    if explore is None:
        return
    if explore not in SWITCHES:
        raise ValueError(f"explore is 'free' or 'gil', not {explore!r}")
    if criterion != "linearizability":
        raise ValueError(f"explore={explore!r} judges linearizability, not {criterion!r}; leave out one of the two")


def failure(
    program: Sequence[Sequence[Step]],
    make: Callable[[], Any],
    menu: Menu,
    *,
    switches: str,
    tasks: bool,
    timeout: float,
) -> BaseException | None:
    """Return the error of the first schedule of a program that goes wrong, None if there is none.

    Parameters
    ----------
    program : sequence of sequences of Step
        What each process calls, in a row.
    make : callable
        Returns a fresh object.
    menu : Menu
        The operations of the object, and the model that judges them.
    switches : str
        Where threads may change: ``"free"`` or ``"gil"``, see `latchfree_explore.explore_object`.
    tasks : bool
        Whether the calls are coroutines.
    timeout : float
        Seconds after which the exploration ends.
    """
    explorer: Any = importlib.import_module(*_EXPLORER)
    found: BaseException | None = explorer.failure_of(
        make,
        [[(step.f, step.arguments) for step in process] for process in program],
        menu.model,
        menu.methods,
        switches=switches,
        tasks=tasks,
        told=program_text(program),
        timeout=timeout,
    )
    return found
