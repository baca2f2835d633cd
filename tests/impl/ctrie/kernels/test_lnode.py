"""L-nodes, by kernel and through a trie all of whose keys collide."""

import pytest
from ctrie_walk import check

from latchfree import Ctrie


@pytest.fixture(params=[int, str])
def trie(request, arena):
    return Ctrie(keys=request.param, values=int, arena=arena, hash_mask=0)


@pytest.fixture
def keys(trie):
    return list(range(12)) if trie._store.keys.word else [f"key {k}" for k in range(12)]


def _leaf(shape):
    """What is at the end of a chain of C-nodes of one slot, and the length of the chain."""
    depth = 0
    while isinstance(shape, dict):
        assert list(shape) == [0], "every slice of the hash is zero"
        shape = shape[0]
        depth += 1
    return shape, depth


def test_one_key_is_in_the_root_and_two_share_an_lnode_below_the_last_level(trie, keys):
    trie[keys[0]] = 0
    assert _leaf(check(trie)) == (keys[0], 1)
    trie[keys[1]] = 1
    assert _leaf(check(trie)) == (set(keys[:2]), 11)


def test_grows_and_shrinks_by_one(trie, keys):
    for n, key in enumerate(keys):
        assert trie.put(key, n) is None
        assert len(trie) == n + 1
    assert _leaf(check(trie)) == (set(keys), 11)
    for n, key in enumerate(keys[:-1]):
        assert trie.pop(key) == n
        assert key not in trie
        assert trie.remove(key) is False
        check(trie)
    assert _leaf(check(trie)) == (keys[-1], 1), "the last key climbs back to the root"
    assert dict(trie) == {keys[-1]: 11}


def test_the_same_key_is_replaced_not_added(trie, keys):
    for key in keys[:3]:
        trie[key] = 1
    for key in keys[:3]:
        assert trie.put(key, 2) == 1
    assert len(trie) == 3
    assert set(trie.values()) == {2}
    assert trie.put_if_absent(keys[0], 9) == 2
    assert trie.replace(keys[0], 1, 9) is False
    assert trie.replace(keys[0], 2, 9) is True
    assert trie.put_if_present(keys[5], 9) is None
    assert trie.remove(keys[0], 8) is False
    assert trie.remove(keys[0], 9) is True
    assert len(trie) == 2


@pytest.mark.parametrize("which", [0, 1])
def test_either_of_two_may_be_removed(trie, keys, which):
    trie[keys[0]] = 10
    trie[keys[1]] = 11
    assert trie.remove(keys[which])
    left = 1 - which
    assert dict(trie) == {keys[left]: 10 + left}
    assert trie[keys[left]] == 10 + left
    assert trie.put(keys[which], 5) is None, "and come back"
    assert len(trie) == 2


def test_more_entries_than_the_exact_size_classes_hold(arena):
    trie = Ctrie(keys=int, values=int, arena=arena, hash_mask=0)
    for k in range(300):
        trie[k] = k
    assert dict(trie) == {k: k for k in range(300)}
    check(trie)
    for k in range(0, 300, 2):
        del trie[k]
    assert dict(trie) == {k: k for k in range(1, 300, 2)}
    check(trie)
