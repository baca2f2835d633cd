"""Memory that knows which nodes are free: an access to a free node, or outside of the arena, raises `UseAfterFree`.

Example: a mutant frees a node that is still linked. The next walk that reads the node raises.

The functions of the free lists are wrapped, as in `latchfree_evidence.mutants.poisoned`: what they give is marked, what
they take is unmarked, and they themselves work on the bare words.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any, Final, cast

import numpy as np
from numpy.typing import NDArray

from latchfree.arena import header, layout
from latchfree.arena.kernels.freelists import class_size

_POISON: Final = (0xF5EE << 48) | (1 << 39)


class UseAfterFree(Exception):
    """A word of a free node was used, or no word of the arena."""


class Memory:
    """The words of an arena, and a mark on each that is free.

    Parameters
    ----------
    capacity : int
        Bytes.

    Attributes
    ----------
    array : ndarray of uint64
    bare : memoryview
        The words, without a look at marks.
    marks : bytearray
    tolerated : set of int
        Words that may be read although they are free, such as the number of a ring that was given back.
    """

    def __init__(self, capacity: int) -> None:
        array = np.zeros(capacity // 8, np.uint64)
        header.format_header(array)
        self.take_over(array)

    def take_over(self, words: NDArray[np.uint64]) -> None:
        """Have the words of an arena in which nothing was made yet."""
        self.array: NDArray[np.uint64] = words
        self.array[layout.FIRST_NODE :] = _POISON  # so that no kernel can rely on memory being zero
        self.bare: Any = memoryview(cast(Any, self.array))
        self.tolerated: set[int] = set()
        nodes = len(self.array) - layout.FIRST_NODE
        self.marks = bytearray(layout.FIRST_NODE) + b"\1" * nodes
        self._saved: tuple[NDArray[np.uint64], bytes, int] | None = None

    def __getitem__(self, at: int) -> int:
        if self.marks[at] and at not in self.tolerated:
            raise UseAfterFree(f"word {at} is read, which is free")
        return int(self.bare[at])

    def __setitem__(self, at: int, value: int) -> None:
        if self.marks[at]:
            raise UseAfterFree(f"word {at} is written, which is free")
        self.bare[at] = value

    def mark(self, start: int, end: int) -> None:
        """Mark words as free, and poison them beyond the links of free lists."""
        if not layout.FIRST_NODE <= start <= end <= len(self.bare) or 1 in self.marks[start:end]:
            raise UseAfterFree(f"words {start} to {end} are freed, some of which are free or no node")
        self.marks[start:end] = b"\1" * (end - start)
        for at in range(start + 2, end):
            self.bare[at] = _POISON | start

    def unmark(self, start: int, end: int) -> None:
        """Take the marks off words that were taken."""
        if not layout.FIRST_NODE <= start <= end <= len(self.bare) or 0 in self.marks[start:end]:
            raise UseAfterFree(f"words {start} to {end} are taken, some of which are in use or no node")
        self.marks[start:end] = bytes(end - start)

    # runs of one scenario -------------------------------------------------------------------------------------------

    def save(self) -> None:
        """Note all words, for `restore`."""
        self._saved = self.array.copy(), bytes(self.marks), self.bare[int(layout.H_BUMP)]

    def restore(self) -> None:
        """Go back to what was noted."""
        assert self._saved is not None
        words, marks, end = self._saved
        end = min(max(end, self.bare[int(layout.H_BUMP)]), len(words))
        self.array[:end] = words[:end]
        self.marks[:end] = marks[:end]


def _simple(bare: Callable[..., Any], before: Callable[..., Any], after: Callable[..., Any]) -> Callable[..., Any]:
    def wrapped(mem: Any, *arguments: int) -> Any:
        if not isinstance(mem, Memory):
            return bare(mem, *arguments)
        before(mem, *arguments)
        result = bare(mem.bare, *arguments)
        after(mem, result, *arguments)
        return result

    return wrapped


def _steps(bare: Callable[..., Any], before: Callable[..., Any], after: Callable[..., Any]) -> Callable[..., Any]:
    def wrapped(mem: Any, *arguments: int) -> Generator[Any, Any, Any]:
        if not isinstance(mem, Memory):
            return (yield from bare(mem, *arguments))
        before(mem, *arguments)
        result = yield from bare(mem.bare, *arguments)
        after(mem, result, *arguments)
        return result

    return wrapped


def _wrapper(before: Callable[..., Any], after: Callable[..., Any]) -> Callable[[Any, bool], Any]:
    return lambda made, steps: (_steps if steps else _simple)(made, before, after)


def _nothing(*arguments: Any) -> None:
    """Leave the marks alone."""


def _sizes() -> list[int]:
    python = cast(Any, class_size).py_func
    return [int(python(np.uint64(kind))) for kind in range(92)]


_SIZES: Final = _sizes()


def _taken(mem: Memory, node: int, me: int, size: int, urgent: int) -> None:
    if node:
        mem.unmark(node, node + size)


def _owned(mem: Memory, me: int, *arguments: int) -> None:
    """Fail unless somebody owns the participant whose free lists are changed."""
    if me >= layout.PARTICIPANTS and mem.bare[me + int(layout.P_STATE)] == 0:
        raise AssertionError(f"free lists of the participant at {me}, which nobody owns, are changed")


def _gives(size_of: Callable[[int], int]) -> Callable[..., None]:
    def before(mem: Memory, me: int, node: int, size: int) -> None:
        _owned(mem, me)
        mem.mark(node, node + size_of(size))

    return before


def _pinned(place: int) -> Callable[..., None]:
    """Return a check that the participant in the place of an argument is pinned, or anybody for -1."""

    def before(mem: Memory, *arguments: int) -> None:
        table = range(layout.PARTICIPANTS, layout.PARTICIPANTS + 4 * layout.PARTICIPANT_WORDS, layout.PARTICIPANT_WORDS)
        who = [arguments[place]] if place >= 0 else table
        if not any(mem.bare[me + int(layout.P_PIN)] for me in who):
            raise AssertionError("nodes are read by somebody who is not pinned")

    return before


def _checked(before: Callable[..., None]) -> Callable[[Any, bool], Any]:
    """Return what makes a function of one that is called after a check."""

    def wrapper(made: Any, steps: bool) -> Callable[..., Any]:
        def wrapped(mem: Any, *arguments: int) -> Any:
            if isinstance(mem, Memory):
                before(mem, *arguments)
            return made(mem, *arguments)

        return wrapped

    return wrapper


#: What `World` wraps where memory has marks.
MARKING: Final = {
    f"latchfree.arena.kernels.freelists:{name}": wrapper
    for name, wrapper in {
        "give": _wrapper(_gives(int), _nothing),
        "put_back": _wrapper(_gives(lambda kind: _SIZES[kind]), _nothing),
        "carve": _wrapper(lambda mem, me, start, end: mem.mark(start, end), _nothing),
        "take": _wrapper(_owned, _taken),
    }.items()
} | {
    f"latchfree.ctrie.kernels.{name}": _checked(_pinned(place))
    for name, place in {
        "insert:insert": 1,
        "remove:remove": 1,
        "lookup:lookup_helping": 1,
        "lookup:lookup_undisturbed": -1,
        "lookup:lookup_frozen": -1,
        "scan:advance": -1,
        "scan:start": -1,
        "groups:_main_of_root": -1,
        "snapshot:freeze": 1,
        "snapshot:clear": 1,
        "snapshot:fork_frozen": 0,
        "snapshot:destroy": 1,
        "registry:drop": 1,
        "registry:sweep": 1,
        "gcas:read_root": -1,
    }.items()
}
