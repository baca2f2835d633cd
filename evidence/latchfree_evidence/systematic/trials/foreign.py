"""Sketches by the hashes of other libraries, as users have them: where an item goes is pinned, since others read it."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any, Final

import numpy as np

from latchfree.arena import Arena
from latchfree.border import Call
from latchfree.sketches import Bloom, CountMin, HyperLogLog
from latchfree.sketches.border import SKETCH
from latchfree.sketches.common.items import column_of
from latchfree_evidence.systematic.plain.arrays import View
from latchfree_evidence.systematic.plain.faces import faces
from latchfree_evidence.systematic.plain.words import Raw
from latchfree_evidence.systematic.plain.world import World
from latchfree_evidence.systematic.trials.halting import Halted, everywhere
from latchfree_evidence.systematic.trials.place import require
from latchfree_evidence.systematic.trials.sketched import CAPACITY

_LETTERS: Final = ("abcdefgh", "aé\u0416\u20ac\U0001f600", "\x01\x7f\x80\xff")
_INTEGERS: Final = (0, 1, -1, 255, 256, 1 << 31, -(1 << 31), (1 << 32) - 1, 1 << 32, (1 << 63) - 1, -(1 << 63))


def _items(rng: random.Random, kind: int) -> list[Any]:
    """Return items of one kind: integers, or strings or bytes of every length from 0 to 40."""
    if kind == 0:
        return [*_INTEGERS, *(rng.randrange(-(1 << 63), 1 << 63) for _ in range(12))]
    texts = ["".join(rng.choices(_LETTERS[length % 3], k=length)) for length in range(41)]
    return texts if kind == 1 else [text.encode() for text in texts]


def registers(seed: int) -> Any:
    """Add items to registers by the hash of DataSketches."""
    rng, answers = random.Random(seed), []
    arena = Arena.anonymous(CAPACITY)
    for made in (HyperLogLog(0.1, hash="datasketches"), HyperLogLog.create(arena, "set", 0.1, hash="datasketches")):
        many = _items(rng, seed % 3)
        one = _items(rng, (seed + 1) % 3)
        made.add_many(many)
        for item in one:
            made.add(item)
        require(made.added == sum(item not in ("", b"") for item in [*many, *one]), "an empty string is passed over")
        answers += [made.to_datasketches(), made.to_bytes(), round(made.estimate(), 6)]
        rng = random.Random(seed)
    require(answers[:3] == answers[3:], "a sketch in an arena answers as a private one")
    arena.close()
    return answers


def rows(seed: int) -> Any:
    """Count items by the hashes of DataSketches and Spark."""
    rng, which = random.Random(seed), ("datasketches", "spark")[seed % 2]
    arena, answers = Arena.anonymous(CAPACITY), []
    for make in (CountMin, lambda *shape, **more: CountMin.create(arena, "counts", *shape, **more)):
        made: Any = make(0.2, 0.99, hash=which, seed=seed)
        there: Counter[Any] = Counter()
        for kind in range(3):
            many = [item for item in _items(rng, kind) if which == "spark" or item not in ("", b"")]
            counts = [rng.randrange(1, 9) for _ in many]
            made.add_many(many, counts)
            for item, count in zip(many, counts, strict=True):
                there[item.encode() if isinstance(item, str) else item] += count
            made.add_many(many[:5])
            for item in many[:5]:
                there[item.encode() if isinstance(item, str) else item] += 1
            found = [int(each) for each in made.estimate_many(many)]
            require(found == [made.estimate(item) for item in many], "one by one, or together")
            keys = [item.encode() if isinstance(item, str) else item for item in many]
            require(all(there[key] <= each for key, each in zip(keys, found, strict=True)), "a count is not too low")
            answers.append(found)
        if which == "datasketches":
            before = made.to_bytes()
            made.add_many(["", "", "tea"], [5, 6, 7])
            require(made.estimate("") == 0, "an empty string is passed over")
            require(made.to_bytes() != before, "and what follows is not")
        require(made.added >= sum(there.values()), "all were counted")
        answers += [made.added, made.to_bytes()]
        rng = random.Random(seed)
    require(
        answers[: len(answers) // 2] == answers[len(answers) // 2 :], "a sketch in an arena answers as a private one"
    )
    arena.close()
    return answers


def bits(seed: int) -> Any:
    """Add items to filters by both hashes of Spark."""
    rng, which = random.Random(seed), ("spark-v1", "spark-v2")[seed % 2]
    arena, answers = Arena.anonymous(CAPACITY), []
    for make in (Bloom, lambda *shape, **more: Bloom.create(arena, "seen", *shape, **more)):
        made: Any = make(200, 0.02, hash=which, seed=seed * (seed % 2))
        for kind in range(3):
            many, others = _items(rng, kind), _items(rng, kind)
            made.add_many(many)
            require(all(made.contains_many(many)), "what was added is found")
            found = [bool(each) for each in made.contains_many(others)]
            require(found == [item in made for item in others], "one by one, or together")
            made.add(others[-1])
            require(others[-1] in made, "what was added is found")
            answers.append(found)
        answers += [made.added, made.to_spark(), made.to_bytes()]
        rng = random.Random(seed)
    require(
        answers[: len(answers) // 2] == answers[len(answers) // 2 :], "a sketch in an arena answers as a private one"
    )
    arena.close()
    return answers


#: How a sketch is made, its call that adds, and what follows the words of the items.
_ADDS: Final[tuple[tuple[Any, str, tuple[View, ...]], ...]] = (
    (lambda: HyperLogLog(0.25, hash="datasketches"), "coupon_add_many", ()),
    (lambda: CountMin(0.9, 0.5, hash="spark"), "counter_add_counts", (View(np.array([2, 5], np.int64)),)),
    (lambda: Bloom(2, 0.5, hash="spark-v2"), "bit_add_many", ()),
)


def met(world: World, seed: int) -> None:
    """Stop an add before each of its accesses, and add others meanwhile: both are there, as one after the other."""
    steps = world.stepping()
    make, name, more = _ADDS[seed]
    call = SKETCH.calls[name]
    assert isinstance(call, Call)
    with faces(world):

        def added(made: Any) -> Halted:
            place = made._place
            (_, _, words), *_ = place.hashing.chunks(column_of(["tea", "oat"]))
            return Halted(steps, call.kernel, Raw(place.base), 0, place.root, place.number, View(words.copy()), *more)

        def others(made: Any) -> None:
            made.add_many(["tea", "rye", "fig"])

        one_by_one = make()
        added(one_by_one).finish()
        others(one_by_one)

        def scene(before: int) -> bool:
            made = make()
            running = added(made)
            goes_on = running.run(before)
            others(made)
            require(running.finish() == 1, "the call is done")
            require((made._place.cells == one_by_one._place.cells).all(), "both are there", name, before)
            require(made.added == one_by_one.added, "and counted", made.added)
            return goes_on

        everywhere(scene, 4)


def missing_bits(world: World, seed: int) -> None:
    """Set all bits of an item but one: the item is not found."""
    with faces(world):
        filter_ = Bloom(40, 0.01, hash="spark-v2")
        (_, _, words), *_ = filter_._place.hashing.chunks(column_of(["tea"]))  # type: ignore[union-attr]
        places = sorted(set(words.tolist()))
        require(len(places) > 4, "an item has several bits", places)
        for missing in (None, *places):
            made = Bloom(40, 0.01, hash="spark-v2")
            for place in places:
                if place != missing:
                    made._place.cells[place >> 6] |= np.uint64(1 << (place & 63))
            require(list(made.contains_many(["tea"])) == [missing is None], "all bits must be there", missing)
