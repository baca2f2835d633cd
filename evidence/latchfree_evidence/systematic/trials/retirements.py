"""What snapshots keep, to the word: with snapshots open, every node is in a tree that somebody can read, or free.

Example: a trie of 200 keys has two snapshots, and is cleared. Nodes that the snapshots see wait on their deadlists;
those made since are free once the epochs have passed. When the newer snapshot is dropped, what the older one does not
see is free.
"""

from __future__ import annotations

import random
from typing import Any

from latchfree.arena.kernels import freelists
from latchfree.ctrie.kernels import entry_points, insert, retirement
from latchfree_evidence.systematic.plain.world import World
from latchfree_evidence.systematic.trials import walking
from latchfree_evidence.systematic.trials.place import OFFSET, require, rounded
from latchfree_evidence.systematic.trials.tries import KINDS, Kind, Trial, spares

_HEAD, EMPTY = 10, 1 << 63


def deadlists(mem: Any, trie: int) -> list[int]:
    """Return the blocks on the deadlists of a trie's snapshots."""
    found = []
    for table in walking.tables(mem, trie):
        for k in range(walking.TABLE_SLOTS):
            block = mem[table + 2 + k + _HEAD]
            while not block & EMPTY:
                found.append(block)
                block = mem[block + 1]
    return found


def kept(trial: Trial) -> None:
    """Fail unless each node is in a tree, on a deadlist only if a snapshot sees it, or free."""
    mem = trial.mem
    trial.place.settle(trial.reclaim)
    nodes: set[int] = set()
    used = []
    for trie in trial.tries():
        used.append((trie.at, walking.ROOT_WORDS))
        used += [(table, walking.TABLE_WORDS) for table in walking.tables(mem, trie.at)]
        used += [(block, walking.size_of(mem, block)) for block in deadlists(mem, trie.at)]
        nodes |= set(walking.below(mem, mem[trie.at + 1]))
        for frozen in trie.frozen:
            nodes |= set(walking.below(mem, mem[frozen.slot + 50]))
    used += [(node, walking.size_of(mem, node)) for node in nodes]
    used += [(block, 68) for me in trial.place.who for block in spares(mem, me)]
    trial.place.account(used)


def snapshots(world: World, seed: int) -> None:
    """Do random operations; now and then each word must be accounted for, with all snapshots open."""
    trial = Trial(world, KINDS[seed % len(KINDS)], seed)
    for _ in range(8):
        for _ in range(40):
            trial.step()
        kept(trial)
    trial.check()
    trial.finish()


def clears(world: World, seed: int) -> None:
    """Clear large trees that some snapshots see in part, and forks of them."""
    rng = random.Random(seed)
    kind = (Kind(count=300), Kind(count=200, mask=sum(3 << 6 * k for k in range(4))), Kind(count=150, values="blob"))
    trial = Trial(world, kind[seed % 3], seed)
    for round_ in range(3):
        for _ in range(rng.choice((0, 1, 2))):
            for _ in range(rng.choice((5, 150))):
                trial.write(trial.trie, rng.randrange(trial.kind.count))
            trial.freeze(trial.trie)
        for _ in range(rng.choice((0, 5, 250))):
            trial.write(trial.trie, rng.randrange(trial.kind.count))
        if trial.trie.frozen and round_ == 1:
            trial.fork(trial.trie.frozen[0])
            fork = trial.trie.frozen[0].fork
            if fork is not None:
                for _ in range(100):
                    trial.write(fork, rng.randrange(trial.kind.count))
                trial.clear(fork)
                kept(trial)
        trial.clear(trial.trie)
        kept(trial)
        trial.check()
        if trial.trie.frozen and rng.random() < 0.7:
            trial.drop(trial.trie, rng.choice(trial.trie.frozen))
            kept(trial)
    trial.finish()


def large_clears(world: World, seed: int) -> None:
    """Clear a tree of more nodes than the blocks at hand can list: the walk gets more of them."""
    trial = Trial(world, Kind(count=1_400), seed)
    place, trie, me = trial.place, trial.trie, trial.place.who[0]
    for number in range(1_200):
        place.pinned(me, insert.insert, trie.at, me, trial.key(number), number, 0, 0)
        trie.held[number] = number
    trial.freeze(trie)
    place.pinned(me, insert.insert, trie.at, me, trial.key(1_300), 5, 0, 0)
    trie.held[1_300] = 5
    trial.clear(trie)
    kept(trial)
    trial.drop(trie, trie.frozen[0])
    kept(trial)


def dropped_meanwhile(world: World, seed: int) -> None:
    """Drop a snapshot while nodes are on their way to its deadlist: they wait for the next older one."""
    trial = Trial(world, KINDS[0], seed)
    mem, trie, me = trial.mem, trial.trie, trial.place.who[0]
    for _ in range(2):
        trial.write(trie, 1)
        trial.freeze(trie)
    old, new = trie.frozen
    for birth, waits in ((mem[old.slot], True), (mem[old.slot] + 1, False)):
        trial.freeze(trie)
        newest = trie.frozen[-1]
        world[retirement.begin_retiring](mem, trie.at, me, mem[newest.slot] + 1, 2)
        node = world[freelists.take](mem, me, 5, 0)
        mem[node] = 5 << 60 | 5 << 40 | birth
        world[retirement.retire_node](mem, me, node)
        for each in trie.frozen[1:]:
            world[entry_points.drop](mem, trie.at, trial.place.who[1], each.slot)
        del trie.frozen[1:]
        trial.place.pinned(me, retirement.finish_retiring, me)
        found = [mem[block + 4 + k] & OFFSET for block in deadlists(mem, trie.at) for k in range(mem[block + 2])]
        require((node in found) == waits, "a node waits if the older snapshot sees it", birth, new.slot)
    trial.drop(trie, old)
    trial.check()
    trial.finish()


def blocks_of(world: World, seed: int) -> None:
    """Retire more nodes together than there was room for: all wait for the snapshot, each once."""
    trial = Trial(world, KINDS[0], seed)
    mem, trie, me = trial.mem, trial.trie, trial.place.who[0]
    trial.write(trie, 1)
    trial.freeze(trie)
    slot = trie.frozen[0].slot
    gen = mem[slot]
    for room in (2, 3, 40):
        nodes, before = [], deadlists(mem, trie.at)
        world[retirement.begin_retiring](mem, trie.at, me, gen + 1, room)
        for _ in range(70):
            node = world[freelists.take](mem, me, 5, 0)
            mem[node] = 5 << 60 | 5 << 40 | gen
            nodes.append(node)
            world[retirement.retire_node](mem, me, node)
        world[retirement.finish_retiring](mem, me)
        found = [mem[block + 4 + k] & OFFSET for block in deadlists(mem, trie.at) for k in range(mem[block + 2])]
        require(set(nodes) <= set(found) and len(found) == len(set(found)), "all wait, each once", room, len(found))
        for block in deadlists(mem, trie.at):
            require(mem[block + 2] <= walking.size_of(mem, block) - 4, "a block holds what it has room for", room)
            if block not in before:
                require(walking.size_of(mem, block) == rounded(4 + room), "a block has the room asked for", room)
    trial.drop(trie, trie.frozen[0])
    trial.check()
    trial.finish()
