"""The Ctrie as a MutableMapping: errors, views, equality, copies, conversions."""

import copy
import pickle
from collections import UserDict, defaultdict
from collections.abc import Mapping, MutableMapping

import numpy as np
import pytest

from latchfree import Arena, Ctrie, Snapshot


@pytest.fixture
def trie(arena):
    return Ctrie({"a": 1, "b": 2}, keys=str, values=int, arena=arena)


def test_is_a_mutable_mapping(trie):
    assert isinstance(trie, MutableMapping)
    assert isinstance(trie.readonly_snapshot(), Mapping)
    assert not isinstance(trie.readonly_snapshot(), MutableMapping)


@pytest.mark.parametrize(
    "source",
    [
        {"a": 1, "b": 2},
        UserDict(a=1, b=2),
        [("a", 1), ("b", 2)],
        (pair for pair in [("a", 0), ("b", 2), ("a", 1)]),
        [["a", 1], ("b", 2)],
    ],
    ids=["dict", "mapping", "pairs", "generator", "lists"],
)
def test_starts_from_and_updates_with_what_dict_takes(arena, source):
    if isinstance(source, dict | UserDict | list):
        updated = Ctrie(keys=str, values=int, arena=arena)
        updated.update(source)
        assert dict(updated) == {"a": 1, "b": 2}
    assert dict(Ctrie(source, keys=str, values=int, arena=arena)) == {"a": 1, "b": 2}


def test_updates_with_another_trie_and_with_keywords(arena, trie):
    other = Ctrie(keys=str, values=int, arena=arena)
    other.update(trie, c=3)
    assert dict(other) == {"a": 1, "b": 2, "c": 3}
    other.update(trie.readonly_snapshot())
    assert dict(other) == {"a": 1, "b": 2, "c": 3}


def test_refuses_an_argument_that_is_no_mapping(arena):
    with pytest.raises(TypeError):
        Ctrie(3, keys=int, values=int, arena=arena)
    with pytest.raises(ValueError, match="unpack"):
        Ctrie([(1, 2, 3)], keys=int, values=int, arena=arena)


def test_key_error_holds_the_key(trie):
    for operation in (
        lambda: trie["missing"],
        lambda: trie.pop("missing"),
        lambda: trie.__delitem__("missing"),
        lambda: trie.readonly_snapshot()["missing"],
    ):
        with pytest.raises(KeyError) as caught:
            operation()
        assert caught.value.args == ("missing",)
    numbers = Ctrie(keys=int, values=int, arena=trie.arena)
    with pytest.raises(KeyError) as caught:
        numbers[7]
    assert caught.value.args == (7,)


def test_popitem_on_empty_is_a_key_error(trie):
    popped = dict([trie.popitem(), trie.popitem()])
    assert popped == {"a": 1, "b": 2}
    with pytest.raises(KeyError, match=r"popitem\(\): the Ctrie is empty"):
        trie.popitem()


def test_defaults(trie):
    assert trie.get("missing") is None
    assert trie.get("missing", 7) == 7
    assert trie.pop("missing", None) is None
    assert trie.setdefault("a", 9) == 1
    assert trie.setdefault("c", 9) == 9
    assert trie["c"] == 9


def test_truth_and_length(trie):
    assert trie
    assert len(trie) == 2
    trie.clear()
    assert not trie
    assert len(trie) == 0
    assert list(trie) == []


def test_equality_is_that_of_mappings(arena, trie):
    same = Ctrie([("b", 2), ("a", 1)], keys=str, values="pickle", arena=arena)
    assert trie == same
    plain = {"b": 2, "a": 1}
    assert trie == plain
    assert plain == trie
    assert trie == trie.snapshot() == trie.readonly_snapshot()
    assert trie != {"a": 1}
    assert trie != {"a": 1, "b": 3}
    assert trie != [("a", 1), ("b", 2)]


def test_equality_does_not_write_into_the_other_mapping(arena):
    other = defaultdict(int, {2: 0})
    assert Ctrie({1: 0}, keys=int, values=int, arena=arena) != other
    assert dict(other) == {2: 0}


def test_equality_with_keys_that_dict_would_not_take(arena):
    trie = Ctrie(keys="pickle", values="pickle", arena=arena)
    trie[[1]] = 2
    assert trie == trie.snapshot()
    assert trie != {1: 2}


def test_equality_of_snapshots_with_keys_that_dict_would_not_take(arena):
    trie = Ctrie(keys="pickle", values="pickle", arena=arena)
    trie[[1]] = 2
    assert trie.readonly_snapshot() == trie.readonly_snapshot()


def test_is_not_hashable(trie):
    for thing in (trie, trie.readonly_snapshot()):
        with pytest.raises(TypeError, match="unhashable"):
            hash(thing)


def test_repr_names_the_codecs(trie):
    assert repr(trie) == "<Ctrie of str to int>"
    assert repr(trie.readonly_snapshot()) == "<Snapshot of a Ctrie of str to int>"


def test_views_show_one_instant(trie):
    keys, values, items = trie.keys(), trie.values(), trie.items()
    iterator = iter(trie)
    trie["c"] = 3
    del trie["a"]
    assert set(keys) == {"a", "b"}
    assert sorted(values) == [1, 2]
    assert dict(items) == {"a": 1, "b": 2}
    assert sorted(iterator) == ["a", "b"]
    assert (len(keys), len(values), len(items)) == (2, 2, 2)
    assert "a" in keys
    assert "c" not in keys
    assert 1 in values
    assert 3 not in values
    assert ("a", 1) in items
    assert ("a", 2) not in items
    assert keys & {"a", "z"} == {"a"}
    assert keys | {"z"} == {"a", "b", "z"}


