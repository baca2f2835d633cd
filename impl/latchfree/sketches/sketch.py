"""`Sketch`: what all sketches have in common: where they are, their names, their bytes, merging.

Example: a process makes ``Bloom.create(arena, "seen", 1_000_000)``; others open it by name, and all add to the same
words. Its bytes say kind, shape and seed, so that they are merged with nothing else.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray

from latchfree.arena import Arena
from latchfree.errors import ArenaInvalid
from latchfree.sketches.border import SKETCH
from latchfree.sketches.common import stored
from latchfree.sketches.common.errors import SketchInvalid, SketchMismatch
from latchfree.sketches.common.hashes import hash_in, seed_shown
from latchfree.sketches.common.hashing import Hashing
from latchfree.sketches.common.items import chunks, column_of
from latchfree.sketches.common.place import Place, check_arena, unlink
from latchfree.sketches.common.shapes import MOST_HEAD, Shape, cells_of, check_head
from latchfree.structures import name_of

S = TypeVar("S", bound="Sketch")


class Sketch(ABC):
    """A small summary of many items, for any number of threads and processes.

    Operations never wait for each other. What an operation adds is seen by all that begin after it has returned; what
    is added meanwhile may be seen in part.
    """

    __slots__ = ("_place",)

    _place: Place

    #: Number of the kind in files.
    KIND: ClassVar[int]
    #: What the arena's directory says of the cells.
    CELLS: ClassVar[str]
    #: What the first cell of an empty sketch holds; the others hold 0.
    EMPTY: ClassVar[int] = 0

    @classmethod
    def _of(cls: type[S], place: Place) -> S:
        made = cls.__new__(cls)
        made._place = place
        return made

    @classmethod
    def _create(cls: type[S], arena: Arena, name: str, shape: Shape, seed: int) -> S:
        return cls._of(Place.named(arena, name, cls.KIND, shape, seed, cls.CELLS, cls.EMPTY))

    @classmethod
    def open(cls: type[S], arena: Arena, name: str) -> S:
        """Return the sketch of a name in an arena.

        Raises
        ------
        StructureMissing
            If the arena has nothing of that name.
        ValueError
            If it is a structure of another kind.
        """
        return cls._of(Place.found(arena, name, cls.KIND))

    @classmethod
    def unlink(cls, arena: Arena, name: str) -> None:
        """Take a sketch out of an arena's directory, and free its memory.

        Calls of those who still have it open raise `SketchGone` from then on. If a process stays in the middle of a
        call for more than five seconds, the memory comes back with ``latchfree arena fsck --repair``.

        Raises
        ------
        StructureMissing
            If the arena has nothing of that name.
        ValueError
            If it is a structure of another kind.
        """
        unlink(arena, name, cls.KIND)

    # what it is -------------------------------------------------------------------------------------------------

    @property
    def arena(self) -> Arena | None:
        """The arena that holds a named sketch, None for a private one."""
        return self._place.arena

    @property
    def name(self) -> str | None:
        """The name in the arena, None for a private sketch."""
        return self._place.name

    @property
    def seed(self) -> int:
        """The seed of the hash: sketches are merged only with sketches of the same seed."""
        place = self._place
        return place.seed if place.hashing is None else seed_shown(hash_in(self.KIND, place.shape), place.seed)

    @property
    def hash(self) -> str:
        """By whose hash items are placed: sketches are merged only with sketches of the same hash."""
        return hash_in(self.KIND, self._place.shape).name

    @property
    def added(self) -> int:
        """How many items were added by calls that have ended, repeated ones each time."""
        return int(self._place.call(SKETCH.added))

    @property
    def nbytes(self) -> int:
        """Size of the cells in bytes."""
        return 8 * cells_of(self.KIND, self._place.shape)

    @abstractmethod
    def _described(self) -> str:
        """Return the shape in words."""

    def __repr__(self) -> str:
        where = "" if self.name is None else f", {self.name!r}"
        hashed = "" if self._place.hashing is None else f", hash {self.hash!r}"
        return f"<{type(self).__name__} {self._described()}, {self.nbytes:,} bytes{hashed}{where}>"

    # many items -------------------------------------------------------------------------------------------------

    def _add_all(self, call: Any, items: Any) -> None:
        """Call compiled code for the hashes of items."""
        for _, hashes in chunks(column_of(items), self._place.seed):
            self._place.run(call, hashes)

    def _answers(self, call: Any, items: Any, kind: type[np.generic]) -> tuple[NDArray[Any], str]:
        """Return what compiled code says of each item, as an array of a kind; and what the items came in."""
        column = column_of(items)
        found = np.empty(column.length, kind)
        for first, hashes in chunks(column, self._place.seed):
            self._place.run(call, hashes, found[first : first + len(hashes)])
        return found, column.source

    def _call_foreign(self, hashing: Hashing, call: Any, items: Any) -> None:
        """Call compiled code for the words that another library's hash makes of items."""
        for _, _, words in hashing.chunks(column_of(items)):
            self._place.run(call, words)

    def _foreign_answers(
        self, hashing: Hashing, call: Any, items: Any, kind: type[np.generic]
    ) -> tuple[NDArray[Any], str]:
        """Return what compiled code says of each item, as `_answers`, with another library's hash."""
        column = column_of(items)
        found = np.empty(column.length, kind)
        for first, count, words in hashing.chunks(column):
            self._place.run(call, words, found[first : first + count])
        return found, column.source

    def _check_hash(self, *names: str) -> None:
        """Make sure that items are placed as another library would; raise SketchMismatch if not."""
        if self.hash not in names:
            wanted = " or ".join(f"hash={name!r}" for name in names)
            raise SketchMismatch(
                f"this {type(self).__name__} places items by the hash {self.hash!r}, which the other library does not "
                f"use: it would find none of them; make the sketch with {wanted}"
            )

    # bytes and merging ------------------------------------------------------------------------------------------

    def _copied(self) -> tuple[NDArray[np.uint64], int]:
        """Return a copy of the cells, and how many items were added before it was begun."""
        cells: NDArray[np.uint64] = np.empty(cells_of(self.KIND, self._place.shape), np.uint64)
        return cells, int(self._place.run(SKETCH.copy, cells))

    def to_bytes(self) -> bytes:
        """Return the sketch as bytes: all that was added before the call, and maybe some of what is added meanwhile."""
        cells, added = self._copied()
        return stored.pack(self.KIND, self._place.shape, self._place.seed, added, cells)

    @classmethod
    def from_bytes(cls: type[S], data: bytes) -> S:
        """Return a private sketch of what `to_bytes` returned.

        Raises
        ------
        TypeError
            If `data` is not bytes.
        SketchInvalid
            If the bytes are not those of such a sketch: foreign, cut short, changed, or of another kind or version.
        """
        shape, seed, added, cells = stored.unpack(cls.KIND, data)
        place = Place.private(cls.KIND, shape, seed)
        try:
            check_head(cls.KIND, shape, cells[:MOST_HEAD].tolist())
        except ValueError as error:
            raise SketchInvalid(f"a damaged sketch: {error}") from None
        place.cells[:] = cells
        place.set_added(added)
        return cls._of(place)

    def copy(self: S) -> S:
        """Return a private copy."""
        return self.from_bytes(self.to_bytes())

    def __copy__(self: S) -> S:
        return self.copy()

    def __deepcopy__(self: S, memo: object) -> S:
        return self.copy()

    def __reduce__(self) -> tuple[Any, ...]:
        place = self._place
        if place.arena is None or not place.arena.shared:
            return type(self).from_bytes, (self.to_bytes(),)
        return _reopened, (type(self), place.arena, place.arena.number, place.name, place.number)

    def _check_like(self, other: Any) -> None:
        """Make sure that another sketch has the same kind, shape and seed.

        Raises
        ------
        TypeError, SketchMismatch
            If it has not.
        """
        if type(other) is not type(self):
            raise TypeError(f"a {type(self).__name__} is merged with another one, not with a {type(other).__name__}")
        mine, theirs = self._place, other._place
        if self.hash != other.hash:
            raise SketchMismatch(
                f"these sketches hash items differently: one by {self.hash!r}, the other by {other.hash!r}; "
                "make both with the same hash"
            )
        if mine.shape != theirs.shape:
            raise SketchMismatch(
                f"these sketches have different shapes: {self._described()}, and {other._described()}; "
                "make both with the same arguments"
            )
        if mine.seed != theirs.seed:
            raise SketchMismatch(
                f"these sketches hash items differently: the seeds are {self.seed} and {other.seed}; "
                "make both with the same seed"
            )

    def _merge(self, other: Any, call: str) -> None:
        """Merge with a sketch of the same kind, shape and seed."""
        self._check_like(other)
        mine = self._place
        cells, added = other._copied()
        if self.added + added > stored.MOST_ADDED:
            raise ValueError(
                f"{self.added + added:,} items would have been added after this merge, the most is "
                f"{stored.MOST_ADDED:,}; begin another sketch"
            )
        mine.run(getattr(SKETCH, call), cells, added)


def _reopened(cls: type[S], arena: Arena, identity: int, name: str, number: int) -> S:
    """Return a named sketch that was pickled."""
    if check_arena(arena).number != identity:
        raise ArenaInvalid(
            f"{arena.region.where}: not the arena that sketch {name!r} is in: another one has taken its place"
        )
    return cls._of(Place.found(arena, name, cls.KIND, number))


def from_bytes(data: bytes) -> Sketch:
    """Return a private sketch of what any sketch's `to_bytes` returned.

    Raises
    ------
    TypeError
        If `data` is not bytes.
    SketchInvalid
        If the bytes are not those of a sketch.
    """
    kind = stored.kind_of(data)
    classes: list[Any] = [Sketch]
    while classes:
        cls = classes.pop()
        if kind == getattr(cls, "KIND", None):
            found: Sketch = cls.from_bytes(data)
            return found
        classes += cls.__subclasses__()
    raise SketchInvalid(f"a {name_of(kind)} is no sketch")
