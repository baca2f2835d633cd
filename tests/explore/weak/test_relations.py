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
