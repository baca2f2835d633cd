"""Sequential consistency: some order of all operations is legal and keeps the order of each process.

Nothing is said about real time between processes. It is no local property: objects that are each sequentially
consistent need not be so together, so all objects and keys are searched as one.

The search goes depth first over how far each process has come, and remembers (positions, states). A legal operation
that changes no state, such as a read, is taken at once: moved to here in any order that explains the history it stays
legal, and nothing else sees the difference; so no other choice has to be tried. (That an operation changes nothing
*now* would not be enough: where it stood it may have changed something.) The number of configurations is at
most the product of the processes' lengths times the states: fine for few processes.

Source: Lamport, "How to Make a Multiprocessor Computer That Correctly Executes Multiprocess Programs", 1979. The
problem is NP-complete: Gibbons and Korach, "Testing Shared Memories", 1997.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import Any

from latchfree_lincheck.checking.verdict import Verdict
from latchfree_lincheck.criteria.trial import GaveUp, Trial
from latchfree_lincheck.engine.bounds import MEMORY
from latchfree_lincheck.history import History
from latchfree_model import Model

Positions = tuple[int, ...]
States = tuple[Hashable, ...]


def sequentially_consistent(
    history: History, model: Model[Any], *, timeout: float | None = None, memory: int = MEMORY
) -> Verdict:
    """Judge whether a history is sequentially consistent.

    A pending operation may have taken effect, or not. A process that goes on under a new name after a crash counts
    as a new process.

    Parameters
    ----------
    history : History
        What happened; of the times, only the order within each process matters.
    model : Model
        The sequential model of each object.
    timeout : float, optional
        Seconds after which the verdict is "unknown".
    memory : int
        Bytes of search tables, about, after which the verdict is "unknown".

    Raises
    ------
    ValueError
        If the history has a call that the model does not have.
    """
    trial = Trial("sequential consistency", history, model, timeout, memory)
    try:
        return _Search(trial).run()
    except GaveUp as reason:
        return trial.unknown(str(reason))


class _Search:
    def __init__(self, trial: Trial) -> None:
        self._trial = trial
        programs: dict[int | str, list[int]] = {}
        for index in sorted(range(len(trial.operations)), key=lambda index: trial.operations[index].invoke):
            programs.setdefault(trial.operations[index].process, []).append(index)
        self._programs = list(programs.values())
        self._must = tuple(len(program) - (trial.operations[program[-1]].return_ is None) for program in self._programs)
        names = {operation.object: None for operation in trial.operations}
        self._place = {name: place for place, name in enumerate(names)}
        self._order: list[int] = []
        self._longest: tuple[list[int], Positions] = ([], (0,) * len(self._programs))

    def run(self) -> Verdict:
        """Walk all configurations, depth first."""
        start = self._settle((0,) * len(self._programs), (self._trial.model.init(),) * len(self._place))
        seen: set[tuple[Positions, States]] = set()
        seen.add(start)
        stack = [(self._moves(*start), 0)]
        done = self._finished(start[0])
        while stack and not done:
            self._trial.tick()
            moves, _ = stack[-1]
            move = next(moves, None)
            if move is None:
                _, length = stack.pop()
                del self._order[length:]
                continue
            index, positions, states = move
            length = len(self._order)
            self._order.append(index)
            node = self._settle(positions, states)
            if node in seen:
                del self._order[length:]
                continue
            seen.add(node)
            self._trial.keep()
            stack.append((self._moves(*node), length))
            done = self._finished(node[0])
        if done:
            return self._trial.ok("sequentially consistent", self._order)
        order, positions = self._longest
        return self._trial.dead_end(self._first_missing(positions), order)

    def _finished(self, positions: Positions) -> bool:
        if len(self._order) > len(self._longest[0]):
            self._longest = list(self._order), positions
        return all(position >= must for position, must in zip(positions, self._must, strict=True))

    def _first_missing(self, positions: Positions) -> int:
        """Return the operation, of those that come next and have returned, that returned first."""
        missing = [
            program[position]
            for program, position, must in zip(self._programs, positions, self._must, strict=True)
            if position < must
        ]
        return min(missing, key=lambda index: self._trial.operations[index].return_ or 0)

    def _step(self, index: int, states: States) -> tuple[bool, States]:
        place = self._place[self._trial.operations[index].object]
        legal, after = self._trial.model.step(states[place], self._trial.calls[index])
        if not legal or after == states[place]:
            return legal, states
        return True, (*states[:place], after, *states[place + 1 :])

    def _settle(self, positions: Positions, states: States) -> tuple[Positions, States]:
        """Take every legal operation that changes no state."""
        settled = []
        for program, position, must in zip(self._programs, positions, self._must, strict=True):
            while position < must and self._trial.effectless[program[position]]:
                self._trial.tick()
                if not self._step(program[position], states)[0]:
                    break
                self._order.append(program[position])
                position += 1
            settled.append(position)
        return tuple(settled), states

    def _moves(self, positions: Positions, states: States) -> Iterator[tuple[int, Positions, States]]:
        """Yield what may come next, the first invoked first: often the right guess."""
        nexts = [
            (self._trial.operations[program[position]].invoke, process, program[position])
            for process, (program, position) in enumerate(zip(self._programs, positions, strict=True))
            if position < len(program)
        ]
        for _, process, index in sorted(nexts):
            legal, after = self._step(index, states)
            if legal and (after is not states or self._trial.operations[index].return_ is not None):
                yield index, (*positions[:process], positions[process] + 1, *positions[process + 1 :]), after
