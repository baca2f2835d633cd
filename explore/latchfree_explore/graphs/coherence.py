"""What coherence leaves to choose for a new step: which writes a read may take, and where a write may come.

Example: thread 0 has stored 1 and then 2 to x, and thread 1 has acquired what thread 0 knows. A load of thread 1 may
take the 2 only, and a store of thread 1 comes last.

A new step is last in its thread and nobody has read from it, so nothing happens after it. That makes coherence a look
at what happens before it: the axioms need to judge only what passes. All four models have coherence.
"""

from __future__ import annotations

from collections.abc import Iterator

from latchfree_explore.graphs.steps import State
from latchfree_explore.weak.graph import INITIAL

_ACQUIRES = ("acq", "ar", "sc")
_RELEASES = ("rel", "ar", "sc")


class Known:
    """What happens before the next step of each thread, as masks of steps; not what only fences order.

    Parameters
    ----------
    state : State
        A graph that may grow: see `add`.
    """

    def __init__(self, state: State) -> None:
        self._threads: dict[int, int] = {}
        self._carried = {INITIAL: 0}
        for number in state.in_order():
            self.add(state, number)

    def add(self, state: State, number: int) -> None:
        """Account for a step; all that comes before it has been accounted for."""
        step = state.steps[number]
        mine = self._threads.get(step.thread, 0) | 1 << number
        if step.part == "read" and step.order in _ACQUIRES:
            mine |= self._carried[state.source.get(number, INITIAL)]
        self._threads[step.thread] = mine
        if step.part in ("write", "half", "poke"):
            carried = mine if step.order in _RELEASES else 0
            if step.part == "half":
                order = state.writes[step.word]
                carried |= self._carried[order[order.index(number) - 1]]
            self._carried[number] = carried

    def floor(self, state: State, thread: int, word: int) -> int:
        """Return the place of the newest write of a word that the next step of a thread must not overlook."""
        known, order = self._threads.get(thread, 0), state.order(word)
        if len(order) == 1:
            return 0
        place = {write: at for at, write in enumerate(order)}
        floor = max((at for write, at in place.items() if write != INITIAL and known >> write & 1), default=0)
        for read, write in state.source.items():
            if known >> read & 1 and place.get(write, 0) > floor:
                floor = place[write]
        return floor

    def readable(self, state: State, thread: int, word: int) -> tuple[int, ...]:
        """Return the writes of a word that the next step of a thread may read."""
        return state.order(word)[self.floor(state, thread, word) :]

    def places(self, state: State, thread: int, word: int) -> Iterator[int]:
        """Yield the places of a word's order where the next step of a thread may write."""
        order = state.order(word)
        for place in range(self.floor(state, thread, word) + 1, len(order) + 1):
            if place == len(order) or state.steps[order[place]].part != "half":
                yield place
