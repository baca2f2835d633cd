"""Sketches as users have them, beside a set or a counter: what was added is found, and the cells are those pinned."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any, Final

import numpy as np

from latchfree.arena import Arena
from latchfree.sketches import (
    KLL,
    Bloom,
    CountingBloom,
    CountMin,
    HyperLogLog,
    InverseBloom,
    MinHash,
    PartitionedBloom,
    ScalableBloom,
    StableBloom,
    TopK,
)
from latchfree.sketches.kernels.record import ANNOUNCED
from latchfree_evidence.systematic.trials.place import require

CAPACITY: Final = 4 << 20


def items_of(rng: random.Random, count: int) -> list[Any]:
    """Return items of one kind: integers, strings or bytes of all lengths."""
    kind = rng.randrange(3)
    if kind == 0:
        return [rng.randrange(-40, 40) for _ in range(count)]
    texts = [f"{rng.randrange(30)}" + "x" * rng.choice((0, 1, 3, 7, 9, 15, 16, 33)) for _ in range(count)]
    return texts if kind == 1 else [text.encode() for text in texts]


def _many(rng: random.Random) -> list[Any]:
    return items_of(rng, rng.choice((0, 1, 2, 3, 4, 5, 8, 9, 20)))


def _plain(found: Any) -> list[Any]:
    return [each if isinstance(each, bool) else int(each) for each in list(found)]


def _same_in_an_arena(
    make: Any, cls: type, shape: tuple[Any, ...], more: dict[str, Any], play: Any, seed: int
) -> list[Any]:
    """Play with a private sketch and with one in an arena, which must answer alike; return the answers."""
    private = make(*shape, **more)
    answers = play(random.Random(seed), private)
    arena = Arena.anonymous(CAPACITY)
    named = cls.create(arena, "sketch", *shape, **more)  # type: ignore[attr-defined]
    require(play(random.Random(seed), named) == answers, "a sketch in an arena answers as a private one")
    require(named.to_bytes() == private.to_bytes(), "and has the same cells")
    require(named.added == private.added, "and has counted the same")
    arena.close()
    return [answers, private.to_bytes(), private.added]


FILTERS: Final = (
    (Bloom, (50, 0.1)), (Bloom, (30, 1e-6)), (PartitionedBloom, (50, 0.1)), (PartitionedBloom, (9, 0.001)),
    (CountingBloom, (50, 0.1)), (CountingBloom, (20, 0.01)), (ScalableBloom, (8, 0.1)), (ScalableBloom, (2, 0.01)),
)  # fmt: skip


def filters(seed: int) -> Any:
    """Add items to a filter, one or many, and look for them."""
    cls, shape = FILTERS[seed % len(FILTERS)]

    def play(rng: random.Random, made: Any) -> list[Any]:
        added: set[Any] = set()
        answers: list[Any] = []
        for _ in range(25):
            one, many = items_of(rng, 1)[0], _many(rng)
            if rng.random() < 0.5:
                made.add(one)
                added.add(one)
                require(one in made, "an item is found that was added", one)
            if rng.random() < 0.5:
                made.add_many(many)
                added |= set(many)
            asked = items_of(rng, 9)
            found = made.contains_many(asked)
            require(all(there or item not in added for there, item in zip(found, asked, strict=True)), "found")
            require([item in made for item in asked] == _plain(found), "one by one, or together")
            answers.append(_plain(found))
            if cls is ScalableBloom:
                answers.append(made.layers)
        return answers

    most = {"most": 300} if cls is ScalableBloom else {}
    return _same_in_an_arena(cls, cls, shape, {"seed": seed, **most}, play, seed)


def counted_filters(seed: int) -> Any:
    """Add to a counting filter, and remove what is there."""

    def play(rng: random.Random, made: Any) -> list[Any]:
        there: Counter[Any] = Counter()
        answers: list[Any] = []
        for _ in range(40):
            what, item = rng.random(), items_of(rng, 1)[0]
            if what < 0.5:
                made.add(item)
                there[item] += 1
            elif what < 0.7:
                if there[item] or item not in made:
                    found = made.remove(item)
                    require(found == (there[item] > 0), "a remove says whether it was there")
                    there[item] -= there[item] > 0
            else:
                many = list(dict.fromkeys(each for each in items_of(rng, 6) if there[each] or each not in made))
                answers.append(_plain(made.remove_many(many)))
                require(answers[-1] == [there[each] > 0 for each in many], "each says whether it was there")
                there.subtract(each for each in many if there[each])
            require(made.count(item) >= there[item], "a count is not too low")
            answers.append(made.count(item))
        return answers

    return _same_in_an_arena(CountingBloom, CountingBloom, ((80, 0.01), (9, 0.2))[seed % 2], {"seed": seed}, play, seed)


def full_counters(seed: int) -> Any:
    """Fill a counter to its top, where it stays."""
    made = CountingBloom(2, 0.3, seed=seed)
    answers = []
    for _ in range(254):
        made.add("tea")
    answers.append(made.count("tea"))
    made.add("tea")
    require(made.count("tea") == 255, "the top")
    for _ in range(3):
        made.add("tea")
    for _ in range(300):
        require(made.remove("tea"), "a counter that is full is not lowered")
    other = CountingBloom(2, 0.3, seed=seed)
    for _ in range(200):
        other.add("oat")
    other.merge(other.copy())
    require(other.count("oat") == 255, "a merge stops at the top")
    other.merge(made)
    return [answers, made.to_bytes(), other.to_bytes()]


def full_layers(seed: int) -> Any:
    """Add more to a scalable filter than its layers are for: the last one takes all, and most other items are new."""
    made, answers = ScalableBloom(2, 0.1, most=(9, 20)[seed], seed=seed), []
    for k in range(25):
        made.add_many([f"item {k} {j}" for j in range(k % 4)])
        made.add(k)
        answers.append((made.layers, _plain(made.contains_many([f"other {j}" for j in range(9)]))))
    require(made.layers == answers[-1][0] and all(k in made for k in range(25)), "what was added is found")
    return [answers, made.to_bytes()]


def large_layers(seed: int) -> Any:
    """Fill layers that are for so many items that some are counted together."""
    made, answers, fresh = ScalableBloom(600, 0.2, most=5000, seed=seed), [], 0
    for count in (1, 596, 1, 1, 9, 700, 484, 3, 1, 30):
        made.add_many(np.arange(fresh, fresh + count))
        fresh += count
        answers.append(made.layers)
    return [answers, made.to_bytes()]


def memories(seed: int) -> Any:
    """Add to filters that forget: the inverse one, and the stable one."""
    shapes = ((InverseBloom, (8,)), (InverseBloom, (3,)), (StableBloom, (640,)), (StableBloom, (64, 0.2)))
    cls, shape = shapes[seed % 4]

    def play(rng: random.Random, made: Any) -> list[Any]:
        answers: list[Any] = []
        for _ in range(30):
            one, many = items_of(rng, 1)[0], _many(rng)
            answers.append(made.add(one))
            require(one in made, "the last item is there")
            require(made.add(one) is True, "and was seen")
            answers.append(_plain(made.add_many(many)))
            asked = items_of(rng, 9)
            answers.append(_plain(made.contains_many(asked)))
            require([each in made for each in asked] == answers[-1], "one by one, or together")
        return answers

    found = _same_in_an_arena(cls, cls, shape, {"seed": seed}, play, seed)
    made = cls(*shape, seed=seed)
    made.add_many(list(range(20)))
    again = made.copy()
    for each in (made, again):
        each.add_many(list(range(50)))
    require(made.to_bytes() == again.to_bytes(), "a copy goes on as the sketch itself")
    return [*found, made.to_bytes()]


def counts(seed: int) -> Any:
    """Count items in a Count-Min sketch, plain and conservative."""
    more = {"seed": seed, "conservative": seed % 2 == 1}

    def play(rng: random.Random, made: Any) -> list[Any]:
        truth: Counter[Any] = Counter()
        answers: list[Any] = []
        for _ in range(20):
            one, many = items_of(rng, 1)[0], _many(rng)
            count = rng.choice((1, 2, 1000))
            made.add(one, count)
            truth[one] += count
            if rng.random() < 0.5:
                made.add_many(many)
                truth.update(many)
            else:
                amounts = [rng.randrange(1, 9) for _ in many]
                made.add_many(many, amounts)
                for each, amount in zip(many, amounts, strict=True):
                    truth[each] += amount
            asked = items_of(rng, 9)
            found = _plain(made.estimate_many(asked))
            require(all(a >= truth[item] for a, item in zip(found, asked, strict=True)), "no estimate is too low")
            require([made.estimate(item) for item in asked] == found, "one by one, or together")
            answers.append(found)
        require(made.added == sum(truth.values()), "all are counted")
        return answers

    return _same_in_an_arena(CountMin, CountMin, ((0.5, 0.5), (0.1, 0.9))[seed // 2 % 2], more, play, seed)


def sets(seed: int) -> Any:
    """Add to HyperLogLog and MinHash."""
    shapes = ((HyperLogLog, (0.25,)), (HyperLogLog, (0.1,)), (MinHash, (16,)), (MinHash, (3,)))
    cls, shape = shapes[seed % 4]

    def play(rng: random.Random, made: Any) -> list[Any]:
        answers: list[Any] = []
        for _ in range(12):
            made.add(items_of(rng, 1)[0])
            made.add_many(_many(rng))
            if cls is HyperLogLog:
                answers.append(made.estimate())
        made.add_many(np.arange(300 if cls is HyperLogLog else 3))
        return [*answers, made.estimate() if cls is HyperLogLog else made.jaccard(made)]

    return _same_in_an_arena(cls, cls, shape, {"seed": seed}, play, seed)


def merging(seed: int) -> Any:
    """Merge two sketches: the cells are those of all items together."""
    makers: tuple[Any, ...] = (
        lambda: Bloom(50, 0.1), lambda: HyperLogLog(0.25), lambda: CountMin(0.2, 0.9),
        lambda: PartitionedBloom(50, 0.1), lambda: CountingBloom(50, 0.1), lambda: MinHash(8),
        lambda: CountMin(0.2, 0.9, conservative=True),
    )  # fmt: skip
    make, rng = makers[seed % len(makers)], random.Random(seed)
    one, other, both = make(), make(), make()
    for made in (one, other):
        for _ in range(9):
            items = items_of(rng, 5)
            made.add_many(items)
            both.add_many(items)
    fresh = make()
    fresh.merge(other)
    require(fresh.to_bytes() == other.to_bytes(), "merged into an empty one it is the same")
    one.merge(other)
    require(one.added == both.added, "what is added is added up")
    require(seed % len(makers) == 6 or one.to_bytes() == both.to_bytes(), "a merge is as if all were added to one")
    if seed % len(makers) == 6:
        require(one._place._words[one._place.root + int(ANNOUNCED)] == 0, "a merge takes its announcement back")
    return [one.to_bytes(), other.to_bytes()]


def frequent(seed: int) -> Any:
    """Find the most frequent of items."""
    shape = ((3, 0.1, 0.9), (1, 0.5, 0.5), (8, 0.02, 0.9))[seed % 3]

    def play(rng: random.Random, made: Any) -> list[Any]:
        truth: Counter[Any] = Counter()
        answers: list[Any] = []
        for k in range(40):
            item = rng.choice(items_of(rng, 3))
            count = rng.choice((1, 1, 3, 40))
            made.add(item, count)
            truth[item] += count
            if rng.random() < 0.3:
                many = [item for item in _many(rng) for _ in range(1 + k % 2)]
                made.add_many(many)
                truth.update(many)
            top = made.top()
            require(all(item in truth and shown >= truth[item] for item, shown in top), "no item is made up", top)
            answers.append(top)
        made.add("x" * 96, 900)
        made.add(b"", 901)
        require(made.top()[0][1] >= 901 and made.estimate(b"") >= 901, "the most frequent is found")
        return [*answers, made.top()]

    found = _same_in_an_arena(TopK, TopK, shape, {"seed": seed}, play, seed)
    one, other = TopK(*shape), TopK(*shape)
    for k in range(12):
        one.add(k, 1 + k)
        other.add(f"{k} {seed}", 20 + k)
    one.merge(other)
    return [*found, one.top(), one.to_bytes()]


def quantiles(seed: int) -> Any:
    """Add numbers to KLL: ranks are nearly right, and count, least and greatest are exact."""
    error, writers = ((0.2, 1), (0.1, 3), (0.05, 2), (0.2, 4), (0.0999, 1))[seed % 5]
    rng = random.Random(seed)
    made = KLL(error, writers=writers, seed=seed)
    items: list[float] = []
    for _ in range(25):
        more = [rng.choice((rng.gauss(0, 9), float(rng.randrange(5)))) for _ in range(rng.choice((0, 1, 7, 40)))]
        made.add_many(more)
        made.add(float(len(items)))
        items += [*more, float(len(items))]
    items.sort()
    require(made.count == len(items) == made.added, "all are counted", made.count)
    require((made.least, made.greatest) == (items[0], items[-1]), "the bounds are exact")
    for k in range(1, 10):
        at = sum(item <= made.quantile(k / 10) for item in items) / len(items)
        require(abs(at - k / 10) < 4 * error + 0.02, "a quantile is nearly right", k, at)
    other = KLL(error, writers=writers, seed=seed + 1)
    other.add_many([float(k) for k in range(150)])
    answers = [made.quantiles([k / 8 for k in range(9)]), made.to_bytes()]
    made.merge(other)
    made.merge(KLL(error, seed=4))
    require(made.count == len(items) + 150 == made.added, "a merge adds up", made.count)
    require((made.least, made.greatest) == (min(items[0], 0.0), max(items[-1], 149.0)), "and has the bounds of both")
    return [answers, made.to_bytes(), made.to_datasketches()]


def long_streams(seed: int) -> Any:
    """Add a long stream to a small KLL, so that it has many levels; and merge it with itself."""
    room = (9, 14, 11, 17, 20, 10, 23, 26)[seed]
    made = KLL(3**0.5 / room, writers=1, seed=seed)
    rng, answers = random.Random(seed), []
    made.add_many(np.arange(1500.0)[:: -1 if seed % 2 else 1])
    require((made.count, made.least, made.greatest) == (1500, 0.0, 1499.0), "a long stream")
    for _ in range(2):
        made.merge(made.copy())
    require(made.count == 6000, "four times as long")
    for k in range(12):
        other = KLL(3**0.5 / room, writers=1, seed=k)
        other.add_many([float(rng.randrange(99)) for _ in range(rng.randrange(room * (k + 1)))])
        made.merge(other)
        answers.append(made.to_bytes())
    return answers
