"""A full arena: the operation is refused, nothing has changed, and reading goes on."""

import re

import numpy as np
import pytest
from ctrie_exact import exact, settle

from latchfree import Arena, ArenaFull, Ctrie, LatchfreeError
from latchfree.arena.kernels.blocks import take_urgently
from latchfree.arena.kernels.freelists import give, take

U = np.uint64
SMALLEST = 4 << 20
CODECS = [("int", "int"), ("str", "bytes")]
ORDINARY, URGENT = 0, 1


def _key(codec, k):
    return k if codec == "int" else f"key {k}"


def _value(codec, v):
    return v if codec == "int" else b"%d" % v


class Full:
    """A trie in an arena of the smallest size, filled until nothing fits; `model` is what it holds."""

    def __init__(self, keys, values, hash_mask=(1 << 64) - 1, most=10**9):
        self.codecs = keys, values
        self.arena = Arena.anonymous(SMALLEST)
        self.trie = Ctrie(keys=keys, values=values, arena=self.arena, hash_mask=hash_mask)
        self.model = {}
        self.most = most
        self.hoard = []

    def fill(self):
        """Put until nothing fits, or `most` pairs."""
        while len(self.model) < self.most:
            key, value = self.key(len(self.model)), self.value(len(self.model))
            try:
                self.trie[key] = value
            except ArenaFull:
                break
            self.model[key] = value
        assert len(self.model) > 100

    def participants(self):
        with self.arena.lend() as lent:  # the next call for many keys gets the same one
            return self.arena.interpreter_participant(), lent

    def devour(self, urgent):
        """Take every free word that an ordinary attempt (or any, blocks above the least number included) could get."""
        for _ in range(2):
            settle(self.arena)
            for me in self.participants():
                for size in range(72, 0, -1):
                    while node := self._take(me, size, urgent):
                        self.hoard.append((me, node, size))

    def _take(self, me, size, urgent):
        base = U(self.arena.base)
        return int(take_urgently(base, U(me), U(size)) if urgent else take(base, U(me), U(size), U(ORDINARY)))

    def disgorge(self):
        """Give back what was taken so."""
        while self.hoard:
            me, node, size = self.hoard.pop()
            give(U(self.arena.base), U(me), U(node), U(size))

    def key(self, k):
        return _key(self.codecs[0], k)

    def value(self, v):
        return _value(self.codecs[1], v)

    def holds_as_before(self):
        keys = [*self.model, self.key(10**6)]
        assert [self.trie.get(key) for key in keys] == [*self.model.values(), None]
        assert self.trie.get_many(keys) == [*self.model.values(), None]
        assert all(key in self.trie for key in self.model)
        assert self.key(10**6) not in self.trie


@pytest.fixture(params=CODECS, ids=lambda codecs: "-".join(codecs))
def full(request):
    """Nothing fits any more, however small."""
    full = Full(*request.param)
    full.fill()
    full.devour(ORDINARY)
    return full


@pytest.fixture(params=CODECS, ids=lambda codecs: "-".join(codecs))
def filled(request):
    """The last pair did not fit."""
    full = Full(*request.param)
    full.fill()
    return full


MESSAGE = (
    r"the arena is full \(4,194,304 bytes, [\d,]+ in use\); nothing changed\. "
    r"Remove keys, close snapshots, or create the Ctrie in a larger arena"
)


def writes(full):
    trie, present, absent, value = full.trie, full.key(0), full.key(10**6), full.value(7)
    return [
        lambda: trie.__setitem__(present, value),
        lambda: trie.__setitem__(absent, value),
        lambda: trie.put(absent, value),
        lambda: trie.put_if_absent(absent, value),
        lambda: trie.get_or_insert(absent, value),
        lambda: trie.setdefault(absent, value),
        lambda: trie.put_if_present(present, value),
        lambda: trie.replace(present, full.value(0), value),
        lambda: trie.update({absent: value}),
    ]


def removals(full):
    trie, present = full.trie, full.key(0)
    return [
        lambda: trie.remove(present),
        lambda: trie.remove(present, full.value(0)),
        lambda: trie.__delitem__(present),
        lambda: trie.pop(present),
        lambda: trie.pop(present, None),
    ]


