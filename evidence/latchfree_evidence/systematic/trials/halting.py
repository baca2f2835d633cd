"""A call that stops before an access, while others run; and the same for each of its accesses in turn.

Example: a thread that gives a snapshot back has left its mark, and stops before it tries the lock. Another thread
sweeps, and takes a snapshot in the same slot. Then the first one goes on.

Interleavings with few preemptions come to such places by chance, and there are thousands. Here one call stops at every
access it makes, and what the others do meanwhile is chosen for it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from latchfree_evidence.systematic.plain.words import ACCESSES
from latchfree_evidence.systematic.plain.world import World
from latchfree_evidence.systematic.trials.place import require

_MOST = 20_000


class Halted:
    """A call of a kernel, before its next access.

    Parameters
    ----------
    steps : World
        Whose kernels make steps.
    kernel : Kernel
    *arguments : object
        Memory and the words that it takes.

    Attributes
    ----------
    access : tuple or None
        Kind, memory, offset and operands of the next access; None when the call has ended.
    result : object
        What the call has returned.
    """

    def __init__(self, steps: World, kernel: Any, *arguments: Any) -> None:
        self._made = 0
        self.access: tuple[Any, ...] | None = None
        self.result: Any = None
        self._steps = steps[kernel](*arguments)
        self._advance(None)

    def _advance(self, value: Any) -> None:
        try:
            self.access = self._steps.send(value)
        except StopIteration as end:
            self.access, self.result = None, end.value

    def step(self) -> None:
        """Make the next access."""
        require(self.access is not None, "the call has another access")
        require(self._made < _MOST, "a call ends")
        assert self.access is not None
        self._made += 1
        kind, *arguments = self.access
        self._advance(ACCESSES[kind](*arguments))

    def run(self, most: int) -> bool:
        """Make so many accesses; return whether the call has another one."""
        while most and self.access is not None:
            self.step()
            most -= 1
        return self.access is not None

    def until(self, kind: str, at: int | None = None) -> None:
        """Go to an access of a kind, of a word or of any."""
        while self.access is not None and not (self.access[0] == kind and at in (None, self.access[2])):
            self.step()
        require(self.access is not None, "the call comes to an access", kind, at)

    def finish(self) -> Any:
        """Go to the end of the call, and return its result."""
        while self.access is not None:
            self.step()
        return self.result


def everywhere(scene: Callable[[int], bool], least: int) -> None:
    """Play a scene with a call that stops before its first access, its second, and so on to its last.

    Parameters
    ----------
    scene : callable
        Takes how many accesses come before the halt; returns whether there was another one to stop at.
    least : int
        How many accesses the call makes at least.
    """
    before = 0
    while scene(before):
        before += 1
    require(before >= least, "there were places to stop at", before)
