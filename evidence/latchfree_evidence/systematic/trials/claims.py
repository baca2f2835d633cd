"""Participants: slots that are claimed, released, adopted, and drained by whoever collects."""

from __future__ import annotations

import random

from latchfree.arena import layout
from latchfree.arena.kernels import allocator, epochs, participants
from latchfree_evidence.systematic.plain.world import World
from latchfree_evidence.systematic.trials.halting import Halted, everywhere
from latchfree_evidence.systematic.trials.place import Place, require
from latchfree_evidence.systematic.trials.tries import spares

_PIN, _ORDINARY = int(layout.P_PIN), 5


def slots(world: World, seed: int) -> None:
    """Claim, release and adopt participants."""
    place = Place(world, 2)
    mem = place.mem
    claim, release, adopt = (world[each] for each in (participants.claim, participants.release, participants.adopt))
    owned = {place.who[0]: 1 << 16, place.who[1]: 2 << 16}
    rng = random.Random(seed)
    table = [layout.PARTICIPANTS + k * layout.PARTICIPANT_WORDS for k in range(layout.PARTICIPANT_COUNT)]
    for turn in range(600):
        what = rng.random()
        if what < 0.6:
            state = (turn + 10) << 16
            before = mem.bare[table[0] + 3]
            slot = claim(mem, state)
            free = [each for each in table if each not in owned]
            require(slot == (free[0] if free else 0), "the first free slot is claimed", slot)
            if slot:
                require(mem[slot] == state, "a slot knows its owner")
                require(mem[slot + 3] > (before if slot == table[0] else 0), "incarnations grow", slot)
                require(mem[int(layout.H_CLAIMED)] >= (slot - table[0]) // layout.PARTICIPANT_WORDS + 1, "claimed")
                owned[slot] = state
        elif owned and what < 0.8:
            slot = rng.choice(list(owned))
            require(not release(mem, slot, owned[slot] + 1), "nobody releases what is another's")
            require(release(mem, slot, owned.pop(slot)) and mem[slot] == 0, "a slot is released")
        elif owned:
            slot = rng.choice(list(owned))
            mem[slot + _PIN], mem[slot + int(layout.P_IN_HAND)] = 7, 9
            require(not adopt(mem, slot, owned[slot] + 1, 5), "nobody adopts what is another's")
            require(mem[slot + _PIN] == 7 and mem[slot + int(layout.P_IN_HAND)] == 9, "and changes nothing")
            require(adopt(mem, slot, owned.pop(slot), 5), "a dead owner's slot is adopted")
            words = [mem[slot + at] for at in (0, _PIN, int(layout.P_IN_HAND))]
            require(words == [0, 0, 0], "it is free, unpinned, and has nothing in hand", words)
    while claim(mem, 77 << 16):
        pass
    require(mem[int(layout.H_CLAIMED)] == layout.PARTICIPANT_COUNT, "all are claimed")


def collecting(world: World, seed: int) -> None:
    """Stop a collection anywhere; meanwhile somebody claims a slot, which stays one's own."""
    steps = world.stepping()

    def scene(before: int) -> bool:
        place = Place(world, 3)
        mem, (me, _, dead) = place.mem, place.who
        world[allocator.begin](mem, dead, 0)
        node = world[allocator.allocate](mem, dead, 5)
        mem[node] = _ORDINARY << 60 | 5 << 40
        world[epochs.retire](mem, dead, node)
        world[participants.release](mem, dead, mem[dead])
        call = Halted(steps, participants.collect, mem, me)
        more = call.run(before)
        slot = world[participants.claim](mem, 9 << 16)
        call.finish()
        require(mem[slot] == 9 << 16, "a slot that was claimed stays one's own", slot)
        place.settle(lambda who: None)
        place.account([(block, 68) for who in place.who for block in spares(mem, who)])
        return more

    everywhere(scene, 8)
