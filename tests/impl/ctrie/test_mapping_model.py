"""A Ctrie against dict: random operations on tries, their snapshots and their copies."""

import pytest
from ctrie_pools import CODECS, KEYS, MASKS, VALUES
from ctrie_walk import check
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from latchfree import Arena, Ctrie

CASES = [(k, v, m) for k, v in CODECS for m in MASKS]
MOST = 4  # tries at a time

_WHICH = st.integers(0, MOST - 1)
_CHOICE = st.integers(0, 1000)
_BATCH = st.lists(_CHOICE, max_size=8)


class Machine(RuleBasedStateMachine):
    """Every operation is applied to a trie and to a dict; results and contents must agree."""

    codecs = ("int", "int")
    mask = MASKS["flat"]

    def __init__(self):
        super().__init__()
        keys, values = self.codecs
        self.keys, self.values = KEYS[keys], VALUES[values]
        trie = Ctrie(keys=keys, values=values, hash_mask=self.mask, arena=Arena.anonymous(256 << 20))
        self.live = [(trie, {})]
        self.frozen = []

    def at(self, which):
        return self.live[which % len(self.live)]

    def key(self, k):
        return self.keys[k % len(self.keys)]

    def value(self, v):
        return self.values[v % len(self.values)]

    @rule(which=_WHICH, k=_CHOICE, v=_CHOICE)
    def set_item(self, which, k, v):
        trie, model = self.at(which)
        trie[self.key(k)] = self.value(v)
        model[self.key(k)] = self.value(v)

    @rule(which=_WHICH, k=_CHOICE, v=_CHOICE)
    def put(self, which, k, v):
        trie, model = self.at(which)
        assert trie.put(self.key(k), self.value(v)) == model.get(self.key(k))
        model[self.key(k)] = self.value(v)

    @rule(which=_WHICH, k=_CHOICE, v=_CHOICE)
    def put_if_absent(self, which, k, v):
        trie, model = self.at(which)
        assert trie.put_if_absent(self.key(k), self.value(v)) == model.get(self.key(k))
        model.setdefault(self.key(k), self.value(v))

    @rule(which=_WHICH, k=_CHOICE, v=_CHOICE)
    def get_or_insert(self, which, k, v):
        trie, model = self.at(which)
        assert trie.get_or_insert(self.key(k), self.value(v)) == model.setdefault(self.key(k), self.value(v))

    @rule(which=_WHICH, k=_CHOICE, v=_CHOICE)
    def setdefault(self, which, k, v):
        trie, model = self.at(which)
        assert trie.setdefault(self.key(k), self.value(v)) == model.setdefault(self.key(k), self.value(v))

    @rule(which=_WHICH, k=_CHOICE, old=_CHOICE, new=_CHOICE)
    def replace(self, which, k, old, new):
        trie, model = self.at(which)
        key = self.key(k)
        holds = key in model and model[key] == self.value(old)
        assert trie.replace(key, self.value(old), self.value(new)) is holds
        if holds:
            model[key] = self.value(new)

    @rule(which=_WHICH, k=_CHOICE, v=_CHOICE)
    def put_if_present(self, which, k, v):
        trie, model = self.at(which)
        assert trie.put_if_present(self.key(k), self.value(v)) == model.get(self.key(k))
        if self.key(k) in model:
            model[self.key(k)] = self.value(v)

    @rule(which=_WHICH, k=_CHOICE)
    def remove(self, which, k):
        trie, model = self.at(which)
        assert trie.remove(self.key(k)) is (self.key(k) in model)
        model.pop(self.key(k), None)

    @rule(which=_WHICH, k=_CHOICE, v=_CHOICE)
    def remove_expected(self, which, k, v):
        trie, model = self.at(which)
        key = self.key(k)
        holds = key in model and model[key] == self.value(v)
        assert trie.remove(key, self.value(v)) is holds
        if holds:
            del model[key]

    @rule(which=_WHICH, k=_CHOICE)
    def delete(self, which, k):
        trie, model = self.at(which)
        if self.key(k) in model:
            del trie[self.key(k)], model[self.key(k)]
        else:
            with pytest.raises(KeyError):
                del trie[self.key(k)]

    @rule(which=_WHICH, k=_CHOICE)
    def pop(self, which, k):
        trie, model = self.at(which)
        assert trie.pop(self.key(k), "absent") == model.pop(self.key(k), "absent")

    @rule(which=_WHICH)
    def popitem(self, which):
        trie, model = self.at(which)
        if model:
            key, value = trie.popitem()
            assert model.pop(key) == value
        else:
            with pytest.raises(KeyError):
                trie.popitem()

    @rule(which=_WHICH, batch=_BATCH, v=_CHOICE)
    def update(self, which, batch, v):
        trie, model = self.at(which)
        pairs = [(self.key(k), self.value(v + n)) for n, k in enumerate(batch)]
        trie.update(pairs)
        model.update(pairs)

    @rule(which=_WHICH, k=_CHOICE)
    def get(self, which, k):
        trie, model = self.at(which)
        key = self.key(k)
        assert trie.get(key, "absent") == model.get(key, "absent")
        assert (key in trie) is (key in model)

    @rule(which=_WHICH, batch=_BATCH)
    def get_many(self, which, batch):
        trie, model = self.at(which)
        keys = [self.key(k) for k in batch]
        assert trie.get_many(keys) == [model.get(key) for key in keys]

    @rule(which=_WHICH, batch=_BATCH, v=_CHOICE)
    def put_many(self, which, batch, v):
        trie, model = self.at(which)
        keys = [self.key(k) for k in batch]
        values = [self.value(v + n) for n in range(len(keys))]
        trie.put_many(keys, values)
        model.update(zip(keys, values, strict=True))

    @rule(which=_WHICH, batch=_BATCH)
    def remove_many(self, which, batch):
        trie, model = self.at(which)
        keys = [self.key(k) for k in batch]
        assert trie.remove_many(keys) == [model.pop(key, Machine) is not Machine for key in keys]

    @rule(which=_WHICH)
    def clear(self, which):
        trie, model = self.at(which)
        trie.clear()
        model.clear()

    @rule(which=_WHICH)
    def snapshot(self, which):
        if len(self.live) < MOST:
            trie, model = self.at(which)
            self.live.append((trie.snapshot(), dict(model)))

    @rule(which=_WHICH)
    def readonly_snapshot(self, which):
        trie, model = self.at(which)
        self.frozen.append((trie.readonly_snapshot(), dict(model)))

    @rule(which=_WHICH)
    def iterate(self, which):
        trie, model = self.at(which)
        assert len(trie) == len(model)
        listed = list(trie)
        assert len(listed) == len(model)
        assert set(listed) == set(model)

    @rule(which=_CHOICE, k=_CHOICE)
    def get_in_the_past(self, which, k):
        if self.frozen:
            snapshot, model = self.frozen[which % len(self.frozen)]
            assert snapshot.get(self.key(k), "absent") == model.get(self.key(k), "absent")

    @invariant()
    def is_well_formed(self):
        for trie, _ in self.live:
            check(trie)

    def teardown(self):
        for trie, model in self.live:
            assert dict(trie.items()) == model
            fresh = Ctrie(model, keys=self.codecs[0], values=self.codecs[1], hash_mask=self.mask, arena=trie.arena)
            assert check(trie) == check(fresh), "the shape depends on the past"
        for snapshot, model in self.frozen:
            assert dict(snapshot.items()) == model
            assert len(snapshot) == len(model)


def _run(keys, values, mask, **bounds):
    machine = type("Machine", (Machine,), {"codecs": (keys, values), "mask": MASKS[mask]})
    run_state_machine_as_test(machine, settings=settings(**bounds))


@pytest.mark.parametrize(("keys", "values", "mask"), CASES)
def test_agrees_with_dict(keys, values, mask):
    _run(keys, values, mask, max_examples=12, stateful_step_count=40)


@pytest.mark.slow
@pytest.mark.parametrize(("keys", "values", "mask"), CASES)
def test_agrees_with_dict_at_length(keys, values, mask):
    _run(keys, values, mask, max_examples=150, stateful_step_count=150, derandomize=False)
