"""Calls with arrays that are just long enough, and with ones that are one word too short.

Example: a match notes three I-nodes, in six words. With five the match says that an array is too short, and writes
nothing behind its end.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Final

from latchfree.topics.concurrent.kernels import collect, digits
from latchfree_evidence.systematic.plain.memory import MARKING
from latchfree_evidence.systematic.plain.world import World
from latchfree_evidence.systematic.trials.place import require
from latchfree_evidence.systematic.trials.topic_scarce import CLEAN, lazy
from latchfree_evidence.systematic.trials.topic_scene import Topics
from latchfree_evidence.systematic.trials.topic_texts import digit_of

_TOO_SMALL: Final = int(collect.TOO_SMALL)


def _least(works: Callable[[int], bool], wanted: int, what: str) -> None:
    """Fail unless so many words are enough, and fewer are not; there is always room for one frame."""
    found = [room for room in range(3 if wanted > 3 else 0, wanted + 3) if works(room)]
    require(found == list(range(wanted, wanted + 3)), f"the least room for {what}", found[:1], wanted)


def rooms(world: World, seed: int) -> None:
    """Match one topic with arrays of all lengths."""
    here = Topics(world, "mqtt")
    me, text = here.place.who[0], "a"
    here.add(me, [text, text], [3, 4])
    most = {"frames": 900, "noted": 600, "found": 300, "out": 900}

    def works(name: str, room: int, values: int = 1) -> bool:
        sizes = most | {name: room}
        buffers = here.buffers(len(text), (sizes["frames"], sizes["noted"], sizes["found"]))
        done, offsets, _ = here.rows(me, [text], buffers, values=values, out=sizes["out"])
        require(done or buffers.counts[0] == _TOO_SMALL, "an array is too short", name, room)
        require(not done or offsets[1] == 2, "both are found", name, room)
        return done == 1

    # The root, the branch of a, that of END: a frame each, and one for each slot of the last one.
    for name, room in {"frames": 15, "noted": 6, "found": 2, "out": 2}.items():
        _least(functools.partial(works, name), room, name)
    _least(functools.partial(works, "out", values=0), 2 * 2 + 2 * 7, "two S-nodes of seven words, and their copies")
    require(here.rows(me, [text], here.buffers(1), values=0, out=3)[0] == 0, "there is no room for two in two orders")
    here.add(me, ["a/b"] * 20 + ["a/+", "a/c"], [9, 3, 7, 3] * 5 + [99, 9])
    here.add(me, ["d"] * 16, [5, 6] * 8)
    here.look(me, ["a/b", "a/c", "b", "d"], here.held)
    _nobody(world)
    _many_rows(here)
    _texts(here)


def _nobody(world: World) -> None:
    """Match a topic that nobody wants, with no room for anybody."""
    here = Topics(world, "mqtt")
    buffers = here.buffers(1)
    done, offsets, _ = here.rows(here.place.who[0], ["a"], buffers, values=0, out=0)
    require((done, offsets, buffers.counts[0]) == (1, [0, 0], 0), "nobody is found", done, offsets)


def _many_rows(here: Topics) -> None:
    """Match rows of which one is too long for the array, or breaks a rule."""
    me = here.place.who[0]
    for values in (0, 1):
        buffers = here.buffers(3)
        done, offsets, _ = here.rows(me, ["a/c", "a/b", "b"], buffers, values=values, out=22)
        require((done, offsets[1], buffers.counts[0]) == (1, 2, _TOO_SMALL), "the second row does not fit", done)
        buffers = here.buffers(3)
        done, offsets, _ = here.rows(me, ["a/c", "a/+", "b"], buffers, values=values)
        require((done, offsets[1], buffers.counts[0]) == (1, 2, int(digits.INVALID)), "the second breaks a rule", done)
    done, offsets, out = here.rows(me, ["b", "a/b", "a/c"], here.buffers(3), first=1)
    found = sorted(out[k] for k in range(6))
    require(done == 3 and offsets == [0, 0, 4, 6] and found == [3, 7, 9, 9, 99, 99], "from the second row on", offsets)


def _texts(here: Topics) -> None:
    """Match a text for whose words there is no room."""
    me, longest = here.place.who[0], here.dialect.longest
    for length, room, wanted in (
        (3, 5, None), (3, 4, _TOO_SMALL), (longest, 9, _TOO_SMALL), (longest + 1, 9, int(digits.INVALID)),
    ):  # fmt: skip
        buffers = here.buffers(room - 2)
        done, _, _ = here.rows(me, ["x" * length], buffers)
        require(done == (wanted is None), "whether the words of a text have room", length, room)
        require(done or buffers.counts[0] == wanted, "what is wrong with a text", length, room, buffers.counts[0])


def trees(world: World, seed: int) -> None:
    """Read a frozen tree with arrays of all lengths."""
    here = Topics(world, "mqtt")
    me = here.place.who[0]
    patterns: list[str] = []
    taken: set[int] = set()
    for k in range(40):
        low = digit_of(f"p{k}".encode()) & 63
        if low not in taken and len(patterns) < 7:
            patterns.append(f"p{k}")
            taken.add(low)
    here.add(me, patterns, list(range(7)))
    slot = here.freeze(me)
    root = here.root(slot)
    _least(lambda room: here.scanned(me, root, room, 7)[0] == 7, 7, "a stack")
    _least(lambda room: here.near(me, root, "#", room + 3, 7)[0] == 7, 18, "frames")
    for room in range(6):
        for count, found in (here.scanned(me, root, 900, room + 1), here.near(me, root, "#", 900, room + 1)):
            require(count == 7 and not found, "more are found than there is room for", room, count)
        for count, _ in (here.scanned(me, root, room + 1, room + 1), here.near(me, root, "#", room + 3, room + 3)):
            require(count > room + 1, "a larger number than there is room for", room, count)
        require(here.near(me, root, "#", room + 3, 3)[0] > 3, "a larger number than there is room for", room)
    for text, count in (("x" * (here.dialect.longest + 1), 7), ("#", 7), ("zz/+", 0), (patterns[3], 1)):
        require(here.near(me, root, text)[0] == count, "what may overlap", text[:9], count)
    here.thaw(me, slot)
    here.account()


def prefixes(world: World, seed: int) -> None:
    """Look for patterns whose words share the lower bits of their digits, below a wildcard."""
    here = Topics(world, "mqtt")
    me = here.place.who[0]
    by_bits: dict[int, list[str]] = {}
    for k in range(400):
        by_bits.setdefault(digit_of(f"w{k}".encode()) & 63, []).append(f"w{k}")
    some = [words[:3] for words in by_bits.values() if len(words) > 2]
    for front in ("", "+/", "a/"):
        here.add(me, [front + word for words in some[:4] for word in words], list(range(12)))
    slot = here.freeze(me)
    shape = here.check(root=here.root(slot))
    for words in some[:5]:
        for pattern in (words[0], f"+/{words[1]}", f"a/{words[2]}", f"b/{words[0]}", f"+/{words[0]}/#"):
            count, found = here.near(me, here.root(slot), pattern)
            require(count == len(found) and set(found) == shape.may_overlap(pattern), "what overlaps", pattern, found)
        here.look(me, [words[0], f"b/{words[1]}", f"a/{words[2]}"], here.held, here.root(slot))
    here.thaw(me, slot)
    lazily = _tombs_of(world, some[0])
    slot = lazily.freeze(me)
    shape = lazily.check(root=lazily.root(slot), tombs=True)
    for pattern in (some[0][0], f"a/{some[0][0]}", "+", "a/+"):
        require(set(lazily.near(me, lazily.root(slot), pattern)[1]) == shape.may_overlap(pattern), "in a tomb", pattern)


def _tombs_of(world: World, some: list[str]) -> Topics:
    """Return a trie with tombs of words that share the lower bits of their digits; then all words are as they were."""
    here = Topics(world.with_wrapped({**MARKING, CLEAN: lazy}), "mqtt")
    me = here.place.who[0]
    for front in ("", "a/"):
        one, two = here.add(me, [front + some[0], front + some[1]], [1, 2])
        here.drop(me, [front + some[1]], [two])
        require(one in here.held, "the other one is in the tomb")
    here.world = here.place.world = world
    return here
