"""Programs on a ring of two cells, strict and weak, in an arena: puts, gets, shutting down, sleeping, giving back."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any, Final

from latchfree.arena import layout
from latchfree.arena.kernels import epochs
from latchfree.streams.kernels import entry_points, roster, shutting
from latchfree.streams.kernels import layout as words
from latchfree.streams.kernels import ring as r
from latchfree_evidence.systematic.interleaved.exploring import Program
from latchfree_evidence.systematic.interleaved.programs import Alone
from latchfree_evidence.systematic.interleaved.threads import SILENT, Call, alone
from latchfree_evidence.systematic.plain.memory import MARKING
from latchfree_evidence.systematic.plain.world import World
from latchfree_evidence.systematic.trials.place import ALL, Place, require
from latchfree_explore.scenario import Scenario
from latchfree_lincheck.criteria.weak_queue import without_excused

_CAPACITY: Final = (layout.FIRST_NODE + 8_000) * 8
_NUMBER: Final = 31
_OPENING: Final = 77
_NEWS, _CELLS = int(words.NEWS), int(words.CELLS)
_IN_HAND: Final = int(layout.P_IN_HAND)
_SILENT: Final = frozenset(
    ("shut", "drop", "sleep", "die", "mend", "create", "size", "first", "tick", "die_getting", "hole", "note")
)

Steps = Generator[Any, Any, Any]


class _Shared:
    """A ring, and what became of it."""

    def __init__(self, world: World, threads: int, *, weak: bool) -> None:
        self.world = world
        self.outer: Any = Alone(world)
        self.place = Place(self.outer, threads + 1, _CAPACITY)
        self.mem = self.place.mem
        self.at, self.slot = self.outer[entry_points.create](
            self.mem, self.place.who[0], _OPENING, _NUMBER, 1, int(weak)
        )
        header = self.mem[self.at + int(words.HEADER)]
        self.outer[r.format_ring](self.mem, self.at, self.mem[self.at + _CELLS], 1, int(weak), ALL - 1)
        self.mem[self.at + int(words.NUMBER)], self.mem[self.at + int(words.HEADER)] = _NUMBER, header
        self.mem.tolerated = {self.at + int(words.NUMBER)}
        self.dropped = self.shut_down = self.drained = self.closed = False
        self.sleeping: dict[int, int] = {}
        self.given: list[int] = []

    def call(self, kernel: Any, *arguments: Any) -> Steps:
        started = self.world[kernel](self.mem, *arguments)
        return (yield from started) if hasattr(started, "send") else started

    def woken(self, outcome: int) -> int:
        """Wake those who sleep, if the outcome says so."""
        if outcome & 8:
            self.sleeping = {me: armed for me, armed in self.sleeping.items() if self.mem[self.at + _NEWS] == armed}
        return outcome & ~8

    def enqueue(self, me: int, value: int) -> Steps:
        drained = self.drained or self.closed
        self.given.append(value)
        outcome = self.woken((yield from self.call(entry_points.put, me, self.at, _NUMBER, value, ALL)))
        require(outcome != 0 or not drained, "no put succeeds after somebody was told that the ring is shut")
        require(
            outcome in (0, 1) or (outcome == 7 and self.shut_down) or (outcome == 6 and self.dropped), "put", outcome
        )
        self.closed = self.closed or outcome == 7
        return outcome

    def dequeue(self, me: int) -> Steps:
        drained = self.drained
        outcome, value = yield from self.call(entry_points.get, me, self.at, _NUMBER, ALL)
        outcome = self.woken(outcome)
        require(
            outcome in (0, 1) or (outcome == 7 and self.shut_down) or (outcome == 6 and self.dropped), "get", outcome
        )
        require(outcome != 0 or not drained, "no value comes after a get was told that there are no more")
        self.drained = self.drained or outcome == 7
        if outcome == 0:
            require(value in self.given, "a value comes that somebody has put, and once", value)
            self.given.remove(value)
        return value if outcome == 0 else -outcome

    def size(self, me: int) -> Steps:
        found = yield from self.call(entry_points.count, me, self.at, _NUMBER)
        require(found <= 2 or (self.dropped and found == ALL), "a count is possible", found)
        return 0

    def shut(self, me: int) -> Steps:
        self.shut_down = True
        outcome = yield from self.call(entry_points.shut, me, self.at, _NUMBER)
        require(outcome == 0 or (outcome == 6 and self.dropped), "shut", outcome)
        return 0

    def first(self, me: int) -> Steps:
        """Shut down without an entry point: one of several is the first."""
        self.shut_down = True
        if (yield from self.call(shutting.shut, self.at)):
            self.sleeping[-1] = self.sleeping.get(-1, 0) + 1
            require(self.sleeping[-1] == 1, "one call shuts a ring down")
        return 0

    def sleep(self, me: int) -> Steps:
        """Arm, look once more, and fall asleep if the ring is empty and the word has not changed."""
        armed = yield from self.call(entry_points.arm, me, self.at, _NUMBER, _NEWS)
        if armed == ALL and self.dropped:
            return 0
        yield from self.call(epochs.pin, me)
        if self.dropped:
            yield from self.call(epochs.unpin, me)
            return 0
        filled = yield ("load_seq", self.mem, self.at)
        taken = yield ("load_seq", self.mem, self.at + 16)
        now = yield ("load_seq", self.mem, self.at + _NEWS)
        if filled == taken and now == armed:
            self.sleeping[me] = armed
        yield from self.call(epochs.unpin, me)
        return 0

    def drop(self, me: int) -> Steps:
        self.dropped = True
        yield from self.call(entry_points.drop, me, self.slot)
        yield from self.call(entry_points.sweep, me, _OPENING)
        return 0

    def create(self, me: int) -> Steps:
        opening = _OPENING + me  # one opening makes one ring at a time: it keeps the interpreter lock
        at, slot = yield from self.call(entry_points.create, me, opening, _NUMBER + 1, 1, 0)
        require(at and slot and self.mem[slot] == opening and self.mem[slot + 1] == at, "a ring of its own", at, slot)
        return 0

    def die(self, me: int) -> Steps:
        """Claim a position to put at, and die."""
        mask, position = 1, (yield ("load", self.mem, self.at))
        cell = self.mem[self.at + _CELLS] + 2 * (position & mask)
        if (yield ("load", self.mem, cell)) == position:
            yield ("store", self.mem, me + _IN_HAND, cell)
            yield ("cas", self.mem, self.at, position, position + 1 & ALL)
            yield ("store", self.mem, me + _IN_HAND, 0)
        return 0

    def die_getting(self, me: int) -> Steps:
        """Claim a position to get from, and die."""
        position = yield ("load", self.mem, self.at + 16)
        cell = self.mem[self.at + _CELLS] + 2 * (position & 1)
        if (yield ("load", self.mem, cell)) == position + 1 & ALL:
            yield ("store", self.mem, me + _IN_HAND, cell)
            yield ("cas", self.mem, self.at + 16, position, position + 1 & ALL)
            yield ("store", self.mem, me + _IN_HAND, 0)
        return 0

    def hole(self, me: int) -> Steps:
        """Make a hole of the next position to put at, as a mender does that is killed then."""
        position = yield ("load", self.mem, self.at)
        cell = self.mem[self.at + _CELLS] + 2 * (position & 1)
        yield ("store", self.mem, self.at, position + 1 & ALL)
        yield ("store", self.mem, cell, position - (1 << 62) & ALL)
        return 0

    def note(self, me: int) -> Steps:
        yield from self.call(entry_points.note, me, self.at, _NUMBER, int(words.DROPPED))
        return 0

    def tick(self, me: int) -> Steps:
        yield from self.call(epochs.try_advance)
        return 0

    def mend(self, me: int) -> Steps:
        yield from self.call(entry_points.mend, me, self.slot)
        return 0


def ring_program(world: World, text: str, *, weak: bool) -> Program:
    """Return a program on a ring."""
    scenario = Scenario.parse(text)
    ring = _Shared(world, len(scenario.threads), weak=weak)
    mem, who = ring.mem, ring.place.who
    if "create" in text:
        mem[int(layout.H_OWNED)] = 0  # so that they race for the first table
    silent = _SILENT | (
        frozenset(("enqueue", "dequeue")) if any(each in text for each in ("die", "drop", "hole")) else frozenset()
    )
    converted: dict[str, Callable[[int], Any]] = {
        "enqueue": lambda word: word == 0 if word <= 1 else SILENT,
        "dequeue": lambda word: word if word >= 0 else None if word == -1 else SILENT,
    }

    def calls(invocations: Any, thread: int, process: str) -> list[Call]:
        return [
            Call(each.f, each.arguments, lambda each=each: getattr(ring, each.f)(who[thread], *each.arguments),  # type: ignore[misc]
                 converted.get(each.f, int), process)
            for each in invocations
        ]  # fmt: skip

    def run(made: list[Call]) -> list[Call]:
        for call in made:
            call.result = call.convert(int(alone(call.start()) or 0))
        return made

    before = run(calls(scenario.before, len(who) - 1, "init"))
    mem.save()
    given = list(ring.given)

    def reset() -> None:
        mem.restore()
        ring.given = list(given)
        ring.dropped = ring.shut_down = ring.drained = ring.closed = False
        ring.sleeping = {}

    def audit() -> None:
        for me in who:
            require(mem[me + int(layout.P_PIN)] == 0 and mem[me + _IN_HAND] == 0, "a call leaves nothing behind")
        if not ring.dropped and ring.mem[ring.at] != ring.mem[ring.at + 16] and "die" not in text:
            require(
                not {me for me in ring.sleeping if me > 0} or ring.shut_down, "nobody sleeps while there are values"
            )
        asleep = {me for me, armed in ring.sleeping.items() if me > 0 and armed == mem[ring.at + _NEWS]}
        require(not (asleep and ring.shut_down), "nobody sleeps in a ring that is shut")
        require(mem.marks[ring.at] or mem[ring.at + int(words.MOST)] <= 2, "no more values than cells were counted")
        require("first" not in text or ring.sleeping.get(-1) == 1, "one call shuts a ring down")
        if ring.dropped:
            for _ in range(4):
                ring.outer[epochs.try_advance](mem)
            ring.outer[roster.sweep](mem, who[0], _OPENING)
            require(mem[ring.slot] == 0, "a ring that was given back is freed")

    judged = without_excused if weak else (lambda history: history)
    return Program(
        text,
        "bounded-queue:2",
        reset,
        lambda: [calls(each, k, str(k)) for k, each in enumerate(scenario.threads)],
        before,
        lambda: run(calls(scenario.after, len(who) - 1, "after")),
        audit,
        judged,
        silent=silent,
    )


def of_strict_ring(replaced: Any, called: Any) -> Callable[[str], Program]:
    """Return what makes a program on a strict ring of a text."""
    world = World(steps=True, replaced=replaced, wrapped=MARKING, called=called)
    return lambda text: ring_program(world, text, weak=False)


def of_weak_ring(replaced: Any, called: Any) -> Callable[[str], Program]:
    """Return what makes a program on a weak ring of a text."""
    world = World(steps=True, replaced=replaced, wrapped=MARKING, called=called)
    return lambda text: ring_program(world, text.removesuffix(" | keys: weak"), weak=True)


STRICT: Final = (
    "enqueue(1) | enqueue(2) | after: dequeue(); dequeue()",
    "enqueue(1) | dequeue()",
    "enqueue(1) | enqueue(2); dequeue()",
    "init: enqueue(8); enqueue(9) | dequeue() | enqueue(1) | after: dequeue(); dequeue()",
    "init: enqueue(8); enqueue(9) | dequeue() | dequeue() | after: dequeue()",
    "init: enqueue(8) | enqueue(9) | enqueue(1) | dequeue() | after: dequeue()",
    "enqueue(1); dequeue() | enqueue(2); dequeue()",
    "init: enqueue(8) | size(); size() | dequeue(); enqueue(1); dequeue()",
    "sleep() | enqueue(1)",
    "sleep() | enqueue(1) | sleep()",
    "init: enqueue(1) | shut() | enqueue(2) | after: dequeue(); dequeue()",
    "init: enqueue(1) | shut() | dequeue(); dequeue()",
    "shut() | enqueue(2); enqueue(3); dequeue()",
    "first() | first() | enqueue(1)",
    "drop() | enqueue(2)",
    "init: enqueue(1) | drop() | dequeue()",
    "drop() | mend() | enqueue(1)",
    "die() | mend() | after: mend(); enqueue(3); dequeue()",
    "die() | mend() | mend() | after: mend(); enqueue(3); dequeue()",
    "init: enqueue(1) | die() | mend(); dequeue() | after: mend(); enqueue(3); dequeue()",
    "create() | create() | create()",
    "enqueue(1) | mend() | after: dequeue()",
    "init: enqueue(1); enqueue(2) | dequeue() | mend() | after: enqueue(3); dequeue(); dequeue()",
    "init: enqueue(1) | enqueue(2); dequeue() | mend(); mend() | after: dequeue()",
    "init: enqueue(1); enqueue(2) | die_getting() | mend() | after: mend(); enqueue(4); dequeue()",
    "init: enqueue(1); enqueue(2) | die_getting() | mend() | mend(); dequeue() | after: mend(); dequeue()",
    "enqueue(1) | shut() | dequeue(); dequeue()",
    "init: enqueue(8); enqueue(9) | shut() | enqueue(1); dequeue(); enqueue(2)",
    "drop() | enqueue(2) | tick(); tick()",
    "init: enqueue(1) | drop() | mend() | tick(); tick()",
    "drop() | size() | tick()",
    "drop() | sleep() | tick()",
    "drop() | shut() | tick()",
    "drop() | note() | tick()",
    "sleep() | shut()",
    "init: enqueue(1); enqueue(2) | dequeue() | mend(); enqueue(3) | after: dequeue()",
    "init: enqueue(1); enqueue(2) | dequeue(); enqueue(3) | mend() | after: mend(); dequeue(); dequeue()",
    "init: enqueue(1) | dequeue(); enqueue(2); enqueue(3) | mend(); mend() | after: mend(); dequeue(); dequeue()",
    "init: hole() | dequeue() | dequeue() | after: enqueue(5); dequeue()",
    "init: hole(); enqueue(7) | dequeue() | dequeue(); enqueue(9) | after: dequeue()",
    "init: hole(); enqueue(7) | dequeue(); enqueue(8); enqueue(9) | dequeue() | after: dequeue()",
    "init: hole(); enqueue(7) | dequeue() | mend(); enqueue(9) | after: dequeue()",
)
WEAK: Final = tuple(f"{text} | keys: weak" for text in STRICT[:7])
