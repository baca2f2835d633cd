"""Who is late in a topic trie: a call stops before one of its accesses, and others subscribe and unsubscribe.

Example: a match has read the branch of ``a``, and stops. Another thread takes the last subscription below ``a`` away,
and subscribes ``b``. The match must not say that there were both, or neither.
"""

from __future__ import annotations

from typing import Any

from latchfree.arena import layout
from latchfree.topics.concurrent.kernels import match, near, rows, whole
from latchfree_evidence.systematic.plain.arrays import View
from latchfree_evidence.systematic.plain.world import World
from latchfree_evidence.systematic.trials.halting import Halted, everywhere
from latchfree_evidence.systematic.trials.place import require
from latchfree_evidence.systematic.trials.topic_arrays import UNUSED, Column, numbers_of, words
from latchfree_evidence.systematic.trials.topic_scene import Topics

_PIN = int(layout.P_PIN)


class Calls:
    """The calls of one participant, in steps; arrays are kept as long as this is."""

    def __init__(self, here: Topics, steps: World, me: int) -> None:
        self.here, self.steps, self.me = here, steps, me
        self.kept: list[Any] = []

    def add(self, patterns: list[str]) -> Halted:
        """Begin to subscribe."""
        here, column, numbers = self.here, Column(patterns), words(len(patterns))
        payloads = words(2 * len(patterns))
        self.kept += [column, numbers, payloads]
        return Halted(
            self.steps, rows.add_rows, here.mem, here.trie, self.me, here.grammar.rules, column.address, column.places,
            payloads.data, 16, 16, 0, numbers, here.descent(column.longest),
        )  # fmt: skip

    def drop(self, patterns: list[str], numbers: list[int]) -> Halted:
        """Begin to unsubscribe."""
        here, column = self.here, Column(patterns)
        given, found = numbers_of(numbers), numbers_of([0] * len(numbers))
        self.kept += [column, given, found]
        return Halted(
            self.steps, rows.drop_rows, here.mem, here.trie, self.me, here.grammar.rules, column.address,
            column.places, given, found, 0, here.descent(column.longest),
        )  # fmt: skip

    def match(self, topics: list[str], *, root: int = 0, values: int = 1) -> tuple[Halted, View, View]:
        """Begin to match; return the offsets and the subscribers, too."""
        here, column = self.here, Column(topics)
        offsets, out, buffers = (
            numbers_of([0] * (len(topics) + 1)),
            numbers_of([0] * 2000),
            here.buffers(column.longest),
        )
        self.kept += [column, buffers]
        call = Halted(
            self.steps, rows.match_rows, here.mem, here.trie, root, self.me, here.grammar, values, column.address,
            column.places, 0, offsets, out, buffers,
        )  # fmt: skip
        return call, offsets, out

    def scan(self, root: int) -> Halted:
        """Begin to read all of a frozen tree."""
        return Halted(self.steps, whole.scan, self.here.mem, root, self.me, words(90), words(30))

    def near(self, root: int, pattern: str) -> Halted:
        """Begin to look for what may overlap."""
        here, column = self.here, Column([pattern])
        self.kept.append(column)
        starts, strings = words(column.longest + 2), words(column.longest + 2)
        return Halted(
            self.steps, near.near, here.mem, root, self.me, here.grammar.rules, here.mask, column.address,
            column.longest, starts, strings, words(90), words(30),
        )  # fmt: skip


def _pins(here: Topics, call: Halted, me: int) -> list[int]:
    """Run a call that reads nodes only while it is pinned; return how many it has read in each of its pins."""
    found: list[int] = []
    pinned = False
    while call.access is not None:
        now = here.mem.bare[me + _PIN] != 0
        found += [0] if now and not pinned else []
        pinned = now
        _, mem, at = call.access[:3]
        if mem is here.mem and at >= layout.FIRST_NODE and not here.trie <= at < here.trie + 9:
            require(pinned, "nodes are read by somebody who is not pinned", call.access)
            found[-1] += 1
        call.step()
    require(here.mem.bare[me + _PIN] == 0, "a call ends its pin")
    return found


