"""Run a scenario one access at a time, so that Python can look at the memory in between.

The explorer's scheduler runs inside the fibers and comes back to Python when a schedule has ended. The stepper limits
the schedule to the steps made so far: a fiber that reaches the limit switches to the main stack. To make one more step,
the stepper raises the limit by one and enters that fiber where it was left.
"""

from __future__ import annotations

import ctypes
from typing import Final, NamedTuple

import numpy as np

from latchfree.jit import kernel
from latchfree.kinds import Word
from latchfree_explore.board import layout as b
from latchfree_explore.board.effects import undo
from latchfree_explore.board.layout import get, put
from latchfree_explore.board.stacks import switch
from latchfree_explore.machine import launch
from latchfree_explore.machine.machine import MOST_STEPS, PROBLEMS, Machine
from latchfree_explore.scenario import Scenario
from latchfree_explore.strategies.directed import DIRECTED
from latchfree_explore.target import Target

_WORD: Final = (1 << 64) - 1


@kernel
def resume(board: Word) -> Word:
    """Go on where the schedule was left at its limit of steps; returns the status."""
    put(board, b.STATUS, b.RUNNING)
    stack = get(b.fiber(board, get(board, b.CURRENT)), b.F_STACK)
    switch(np.uint64(board + 8 * b.MAIN_STACK), np.uint64(stack))
    return get(board, b.STATUS)


class Pending(NamedTuple):
    """The access that a thread is about to make: its kind, word, operands and source line."""

    kind: str
    at: int
    expected: int
    operand: int
    site: str


class Halted(Exception):
    """A thread did what no thread should: the schedule ended before its time."""


class Stepper:
    """A scenario of the explorer, to be run step by step.

    Parameters
    ----------
    target : Target
    scenario : Scenario

    Attributes
    ----------
    words : memoryview
        The memory under test.
    root : int
        What the target's setup returned.
    """

    def __init__(self, target: Target, scenario: Scenario) -> None:
        self._machine = Machine(target, scenario)
        self._board = memoryview(self._machine.board.data).cast("B").cast("q")
        self._trace = self._machine.trace
        self._calls = memoryview(self._machine.call_rows.data).cast("B").cast("q")
        self._sites: dict[int, str] = {}
        memory = self._machine.memory
        self.words = memoryview(memory.words.data).cast("B").cast("Q")
        self.root = memory.root

    @property
    def steps(self) -> int:
        """Accesses made so far."""
        return self._board[b.STEPS]

    @property
    def left(self) -> int:
        """Accesses that can still be made."""
        return MOST_STEPS - self.steps

    def begin(self) -> None:
        """Bring every thread to its first access."""
        board = self._board
        self._machine.start(DIRECTED, bound=DIRECTED.default_bound)
        board[b.MOST_STEPS] = 0
        launch.run_threads(self._machine.address, self._machine.before)

    def step(self, thread: int) -> None:
        """Let a thread make its access and come to the next.

        Raises
        ------
        Halted
            If it does something else.
        """
        board, now = self._board, self._board[b.STEPS]
        self._trace[now, b.S_THREAD] = thread
        board[b.PREFIX] = board[b.MOST_STEPS] = now + 1
        status = resume(self._machine.address)
        if status not in (b.ENDLESS, b.DONE):
            raise Halted(f"thread {thread}: {PROBLEMS.get(int(status), status)} at {self.pending(thread)}")

    def _fiber(self, thread: int, field: int) -> int:
        return self._board[b.FIBERS + thread * b.FIBER_WORDS + field]

    def pending(self, thread: int) -> Pending | None:
        """Return the access that a thread is about to make, None if the thread has ended."""
        if not self._fiber(thread, b.F_READY):
            return None
        at = b.FIBERS + thread * b.FIBER_WORDS
        kind, word, a, operand, site = self._board[at + b.F_KIND : at + b.F_SITE + 1].tolist()
        return Pending(b.KINDS[kind], word, a & _WORD, operand & _WORD, self._site(site))

    def _site(self, address: int) -> str:
        if address not in self._sites:
            self._sites[address] = ctypes.string_at(address).decode() if address else ""
        return self._sites[address]

    def between(self, thread: int) -> bool:
        """Whether a thread is in no operation: it has ended, or is about to begin the next."""
        return not self._fiber(thread, b.F_READY) or bool(self._fiber(thread, b.F_INVOKING))

    def result(self, call: int) -> int:
        """Return the word that operation number `call` of the scenario has returned."""
        return self._calls[call * b.CALL_WORDS + b.C_RESULT]

    def end(self) -> None:
        """Forget the schedule and undo what it wrote."""
        undo(self._machine.address)
