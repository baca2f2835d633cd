"""Programs on the arena itself: nodes that are replaced and freed under readers, shared free lists, slots, counters.

Example: ``read() | write(2); tick(); tick(); tick()``. A reader is pinned and holds the node of 1; the writer replaces
the node, retires it, and advances the epoch as far as it goes. If the node is freed, the reader meets a mark.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Generator
from typing import Any, Final

from latchfree.arena import layout
from latchfree.arena.kernels import allocator, epochs, freelists, participants, pieces
from latchfree_evidence.systematic.interleaved.exploring import Program
from latchfree_evidence.systematic.interleaved.programs import Alone
from latchfree_evidence.systematic.interleaved.threads import Call, alone
from latchfree_evidence.systematic.plain.memory import MARKING
from latchfree_evidence.systematic.plain.world import World
from latchfree_evidence.systematic.trials.place import Place, require
from latchfree_evidence.systematic.trials.tries import spares
from latchfree_explore.scenario import Scenario

_CAPACITY: Final = (layout.FIRST_NODE + 40_000) * 8
#: A word of the header that is not in use: it holds the node.
_CELL: Final = 1300
_NODE: Final = 4
_LARGE: Final = 128
#: Operations that the model knows nothing of.
_SILENT: Final = frozenset(
    ("tick", "take", "give", "claim", "release", "adopt", "churn", "gather", "collect", "use", "leave")
)

Steps = Generator[Any, Any, Any]


class _Arena:
    """One program's arena, and what its threads hold."""

    def __init__(self, world: World, threads: int) -> None:
        self.world = world
        self.outer: Any = Alone(world)
        self.place = Place(self.outer, threads + 1, _CAPACITY)
        self.mem = self.place.mem
        self.held: dict[int, list[int]] = {}
        self.owners: dict[int, int] = {}
        self.adopted = 0
        for me in self.place.who:
            self.outer[allocator.begin](self.mem, me, 0)
            self.put_node(me, 0)

    def put_node(self, me: int, value: int) -> None:
        node = self.outer[freelists.take](self.mem, me, _NODE, 0)
        self.mem[node], self.mem[node + 1], self.mem[node + 2] = 5 << 60 | _NODE << 40 | 1, value, value
        old = self.mem[_CELL]
        self.mem[_CELL] = node
        if old:
            self.outer[freelists.free](self.mem, me, old)

    # operations: each a generator on the steps of kernels -----------------------------------------------------------

    def call(self, kernel: Any, *arguments: int) -> Steps:
        started = self.world[kernel](self.mem, *arguments)
        return (yield from started) if hasattr(started, "send") else started

    def read(self, me: int) -> Steps:
        yield from self.call(epochs.pin, me)
        node = yield ("load", self.mem, _CELL)
        one = yield ("load", self.mem, node + 1)
        other = yield ("load", self.mem, node + 2)
        yield from self.call(epochs.unpin, me)
        return one if one == other else -1

    def write(self, me: int, value: int) -> Steps:
        yield from self.call(epochs.pin, me)
        yield from self.call(allocator.begin, me, 0)
        node = yield from self.call(allocator.allocate, me, _NODE)
        self.mem[node], self.mem[node + 1], self.mem[node + 2] = 5 << 60 | _NODE << 40 | 1, value, value
        old = yield ("exchange", self.mem, _CELL, node)
        yield from self.call(epochs.retire, me, old)
        yield from self.call(epochs.unpin, me)
        return 0

    def tick(self, me: int) -> Steps:
        before = yield ("load_seq", self.mem, int(layout.H_EPOCH))
        yield from self.call(epochs.try_advance)
        require(self.mem[int(layout.H_EPOCH)] >= before, "the epoch never goes back")
        yield from self.call(epochs.drain, me, 1 << 62)
        return 0

    def collect(self, me: int) -> Steps:
        yield from self.call(participants.collect, me)
        return 0

    def take(self, me: int) -> Steps:
        node = yield from self.call(freelists.take, me, _LARGE, 0)
        require(node, "there is memory")
        self.held.setdefault(me, []).append(node)
        return 0

    def give(self, me: int) -> Steps:
        if self.held.get(me):
            yield from self.call(freelists.give, me, self.held[me].pop(0), _LARGE)
        return 0

    def claim(self, me: int) -> Steps:
        slot = yield from self.call(participants.claim, me << 16)
        require(slot and slot not in self.owners, "nobody else has claimed a slot", slot)
        require(
            self.mem[int(layout.H_CLAIMED)] > (slot - layout.PARTICIPANTS) // layout.PARTICIPANT_WORDS, "it is seen"
        )
        self.owners[slot] = me
        return 0

    def release(self, me: int) -> Steps:
        for slot, owner in list(self.owners.items()):
            if owner == me:
                del self.owners[slot]
                done = yield from self.call(participants.release, slot, me << 16)
                require(done, "an owner can release")
        return 0

    def use(self, me: int) -> Steps:
        """Look whether the slots that were claimed stay one's own."""
        for slot, owner in list(self.owners.items()):
            for _ in range(3 if owner == me else 0):
                state = yield ("load_seq", self.mem, slot)
                require(state == me << 16, "a slot that was claimed stays one's own", state)
        return 0

    def leave(self, me: int) -> Steps:
        """Release the caller's own participant, with all that is in it."""
        done = yield from self.call(participants.release, me, self.mem[me])
        require(done, "an owner can release")
        return 0

    def adopt(self, me: int) -> Steps:
        """Take slots over, of which another one may try the same: one of the two has done so."""
        dead = self.place.who[-1]
        state = yield ("load_seq", self.mem, dead)
        dies = state == len(self.place.who) << 16 or state & 15 == 9  # its owner, or an adopter of it
        done = dies and (yield from self.call(participants.adopt, dead, state, me << 16 | 9))
        if done:
            self.adopted += 1
            require(self.adopted == 1, "one adopts a slot")
        return 0

    def gather(self, me: int) -> Steps:
        starts, ends = [0] * 500, [0] * 500
        started = self.world[pieces.gather](self.mem.bare, me, 0, starts, ends)
        found = (yield from started) if hasattr(started, "send") else started
        started = self.world[pieces.scatter](self.mem.bare, me, starts[:found], ends[:found])
        if hasattr(started, "send"):
            yield from started
        return 0