def pins(world: World, seed: int) -> None:
    """Step through all calls: who reads a node is pinned, and a long column is read in several pins."""
    here, steps = Topics(world, "mqtt"), world.stepping()
    me = here.place.who[0]
    here.add(me, ["a/b", "a/c", "b", "a/b/c"], [1, 2, 3, 4])
    slot = here.freeze(here.place.who[1])
    calls = Calls(here, steps, me)
    require(len(_pins(here, calls.scan(here.root(slot)), me)) == 1, "a scan is pinned once")
    require(len(_pins(here, calls.near(here.root(slot), "a/#"), me)) == 1, "a search is pinned once")
    for rows_, values, wanted in ((1, 1, 1), (31, 1, 1), (32, 1, 2), (64, 1, 3), (70, 0, 1)):
        call, _, _ = calls.match(["a/b"] * rows_, values=values)
        found = _pins(here, call, me)
        require(len(found) == wanted and min(found) > 0, "a pin for each 32 rows", rows_, found)
    require(len(_pins(here, calls.drop(["a/b"], [5]), me)) == 1, "to unsubscribe is pinned")
    require(len(_pins(here, calls.add(["a/b", "c"]), me)) == 2, "to subscribe is pinned")
    here.thaw(here.place.who[1], slot)


def reads(world: World, seed: int) -> None:
    """Stop a change anywhere; a snapshot that is taken then is read, and stays as it was."""
    steps = world.stepping()

    def scene(before: int, *, gone: bool) -> bool:
        here = Topics(world, "mqtt")
        me, other, late = here.place.who
        one, two, three = here.add(me, ["a/b", "a/c", "a/b/d"], [1, 2, 3])
        calls = Calls(here, steps, late)
        call = calls.drop(["a/b"], [one]) if gone else calls.add(["a/c"])
        more = call.run(before)
        slot = here.freeze(me)
        root = here.root(slot)
        if seed == 1:
            here.near(other, root, "a/#")
        elif seed == 2:
            here.rows(other, ["a/b", "a/c"], here.buffers(3), root=root)
        first = sorted(here.scanned(other, root)[1])
        require(first in ([one, two, three], [two, three], [one, two, three, 8]), "a snapshot is of one instant", first)
        require(sorted(here.near(other, root, "a/#")[1]) == first, "as another reader finds", first)
        call.finish()
        require(sorted(here.scanned(other, root)[1]) == first, "a snapshot stays as it was", first)
        if gone:
            del here.held[one]
        else:
            here.held[8] = "a/c", UNUSED
        here.check(tombs=True)
        here.thaw(me, slot)
        here.account()
        return more

    everywhere(lambda before: scene(before, gone=True), 5)
    everywhere(lambda before: scene(before, gone=False), 5)


def matches(world: World, seed: int) -> None:
    """Stop a match anywhere; meanwhile one subscription goes, and then another one comes."""
    steps = world.stepping()

    def scene(before: int) -> bool:
        here = Topics(world, "mqtt")
        me, _, late = here.place.who
        one, _ = here.add(me, ["a/b", "+/b"], [1, 2])
        calls = Calls(here, steps, late)
        call, offsets, out = calls.match(["a/b"])
        more = call.run(before)
        here.drop(me, ["a/b"], [one])
        here.add(me, ["#"], [3])
        require(call.finish() == 1, "the topic is matched")
        found = {out[k] for k in range(offsets[1])}
        require(found in ({1, 2}, {2}, {2, 3}), "who is matched at one instant", found)
        require(found == {2, 3} or before, "what returned before is seen", found)
        here.check()
        here.account()
        return more

    everywhere(scene, 5)


def fallbacks(world: World, seed: int) -> None:
    """Change the trie in each collection of a match: the ninth is in a snapshot, which is given back."""
    steps = world.stepping()
    here = Topics(world, "mqtt")
    me, _, late = here.place.who
    (number,) = here.add(me, ["a/b"], [7])
    calls = Calls(here, steps, late)
    call, offsets, out = calls.match(["a/b"])
    collections = looks = 0
    while call.access is not None:
        kind, _, at = call.access[:3]
        looks += at == here.trie + 1 and here.mem[here.trie + 4] != 0
        if kind == "load_seq" and at == here.trie + 1 and here.mem[here.trie + 4] == 0:
            collections += 1
            call.run(2)  # the root, and its main
            here.drop(me, ["a/b"], [number])
            (number,) = here.add(me, ["a/b"], [7 + collections])
        else:
            call.step()
    require(call.result == 1 and offsets[1] == 1, "one is matched", offsets[1])
    require(7 <= out[0] <= 7 + collections, "that was there", out[0])
    require(here.mem[here.trie + 4] == 0, "the snapshot is given back")
    require(collections == match.PATIENCE + 1, "then a snapshot looks at the root", collections)
    require(looks == 2, "who reads the snapshot looks at the root no more", looks)
    here.check()
    here.account()


