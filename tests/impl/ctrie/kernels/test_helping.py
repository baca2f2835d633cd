"""Tombs: a removal leaves none, and any operation that meets the tomb of another thread cleans it."""

import numpy as np
import pytest
from ctrie_exact import exact
from ctrie_walk import TAG, check, header, key_at, root_of

from latchfree import Ctrie
from latchfree.arena.kernels.allocator import URGENT, begin
from latchfree.arena.kernels.epochs import pin, unpin
from latchfree.ctrie.kernels import gcas, nodes, retirement
from latchfree.ctrie.kernels.helping import clean, clean_parent

U = np.uint64

#: Hash bits 0, 6 and 12: three levels of two.
MASK = 1 | 1 << 6 | 1 << 12


@pytest.fixture
def trie(arena):
    return Ctrie(keys=int, values=int, arena=arena, hash_mask=MASK)


def _pair_that_splits_at(trie, level):
    """Two keys whose masked hashes agree below `level` and differ there."""
    from latchfree.words import mix

    places = {k: int(mix(U(k))) & MASK for k in range(200)}
    below = (1 << level) - 1
    return next(
        (a, b)
        for a in places
        for b in places
        if (places[a] ^ places[b]) & below == 0 and (places[a] ^ places[b]) >> level & 1
    )


def _entomb(trie, gone, left):
    """Do what removing `gone` does until it cleans: the S-node of `left` is in a tomb then. Stay pinned."""
    words, base, at, me = (
        trie.arena.words,
        U(trie.arena.base),
        U(trie._store.trie),
        U(trie.arena.interpreter_participant()),
    )
    pin(base, me)
    path = [root_of(trie)]
    while True:
        main = int(words[path[-1] + 1])
        _, size, _ = header(words, main)
        slots = [int(w) for w in words[main + 3 : main + size]]
        if len(slots) == 2:
            break
        assert slots[0] & TAG
        path.append(slots[0] & ~TAG)
    snode = next(s for s in slots if key_at(trie._store, s) == left)
    dead = next(s for s in slots if s != snode)
    assert key_at(trie._store, dead) == gone
    gen = header(words, path[-1])[2]
    assert begin(base, me, URGENT)
    tomb = nodes.new_tnode(base, me, U(snode), U(gen))
    assert gcas.gcas(base, at, U(path[-1]), U(main), tomb) == gcas.COMMITTED
    retirement.retire_pair(base, at, me, U(gen), U(main), U(dead))
    return path


@pytest.mark.parametrize("level", [6, 12])
def test_a_removal_leaves_no_tomb(trie, level):
    a, b = _pair_that_splits_at(trie, level)
    trie[a] = 1
    alone = check(trie)
    trie[b] = 2
    assert check(trie) != alone
    del trie[b]
    assert check(trie) == alone


OPERATIONS = {
    "get": (lambda t, a, b: t.get(a), 1, {"a": 1}),
    "get absent": (lambda t, a, b: t.get(b), None, {"a": 1}),
    "put": (lambda t, a, b: t.put(b, 5), None, {"a": 1, "b": 5}),
    "put again": (lambda t, a, b: t.put(a, 5), 1, {"a": 5}),
    "remove": (lambda t, a, b: t.remove(a), True, {}),
    "remove absent": (lambda t, a, b: t.remove(b), False, {"a": 1}),
}


@pytest.mark.parametrize("level", [6, 12])
@pytest.mark.parametrize("name", OPERATIONS)
def test_an_operation_that_meets_a_tomb_cleans_it_and_goes_on(trie, level, name):
    operation, result, contents = OPERATIONS[name]
    a, b = _pair_that_splits_at(trie, level)
    trie.update({a: 1, b: 2})
    _entomb(trie, b, a)
    check(trie, tombs=True)
    with pytest.raises(AssertionError, match="a tomb was left"):
        check(trie)
    assert operation(trie, a, b) == result
    assert dict(trie.items()) == {{"a": a, "b": b}[k]: v for k, v in contents.items()}
    check(trie)
    unpin(U(trie.arena.base), U(trie.arena.interpreter_participant()))
    exact(trie.arena, [trie])  # neither what was replaced nor what was made in vain is left


@pytest.mark.parametrize("level", [6, 12])
def test_a_tomb_older_than_a_snapshot_is_read_and_cleaned_by_the_next_update(trie, level):
    a, b = _pair_that_splits_at(trie, level)
    trie.update({a: 1, b: 2})
    _entomb(trie, b, a)
    assert dict(trie.readonly_snapshot()) == {a: 1}, "a frozen tree shows what is in a tomb"
    assert (trie.get(a), trie.get(b)) == (1, None)
    check(trie, tombs=True)
    with pytest.raises(AssertionError, match="a tomb was left"):
        check(trie)
    trie[b] = 7
    assert dict(trie.items()) == {a: 1, b: 7}
    check(trie)
    unpin(U(trie.arena.base), U(trie.arena.interpreter_participant()))
    exact(trie.arena, [trie])


def test_nothing_is_installed_over_a_tomb(trie):
    a, b = _pair_that_splits_at(trie, 6)
    trie.update({a: 1, b: 2})
    path = _entomb(trie, b, a)
    tomb = int(trie.arena.words[path[-1] + 1])
    trie[b] = 7
    assert int(trie.arena.words[path[-1] + 1]) == tomb
    assert dict(trie.items()) == {a: 1, b: 7}


def test_clean_parent_gives_up_when_the_child_is_gone_already(trie):
    a, b = _pair_that_splits_at(trie, 6)
    trie.update({a: 1, b: 2})
    path = _entomb(trie, b, a)
    trie[b] = 7
    root, main = root_of(trie), int(trie.arena.words[root_of(trie) + 1])
    base, me = U(trie.arena.base), U(trie.arena.interpreter_participant())
    gen = U(header(trie.arena.words, root)[2])
    clean_parent(base, U(trie._store.trie), me, U(root), U(path[-1]), U(0), U(0), gen)
    assert int(trie.arena.words[root + 1]) == main


def test_cleaning_a_clean_node_changes_nothing(trie):
    trie.update({k: k for k in range(8)})
    root = root_of(trie)
    main = int(trie.arena.words[root + 1])
    assert clean(U(trie.arena.base), U(trie._store.trie), U(trie.arena.interpreter_participant()), U(root), U(0))
    assert int(trie.arena.words[root + 1]) == main
