"""`Handle`: a ring as this process has it: where it is, whether it still is, and how to call it.

Example: a ring of a shared arena has come by pickle. Each call passes the participant of this opening and the number of
the ring, and compiled code looks whether the ring still has that number.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any, ClassVar, Final

from latchfree.arena import Arena
from latchfree.arena.entry import Entry
from latchfree.arguments import choice, flag, integer, seconds, shown
from latchfree.errors import ArenaClosed, ArenaInvalid, LatchfreeError, MadeBeforeFork
from latchfree.streams.border import RING
from latchfree.streams.counts import RingCounts, counts_of
from latchfree.streams.errors import RingGone, RingShutDown, RingStalled
from latchfree.streams.futex import FUTEX
from latchfree.streams.kernels import layout
from latchfree.streams.kernels import ring as r
from latchfree.streams.kernels.entry_points import MISSING, NO_COUNT, TELL
from latchfree.streams.named import give_back
from latchfree.streams.ownership import Nobody, Owner, owner_of, wake, watch
from latchfree.streams.watching import Watch
from latchfree.structures import RING_BUFFER, class_of, mismatch

MOST_CAPACITY: Final = 1 << 25

#: How often compiled code looks at a claimed cell before it comes back here.
LOOKS: Final = 1 << 10
#: Seconds between two such calls, and between two looks at a cell that another thread has claimed.
NAP: Final = 5e-5

_MISSING, _NO_COUNT, _TELL, _SHUT = int(MISSING), int(NO_COUNT), int(TELL), int(r.SHUT)
NEWS, ROOM = int(layout.NEWS), int(layout.ROOM)

#: What `put` does when the ring is full: the place of each is its number in the words of the ring.
WHEN_FULL: Final = ("block", "reject", "drop newest", "drop oldest")

#: In the place of the cell with the participant, where the ring was closed.
_NOBODY: Final = (0,)


class Handle:
    """A ring; see `latchfree.RingBuffer`."""

    __slots__ = (
        "__weakref__",
        "_alone",
        "_arena",
        "_base",
        "_capacity",
        "_closed",
        "_name",
        "_number",
        "_owner",
        "_payload",
        "_place",
        "_ring",
        "_seconds",
        "_shown",
        "_watches",
        "_weak",
        "_when_full",
    )

    rank = 0
    #: The name of the class, by which an arena knows its rings.
    KIND: ClassVar[str] = "RingBuffer"
    #: What the values are, see `latchfree.streams.kernels.layout`; of a ring that is being made, what they will be.
    _payload: int

    def __init__(
        self,
        capacity: int,
        *,
        weak: bool = False,
        arena: Arena | None = None,
        stall_timeout: float = 10.0,
        when_full: str = "block",
    ) -> None:
        capacity = checked_capacity(capacity)
        if not (arena is None or isinstance(arena, Arena)):
            raise TypeError(f"arena must be an Arena, not {type(arena).__name__}; use Arena.create or Arena.open")
        policy = choice(when_full, "when_full", WHEN_FULL)
        self._seconds, weak = seconds(stall_timeout, "stall_timeout"), flag(weak, "weak")
        if arena is None:
            arena = Arena.anonymous((4 << 20) + 24 * capacity)
        owner = Owner(arena, capacity, weak)
        with arena.call():
            arena.words[owner.ring + int(layout.WHEN_FULL)] = policy
        self._attach(arena, owner)
        self._adapt()

    def _adapt(self) -> None:
        """Learn from the words of the ring what values are."""
        with self._arena.call():
            held = int(self._arena.words[self._ring + int(layout.PAYLOAD)])
        if held:
            raise ValueError("this ring holds messages; open it with MessageRing")

    @classmethod
    def unlink(cls, arena: Arena, name: str) -> None:
        """Take a ring out of an arena's directory, and free its memory; other calls raise `RingGone` from then on.

        Raises
        ------
        StructureMissing
            If the arena has nothing of that name.
        ValueError
            If it is a structure of another kind.
        """
        if not isinstance(arena, Arena):
            raise TypeError(f"arena must be an Arena, not {type(arena).__name__}; use Arena.create or Arena.open")
        found = cls._entry(arena, name, "unlink")

        def dismantle(entry: Any) -> None:
            with suppress(MadeBeforeFork):
                give_back(arena, entry.root)
            wake(arena, entry.root)

        arena.directory.remove(name, dismantle, root=found.root)

    # names ---------------------------------------------------------------------------------------------------

    @classmethod
    def _entry(cls, arena: Arena, name: str, call: str) -> Entry:
        """Return the entry of a ring of this class.

        Raises
        ------
        StructureMissing, ValueError
            If there is none of that name, or it is of another class; the text names that class.
        """
        entry = arena.directory.find(name)
        found = class_of(entry.kind, entry.values)
        if found != cls.KIND:
            raise ValueError(mismatch(name, found, cls.KIND, call))
        return entry

    @classmethod
    def _create(cls, arena: Arena, name: str, holds: str, make: Callable[[], Any], stall_timeout: float) -> Any:
        """Put a ring that `make` makes under a name; see `RingBuffer.create`."""
        if not isinstance(arena, Arena):
            raise TypeError(f"arena must be an Arena, not {type(arena).__name__}; use Arena.create or Arena.open")
        if not arena.shared:
            raise ValueError("a private arena has no names that others could open; use Arena.create")

        def build() -> int:
            made = make()
            handed = made._owner.hand_over()
            root = int(made._ring)
            made.close()
            if not handed:
                raise MadeBeforeFork("this is a child that was forked while a ring was made: the ring is the parent's")
            return root

        def dismantle(root: int) -> None:
            with suppress(MadeBeforeFork):
                give_back(arena, root)

        arena.directory.create(
            name,
            kind=RING_BUFFER,
            keys="values",
            values=holds,
            hash_mask=(1 << 64) - 1,
            build=build,
            dismantle=dismantle,
        )
        return cls._found(arena, name, stall_timeout)

    @classmethod
    def _found(cls, arena: Arena, name: str, stall_timeout: float) -> Any:
        """Return the ring of a name."""
        if not isinstance(arena, Arena):
            raise TypeError(f"arena must be an Arena, not {type(arena).__name__}; use Arena.create or Arena.open")
        patience, root = seconds(stall_timeout, "stall_timeout"), cls._entry(arena, name, "open").root
        with arena.call():
            number = int(arena.words[root + int(layout.NUMBER)])
        # What was read is the ring's number, if the ring was there all the time.
        if number == 0 or cls._entry(arena, name, "open").root != root:
            raise RingGone(f"the ring {name!r} in {arena.region.where} is being unlinked; make it anew with create")
        return cls._reopened(arena, arena.number, root, number, patience, name)

    def _attach(self, arena: Arena, owner: Owner | Nobody, ring: int = 0, number: int = 0) -> None:
        self._arena, self._base, self._owner = arena, arena.base, owner
        self._name: str | None = None
        self._ring, self._number = (owner.ring, owner.number) if isinstance(owner, Owner) else (ring, number)
        self._place = self._base, self._ring, self._number
        with arena.call():
            self._capacity = int(arena.words[self._ring + int(layout.MASK)]) + 1
            self._weak = bool(arena.words[self._ring + int(layout.WEAK)])
            self._when_full = int(arena.words[self._ring + int(layout.WHEN_FULL)])
        self._watches: dict[int, Watch] = {}
        self._closed = False
        # Whether nobody can close the arena, or fork and go on using it; then a call needs no participant.
        self._alone = not arena.shared
        self._shown: Any = arena.shown
        if arena.shared:
            arena.holdings.add(self)

    @classmethod
    def _reopened(
        cls, arena: Arena, identity: int, ring: int, number: int, stall_timeout: float, name: str | None = None
    ) -> Any:
        if arena.number != identity:
            raise ArenaInvalid(
                f"{arena.region.where}: not the arena that this ring is in: another one has taken its place"
            )
        made = cls.__new__(cls)
        made._seconds, made._payload = stall_timeout, 0
        made._attach(arena, owner_of(arena, number), ring, number)
        made._name = name
        made._adapt()
        len(made)  # asks whether there still is such a ring, and so what was read is true
        watch(arena)
        return made

    def __reduce__(self) -> Any:
        arena = self._arena
        if not arena.shared:
            raise TypeError(
                "a private RingBuffer cannot be pickled: its cells live in this process; "
                "make it with RingBuffer(capacity, arena=Arena.create(name=...))"
            )
        if self._closed:
            raise self._missing()
        return type(self)._reopened, (arena, arena.number, self._ring, self._number, self._seconds, self._name)

    # what it is ----------------------------------------------------------------------------------------------

    @property
    def capacity(self) -> int:
        """The number of values that the ring holds at most."""
        return self._capacity

    @property
    def name(self) -> str | None:
        """The name in the arena, None for a ring that belongs to an opening."""
        return self._name

    @property
    def weak(self) -> bool:
        """Whether the ring refuses where a strict ring would wait."""
        return self._weak

    @property
    def when_full(self) -> str:
        """What `put` does when the ring is full."""
        return WHEN_FULL[self._when_full]

    def __len__(self) -> int:
        count = RING.count
        found = count(self._base, 0 if self._alone else self._shown[0] or self._enter(), self._ring, self._number)
        if found == _NO_COUNT:
            raise self._missing()
        return int(found)

    def counts(self) -> RingCounts:
        """Return what all threads and processes have done with the ring so far.

        Raises
        ------
        ArenaClosed, RingGone
            After its arena was closed, or the ring was given back.
        """
        len(self)
        with self._arena.call():
            words = self._arena.words[self._ring : self._ring + int(layout.RING_WORDS)].copy()
        len(self)  # still there, and so what was read is true
        return counts_of(words)

    def __repr__(self) -> str:
        return f"<RingBuffer of {self._capacity:,} integers{', weak' if self._weak else ''}>"

    # its end -------------------------------------------------------------------------------------------------

    def close(self) -> None:
        """Stop using the ring here; its memory comes back with the last reference in the opening that made it."""
        self.end()
        self._owner = Nobody()

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def end(self) -> None:
        """Refuse all calls from now on; the arena calls this when it is closed."""
        self._closed, self._alone, self._shown = True, False, _NOBODY
        self._wake(NEWS)
        self._wake(ROOM)

    # calls ---------------------------------------------------------------------------------------------------

    def _enter(self) -> int:
        """Return the participant to use the ring with, where the cell that compiled code looks at has none."""
        if self._closed:
            raise self._missing()
        return self._arena.interpreter_participant()

    def _address(self, word: int) -> int:
        return self._base + 8 * (self._ring + word)

    def _wake(self, word: int) -> None:
        FUTEX.wake(self._base + 8 * (self._ring + word))

    def _settle(self, outcome: int, word: int) -> int:
        """Wake whom a call is to wake; return the outcome, or raise the error that it stands for."""
        if outcome & _TELL:
            self._wake(word)
            outcome -= _TELL
        if outcome == _MISSING:
            raise self._missing()
        if outcome == _SHUT:
            raise self._shut_down()
        return outcome

    def _missing(self) -> LatchfreeError:
        """Return the error of a call of a ring that is not there any more."""
        where = self._arena.region.where
        if self._arena.closing:
            with self._arena.call():  # at the end of the interpreter this ends a daemon thread that waits, silently
                pass
            return ArenaClosed(f"{where} is closed; open it again with Arena.open")
        if self._closed and not (self._name is not None and self._is_unlinked()):
            again = "" if self._name is None else f", open it again with {type(self).__name__}.open"
            return RingGone(f"this ring in {where} was closed here; use another one{again}")
        if self._name is not None:
            return RingGone(f"the ring {self._name!r} in {where} is gone: it was unlinked; make it anew with create")
        return RingGone(
            f"this ring in {where} is gone: the opening of the arena that made it has dropped it, was closed, or was "
            "killed; keep the ring there for as long as others use it"
        )

    def _is_unlinked(self) -> bool:
        """Return whether a ring that was closed here is not there any more, either."""
        count = RING.count
        try:
            me = self._arena.interpreter_participant()
        except LatchfreeError:
            return False
        return bool(count(self._base, me, self._ring, self._number) == _NO_COUNT)

    def _shut_down(self) -> LatchfreeError:
        return RingShutDown(
            f"this ring in {self._arena.region.where} was shut down: it takes no more values, and has given out those "
            "that it had to whoever got them; use another one"
        )

    def _nap(self, until: float, what: str, done: int = 0) -> float:
        """Let others run; return when to give up, or -1 if the time has come and something is done.

        Raises
        ------
        RingStalled
            If the time has come and nothing is done.
        """
        now = time.monotonic()
        if until == 0.0:
            until = now + self._seconds
        elif now > until:
            if done:
                return -1.0
            raise RingStalled(self._diagnosis(what))
        time.sleep(NAP)
        return until

    def _diagnosis(self, what: str) -> str:
        words = self._arena.words
        other, claimed = ("get", "emptied") if what == "put" else ("put", "filled")
        position = int(words[self._ring + int(layout.ENQ if what == "put" else layout.DEQ)])
        position -= self._capacity if what == "put" else 0
        cell = position & (self._capacity - 1)
        return (
            f"cell {cell} of {self._capacity:,} has been claimed by a {other} at position {position:,} for "
            f"{self._seconds:g} s and not been {claimed}: its thread is stopped; continue it, or end its process: "
            "what a dead process has claimed in a shared arena is passed on within a second"
        )


def checked_capacity(capacity: Any) -> int:
    """Return a capacity, checked.

    Raises
    ------
    TypeError
        If it is no integer.
    ValueError
        If it is no power of two from 2 to `MOST_CAPACITY`.
    """
    wanted = f"capacity must be a power of two from 2 to {MOST_CAPACITY:,}"
    slots = integer(capacity, wanted)
    if not 2 <= slots <= MOST_CAPACITY or slots & (slots - 1):
        fits = min(1 << (max(slots, 2) - 1).bit_length(), MOST_CAPACITY)
        raise ValueError(f"{wanted}, got {shown(slots) if abs(slots) >> 64 else format(slots, ',')}; use {fits:,}")
    return slots
