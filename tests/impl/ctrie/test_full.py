"""A full arena: the operation is refused, nothing has changed, and reading goes on."""

import numpy as np
import pytest

from latchfree import Arena, ArenaFull, Ctrie, LatchfreeError

SMALLEST = 2 << 20
CODECS = [("int", "int"), ("str", "bytes")]


def _key(codec, k):
    return k if codec == "int" else f"key {k}"


def _value(codec, v):
    return v if codec == "int" else b"%d" % v


def until_full(operation):
    """Repeat an operation, with the number of its turn, until the arena is full; return how often it succeeded."""
    done = 0
    while True:
        try:
            operation(done)
        except ArenaFull:
            return done
        done += 1


class Full:
    """A trie in an arena of the smallest size, filled until nothing fits; `model` is what it holds."""

    def __init__(self, keys, values, hash_mask=(1 << 64) - 1):
        self.codecs = keys, values
        self.trie = Ctrie(keys=keys, values=values, arena=Arena.anonymous(SMALLEST), hash_mask=hash_mask)
        self.model = {}

    def fill(self):
        """Put until nothing fits, then use up what a smaller update would need: another trie."""

        def put(k):
            self.trie[self.key(k)] = self.value(k)
            self.model[self.key(k)] = self.value(k)

        assert until_full(put) > 100
        until_full(lambda _: Ctrie(keys=int, values=int, arena=self.trie.arena))

    def exhaust(self):
        """Use up also what is kept for snapshots; every path is stale then."""
        assert until_full(lambda _: self.trie.readonly_snapshot()) > 10

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
    full = Full(*request.param)
    full.fill()
    return full


MESSAGE = r"the arena is full \(2,097,152 bytes\); nothing changed\. Create the Ctrie in a larger one"


def updates(full):
    trie, present, absent, value = full.trie, full.key(0), full.key(10**6), full.value(7)
    return [
        lambda: trie.__setitem__(present, value),
        lambda: trie.__setitem__(absent, value),
        lambda: trie.put(absent, value),
        lambda: trie.put_if_absent(absent, value),
        lambda: trie.get_or_insert(absent, value),
        lambda: trie.setdefault(absent, value),
        lambda: trie.replace_existing(present, value),
        lambda: trie.replace(present, full.value(0), value),
        lambda: trie.update({absent: value}),
        lambda: trie.remove(present),
        lambda: trie.remove(present, full.value(0)),
        lambda: trie.__delitem__(present),
        lambda: trie.pop(present),
        lambda: trie.pop(present, None),
    ]


def test_every_update_is_refused_and_changes_nothing(full):
    for operation in updates(full):
        with pytest.raises(ArenaFull, match=MESSAGE) as caught:
            operation()
        assert caught.value.done == 0
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


def test_the_reserve_serves_snapshots_only(full):
    for _ in range(60):
        full.trie.readonly_snapshot()
        for operation in updates(full):
            with pytest.raises(ArenaFull, match=MESSAGE):
                operation()


def test_an_exhausted_arena_refuses_all_that_writes_and_changes_nothing(full):
    trie = full.trie
    full.exhaust()
    whole = [trie.clear, trie.popitem, trie.snapshot, trie.readonly_snapshot, trie.items, trie.keys, trie.values]
    for operation in [*updates(full), *whole, lambda: len(trie), lambda: list(trie), lambda: trie == {}]:
        with pytest.raises(ArenaFull, match=MESSAGE) as caught:
            operation()
        assert caught.value.done == 0
    assert bool(trie)
    assert repr(trie).startswith("<Ctrie of ")
    full.holds_as_before()


def test_what_needs_no_room_still_answers(full):
    trie, present, absent = full.trie, full.key(0), full.key(10**6)
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
    assert trie.replace_existing(absent, full.value(8)) is None
    full.holds_as_before()


def test_the_error_is_also_a_memory_error(full):
    for kind in (MemoryError, LatchfreeError):
        with pytest.raises(kind):
            full.trie.remove(full.key(0))


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
    full = Full("int", "int")
    with pytest.raises(ArenaFull) as caught:
        full.trie.put_many(np.zeros(200_000, np.int64), np.arange(200_000))  # one small C-node for each
    assert (1 << 16) // 4 < caught.value.done < 200_000
    assert full.trie[0] == caught.value.done - 1


def test_bulk_calls_on_a_full_arena_report_the_number_done(full):
    trie, keys = full.trie, list(full.model)[:10]
    with pytest.raises(ArenaFull, match="after 0 elements") as caught:
        trie.put_many(keys, [full.value(1)] * 10)
    assert caught.value.done == 0
    with pytest.raises(ArenaFull, match="after 1 elements") as caught:
        trie.remove_many([full.key(10**6), *keys])  # what is absent needs no room
    assert caught.value.done == 1
    full.holds_as_before()


@pytest.mark.parametrize("mask", [(1 << 64) - 1, 7, (1 << 0) | (1 << 6) | (3 << 12)])
def test_a_snapshot_taken_before_the_arena_filled_up_survives(mask):
    full = Full("int", "int", mask)
    full.trie.update({k: -k for k in range(20)})
    snapshot, model = full.trie.readonly_snapshot(), {k: -k for k in range(20)}
    full.model.update(model)
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
    full.exhaust()
    full.holds_as_before()
    with pytest.raises(ArenaFull, match=MESSAGE):
        full.trie.remove(full.key(0))
    full.holds_as_before()


def test_creating_a_trie_in_a_full_arena_is_refused(full):
    with pytest.raises(ArenaFull, match=MESSAGE):
        Ctrie(keys=int, values=int, arena=full.trie.arena)
    full.holds_as_before()
