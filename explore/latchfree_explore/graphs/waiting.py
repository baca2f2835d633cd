"""Threads that have paused: which of them wait for ever, and whether they may wait for good in the first place.

Example: ``while load(x) == 0: pause()``. A thread that has read 0 waits for good in its graph. In another graph the
load reads what somebody stores to x, and the thread does not come to the pause at all. Turns of the loop that only read
are of no consequence to others, so no graph needs to have them.

A loop that writes between its pauses, or gives up after some turns, is another matter: its turns count. Such a loop is
not served. A thread that has read an old value, and would go on with a newer one, makes its graph one that no fair
machine comes to: it is left out. If nobody can go on, that is a deadlock.
"""

from __future__ import annotations

import ctypes

from latchfree_explore.board import layout as b
from latchfree_explore.graphs.exploring import Visited
from latchfree_explore.graphs.growing import prefix
from latchfree_explore.graphs.guiding import Guide
from latchfree_explore.graphs.steps import State


class Waiting:
    """Looks at threads that have paused.

    Parameters
    ----------
    guide : Guide
        Runs the code.
    """

    def __init__(self, guide: Guide) -> None:
        self._guide = guide
        self._harmless: set[int] = set()

    def is_deadlock(self, visited: Visited) -> bool:
        """Return whether nobody can go on after a run that has not come to its end.

        Raises
        ------
        ValueError
            If a thread waits in a loop whose turns count.
        """
        for thread, site in self._paused():
            if site not in self._harmless:
                self._look(visited.state, thread, site)
        if visited.status == b.DEADLOCK:
            return True
        status, rows = self._guide.go_on(visited.state)
        return status == b.DEADLOCK and not any(_counts(row) for row in rows)

    def _paused(self) -> list[tuple[int, int]]:
        """Return the threads that have paused, and the sites of their pauses."""
        board = self._guide.machine.board
        fibers = [(k, b.FIBERS + k * b.FIBER_WORDS) for k in range(int(board[b.THREADS]))]
        return [
            (k, int(board[f + b.F_SITE])) for k, f in fibers if board[f + b.F_READY] and board[f + b.F_KIND] == b.PAUSE
        ]

    def _look(self, state: State, thread: int, site: int) -> None:
        """Let a thread take some turns of its loop with nobody beside it, where nothing new is to be read."""
        before = prefix(state, thread)
        alone = state.without(frozenset(k for k in range(len(state.steps)) if k not in before), -1)
        if any(_is_old(alone, write, alone.steps[read].word, thread) for read, write in alone.source.items()):
            return
        status, rows = self._guide.go_on(alone, thread)
        if status != b.ENDLESS or any(_counts(row) for row in rows):
            line = ctypes.string_at(site).decode()
            raise ValueError(
                f"strategy 'graphs' takes a thread that pauses to wait for good; the loop around {line} writes between "
                "its pauses, or gives up after some. Explore it with --strategy dpor"
            )
        self._harmless.add(site)


def _is_old(state: State, write: int, word: int, thread: int) -> bool:
    """Return whether another thread has written a word after a write."""
    order = state.order(word)
    return any(state.steps[later].thread != thread for later in order[order.index(write) + 1 :])


def _counts(row: list[int]) -> bool:
    """Return whether a step of a waiting thread matters to others: it changes a word, or ends an operation."""
    kind = row[b.S_KIND]
    if row[b.S_FLAGS] & b.RETURNS or kind in (b.STORE, b.POKE):
        return True
    return kind < b.FENCE and kind != b.PEEK and row[b.S_OLD] != row[b.S_NEW]
