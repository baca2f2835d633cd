"""Relations as bit masks against the same operations on sets of pairs."""

import random
from itertools import product

import pytest

from latchfree_explore.weak import relations as r

SIZE = 6


def masks(pairs):
    return tuple(sum(1 << j for j in range(SIZE) if (i, j) in pairs) for i in range(SIZE))


def pairs_of(relation):
    return {(i, j) for i, row in enumerate(relation) for j in r.members(row)}


def closed(pairs):
    while more := {(i, k) for (i, j), (j2, k) in product(pairs, pairs) if j == j2} - pairs:
        pairs = pairs | more
    return pairs


@pytest.mark.parametrize("seed", range(40))
def test_each_operation_is_that_of_sets(seed):
    rng = random.Random(seed)
    everything = list(product(range(SIZE), repeat=2))
    a, b = (set(rng.sample(everything, rng.randint(0, 9))) for _ in range(2))
    left, right = rng.getrandbits(SIZE), rng.getrandbits(SIZE)
    assert pairs_of(masks(a)) == a
    assert pairs_of(r.union(masks(a), masks(b))) == a | b
    assert pairs_of(r.compose(masks(a), masks(b))) == {(i, k) for (i, j), (j2, k) in product(a, b) if j == j2}
    assert pairs_of(r.closure(masks(a))) == closed(a)
    assert pairs_of(r.inverse(masks(a))) == {(j, i) for i, j in a}
    assert pairs_of(r.between(left, masks(a), right)) == {(i, j) for i, j in a if left >> i & 1 and right >> j & 1}
    assert pairs_of(r.identity(left, SIZE)) == {(i, i) for i in range(SIZE) if left >> i & 1}
    assert pairs_of(r.reflexive(masks(a))) == a | {(i, i) for i in range(SIZE)}
    assert r.irreflexive(masks(a)) == all(i != j for i, j in a)
    assert r.acyclic(masks(a)) == all(i != j for i, j in closed(a))


@pytest.mark.parametrize("chance", [0.02, 0.3, 0.9])
@pytest.mark.parametrize("forwards", [True, False])
def test_relations_of_many_events_are_those_of_sets(rng, chance, forwards):
    """Long rows are composed in another way, and what has no cycle is closed in another."""
    size = 90
    numbers = rng.sample(range(size), size)  # a relation that leads forwards in an order that is not that of the events

    def drawn(ordered):
        pairs = [(i, j) for i, j in product(range(size), repeat=2) if not ordered or numbers[i] < numbers[j]]
        return tuple(sum(1 << j for a, j in pairs if a == i and rng.random() < chance) for i in range(size))

    def step(row, relation):
        return {k for j in row for k in relation[j]}

    first, second = drawn(forwards), drawn(False)
    sets, others = ([set(r.members(row)) for row in relation] for relation in (first, second))
    assert [set(r.members(row)) for row in r.compose(first, second)] == [step(row, others) for row in sets]
    closed = sets
    while (more := [row | step(row, closed) for row in closed]) != closed:
        closed = more
    assert [set(r.members(row)) for row in r.closure(first)] == closed
    assert r.acyclic(first) == (not any(i in row for i, row in enumerate(closed)))
    assert not forwards or r.acyclic(first)
