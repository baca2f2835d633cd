"""Random changes of a topic trie: after each the shape is as small as it can be, and every reader finds what is held.

Example: ``a/b/c`` and ``a/b/+`` are subscribed and unsubscribed again and again, in a trie where all digits fall in
the same slots. Snapshots stay as they were, and in the end every word is free or in a node that is reached.
"""

from __future__ import annotations

import random
from itertools import product
from typing import Final

from latchfree.arena import layout
from latchfree.topics.relations import overlaps
from latchfree_evidence.systematic.plain.world import World
from latchfree_evidence.systematic.trials.indexed import patterns_of, topics_of
from latchfree_evidence.systematic.trials.place import ALL, require
from latchfree_evidence.systematic.trials.topic_scene import Topics
from latchfree_evidence.systematic.trials.topic_shape import Held
from latchfree_evidence.systematic.trials.topic_texts import is_pattern

_DIALECTS: Final = ("mqtt", "amqp", "nats")
_MASKS: Final = (ALL >> 1, 0, 7 << 6, 3, 0x3F, 1 << 60)


class _Trial:
    def __init__(self, world: World, seed: int) -> None:
        self.rng = random.Random(seed)
        name = _DIALECTS[seed % 3]
        self.topics = Topics(world, name, _MASKS[seed % len(_MASKS)])
        self.patterns = patterns_of(self.rng, name, 14)
        separator = self.topics.dialect.separator
        deep = separator.join(["d"] * 20)
        self.patterns += [deep, f"{deep}{separator}e", separator.join(["d"] * 18)]
        self.patterns += [f"a{separator}\0"] if is_pattern(self.topics.dialect, f"a{separator}\0") else []
        self.asked = topics_of(self.rng, name, self.patterns, 12)
        self.frozen: list[tuple[int, Held]] = []

    def step(self) -> None:
        """Do something."""
        here, rng = self.topics, self.rng
        me, what = here.place.who[rng.randrange(2)], rng.random()
        if what < 0.4:
            some = [rng.choice(self.patterns) for _ in range(rng.choice((1, 1, 2, 4)))]
            here.add(me, some, [rng.randrange(-2, 4) for _ in some], rng.choice((16, 16, 0)))
        elif what < 0.75:
            numbers = rng.sample(sorted(here.held), min(len(here.held), rng.choice((1, 1, 3))))
            patterns = [here.held[number][0] for number in numbers]
            if rng.random() < 0.2:
                patterns, numbers = [*patterns, rng.choice(self.patterns)], [*numbers, rng.randrange(1, 60)]
            here.drop(me, patterns, numbers)
        elif what < 0.85 and len(self.frozen) < 3:
            self.frozen.append((here.freeze(me), dict(here.held)))
        elif what < 0.92 and self.frozen:
            self.read(*self.frozen[0])
            here.thaw(me, self.frozen.pop(0)[0])
        else:
            here.look(me, rng.sample(self.asked, min(4, len(self.asked))), here.held)
        here.check()

    def read(self, slot: int, held: Held) -> None:
        """Read a snapshot in all ways."""
        here, rng = self.topics, self.rng
        me, root = here.place.who[2], here.root(slot)
        here.look(me, rng.sample(self.asked, min(4, len(self.asked))), held, root)
        shape = here.check(root=root, held=held)
        count, found = here.scanned(me, root)
        require(count == len(found) and sorted(found) == sorted(held), "all of a snapshot", found)
        for pattern in rng.sample(self.patterns, 3):
            count, found = here.near(me, root, pattern)
            wanted = {n for n, (other, _) in held.items() if overlaps(other, pattern, here.dialect)}
            exact = shape.may_overlap(pattern)
            require(count == len(set(found)) and wanted <= set(found) == exact, "what overlaps", pattern, found)

    def finish(self) -> None:
        """Empty the trie."""
        here = self.topics
        me = here.place.who[0]
        for slot, held in self.frozen:
            self.read(slot, held)
            here.thaw(me, slot)
        here.account()
        for number, (pattern, _) in self.rng.sample(sorted(here.held.items()), len(here.held)):
            here.drop(me, [pattern], [number])
            here.check()
        version = here.mem[int(layout.H_VERSION)]  # no subscription has this name, and word 1 is of no S-node
        require(version >> 1 not in here.held, "a number that nobody has")
        here.drop(me, [here.dialect.one if version & 1 else "a"], [version >> 1])
        require(not here.held and here.scanned(me, here.mem[here.trie + 1])[0] == 0, "nothing is left")
        here.account()


def changes(world: World, seed: int) -> None:
    """Do random operations."""
    trial = _Trial(world, seed)
    for _ in range(45):
        trial.step()
    trial.finish()


def all_short(world: World, seed: int) -> None:
    """Subscribe all patterns of few short words twice, and match all topics of few words."""
    here = Topics(world, _DIALECTS[seed % 3])
    d, me = here.dialect, here.place.who[0]
    patterns = [d.separator.join(each) for n in (1, 2, 3) for each in product((d.one, d.many, "a", "$s"), repeat=n)]
    patterns = [each for each in patterns if is_pattern(d, each)]
    patterns += patterns  # of two that are the same, the wildcards are branches
    here.add(me, patterns, list(range(len(patterns))))
    here.check()
    topics = [d.separator.join(each) for n in (1, 2, 3, 4) for each in product(("a", "$s"), repeat=n)]
    here.look(me, topics, here.held)
    here.account()
