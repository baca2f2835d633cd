"""Trees that are freed whole, a few nodes at an attempt; and updates that were stopped in frozen trees."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from latchfree.arena import layout
from latchfree.arena.kernels import epochs, freelists
from latchfree.ctrie.kernels import entry_points, insert, snapshot
from latchfree_evidence.systematic.plain.memory import MARKING
from latchfree_evidence.systematic.plain.world import World
from latchfree_evidence.systematic.trials import walking
from latchfree_evidence.systematic.trials.place import require
from latchfree_evidence.systematic.trials.tries import KINDS, Kind, Trial, spares

_DEFERRED = int(layout.P_DEFERRED)


def few_at_a_time(world: World, seed: int) -> None:
    """Free a tree of hundreds of keys: each attempt frees some nodes, none frees many, and soon all are free."""
    trial = Trial(world, KINDS[0], seed)
    mem, trie, place = trial.mem, trial.trie, trial.place
    me = place.who[0]

    def write(number: int) -> None:
        place.pinned(me, insert.insert, trie.at, me, trial.key(number), number, 0, 0)

    for number in range(600):
        write(number)
    nodes = set(walking.below(mem, mem[trie.at + 1]))
    require(len(nodes) > 600, "a tree of many nodes")
    place.pinned(me, snapshot.clear, trie.at, me)
    for _ in range(3):
        world[epochs.try_advance](mem)
    turns, left = 0, len(nodes)
    while left:
        write(turns % 3)
        now = sum(1 for node in nodes if not mem.marks[node])
        require(left - now < 260, "no attempt frees many", left - now)
        left, turns = min(now, left), turns + 1
        require(turns < 60, "soon all are free", left)
        nodes = {node for node in nodes if not mem.marks[node]}
        left = len(nodes)
        if mem[me + _DEFERRED] == 0 and turns > 3:
            break
    require(turns > 4, "it took some attempts", turns)
    trie.held.update({k: k for k in range(min(turns, 3))})
    trial.check()
    trial.finish()


def room_from_trees(world: World, seed: int) -> None:
    """Put into an arena that is full of a tree whose time has come."""
    trial = Trial(world, Kind(count=2_000), seed, (layout.FIRST_NODE + 12_000) * 8)
    mem, trie, place = trial.mem, trial.trie, trial.place
    me = place.who[0]
    number = 0
    while place.pinned(me, insert.insert, trie.at, me, trial.key(number), 1, 0, 0) != (1 << 64) - 1:
        number += 1
    require(number > 300, "the arena holds keys", number)
    place.pinned(me, snapshot.clear, trie.at, me)
    for _ in range(3):
        world[epochs.try_advance](mem)
    for again in range(40):
        node = place.pinned(me, insert.insert, trie.at, me, trial.key(again), 1, 0, 0)
        require(node != (1 << 64) - 1, "a tree whose time has come makes room", again)
        trie.held[again] = 1
    trial.check()
    trial.finish()


def only_clears(world: World, seed: int) -> None:
    """Clear again and again, and do nothing else: what was retired before is freed."""
    trial = Trial(world, KINDS[0], seed)
    mem, trie, place = trial.mem, trial.trie, trial.place
    writer, clearer = place.who[0], place.who[1]
    keys = (8, 150)[seed]
    for turn in range((60, 12)[seed]):
        for number in range(keys):
            place.pinned(writer, insert.insert, trie.at, writer, trial.key(number), turn, 0, 0)
        place.pinned(clearer, snapshot.clear, trie.at, clearer)
        waiting, block, thing = 0, mem[clearer + int(layout.P_OLDEST)], mem[clearer + _DEFERRED]
        while block:
            waiting += mem[block + 2]
            block = mem[block + 1]
        while thing:
            thing = mem[thing & walking.PLAIN]
            waiting += 1
        require(waiting <= 12, "who only clears keeps up", turn, waiting)
    trial.check()
    trial.finish()


def tombs_destroyed(world: World, seed: int) -> None:
    """Destroy, or clear, a trie in which tombs were left behind."""

    def lazy(made: Callable[..., Any], steps: bool) -> Callable[..., Any]:
        return lambda *arguments: None

    place = "latchfree.ctrie.kernels.remove:clean_path"
    trial = Trial(world.with_wrapped({**MARKING, place: lazy}), Kind(mask=0b11_000011, count=40), seed)
    mem, trie = trial.mem, trial.trie
    tombs: list[int] = []
    while len(tombs) < 2:
        for number in range(40):
            trial.write(trie, number)
        while trie.held and len(tombs) < 2:
            trial.take(trie, trial.rng.choice(list(trie.held)))
            nodes = walking.below(mem, mem[trie.at + 1])
            tombs = [node for node in nodes if walking.kind_of(mem, node) == walking.T_NODE]
    if seed % 2:
        trial.clear(trie)
        trial.finish()
        return
    trial.place.settle(trial.reclaim)
    world[entry_points.destroy](mem, trie.at, trial.place.who[0], 0)
    trial.place.account([(block, 68) for me in trial.place.who for block in spares(mem, me)])


def stalled_updates(world: World, seed: int) -> None:
    """Stop updates after they have installed their mains in trees that are frozen: all readers abort them."""
    rng = random.Random(seed)
    trial = Trial(world, (Kind(count=60), Kind(mask=0b11_000011, count=30))[seed % 2], seed, first=True)
    mem, trie, me = trial.mem, trial.trie, trial.place.who[0]
    for number in range(40):
        trial.write(trie, number % trial.kind.count)
    trial.freeze(trie)
    trial.freeze(trie)
    live = walking.born(mem, mem[trie.at + 1])
    installed = []
    for i in list(walking.below(mem, mem[trie.frozen[0].slot + 50])):
        main = mem[i + 1] if walking.kind_of(mem, i) == walking.I_NODE else 0
        if main and walking.born(mem, i) < live and walking.kind_of(mem, main) == walking.C_NODE:
            size = walking.size_of(mem, main)
            new = world[freelists.take](mem, me, world[freelists.round_up](size), 0)
            for k in range(size):
                mem[new + k] = mem[main + k]
            mem[new + 1], mem[new + 2] = main, 0  # a C-node without slots: all its keys would be gone
            mem[new] = 2 << 60 | 3 << 40 | walking.born(mem, i)
            mem[i + 1] = new
            installed.append((new, size))
    require(installed, "updates were stopped")
    first = rng.choice(("scan", "lookup", "fork", "clear", "live"))
    if first == "fork":
        trial.fork(trie.frozen[0])
    elif first == "clear":
        trial.clear(trie)
    elif first == "scan":
        trial.scan(trie, trie.frozen[0])
    elif first == "lookup":
        for number in range(20):
            trial.read(trie, number)
    elif first == "live":
        for number in range(20):
            trial.write(trie, number)
    trial.scan(trie, trie.frozen[0])
    trial.scan(trie, trie.frozen[1])
    trial.check()
    for new, size in installed:
        mem[new] = 2 << 60 | size << 40
        world[freelists.free](mem, me, new)
    trial.check()
    trial.finish()
