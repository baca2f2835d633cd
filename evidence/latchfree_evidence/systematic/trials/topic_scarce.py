"""A topic trie where memory has run out: who is refused has changed nothing, and who takes away is not refused.

Example: an arena is full of subscriptions. The next one is refused, and all can be unsubscribed, for a removal may use
what each participant keeps at hand. Where that is gone, too, a removal is refused and can be tried again.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any, Final

from latchfree.arena import layout
from latchfree_evidence.systematic.plain.memory import MARKING
from latchfree_evidence.systematic.plain.world import World
from latchfree_evidence.systematic.trials import walking
from latchfree_evidence.systematic.trials.place import require
from latchfree_evidence.systematic.trials.scarce import use_up
from latchfree_evidence.systematic.trials.topic_scene import Topics

CLEAN: Final = "latchfree.topics.concurrent.kernels.change:clean"
_SPARES: Final = int(layout.P_SPARE_COUNT)
_PATTERNS: Final = ("a/b", "a/c", "a/b/c", "+/b", "d", "a/#")


def full(world: World, seed: int) -> None:
    """Subscribe until there is no room, with a snapshot or without, and take all away."""
    here = Topics(world, "mqtt", 7 if seed else (1 << 63) - 1, 8 * int(layout.FIRST_NODE) + (1 << 17))
    me = here.place.who[0]
    slot, count, before = 0, 0, -1
    while len(here.held) != before:
        before = len(here.held)
        if seed == 1 and before == 20:
            slot = here.freeze(me)
        here.add(me, [f"{'x' * 300}/{count}/{'ab'[count % 2]}"], [count])
        count += 1
        if not count % 16:
            here.check()
    require(count > 50, "there is room for some", count)
    for other in here.place.who[:2]:
        stock = here.mem[other + _SPARES]
        for k in range(20):
            here.add(other, [f"y/{k}"], [k])
        require(here.mem[other + _SPARES] >= min(stock, 7), "what is kept for removals is left", stock)
    here.check()
    for number, (pattern, _) in list(here.held.items()):
        require(here.drop(me, [pattern], [number]) == 1, "a removal finds room", pattern)
    here.check()
    if slot:
        here.thaw(me, slot)
    here.account()


def lazy(made: Callable[..., Any], steps: bool) -> Callable[..., Any]:
    """Return what cleans no tomb."""

    def in_steps(*arguments: Any) -> Generator[Any, Any, bool]:
        yield from ()
        return False

    return in_steps if steps else lambda *arguments: False  # as if there were no memory


def _with_tombs(world: World, seed: int) -> Topics:
    """Return a trie in which nobody has cleaned."""
    here = Topics(world.with_wrapped({**MARKING, CLEAN: lazy}), "mqtt", (7, (1 << 63) - 1)[seed % 2])
    me = here.place.who[0]
    numbers = here.add(me, list(_PATTERNS) * 2, list(range(12)))
    for k in (0, 6, 1, 7, 2, 8, 3, 9, 5, 11)[seed:]:
        here.drop(me, [_PATTERNS[k % 6]], [numbers[k]])
        if any(walking.kind_of(here.mem, node) == walking.T_NODE for node in _nodes(here)):
            break
    require(any(walking.kind_of(here.mem, node) == walking.T_NODE for node in _nodes(here)), "a tomb is there")
    here.world = here.place.world = world
    return here


def _nodes(here: Topics) -> list[int]:
    return list(walking.below(here.mem, here.mem[here.trie + 1]))


def _refused(here: Topics, most: int) -> None:
    """Change a trie where nobody has room: each change is refused, or done in what is at hand."""
    me = here.place.who[0]
    done = 0
    for pattern in _PATTERNS:
        done += len(here.add(me, [pattern], [7]))
        for number, (held, _) in list(here.held.items()):
            if held == pattern:
                done += here.drop(me, [pattern], [number])
    require(done <= most, "nothing changes where there is no memory", done)
    here.check(tombs=True)
    here.look(me, ["a/b", "a/c", "d", "a/b/c"], here.held)


def tombs(world: World, seed: int) -> None:
    """Meet tombs, with memory and without."""
    here = _with_tombs(world, seed % 6)
    me = here.place.who[0]
    here.check(tombs=True)
    if seed < 6:
        use_up(world, here, (0, 6)[seed // 3])
        _refused(here, (0, 99)[seed // 3])
        return
    slot = here.freeze(here.place.who[1])
    held = dict(here.held)
    root = here.root(slot)
    for pattern in ("#", "a/b", "d", "+/+"):
        count, found = here.near(me, root, pattern)
        require(set(found) == here.check(tombs=True, root=root).may_overlap(pattern), "what overlaps", pattern)
        require(count == len(found), "how many overlap", count)
    require(sorted(here.scanned(me, root)[1]) == sorted(held), "all of a snapshot with tombs")
    here.look(me, ["a/b", "d"], held, root)
    here.thaw(here.place.who[1], slot)
    for pattern in _PATTERNS:
        here.add(me, [pattern], [9])
    here.check(tombs=True)
    for number, (pattern, _) in list(here.held.items()):
        require(here.drop(me, [pattern], [number]) == 1, "a removal finds room")
    here.account()


def renewals(world: World, seed: int) -> None:
    """Change what a snapshot sees, where there is no room to renew it."""
    here = Topics(world, "mqtt")
    me = here.place.who[0]
    here.add(me, list(_PATTERNS), list(range(6)))
    slot = here.freeze(me)
    held = dict(here.held)
    use_up(world, here, 0)
    _refused(here, 0)
    here.look(me, ["a/b", "d"], held, here.root(slot))
