"""The registry of snapshots by itself: slots and tables, who is newest below a generation, and deadlists."""

from __future__ import annotations

import random
from typing import Any

from latchfree.arena import layout
from latchfree.arena.kernels import blocks, freelists
from latchfree.ctrie.kernels import entry_points, insert, registry, snapshot
from latchfree_evidence.systematic.plain.world import World
from latchfree_evidence.systematic.trials import walking
from latchfree_evidence.systematic.trials.place import ALL, require
from latchfree_evidence.systematic.trials.tries import KINDS, Trial

_GEN, _HEAD, _OWNER, _STATE, _FORK, _FROZEN = 0, 10, 20, 30, 40, 50
EMPTY = 1 << 63


def tables(world: World, seed: int) -> None:
    """Register more snapshots than a table has slots; drop them in any order, and register again."""
    trial = Trial(world, KINDS[0], seed)
    mem, trie, rng = trial.mem, trial.trie, random.Random(seed)
    for round_ in range(3):
        wanted = 25
        while len(trie.frozen) < wanted:
            trial.write(trie, rng.randrange(30))
            trial.freeze(trie)
        found = list(walking.tables(mem, trie.at))
        require(len(found) == 3, "tables of ten slots", round_, len(found))
        slots = sorted(frozen.slot for frozen in trie.frozen)
        places = sorted(table + 2 + k for table in found for k in range(10))
        require(set(slots) <= set(places), "slots are where they are documented to be")
        if round_ == 0:
            order = [table + 2 + k for table in found for k in range(10)][:25]
            require([frozen.slot for frozen in trie.frozen] == order, "the first free slot is taken")
        for place in places:
            used = place in slots
            require((mem[place + _OWNER] != 0) == used and (mem[place + _GEN] != 0) == used, "slots in use", place)
            require(used or (mem[place + _HEAD] == ALL and mem[place + _STATE] == 0), "a free slot is closed", place)
            if used:
                require(mem[place + _FORK] == 0 and mem[place + _STATE] & 3 == 0, "a slot is fresh", place)
                require(mem[place + _HEAD] != ALL, "a registered slot takes blocks", place)
        require(mem[trie.at + 4] == 25, "snapshots are counted")
        while len(trie.frozen) > 3:
            trial.drop(trie, rng.choice(trie.frozen))
        for place in places:
            if mem[place + _OWNER] == 0:
                mem[place + _FORK] = 7  # as a dead owner may leave it
    trial.check()
    trial.finish()


def slots_again(world: World, seed: int) -> None:
    """Claim slots by hand: none is given to an older generation than it had, and one of the same is good enough."""
    trial = Trial(world, KINDS[0], seed)
    mem, at, me = trial.mem, trial.trie.at, trial.place.who[0]
    claim, last = world[registry.claim_slot], 1 << 38
    slots = [claim(mem, at, me, 5) for _ in range(30)]
    for table in walking.tables(mem, at):
        for k in range(2, walking.TABLE_WORDS):
            closed, owned = 2 + _HEAD <= k < 2 + _OWNER, 2 + _OWNER <= k < 2 + _STATE
            wanted = ALL if closed else mem[me] >> 16 if owned else 0
            require(mem[table + k] == wanted, "the slots of a new table are closed, and have an owner", k)
    for slot in slots:
        mem[slot + _OWNER], mem[slot + _STATE] = 0, last << 2
    for slot in reversed(slots):
        mem[slot + _STATE] = 9 << 2
        require(claim(mem, at, me, 8) not in slots, "a slot is not given to an older generation", slot)
        require(claim(mem, at, me, 9) == slot, "a slot is given to the same generation", slot)


def marked(world: World, seed: int) -> None:
    """Mark snapshots in all slots, as owners do that are killed then: a sweep drops them all."""
    trial = Trial(world, KINDS[0], seed)
    mem, trie = trial.mem, trial.trie
    for turn in range(25):
        trial.write(trie, turn % 7)
        trial.freeze(trie)
    for frozen in trie.frozen:
        mem[frozen.slot + _STATE] = 2
    trie.frozen.clear()
    world[entry_points.sweep](mem, trie.at, trial.place.who[0])
    require(mem[trie.at + 4] == 0, "all that are marked are dropped", mem[trie.at + 4])
    trial.check()
    trial.finish()