def test_every_write_is_refused_and_changes_nothing(full):
    census = full.arena.census()
    for operation in writes(full):
        with pytest.raises(ArenaFull, match=MESSAGE) as caught:
            operation()
        assert caught.value.done == 0
    assert full.arena.census() == census
    full.holds_as_before()


@pytest.mark.parametrize("which", range(5))
def test_a_full_arena_can_be_removed_from_and_then_written_to(full, which):
    removals(full)[which]()
    del full.model[full.key(0)]
    full.holds_as_before()
    full.trie[full.key(0)] = full.value(0)
    full.model[full.key(0)] = full.value(0)
    full.holds_as_before()


def test_a_full_map_can_be_read_as_a_whole_and_emptied(full):
    trie = full.trie
    assert len(trie) == len(full.model)
    assert dict(trie.items()) == full.model
    assert trie == full.model
    assert bool(trie)
    full.holds_as_before()
    trie.clear()
    assert len(trie) == 0
    full.disgorge()
    assert exact(full.arena, [trie]).nodes < 300


def test_a_full_map_can_be_emptied_key_by_key(filled):
    for key in filled.model:
        assert filled.trie.pop(key) == filled.model[key]
    assert len(filled.trie) == 0
    assert exact(filled.arena, [filled.trie]).nodes < 300


def test_a_full_map_can_be_emptied_by_a_bulk_call(filled):
    assert all(filled.trie.remove_many(list(filled.model)))
    assert len(filled.trie) == 0
    assert exact(filled.arena, [filled.trie]).nodes < 300


@pytest.mark.parametrize("how", ["clear", "remove_many"])
def test_an_arena_is_filled_emptied_and_filled_again(filled, how):
    size = len(filled.model)
    for _ in range(2):
        if how == "clear":
            filled.trie.clear()
        else:
            assert all(filled.trie.remove_many(list(filled.model)))
        filled.model.clear()
        filled.fill()
        assert len(filled.model) >= 0.8 * size, "what was freed cannot be used again"
        filled.holds_as_before()


def test_snapshots_of_a_full_map_come_and_go(full):
    for _ in range(60):
        with full.trie.readonly_snapshot() as snapshot:
            assert snapshot[full.key(1)] == full.value(1)
            assert len(snapshot) == len(full.model)
    full.holds_as_before()


@pytest.mark.parametrize("mask", [(1 << 64) - 1, 7, (1 << 0) | (1 << 6) | (3 << 12)])
@pytest.mark.parametrize(("keys", "values"), CODECS)
def test_an_exhausted_arena_refuses_all_that_writes_and_changes_nothing(keys, values, mask):
    full = Full(keys, values, mask, most=500)
    full.fill()
    full.devour(URGENT)
    trie = full.trie
    census = full.arena.census()
    whole = [trie.clear, trie.popitem, trie.snapshot, trie.readonly_snapshot, trie.items, trie.keys, trie.values]
    for operation in [
        *writes(full),
        *removals(full),
        *whole,
        lambda: len(trie),
        lambda: list(trie),
        lambda: trie == {},
    ]:
        with pytest.raises(ArenaFull, match=MESSAGE) as caught:
            operation()
        assert caught.value.done == 0
        settle(full.arena)
        now = full.arena.census()
        assert now.nodes - census.nodes <= 128, "no more than the table of the first snapshot"
    assert bool(trie)
    assert repr(trie).startswith("<Ctrie of ")
    full.holds_as_before()
    full.disgorge()
    trie[full.key(0)] = full.value(9)
    assert trie[full.key(0)] == full.value(9)
    exact(full.arena, [trie])


def test_what_needs_no_room_still_answers(full):
    trie, present, absent = full.trie, full.key(0), full.key(10**6)
    full.devour(URGENT)
    with pytest.raises(KeyError):
        trie[absent]
    with pytest.raises(KeyError):
        del trie[absent]
    with pytest.raises(KeyError):
        trie.pop(absent)
    assert trie.pop(absent, 3) == 3
    assert trie.remove(absent) is False
    assert trie.remove(present, full.value(8)) is False
    assert trie.put_if_absent(present, full.value(8)) == full.value(0)
    assert trie.setdefault(present, full.value(8)) == full.value(0)
    assert trie.replace(present, full.value(8), full.value(9)) is False
    assert trie.replace(absent, full.value(8), full.value(9)) is False
    assert trie.put_if_present(absent, full.value(8)) is None
    full.holds_as_before()