def test_iterating_while_changing_is_safe(trie):
    for key in trie:
        del trie[key]
        trie[key + key] = 0
    assert set(trie) == {"aa", "bb"}


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, Ctrie.copy, Ctrie.snapshot])
def test_a_copy_goes_its_own_way(trie, duplicate):
    other = duplicate(trie)
    assert type(other) is Ctrie
    trie["a"] = 10
    other["b"] = 20
    other["c"] = 30
    assert dict(trie) == {"a": 10, "b": 2}
    assert dict(other) == {"a": 1, "b": 20, "c": 30}


def test_pickling_is_refused_and_says_what_to_do(trie):
    with pytest.raises(TypeError, match=r"a private Ctrie cannot be pickled: .* send dict\(trie\.items\(\)\)"):
        pickle.dumps(trie)
    with pytest.raises(TypeError):
        pickle.dumps(trie.readonly_snapshot())


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, Ctrie.copy])
def test_a_copy_of_a_named_trie_is_private(tmp_path, duplicate):
    with Arena.create(path=tmp_path / "arena", capacity=16 << 20) as shared:
        stock = Ctrie.create(shared, "stock", keys=str, values="pickle")
        stock["a"] = [1]
        (other,) = duplicate([stock]) if duplicate is copy.deepcopy else [duplicate(stock)]
        other["a"].append(2)  # a value that was read is nobody else's anyway
        other["b"] = 20
        stock["a"] = [3]
        assert dict(stock) == {"a": [3]}
        assert dict(other) == {"a": [1], "b": 20}
        assert list(shared.structures()) == ["stock"]
        with pytest.raises(TypeError, match="a private Ctrie cannot be pickled"):
            pickle.dumps(other)


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy])
def test_a_copy_of_a_snapshot_is_closed_on_its_own(trie, duplicate):
    snapshot = trie.readonly_snapshot()
    other = duplicate(snapshot)
    trie.clear()
    snapshot.close()
    assert dict(other) == {"a": 1, "b": 2}
    other.close()
    with pytest.raises(ValueError, match="this snapshot is closed"):
        duplicate(other)


def test_a_snapshot_cannot_be_written(trie):
    snapshot = trie.readonly_snapshot()
    assert isinstance(snapshot, Snapshot)
    for name in ("__setitem__", "__delitem__", "put", "clear", "pop", "update", "put_many", "__dict__"):
        assert not hasattr(snapshot, name)


def test_conditional_operations_compare_by_equality(arena):
    trie = Ctrie({"k": 1}, arena=arena)
    assert not trie.replace("k", 2, 5)
    assert not trie.remove("k", "1")
    assert trie.replace("k", 1.0, True)
    assert trie["k"] is True
    assert trie.remove("k", 1)
    assert trie.remove("k") is False


def test_none_is_a_value_like_others(arena):
    trie = Ctrie(arena=arena)
    trie["k"] = None
    assert "k" in trie
    assert trie["k"] is None
    assert trie.remove("k", "other") is False
    assert trie.remove("k", None) is True
    assert "k" not in trie


def test_keys_that_dict_would_not_take(arena):
    trie = Ctrie(keys="pickle", values="pickle", arena=arena)
    trie[[1, 2]] = {"set"}
    assert trie[[1, 2]] == {"set"}
    assert list(trie.items()) == [([1, 2], {"set"})]
    assert len(trie) == 1


def test_equal_keys_are_one_key_whatever_objects_they_are_made_of(arena):
    trie = Ctrie(keys="pickle", values="pickle", arena=arena)
    part = "ab"
    trie[(part, part)] = 1
    assert ("".join("ab"), "".join("ab")) in trie
    assert trie[("ab", "".join("ab"))] == 1


def test_a_key_that_contains_itself_is_refused(arena):
    trie = Ctrie(keys="pickle", values="pickle", arena=arena)
    key = []
    key.append(key)
    with pytest.raises(TypeError, match=r"keys of this Ctrie: list .* cannot be pickled"):
        trie[key] = 1
    deep = ()
    for _ in range(200):
        deep = (deep,)
    trie[deep] = 2
    assert trie.get_many([deep, key[:0]]) == [2, None]


def test_integers_of_numpy_are_integers(arena):
    trie = Ctrie(keys=int, values=int, arena=arena)
    trie[np.int32(-5)] = np.uint8(200)
    assert trie[-5] == 200
    assert type(trie[-5]) is int
    assert np.int64(-5) in trie
    assert trie.remove(np.int8(-5), np.int64(200))


@pytest.mark.parametrize("mask", [-1, 1 << 64])
def test_refuses_a_hash_mask_out_of_bounds(arena, mask):
    with pytest.raises(ValueError, match=rf"hash_mask must be from 0 to 2\*\*64 - 1, got {mask}"):
        Ctrie(keys=int, values=int, arena=arena, hash_mask=mask)


def test_many_tries_share_an_arena(arena):
    tries = [Ctrie({k: k * n for k in range(50)}, keys=int, values=int, arena=arena) for n in range(10)]
    for n, trie in enumerate(tries):
        assert trie.arena is arena
        assert dict(trie) == {k: k * n for k in range(50)}


def test_large_tries_iterate_over_several_batches(arena):
    for size in (1023, 1024, 1025, 5000):
        trie = Ctrie(keys=int, values=int, arena=arena)
        trie.put_many(np.arange(size), np.arange(size) * 3)
        assert len(trie) == size
        assert dict(trie.items()) == {k: 3 * k for k in range(size)}
        assert sorted(trie.keys()) == list(range(size))