def _nothing(word: int) -> None:
    """Return what a write returns."""


def memory_program(world: World, text: str) -> Program:
    """Return a program on an arena; its register is the value of the node that a word of the header leads to."""
    scenario = Scenario.parse(text)
    arena = _Arena(world, len(scenario.threads))
    mem, who = arena.mem, arena.place.who

    def calls(invocations: Any, thread: int, process: str) -> list[Call]:
        made = []
        for each in invocations:
            start = functools.partial(getattr(arena, each.f), who[thread], *each.arguments)
            made.append(Call(each.f, each.arguments, start, _nothing if each.f == "write" else int, process))
        return made

    def run(made: list[Call]) -> list[Call]:
        for call in made:
            call.result = call.convert(int(alone(call.start()) or 0))
        return made

    before = run(calls(scenario.before, len(who) - 1, "init"))
    mem.save()
    held, owners = {me: list(nodes) for me, nodes in arena.held.items()}, dict(arena.owners)

    def reset() -> None:
        mem.restore()
        arena.held = {me: list(nodes) for me, nodes in held.items()}
        arena.owners = dict(owners)
        arena.adopted = 0

    def audit() -> None:
        for k, me in enumerate(who):
            arena.outer[epochs.unpin](mem, me)
            mem[me] = mem[me] or (k + 1) << 16
        arena.place.settle(lambda me: None)
        nodes = [(node, _LARGE) for kept in arena.held.values() for node in kept]
        spare = [(block, 68) for me in who for block in spares(mem, me)]
        arena.place.account([(mem[_CELL], _NODE), *nodes, *spare])

    return Program(
        text,
        "register",
        reset,
        lambda: [calls(each, k, str(k)) for k, each in enumerate(scenario.threads)],
        before,
        lambda: run(calls(scenario.after, len(who) - 1, "after")),
        audit,
        silent=_SILENT,
    )


def of_memory(replaced: Any, called: Any) -> Callable[[str], Program]:
    """Return what makes a program of a text."""
    world = World(steps=True, replaced=replaced, wrapped=MARKING, called=called)
    return lambda text: memory_program(world, text)


MEMORY: Final = (
    "init: write(1) | read() | write(2); tick(); tick(); tick()",
    "init: write(1); tick() | read() | write(2); tick(); tick() | tick()",
    "init: write(1) | read(); read() | write(2); write(3) | tick(); tick()",
    "init: write(1) | write(2) | tick(); tick(); tick() | read()",
    "init: take(); take(); take(); give(); give(); give() | take() | take(); take(); give(); give()",
    "init: take(); take(); take(); take(); give(); give(); give(); give() | take(); give() | "
    "take(); take(); give(); give(); take()",
    "init: take(); take(); give(); give() | take() | take() | take()",
    "take(); take(); give(); give() | take(); take(); give(); give()",
    "tick(); tick() | tick(); tick() | tick()",
    "claim() | claim() | claim()",
    "claim(); release(); claim() | claim()",
    "adopt() | adopt()",
    "adopt() | adopt(); claim(); use(); release()",
    "init: write(1); write(2); leave() | claim(); use(); release() | collect()",
    "init: take(); take(); give(); give(); leave() | gather() | claim(); use(); release()",
    "init: write(1); write(2) | claim() | collect()",
    "init: take(); take(); give(); give() | gather() | take(); give()",
)
