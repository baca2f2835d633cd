"""A strategy: compiled functions that choose threads and schedules, and the facts that a search needs about them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, eq=False)
class Strategy:
    """A way of choosing schedules.

    The kernels take the address of the board. They find there what the threads are about to do, and keep there what
    they need from one schedule to the next.

    Parameters
    ----------
    name : str
        The name that users give.
    choose : kernel
        ``choose(board, runnable)`` returns the thread to run at a step that is not given, or -1 if the schedule repeats
        another one; `runnable` is the mask of the threads that can run.
    advance : kernel
        ``advance(board)`` prepares the next schedule and returns True, or returns False if there is none.
    settle : kernel, optional
        ``settle(board)`` accounts for the step that was made last.
    default_bound, least_bound, most_bound : int
        The number that the strategy takes, and its range.
    default_schedules : int, optional
        How many schedules are run unless the caller says; None for as many as there are.
    exhaustive : bool
        Whether it comes to an end, and has then run every schedule within its bound.
    complete : bool
        Whether every interleaving is then equivalent to a schedule that was run; such a strategy gives every step its
        vector clock, so that the interleavings are counted.
    needs_script : bool
        Whether it runs along a schedule that the caller gives, and along no other.
    by_graphs : bool
        Whether it runs once for each execution graph, which `latchfree_explore.graphs` makes.
    claim : str
        What holds if nothing was wrong; ``{bound}`` stands for the bound, ``{memory}`` for the memory model.
    """

    name: str
    choose: Any
    advance: Any
    settle: Any = None
    default_bound: int = 2
    least_bound: int = 0
    most_bound: int = 1 << 20
    default_schedules: int | None = None
    exhaustive: bool = False
    complete: bool = False
    needs_script: bool = False
    by_graphs: bool = False
    claim: str = "nothing wrong in what was run"
