"""Schedules as files keep them: how many steps each thread makes in turn, and the choices that are not the newest.

Example: the schedule 0, 0, 1 whose last step reads an old value is written as ``[(0, 2), (1, 1)]`` and ``[(2, 1)]``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby

Pairs = list[tuple[int, int]]


def written(schedule: Sequence[int], choices: Sequence[int]) -> tuple[Pairs, Pairs]:
    """Return threads with their numbers of steps, and steps with their choices."""
    threads = [(thread, len(list(piece))) for thread, piece in groupby(schedule)]
    return threads, [(step, choice) for step, choice in enumerate(choices) if choice]


def unwritten(threads: Iterable[Sequence[int]], chosen: Iterable[Sequence[int]]) -> tuple[list[int], list[int]]:
    """Return the thread and the choice of each step, from what `written` returned."""
    schedule = [thread for thread, steps in threads for _ in range(steps)]
    choices = [0] * len(schedule)
    for step, choice in chosen:
        choices[step] = choice
    return schedule, choices