def test_the_error_is_also_a_memory_error(full):
    for kind in (MemoryError, LatchfreeError):
        with pytest.raises(kind):
            full.trie[full.key(10**6)] = full.value(0)


def test_the_error_says_what_is_in_use(full):
    with pytest.raises(ArenaFull) as caught:
        full.trie[full.key(10**6)] = full.value(0)
    in_use = int(re.search(r"([\d,]+) in use", str(caught.value)).group(1).replace(",", ""))
    settle(full.arena)
    assert abs(in_use - full.arena.allocated) < 10_000


@pytest.mark.parametrize(("keys", "values"), CODECS)
def test_put_many_says_how_many_took_effect(keys, values):
    full = Full(keys, values)
    count = 100_000
    names, contents = [full.key(k) for k in range(count)], [full.value(k) for k in range(count)]
    with pytest.raises(ArenaFull, match=r"after (\d+) elements, which took effect") as caught:
        full.trie.put_many(names, contents)
    done = caught.value.done
    assert 100 < done < count
    full.model = dict(zip(names[:done], contents[:done], strict=True))
    full.holds_as_before()
    assert full.trie.get(names[done]) is None


def test_put_many_says_how_many_took_effect_beyond_the_first_slice():
    trie = Ctrie(keys=int, values=int, arena=Arena.anonymous(12 << 20))
    with pytest.raises(ArenaFull) as caught:
        trie.put_many(np.arange(300_000), np.arange(300_000))
    done = caught.value.done
    assert 1 << 16 < done < 300_000
    assert trie[done - 1] == done - 1
    assert done not in trie
    assert len(trie) == done


def test_replacing_a_key_again_and_again_never_fills_an_arena():
    trie = Ctrie(keys=int, values=int, arena=Arena.anonymous(SMALLEST))
    trie.put_many(np.zeros(200_000, np.int64), np.arange(200_000))
    assert trie[0] == 199_999


def test_bulk_calls_on_an_exhausted_arena_report_the_number_done(full):
    trie, keys = full.trie, list(full.model)[:10]
    with pytest.raises(ArenaFull, match="after 0 elements") as caught:
        trie.put_many(keys, [full.value(1)] * 10)
    assert caught.value.done == 0
    full.devour(URGENT)
    with pytest.raises(ArenaFull, match="after 1 elements") as caught:
        trie.remove_many([full.key(10**6), *keys])  # what is absent needs no room
    assert caught.value.done == 1
    full.holds_as_before()


@pytest.mark.parametrize("mask", [(1 << 64) - 1, 7, (1 << 0) | (1 << 6) | (3 << 12)])
def test_a_snapshot_taken_before_the_arena_filled_up_survives(mask):
    full = Full("int", "int", mask, most=2000)
    full.trie.update({k: -k for k in range(20)})
    snapshot, model = full.trie.readonly_snapshot(), {k: -k for k in range(20)}
    full.fill()
    assert dict(snapshot) == model
    assert len(snapshot) == 20
    full.holds_as_before()


@pytest.mark.parametrize("mask", [(1 << 64) - 1, 7, (1 << 0) | (1 << 6) | (3 << 12)])
@pytest.mark.parametrize(("keys", "values"), CODECS)
def test_a_stale_path_is_read_without_renewing_it(keys, values, mask):
    full = Full(keys, values, mask)
    full.trie.put_many([full.key(k) for k in range(200)], [full.value(k) for k in range(200)])
    full.model = {full.key(k): full.value(k) for k in range(200)}
    snapshot = full.trie.readonly_snapshot()
    full.devour(URGENT)
    full.holds_as_before()
    for operation in [*writes(full), *removals(full)]:
        with pytest.raises(ArenaFull, match=MESSAGE):
            operation()
    full.holds_as_before()
    assert dict(snapshot) == full.model


def test_creating_a_trie_in_a_full_arena_is_refused(full):
    full.devour(URGENT)
    census = full.arena.census()
    with pytest.raises(ArenaFull, match=MESSAGE):
        Ctrie(keys=int, values=int, arena=full.arena)
    assert full.arena.census() == census
    full.holds_as_before()