def searches(world: World, seed: int) -> None:
    """Look for the newest snapshot below a generation among all that are open."""
    trial = Trial(world, KINDS[0], seed)
    mem, trie, rng = trial.mem, trial.trie, random.Random(seed)
    for _ in range(14):
        trial.write(trie, rng.randrange(20))
        trial.freeze(trie)
    slots = {frozen.slot: mem[frozen.slot] for frozen in trie.frozen}
    closed = rng.sample(list(slots), 3)
    heads = {slot: mem[slot + _HEAD] for slot in closed}
    for slot in closed:
        mem[slot + _HEAD] = ALL
    last = max(slots.values())
    for below in range(last + 3):
        for other in (0, *slots):
            open_ = [(gen, slot) for slot, gen in slots.items() if gen < below and slot not in (other, *closed)]
            wanted = max(open_)[::-1] if open_ else (0, 0)
            found = world[registry.newest](mem, trie.at, below, other)
            require(tuple(found) == wanted, "the newest snapshot", below, other, found, wanted)
    twin, model = rng.sample(list(slots), 2)
    kept, mem[twin] = mem[twin], mem[model]  # two snapshots of one generation, for a while
    found = world[registry.newest](mem, trie.at, mem[model] + 1, model)
    require(found == (twin, mem[model]) or twin in closed, "another one of the same generation", found)
    mem[twin] = kept
    for slot in closed:
        mem[slot + _HEAD] = heads[slot]
    trial.check()
    trial.finish()


def _block(world: World, mem: Any, me: int, births: list[int]) -> int:
    block: int = world[blocks.new_block](mem, me, len(births))
    for birth in births:
        node = world[freelists.take](mem, me, 5, 0)
        mem[node] = 5 << 60 | 5 << 40 | birth
        world[blocks.append](mem, block, node | 5 << 40)
    return block


def deadlists(world: World, seed: int) -> None:
    """Push blocks on deadlists, count who is still seen, and move blocks to older snapshots when one is dropped."""
    trial = Trial(world, KINDS[0], seed)
    mem, trie, rng, me = trial.mem, trial.trie, random.Random(seed), trial.place.who[0]
    for _ in range(3):
        trial.write(trie, rng.randrange(20))
        trial.freeze(trie)
    old, middle, new = trie.frozen
    gens = [mem[each.slot] for each in (old, middle, new)]
    require(gens == sorted(set(gens)), "generations grow", gens)
    push, seen = world[registry.push_block], world[registry.still_seen]
    births = [rng.choice((max(1, gens[0] - 1), gens[0], gens[0] + 1, gens[1], gens[1] + 1, gens[2])) for _ in range(9)]
    block = _block(world, mem, me, births)
    for up_to in range(gens[0] - 2, gens[2] + 2):
        require(seen(mem, block, up_to) == sum(birth <= up_to for birth in births), "who is still seen", up_to)
    head = mem[new.slot + _HEAD]
    require(not push(mem, new.slot, gens[1], block) and mem[new.slot + _HEAD] == head, "a list of another generation")
    mem[new.slot + _HEAD] = ALL
    require(not push(mem, new.slot, gens[2], block) and mem[new.slot + _HEAD] == ALL, "a list that is closed")
    mem[new.slot + _HEAD] = head
    require(push(mem, new.slot, gens[2], block), "a list takes a block")
    require(mem[new.slot + _HEAD] == block and mem[block + 1] == head, "and links it")
    nodes = [mem[block + 4 + k] & (1 << 40) - 1 for k in range(9)]
    trial.drop(trie, new)
    below, kept = mem[middle.slot + _HEAD], []
    while not below & EMPTY:
        kept += [mem[below + 4 + k] & (1 << 40) - 1 for k in range(mem[below + 2])]
        below = mem[below + 1]
    for node, birth in zip(nodes, births, strict=True):
        require((node in kept) == (birth <= gens[1]), "what the older snapshot sees moves to it", birth, gens)
    trial.drop(trie, middle)
    trial.drop(trie, old)
    trial.place.settle(lambda who: None)
    require(all(mem.marks[node] for node in nodes), "in the end all are free")
    trial.check()
    trial.finish()


def dropping(world: World, seed: int) -> None:
    """One participant updates, another one only drops snapshots: memory comes back all the same."""
    trial = Trial(world, KINDS[0], seed)
    mem, trie, place = trial.mem, trial.trie, trial.place
    writer, dropper = place.who[0], place.who[1]
    for turn in range(60):
        slot = place.pinned(writer, snapshot.freeze, trie.at, writer)
        for number in range(12):
            place.pinned(writer, insert.insert, trie.at, writer, trial.key(number), turn, 0, 0)
            trie.held[number] = turn
        world[entry_points.drop](mem, trie.at, dropper, slot)
    waiting = 0
    block = mem[dropper + int(layout.P_OLDEST)]
    while block:
        waiting += mem[block + 2]
        block = mem[block + 1]
    require(waiting < 200, "who only drops keeps up", waiting)
    trial.check()
    trial.finish()
