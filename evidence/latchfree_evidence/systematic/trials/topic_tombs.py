"""Tombs that hold nothing, which only a topic trie has, in trees that are given up whole.

Example: a subscription that shares 20 words with another one makes 16 branches, and stops. Meanwhile the other one is
taken away, alone below the branches: a tomb is left that holds nothing, and nobody cleans it. Then the trie is cleared,
or destroyed, and every word comes back.
"""

from __future__ import annotations

from typing import Final

from latchfree.ctrie.kernels import snapshot
from latchfree_evidence.systematic.plain.memory import MARKING
from latchfree_evidence.systematic.plain.world import World
from latchfree_evidence.systematic.trials import walking
from latchfree_evidence.systematic.trials.halting import everywhere
from latchfree_evidence.systematic.trials.place import require
from latchfree_evidence.systematic.trials.topic_late import Calls
from latchfree_evidence.systematic.trials.topic_scarce import CLEAN, lazy
from latchfree_evidence.systematic.trials.topic_scene import Topics
from latchfree_evidence.systematic.trials.tries import spares

_OLD: Final = "/".join("d" * 20)
_NEW: Final = "/".join("d" * 20 + "e")


def _holds_nothing(here: Topics, node: int) -> bool:
    return walking.kind_of(here.mem, node) == walking.T_NODE and not walking.slots_of(here.mem, node)


def _given_up(world: World, seed: int, before: int) -> tuple[bool, bool]:
    """Stop the subscription before an access; return whether it had another one, and whether a tomb held nothing."""
    here = Topics(world.with_wrapped({**MARKING, CLEAN: lazy}), "mqtt")
    me, other, late = here.place.who
    (one,) = here.add(me, [_OLD], [1])
    calls = Calls(here, here.world.stepping(), late)
    call = calls.add([_NEW])
    more = call.run(before)
    here.drop(me, [_OLD], [one])
    found = any(_holds_nothing(here, node) for node in walking.below(here.mem, here.mem[here.trie + 1]))
    if seed < 2:
        slot = here.freeze(other) if seed else 0
        held = here.scanned(other, here.root(slot))[0] if seed else 0
        here.place.pinned(me, snapshot.clear, here.trie, me)
        call.finish()
        require(call.result == 1 or found, "there is room")
        if seed:
            require(here.scanned(other, here.root(slot))[0] == held, "a snapshot stays as it was")
            here.thaw(other, slot)
        here.account()
        return more, found
    call.finish()  # who finds a tomb, and cannot clean it, is refused
    here.place.pinned(me, snapshot.destroy, here.trie, me, 0)
    here.place.settle(lambda who: None)
    here.place.account([(block, 68) for who in here.place.who for block in spares(here.mem, who)])
    return more, found


def given_up(world: World, seed: int) -> None:
    """Clear a trie with such a tomb, clear it beside a snapshot, or destroy it."""
    some = []

    def scene(before: int) -> bool:
        more, found = _given_up(world, seed, 3 * before + seed)
        some.append(found)
        return more

    everywhere(scene, 20)
    require(any(some), "a tomb holds nothing")