def neighbours(world: World, seed: int) -> None:
    """Stop a change anywhere; meanwhile a neighbour goes, and comes again: tombs are cleaned by whoever comes first."""
    steps = world.stepping()
    mask = (1 << 63) - 1 if seed % 2 else 7

    def scene(before: int, *, gone: bool) -> bool:
        here = Topics(world, "mqtt", mask)
        me, other, late = here.place.who
        one, two, three = here.add(me, ["a/b", "a/b", "a/b/c"], [1, 2, 3])
        calls = Calls(here, steps, late)
        call = calls.drop(["a/b"], [one]) if gone else calls.add(["a/b/c/d"])
        more = call.run(before)
        slot = here.freeze(other) if seed >= 2 else 0
        here.drop(me, ["a/b", "a/b/c"], [two, three])
        here.add(me, ["a/b"], [5])
        call.finish()
        if gone:
            del here.held[one]
        else:
            number = min({8, 9} - set(here.held))
            here.held[number] = "a/b/c/d", UNUSED
        here.look(me, ["a/b", "a/b/c", "a/b/c/d"], here.held)
        here.check(tombs=True)
        if slot:
            here.thaw(other, slot)
        for number, (pattern, _) in list(here.held.items()):
            here.drop(me, [pattern], [number])
        here.look(me, ["a/b"], {})
        here.check(tombs=True)
        here.account()
        return more

    everywhere(lambda before: scene(before, gone=True), 5)
    everywhere(lambda before: scene(before, gone=False), 5)


def deep(world: World, seed: int) -> None:
    """Stop a subscription that needs more branches than one attempt makes; meanwhile the other one below them goes."""
    steps = world.stepping()

    def scene(before: int) -> bool:
        here = Topics(world, "mqtt")
        me, other, late = here.place.who
        old, new = "/".join("d" * 20), "/".join("d" * 20 + "e")
        (one,) = here.add(me, [old], [1])
        calls = Calls(here, steps, late)
        call = calls.add([new])
        more = call.run(before)
        here.drop(me, [old], [one])
        here.look(other, [old], {})
        call.finish()
        here.held[one + 1] = new, UNUSED
        here.check(tombs=True)
        here.look(other, [old, new], here.held)
        here.drop(me, [new], [one + 1])
        here.check()
        here.account()
        return more

    everywhere(lambda before: scene(3 * before + seed), 20)


def longest(world: World, seed: int) -> None:
    """Subscribe what shares a hundred words: no attempt makes more nodes than its journal has room for."""
    here = Topics(world, "mqtt")
    me = here.place.who[0]
    shared = "/".join("d" * 100)
    behind = [me + int(layout.P_SCRATCH_MORE) + k for k in range(32)]
    before = [here.mem[at] for at in behind]
    here.add(me, [shared, f"{shared}/e"], [1, 2])
    require([here.mem[at] for at in behind] == before, "nothing is written behind a journal")
    here.check()
    here.account()


def renewals(world: World, seed: int) -> None:
    """Stop where a snapshot's branches are renewed; meanwhile a branch that is new already gets a subscription."""
    steps = world.stepping()

    def scene(before: int) -> bool:
        here = Topics(world, "mqtt")
        me, other, late = here.place.who
        here.add(me, ["a/x", "a/y", "b"], [1, 2, 3])
        slots = [here.freeze(other)]
        here.add(me, ["b/c"], [4])
        calls = Calls(here, steps, late)
        call = calls.add(["a/z"])
        more = call.run(before)
        if seed:
            slots.append(here.freeze(other))
        here.add(me, ["b/d"], [5])
        call.finish()
        number = min({9, 10} - set(here.held))
        here.held[number] = "a/z", UNUSED
        here.look(me, ["a/x", "a/z", "b/c", "b/d", "b"], here.held)
        here.check()
        for slot in slots:
            here.thaw(other, slot)
        here.account()
        return more

    everywhere(scene, 5)
