"""Where a sketch is: in private memory, or in an arena under a name, where threads and processes share it.

Example: `Place.private` makes zeros of this process. `Place.named` makes a record in an arena, and the arena's
directory leads other processes there.

Invariant: a record is published, or used, only when all of its words are written.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any, ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from latchfree.arena import Arena
from latchfree.arena.entry import Entry
from latchfree.arena.patience import Patience
from latchfree.errors import ArenaFull, ArenaInvalid, LatchfreeError, MadeBeforeFork
from latchfree.sketches.border import SKETCH
from latchfree.sketches.common.errors import SketchGone
from latchfree.sketches.common.hashes import hash_in, number_in
from latchfree.sketches.common.hashing import Hashing, hashing_of
from latchfree.sketches.common.shapes import OVERHEAD, Shape, cells_of, head_of
from latchfree.sketches.kernels import record as r

#: Of what the words of a record, and of its cells, mean; and where items are hashed as by another library,
#: so that a reader which knows no such hash refuses the sketch.
FORMAT: Final = 1
FOREIGN_FORMAT: Final = 2

_GONE: Final = int(r.GONE)
_FIRST: Final = int(r.FIRST_CELL)
_SHAPE: Final = int(r.SHAPE)
#: Seconds that unlinking waits for calls that are under way, and between two looks.
_PATIENCE: Final = 5.0
_NAP: Final = 0.002


class Place:
    """The memory of one sketch, as this process sees it.

    Attributes
    ----------
    arena : Arena or None
        None for private memory.
    name : str or None
        The name in the arena.
    base, root, number : int
        Address of the memory, word offset of the record, and the record's number.
    shape : tuple of int
    seed : int
    hashing : Hashing or None
        How items are hashed as by another library; None for our own hash.
    """

    #: What it is called in texts of errors, and the error of a call of one that was unlinked.
    WHAT: ClassVar[str] = "sketch"
    GONE: ClassVar[type[LatchfreeError]] = SketchGone

    __slots__ = ("_words", "arena", "base", "hashing", "name", "number", "root", "seed", "shape")

    def __init__(self, words: NDArray[np.uint64], base: int, root: int, arena: Arena | None, name: str | None) -> None:
        self._words, self.base, self.root, self.arena, self.name = words, base, root, arena, name
        head = words[root : root + _FIRST].tolist()
        self.number: int = head[int(r.NUMBER)]
        self.seed: int = head[int(r.SEED)]
        self.shape: Shape = tuple(head[_SHAPE : _SHAPE + 4])
        self.hashing: Hashing | None = None

    @classmethod
    def private(cls, kind: int, shape: Shape, seed: int, empty: int = 0) -> Place:
        """Make an empty sketch in private memory."""
        cells = cells_of(kind, shape)
        words: NDArray[np.uint64] = np.zeros(OVERHEAD + cells, np.uint64)
        root = -(words.ctypes.data // 8) % 8
        _write(words[root:], kind, shape, seed, cells, empty)
        made = cls(words, words.ctypes.data, root, None, None)
        made.hashing = hashing_of(kind, shape, seed)
        return made

    @classmethod
    def named(cls, arena: Arena, name: str, kind: int, shape: Shape, seed: int, holds: str, empty: int = 0) -> Place:
        """Make an empty sketch in an arena; see `latchfree.arena.directory.Directory.create`."""
        check_arena(arena)
        cells = cells_of(kind, shape)

        def build() -> int:
            round_up = SKETCH.round_up
            root = _room_for(arena, round_up(OVERHEAD + cells))
            _write(arena.words[root:], kind, shape, seed, cells, empty)
            return root

        maker = arena.identity

        def dismantle(root: int) -> None:
            _free(arena, root, maker)

        # What `latchfree arena info` shows: by whose hash, if that is not ours.
        keys = hash_in(kind, shape).name if number_in(kind, shape) else "items"
        arena.directory.create(
            name, kind=kind, keys=keys, values=holds, hash_mask=(1 << 64) - 1, build=build, dismantle=dismantle
        )
        return cls.found(arena, name, kind)

    @classmethod
    def found(cls, arena: Arena, name: str, kind: int, number: int | None = None) -> Place:
        """Return the place of a named sketch; with a number, of no other sketch that has taken its name.

        Raises
        ------
        StructureMissing, ValueError
            As `latchfree.arena.directory.Directory.find`.
        SketchGone
            If the sketch of that number is unlinked.
        ArenaInvalid
            If the sketch is of another version.
        """
        entry = check_arena(arena).directory.find(name, kind)
        with arena.call():
            made = cls(arena.words, arena.base, entry.root, arena, name)
            version = int(arena.words[entry.root + int(r.VERSION)])
        if made.number == 0 or number not in (None, made.number):
            raise made.gone()
        if version != version_of(kind, made.shape):
            raise ArenaInvalid(
                f"{cls.WHAT} {name!r} is of version {version}, this latchfree reads {FORMAT}; "
                "use the latchfree that wrote it"
            )
        try:
            made.hashing = hashing_of(kind, made.shape, made.seed)
        except ValueError as error:
            raise ArenaInvalid(f"{cls.WHAT} {name!r} is damaged: {error}") from None
        return made

    @property
    def cells(self) -> NDArray[np.uint64]:
        """The cells of a private sketch that nobody else knows yet."""
        return self._words[self.root + _FIRST :][: int(self._words[self.root + int(r.CELLS)])]

    def set_added(self, count: int) -> None:
        """Set the number of items added, in a private sketch that nobody else knows yet."""
        self._words[self.root + int(r.ADDED)] = self._words[self.root + int(r.TICKET)] = count

    def call(self, kernel: Callable[..., Any], *arguments: Any) -> Any:
        """Make a call that keeps the interpreter lock."""
        arena = self.arena
        me = 0 if arena is None else arena.interpreter_participant()
        found = kernel(self.base, me, self.root, self.number, *arguments)
        if found == _GONE:
            raise self.gone()
        return found

    def run(self, kernel: Callable[..., Any], *arguments: Any) -> Any:
        """Make a call that gives up the interpreter lock."""
        arena = self.arena
        if arena is None:
            found = kernel(self.base, 0, self.root, self.number, *arguments)
        else:
            with arena.lend() as me:
                found = kernel(self.base, me, self.root, self.number, *arguments)
        if found == _GONE:
            raise self.gone()
        return found

    def gone(self) -> LatchfreeError:
        """Return the error of a call of a sketch that was unlinked."""
        assert self.arena is not None
        return self.GONE(
            f"{self.WHAT} {self.name!r} in {self.arena.region.where} is gone: it was unlinked; make it anew with create"
        )


def version_of(kind: int, shape: Shape) -> int:
    """Return the version of the record of a sketch."""
    return FOREIGN_FORMAT if number_in(kind, shape) else FORMAT


def check_arena(arena: Any) -> Arena:
    """Return an arena; raise TypeError for anything else."""
    if not isinstance(arena, Arena):
        raise TypeError(f"arena must be an Arena, not {type(arena).__name__}; use Arena.create or Arena.open")
    return arena


def unlink(arena: Arena, name: str, kind: int, refused: Callable[[Arena, int], None] | None = None) -> None:
    """Take a sketch out of an arena's directory, refuse calls on it from then on, and free its memory.

    Parameters
    ----------
    arena, name, kind
        Of the sketch.
    refused : callable, optional
        Is called with the arena and the record when calls are refused, before the memory is free.
    """
    found = check_arena(arena).directory.find(name, kind, call="unlink")
    maker = arena.identity

    def dismantle(entry: Entry) -> None:
        end, is_quiet = SKETCH.end, SKETCH.is_quiet
        ended = end(arena.base, entry.root)
        if refused is not None:
            refused(arena, entry.root)
        until = time.monotonic() + _PATIENCE
        while not is_quiet(arena.base, ended):
            if time.monotonic() > until:
                return  # somebody was stopped in a call: a repair gives the memory back
            time.sleep(_NAP)
        _free(arena, entry.root, maker)

    arena.directory.remove(name, dismantle, root=found.root)


def _write(words: NDArray[np.uint64], kind: int, shape: Shape, seed: int, cells: int, empty: int) -> None:
    """Write the record of an empty sketch; the number last."""
    words[int(r.KIND)], words[int(r.VERSION)], words[int(r.SEED)], words[int(r.CELLS)] = (
        kind,
        version_of(kind, shape),
        seed,
        cells,
    )
    words[_SHAPE : _SHAPE + 4] = np.array(shape, np.uint64)
    head = head_of(kind, shape, empty)
    words[_FIRST : _FIRST + len(head)] = np.array(head, np.uint64)
    words[int(r.NUMBER)] = int.from_bytes(os.urandom(8), "little") | 1


def _room_for(arena: Arena, size: int) -> int:
    """Return the offset of a new record.

    Raises
    ------
    ArenaFull
        If the arena has no room.
    """
    create, patience = SKETCH.create, Patience(arena)
    while True:
        root: int = create(arena.base, arena.interpreter_participant(), size)
        if root:
            return root
        if not patience.make_room():
            raise ArenaFull(
                f"{arena!r} has no room for a sketch of {8 * size:,} bytes; use a larger arena, or ask for less"
            )


def _free(arena: Arena, root: int, maker: int) -> None:
    """Free a record that nobody uses; not in a forked child of the `maker`."""
    free = SKETCH.free
    with suppress(MadeBeforeFork):
        free(arena.base, arena.interpreter_participant(maker), root)
