"""Where memory has run out: what an attempt may still use is what its participant keeps at hand.

Example: every word of the arena is given out, and a participant has seven spare blocks. A clear takes one of them for
its nodes and lists the tree that it cuts off in the others, until one is left. What is not listed is lost.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from typing import Any

from latchfree.arena import layout
from latchfree.arena.kernels import blocks, epochs, freelists
from latchfree.ctrie.kernels import entry_points, helping, insert, registry, trees
from latchfree.ctrie.kernels.snode import full_hash, placed
from latchfree_evidence.systematic.plain.memory import MARKING
from latchfree_evidence.systematic.plain.world import World
from latchfree_evidence.systematic.trials import walking
from latchfree_evidence.systematic.trials.place import OFFSET, require
from latchfree_evidence.systematic.trials.retirements import deadlists
from latchfree_evidence.systematic.trials.topic_scene import Topics
from latchfree_evidence.systematic.trials.tries import KINDS, Kind, Trial, spares

_SPARES, _OLDEST, _DEFERRED = int(layout.P_SPARE_COUNT), int(layout.P_OLDEST), int(layout.P_DEFERRED)


def use_up(world: World, trial: Trial | Topics, keep: int, *, waiting: bool = False) -> None:
    """Leave no free word in an arena, and so many spare blocks to each participant at most.

    What waits in limbo, or to be freed, waits no more, unless it is `waiting` that is looked at.
    """
    mem = trial.mem
    mem[int(layout.H_BUMP)] = mem[int(layout.H_CAPACITY)]
    for me in trial.place.who:
        while mem[me + _SPARES] > keep:
            world[blocks.take_spare](mem, me)
        mem[me + int(layout.P_BUMP)] = mem[me + int(layout.P_LIMIT)]
        if not waiting:
            mem[me + _OLDEST] = mem[me + _DEFERRED] = 0
        for k in range(92):
            mem[me + int(layout.P_FREE) + k] = mem[me + int(layout.P_LENGTH) + k] = 0
            mem[int(layout.SHARED_LISTS) + k] = 0


def _lazy(made: Callable[..., Any], steps: bool) -> Callable[..., Any]:
    return lambda *arguments: None


def _tombs(mem: Any, parent: int, level: int = 0) -> Iterator[tuple[int, int, int]]:
    """Yield the tombed I-nodes below an I-node, their parents, and the levels of these."""
    for slot in walking.slots_of(mem, mem[parent + 1]):
        child = slot & walking.PLAIN
        if slot & walking.TAG and walking.kind_of(mem, mem[child + 1]) == walking.T_NODE:
            yield child, parent, level
        elif slot & walking.TAG:
            yield from _tombs(mem, child, level + 6)


def _with_tomb(world: World, seed: int) -> tuple[Trial, int, int, int]:
    """Return a trie with a tomb that was left behind, the tombed I-node, its parent, and the level of that."""
    place = "latchfree.ctrie.kernels.remove:clean_path"
    trial = Trial(world.with_wrapped({**MARKING, place: _lazy}), Kind(mask=0b11_000011, count=40), seed)
    mem, trie = trial.mem, trial.trie
    while True:
        for number in range(40):
            trial.write(trie, number)
        while trie.held:
            trial.take(trie, trial.rng.choice(list(trie.held)))
            for found in _tombs(mem, mem[trie.at + 1]):
                return trial, *found


def tombs(world: World, seed: int) -> None:
    """Meet a tomb where there is no memory: a write says so, a read reads through the tomb, and both end."""
    trial, tomb, parent, level = _with_tomb(world, seed)
    mem, trie, me = trial.mem, trial.trie, trial.place.who[0]
    use_up(world, trial, (0, 6)[seed % 2])
    snode = mem[mem[tomb + 1] + 2]
    h = world[placed](mem, trie.at, world[full_hash](mem[snode + 1]))
    gen = walking.born(mem, mem[trie.at + 1])
    trial.place.pinned(me, helping.clean_parent, trie.at, me, parent, tomb, h, level, gen)
    require(walking.kind_of(mem, mem[tomb + 1]) == walking.T_NODE, "a tomb stays where there is no room")
    for number in range(40):
        held = dict(trie.held)
        trial.read(trie, number)
        trial.write(trie, number)
        trial.take(trie, number)
        require(trie.held == held, "nothing changes where there is no memory", number)


def clears(world: World, seed: int) -> None:
    """Clear: all spare blocks but one list what was cut off, no node twice, and no block is lost."""
    trial = Trial(world, Kind(count=300), seed)
    mem, trie = trial.mem, trial.trie
    for number in range(300):
        trial.write(trie, number)
    trial.freeze(trie)
    for number in range(0, 300, (2, 300, 1)[seed // 3]):
        trial.write(trie, number)
    keep, before = 7 + seed % 3, set(deadlists(mem, trie.at))
    use_up(world, trial, keep)
    trial.clear(trie)
    require(not trie.held, "a clear finds room")
    cleared = [me for me in trial.place.who if mem[me + _OLDEST]]
    require(len(cleared) == 1, "one of them has cleared")
    me = cleared[0]
    require(mem[me + _SPARES] == len(spares(mem, me)) == 1, "one block is left", mem[me + _SPARES])
    for frozen in trie.frozen:
        trial.scan(trie, frozen)
    waiting = [block for block in deadlists(mem, trie.at) if block not in before]
    limbo, block = [], mem[me + _OLDEST]
    while block:
        limbo.append(block)
        block = mem[block + 1]
    require(len(waiting) + len(limbo) == keep - 2, "no block is lost", len(waiting), len(limbo), keep)
    found = [mem[block + 4 + k] & OFFSET for block in waiting for k in range(mem[block + 2])]
    freed = [mem[block + 4 + k] & OFFSET for block in limbo for k in range(mem[block + 2])]
    require(len([*found, *freed]) == len({*found, *freed}), "no node waits twice")
    seen = set(walking.below(mem, mem[trie.frozen[0].slot + 50]))
    require(set(found) <= seen, "what waits is what the snapshot sees")
    require(not seen & set(freed), "and the rest is what it does not see")


def drops(world: World, seed: int) -> None:
    """Drop a snapshot whose list another one sees in part: split where there are blocks for that, else kept."""
    trial = Trial(world, KINDS[0], 0)
    mem, trie, me = trial.mem, trial.trie, trial.place.who[0]
    trial.write(trie, 1)
    trial.freeze(trie)
    trial.write(trie, 1)
    trial.freeze(trie)
    old, new = trie.frozen
    block = world[blocks.new_block](mem, me, 9)
    nodes = []
    for k in range(9):
        node = world[freelists.take](mem, me, 5, 0)
        mem[node] = 5 << 60 | 5 << 40 | mem[(old if k % 3 else new).slot]
        world[blocks.append](mem, block, node | 5 << 40)
        nodes.append(node)
    mem[block + 3] = 0  # a deadlist has no use for this word
    world[registry.push_block](mem, new.slot, mem[new.slot], block)
    use_up(world, trial, seed)
    words = [mem[k] for k in range(8)]
    trial.me = lambda: me  # type: ignore[method-assign]
    trial.drop(trie, new)
    found = [mem[each + 4 + k] & OFFSET for each in deadlists(mem, trie.at) for k in range(mem[each + 2])]
    kept = {node for k, node in enumerate(nodes) if k % 3 or seed < 6}
    require(
        kept == set(found) & set(nodes), "what is not seen goes where there are blocks to list it", seed, len(found)
    )
    require(mem[me + _SPARES] == len(spares(mem, me)) <= seed, "spare blocks are counted")
    require(words == [mem[k] for k in range(8)], "no words are written that are no node's")


def begins(world: World, seed: int) -> None:
    """Begin in a full arena while trees wait: they are freed, and what becomes due meanwhile, too."""
    trial = Trial(world, Kind(count=200, values="blob"), 0)
    mem, trie, place, me = trial.mem, trial.trie, trial.place, trial.place.who[0]

    def put(number: int) -> None:
        place.pinned(me, insert.insert, trie.at, me, trial.key(number), trial.value(number), 0, 0)

    large = 8 * 66
    for number in range(120):
        trial._buffers["value", number] = ctypes.create_string_buffer(large), large
        put(number)
    later = _cut(trial, me)
    put(1)
    sooner = _cut(trial, me)
    if seed == 0:  # one tree waits to be freed already
        mem[sooner], mem[me + _DEFERRED] = 0, later
        mem[later] = 0
        use_up(world, trial, 0, waiting=True)
    else:  # a small one waits, and the other one becomes due
        for again in (True, False):
            for _ in range(3):
                world[epochs.try_advance](mem)
            if again:
                world[epochs.drain](mem, me, 1 << 62)
                world[epochs.defer](mem, me, later)
        use_up(world, trial, 0, waiting=True)
        mem[sooner], mem[me + _DEFERRED] = 0, sooner
    require(mem[me + _SPARES] == 0, "nothing is at hand")
    require(world[trees.begin](mem, me, 0), "a tree whose time has come makes room", seed)


def attempts(world: World, seed: int) -> None:
    """Put where there are small free nodes, and no room for a block: the put is refused, and nothing changes."""
    trial = Trial(world, KINDS[0], 0)
    mem, trie, place, me = trial.mem, trial.trie, trial.place, trial.place.who[0]
    for number in range(10):
        place.pinned(me, insert.insert, trie.at, me, trial.key(number), number, 0, 0)
        trie.held[number] = number
    tiny = [place.pinned(me, entry_points.create, 0, me) for _ in range(150)]
    small = [(world[freelists.take](mem, me, size, 0), size) for size in (3, 8, 12, 16, 20, 24) for _ in range(4)]
    use_up(world, trial, 0)
    for node, size in small:
        world[freelists.give](mem, me, node, size)
    if seed:  # trees wait, each of two small nodes
        for at in tiny:
            mem[mem[at + 1]] = mem[me + _DEFERRED]
            mem[me + _DEFERRED] = mem[at + 1]
    words = [mem[k] for k in range(8)]
    done = place.pinned(me, insert.insert, trie.at, me, trial.key(3), 77, 0, 0)
    require(done == (1 << 64) - 1, "a put is refused", done)
    require(mem[me + _SPARES] == len(spares(mem, me)) == 0, "spare blocks are counted", mem[me + _SPARES])
    require(words == [mem[k] for k in range(8)], "no words are written that are no node's")
    trial.check()


def _cut(trial: Trial, me: int) -> int:
    """Cut the tree of a trie off, as `clear` does, and return its root."""
    at, mem = trial.trie.at, trial.mem
    fresh = trial.place.pinned(me, entry_points.create, trial.kind.mask, me)
    mem[at + 1], mem[fresh + 1] = mem[fresh + 1], mem[at + 1]
    return int(mem[fresh + 1])
