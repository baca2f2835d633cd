"""Maps of objects: keys as in a dict, exact counts of references, nothing of a user's inside an operation of a trie."""

import copy
import gc
import itertools
import os
import pickle
import subprocess
import sys
import threading
import weakref
from contextlib import suppress

import pytest
from ctrie_exact import settle
from hypothesis import given
from hypothesis import strategies as st

from latchfree import Arena, Ctrie
from latchfree.arena.layout import P_PIN
from latchfree.ctrie.one_key import OneKey
from latchfree.ctrie.slots import Slots
from latchfree.errors import ArenaFull

compiled = pytest.mark.skipif("get" not in vars(Slots), reason="maps are plain here")

MASK_OF_ALL, MASK_OF_NONE = (1 << 64) - 1, 0


class Thing:
    """A value that weak references can watch."""


class Key:
    """A key with a hash of choice: two are equal if their numbers are."""

    def __init__(self, number, h=None, act=None):
        self.number, self.h, self.act = number, number if h is None else h, act

    def __hash__(self):
        if self.act is not None:
            self.act("hash")
        return self.h

    def __eq__(self, other):
        if self.act is not None:
            self.act("eq")
        return isinstance(other, Key) and self.number == other.number

    def __repr__(self):
        return f"Key({self.number}, {self.h})"


class Refuses(Exception):
    pass


def refuse(what):
    def act(called):
        if called == what:
            raise Refuses(what)

    return act


class Plain:
    """The operations of a map through the Python functions, which serve where no compiled code does."""

    def __init__(self, trie):
        self._trie = trie

    def __getattr__(self, name):
        function = getattr(OneKey, name)
        return lambda *given: function(self._trie, *given)

    def __getitem__(self, key):
        return OneKey.__getitem__(self._trie, key)

    def __setitem__(self, key, value):
        OneKey.__setitem__(self._trie, key, value)

    def __delitem__(self, key):
        OneKey.__delitem__(self._trie, key)

    def __contains__(self, key):
        return OneKey.__contains__(self._trie, key)


#: Calls of every operation with a key, as the interpreter makes them.
CALLS = {
    "getitem": lambda m, k: m[k],
    "in": lambda m, k: k in m,
    "setitem": lambda m, k: m.__setitem__(k, 5),
    "delitem": lambda m, k: m.__delitem__(k),
    "get": lambda m, k: m.get(k),
    "get default": lambda m, k: m.get(k, 7),
    "pop": lambda m, k: m.pop(k),
    "pop default": lambda m, k: m.pop(k, 7),
    "remove": lambda m, k: m.remove(k),
    "remove expected": lambda m, k: m.remove(k, 5),
    "put": lambda m, k: m.put(k, 6),
    "put_if_absent": lambda m, k: m.put_if_absent(k, 6),
    "put_if_present": lambda m, k: m.put_if_present(k, 6),
    "get_or_insert": lambda m, k: m.get_or_insert(k, 6),
    "setdefault": lambda m, k: m.setdefault(k, 6),
    "replace": lambda m, k: m.replace(k, 5, 6),
}
#: The same on a dict.
OF_DICT = {
    **CALLS,
    "remove": lambda m, k: m.pop(k, m) is not m,
    "remove expected": lambda m, k: k in m and m[k] == 5 and (m.pop(k), True)[1],
    "put": lambda m, k: (m.get(k), m.__setitem__(k, 6))[0],
    "put_if_absent": lambda m, k: m[k] if k in m else m.__setitem__(k, 6),
    "put_if_present": lambda m, k: (m[k], m.__setitem__(k, 6))[0] if k in m else None,
    "get_or_insert": lambda m, k: m.setdefault(k, 6),
    "replace": lambda m, k: k in m and m[k] == 5 and (m.__setitem__(k, 6), True)[1],
}


def outcome(call, *given):
    try:
        return call(*given)
    except Exception as error:
        return type(error), error.args


def quiet(trie):
    """Let go of all that nobody reads."""
    settle(trie.arena)
    return trie


# as a dict ---------------------------------------------------------------------------------------------------------


def test_keys_are_the_same_as_in_a_dict():
    trie = Ctrie()
    trie[1] = "one"
    assert trie[1.0] == trie[True] == "one"
    trie[True] = "true"
    assert list(trie.items()) == [(1, "true")]
    assert type(next(iter(trie))) is int, "the key that was there stays, as in a dict"
    nan = float("nan")
    trie[nan], trie[None], trie[()] = 1, None, "empty"
    assert trie[nan] == 1
    assert float("nan") not in trie
    assert trie[None] is None
    assert None in trie
    assert trie.get((), 0) == "empty"
    assert repr(trie) == "<Ctrie of object to object>"


def test_a_value_comes_back_as_the_object_it_was():
    trie, value = Ctrie(), Thing()
    trie["a"] = value
    assert trie["a"] is trie.get("a") is trie.pop("a") is value
    assert trie.setdefault("a", value) is value
    assert trie.put("a", None) is value
    assert trie.readonly_snapshot()["a"] is None


@pytest.mark.parametrize("key", ["zz", 5, (), (1, 2), ("a",), None, frozenset({1}), Key(3)])
def test_what_is_missing_is_named_as_by_a_dict(key):
    trie, model = Ctrie(), {}
    for name in ("getitem", "delitem", "pop"):
        assert outcome(CALLS[name], trie, key) == outcome(CALLS[name], model, key) == (KeyError, (key,))
    with pytest.raises(KeyError):
        trie.popitem()


@pytest.mark.parametrize("name", CALLS)
def test_what_a_key_raises_comes_out_and_nothing_changes(name):
    for make in (Ctrie, lambda: Plain(Ctrie())):
        for there in ((Key(1, 7),), (Key(1, 7), Key(2, 7))):
            trie = make()
            for key in there:
                trie[key] = 5
            counts = [sys.getrefcount(key) for key in there]
            with pytest.raises(Refuses):
                CALLS[name](trie, Key(9, 7, refuse("hash")))
            for key in there:
                key.act = refuse("eq")  # of the key that is there, as in a dict
            with pytest.raises(Refuses):
                CALLS[name](trie, Key(9, 7))
            for key in there:
                key.act = None
            assert outcome(CALLS[name], trie, []) == (TypeError, ("unhashable type: 'list'",))
            assert all(trie[key] == 5 for key in there)
            assert [sys.getrefcount(key) for key in there] == counts


_KEYS = [Key(number, number % 3) for number in range(7)]
_MIXED = [*_KEYS, 0, 1, 2, True, 1.0, 2.0, "a", "b", b"a", (), (1,), (1.0,), None, frozenset(), 1 << 70, -1, -2]


@pytest.mark.parametrize("mask", [MASK_OF_ALL, MASK_OF_NONE, 3])
@pytest.mark.parametrize("plain", [False, True])
def test_every_operation_does_as_on_a_dict(plain, mask):
    """Generated keys, many of one hash, through compiled code and through the Python functions."""

    @given(st.lists(st.tuples(st.sampled_from(sorted(CALLS)), st.integers(0, len(_MIXED) - 1)), max_size=30))
    def run(steps):
        trie, model, frozen = Ctrie(arena=arena, hash_mask=mask), {}, []
        mapping = Plain(trie) if plain else trie
        for name, at in steps:
            mine, theirs = outcome(CALLS[name], mapping, _MIXED[at]), outcome(OF_DICT[name], model, _MIXED[at])
            assert mine == theirs, name
            if at % 5 == 0:
                frozen.append((trie.readonly_snapshot(), dict(model)))
        for snapshot, then in [*frozen, (trie, model)]:
            assert dict(snapshot.items()) == then
            assert len(snapshot) == len(then)
            assert all(snapshot[key] == then[key] for key in then)
            assert snapshot == then
        assert sorted(map(repr, trie)) == sorted(map(repr, model))

    arena = Arena.anonymous(64 << 20)
    run()


#: How a generated class makes a hash of a number.
HASHES = {
    "the number": lambda number: number,
    "a few": lambda number: number % 2,
    "one": lambda number: -1,
    "large": lambda number: (1 << 70) + number,
    "negative": lambda number: -(1 << 62) - number % 2,
    "a bool": lambda number: number > 1,
}
#: What a generated class inherits from, and the arguments of the base for a number.
BASES = {
    object: lambda number: (),
    int: lambda number: (number,),
    str: lambda number: (f"{number}",),
    tuple: lambda number: ((number, "t"),),
}


@st.composite
def generated_keys(draw):
    """Instances of a few classes with hashes of any kind, which agree on what is equal."""
    equal = draw(st.sampled_from(["inherited", "by number", "by number and class", "never"]))
    yes = draw(st.sampled_from([True, 1, [0]]))
    no = draw(st.sampled_from([False, 0, [], NotImplemented]))
    numbers, keys = {}, []

    def same(one, other):
        alike = equal == "by number" or (equal == "by number and class" and type(one) is type(other))
        return yes if alike and numbers[id(one)] == numbers.get(id(other)) else no

    def generate(base, hashed):
        body = {"__new__": lambda cls, number: base.__new__(cls, *BASES[base](number)), "__hash__": base.__hash__}
        if equal != "inherited":
            body["__eq__"] = same
        if hashed in HASHES:
            body["__hash__"] = lambda self: HASHES[hashed](numbers[id(self)])
        elif hashed == "unhashable":
            body["__hash__"] = None
        if draw(st.booleans()):
            body["__slots__"] = ()
        return type("Generated", (base,), body)

    for _ in range(draw(st.integers(1, 4))):
        made = generate(draw(st.sampled_from([*BASES])), draw(st.sampled_from([*HASHES, "inherited", "unhashable"])))
        keys += [made(number) for number in range(4)]
        numbers.update({id(key): number for number, key in enumerate(keys[-4:])})
    return keys


@pytest.mark.parametrize("mask", [MASK_OF_ALL, MASK_OF_NONE])
@pytest.mark.parametrize("plain", [False, True])
def test_keys_of_generated_classes_do_as_in_a_dict(plain, mask):
    """Equal keys of other hashes, keys equal to nothing but themselves, answers that are no `bool`."""

    @given(generated_keys(), st.lists(st.tuples(st.sampled_from(sorted(CALLS)), st.integers(0, 15)), max_size=40))
    def run(keys, steps):
        # An empty dict does not ask `pop` for a hash.
        trie, model = Ctrie({"there": 0}, arena=arena, hash_mask=mask), {"there": 0}
        mapping = Plain(trie) if plain else trie
        for name, at in steps:
            key = keys[at % len(keys)]
            mine, theirs = outcome(CALLS[name], mapping, key), outcome(OF_DICT[name], model, key)
            assert mine[0] is theirs[0] if isinstance(theirs, tuple) else mine == theirs, name
        assert {id(key): value for key, value in trie.items()} == {id(key): value for key, value in model.items()}
        assert len(trie) == len(model)

    arena = Arena.anonymous(64 << 20)
    run()


def test_popitem_update_equality_and_many_keys(rng):
    keys = [Key(n, n % 5) for n in range(40)] + list(range(20)) + ["a", "b"]
    trie = Ctrie({key: n for n, key in enumerate(keys)})
    other = Ctrie(trie)
    assert trie == other == dict(trie.items())
    assert len(trie) == len(keys)
    assert trie.get_many([keys[3], "not there", keys[50]]) == [3, None, 50]
    other.put_many(["a", "x"], [[1], [2]])
    assert other.remove_many(["x", "y"]) == [True, False]
    assert other["a"] == [1]
    assert trie != other
    seen = dict(trie.popitem() for _ in keys)
    assert seen == {key: n for n, key in enumerate(keys)}
    assert not trie
    ints = Ctrie({1: 2}, keys=int, values=int)
    ints.update(Ctrie({5: 6}))
    trie.update(ints)
    assert dict(ints) == dict(trie) == {1: 2, 5: 6}


def test_columns_come_back_in_kind():
    np = pytest.importorskip("numpy")
    trie = Ctrie({1: [1], 2: "two"})
    found = trie.get_many(np.array([2, 1, 3]))
    assert found.tolist() == ["two", [1], None]
    trie.put_many(np.arange(3), np.array(["x", "y", "z"]))
    assert trie[0] == "x"
    assert trie.remove_many(np.array([0, 9])).tolist() == [True, False]
    with pytest.raises(ValueError, match="3 keys but 1 values"):
        trie.put_many([1, 2, 3], [1])
    with pytest.raises(TypeError, match="keys must be"):
        trie.get_many(5)


def test_iteration_is_not_disturbed_by_changes():
    trie = Ctrie({Key(n, n % 7): n for n in range(100)})
    for key, value in trie.items():
        assert trie.pop(key) == value
        trie[value] = Thing()
    assert sorted(trie) == list(range(100))


def test_a_subclass_may_change_operations():
    class Counting(Ctrie):
        gets = 0

        def __getitem__(self, key):
            self.gets += 1
            return super().__getitem__(key)

    trie = Counting({"a": 1})
    assert trie["a"] == trie.get("a") == 1
    assert trie.gets == 1
    assert weakref.ref(trie)() is trie


# which maps hold objects ---------------------------------------------------------------------------------------------


def test_private_maps_hold_objects_unless_a_codec_is_named(tmp_path):
    def kinds(trie):
        return trie._store.keys.name, trie._store.values.name

    assert kinds(Ctrie()) == kinds(Ctrie(arena=Arena.anonymous(16 << 20))) == ("object", "object")
    assert kinds(Ctrie(keys=object)) == kinds(Ctrie(keys=object, values=object)) == ("object", "object")
    assert kinds(Ctrie(keys=int)) == ("int", "pickle")
    assert kinds(Ctrie(values=int)) == ("pickle", "int")
    assert kinds(Ctrie(keys="pickle", values="pickle")) == ("pickle", "pickle")
    with Arena.create(path=tmp_path / "arena", capacity=16 << 20) as shared:
        assert kinds(Ctrie(arena=shared)) == kinds(Ctrie.create(shared, "stock")) == ("pickle", "pickle")
        with pytest.raises(ValueError, match="arena that other processes open"):
            Ctrie(arena=shared, keys=object)
        with pytest.raises(ValueError, match="no codec"):
            Ctrie.create(shared, "more", keys=object)
    for given_ in ({"keys": object, "values": int}, {"keys": "json", "values": object}):
        with pytest.raises(ValueError, match="both are objects or none"):
            Ctrie(**given_)


def test_copies_deep_copies_and_pickles(tmp_path):
    trie = Ctrie({"a": [1], Key(1, 5): [2], Key(2, 5): [3]})
    trie["self"] = trie
    shallow, deep = copy.copy(trie), copy.deepcopy(trie)
    assert shallow["a"] is trie["a"]
    assert shallow["self"] is trie
    assert deep["a"] == [1]
    assert deep["a"] is not trie["a"]
    assert deep["self"] is deep
    assert len(deep) == len(trie) == 4
    frozen = copy.deepcopy(trie.readonly_snapshot())
    assert frozen["a"] == [1]
    assert frozen["a"] is not trie["a"]
    for private in (trie, trie.readonly_snapshot()):
        with pytest.raises(TypeError, match="cannot be pickled"):
            pickle.dumps(private)
    del trie["self"], shallow, deep["self"]
    pytest.importorskip("pyarrow")
    assert deep.readonly_snapshot().save(tmp_path / "saved") == 3
    again = Ctrie.load(tmp_path / "saved")
    assert again["a"] == [1]
    assert sorted(again.values()) == [[1], [2], [3]]


# references ----------------------------------------------------------------------------------------------------------


def test_counts_are_exact_after_each_kind_of_write():
    trie, key, value, other = Ctrie(), ("key", object()), Thing(), Thing()

    def counts():
        return [sys.getrefcount(key), sys.getrefcount(value), sys.getrefcount(other)]

    base = counts()

    def more():
        quiet(trie)
        return [now - before for now, before in zip(counts(), base, strict=True)]

    trie[key] = value
    assert more() == [1, 1, 0]
    trie[key] = value
    assert more() == [1, 1, 0]
    trie[(key[0], key[1])] = other
    assert more() == [1, 0, 1], "an equal key: the key that was there stays"
    assert trie.put_if_absent(key, value) is other
    assert trie.replace(key, other, value)
    assert not trie.replace(key, other, other)
    assert more() == [1, 1, 0]
    with trie.readonly_snapshot() as before:
        del trie[key]
        assert more() == [1, 1, 0], "the snapshot has them"
        assert before[key] is value
    assert more() == [0, 0, 0]
    trie[key] = value
    fork = trie.snapshot()
    fork[key] = other
    del trie[key]
    assert more() == [2, 1, 1], "the fork is there, and what the fork was made from"
    del fork
    assert more() == [0, 0, 0]
    trie[key] = value
    trie.clear()
    assert more() == [0, 0, 0]
    trie[key] = value
    arena = trie.arena
    del trie, before  # a snapshot knows its map also when it is closed
    trie = Ctrie(arena=arena)
    assert more() == [0, 0, 0]


@pytest.mark.parametrize("make", [lambda trie: trie, Plain])
def test_what_is_replaced_or_removed_goes_at_once(make):
    trie = Ctrie()
    mapping = make(trie)
    for act in (
        lambda: mapping.__setitem__("a", 1),
        lambda: mapping.__delitem__("a"),
        lambda: mapping.pop("a") and None,
        lambda: mapping.put("a", 1) and None,
        lambda: mapping.replace("a", trie["a"], 5),
        trie.clear,
    ):
        thing = Thing()
        trie["a"], gone = thing, weakref.ref(thing)
        del thing
        assert gone() is trie["a"]
        act()
        assert gone() is None
    with trie.readonly_snapshot() as before:
        trie["b"] = Thing()
        gone = weakref.ref(trie["b"])
        del trie["b"]
        assert gone() is None, "younger than the snapshot"
        assert "b" not in before


def test_what_was_removed_goes_with_the_map_whoever_keeps_the_arena():
    arena = Arena.anonymous(64 << 20)
    for keep in (arena, None):
        things = [Thing() for _ in range(200)]
        watched = [weakref.ref(thing) for thing in things]
        trie = Ctrie(enumerate(things), arena=keep)
        for n in range(100):
            trie[n] = n
            del trie[n + 100]
        del things
        del trie
        assert [ref() for ref in watched] == [None] * 200


def test_finalizers_nest_no_deeper_than_in_a_dict():
    """Each finalizer writes to the map, which would let go of the next value."""

    class Writes:
        deepest = 0
        now = 0

        def __del__(self):
            Writes.now += 1
            Writes.deepest = max(Writes.deepest, Writes.now)
            trie["written"] = None
            Writes.now -= 1

    trie = Ctrie()
    for n in range(2000):
        trie[n] = Writes()
    trie.clear()
    assert Writes.deepest == 1
    assert len(trie) == 1


def test_a_full_arena_takes_no_reference():
    arena = Arena.anonymous(4 << 20)
    trie, value = Ctrie(arena=arena), Thing()
    base = sys.getrefcount(value)
    full = 0
    for n in itertools.count():
        try:
            trie[n, "a"] = value
        except ArenaFull:
            full += 1
        if full == 3:
            break
    size = len(trie)
    assert sys.getrefcount(value) == base + size
    with pytest.raises(ArenaFull) as caught:
        trie.put_many(range(1 << 17), [value] * (1 << 17))
    assert len(trie) == size + caught.value.done
    del caught
    gc.collect()
    trie.clear()
    assert sys.getrefcount(value) == base
    trie["again"] = value
    assert trie["again"] is value


class Chaos:
    """Random operations on maps, some of them made by `__hash__`, `__eq__` and `__del__` in the midst of others."""

    def __init__(self, rng, mask=MASK_OF_ALL):
        self.rng, self.depth, self.made, self.gone, self.errors = rng, 0, 0, 0, []
        self.arena = Arena.anonymous(256 << 20)
        self.me = self.arena.interpreter_participant()
        self.trie = Ctrie(arena=self.arena, hash_mask=mask)
        self.kept = []
        chaos = self

        class Value:
            def __init__(self):
                chaos.made += 1

            def __del__(self):
                chaos.gone += 1
                try:
                    chaos.interfere()
                except BaseException as error:  # which Python would print and forget
                    chaos.errors.append(error)

        self.value = Value
        self.keys = [Key(n, n % 40, lambda what: chaos.interfere()) for n in range(60)]
        self.keys += [Key(n, n) for n in range(60, 80)] + [(n, "t") for n in range(10)] + ["a", "b", 1, 2.5]

    def interfere(self):
        """Called by `__hash__`, `__eq__` and `__del__`."""
        assert self.arena.words[self.me + int(P_PIN)] == 0, "code of a user runs while something is pinned"
        if self.depth < 3 and self.rng.random() < 0.03:
            self.depth += 1
            try:
                self.step()
            finally:
                self.depth -= 1

    def step(self):
        rng, trie = self.rng, self.trie
        key, kind = rng.choice(self.keys), rng.random()
        if kind < 0.3:
            trie[key] = self.value()
        elif kind < 0.5:
            trie.pop(key, None)
        elif kind < 0.6:
            trie.get(key)
        elif kind < 0.7:
            trie.put_if_absent(key, self.value())
        elif kind < 0.8:
            trie.put_if_present(key, self.value())
        elif kind < 0.85:
            trie.replace(key, trie.get(key), self.value())
        elif kind < 0.9:
            trie.remove(key, trie.get(key))
        elif kind < 0.98:
            key in trie  # noqa: B015 -- may run anything
        elif kind < 0.984:
            self.kept.append(trie.readonly_snapshot() if rng.random() < 0.7 else trie.snapshot())
        elif kind < 0.992 and self.kept:
            del self.kept[rng.randrange(len(self.kept)) :]
        elif kind < 0.9925:
            trie.clear()
        elif kind < 0.993:
            with suppress(KeyError):
                trie.popitem()
        elif kind < 0.9932:
            list(trie.items())

    def check(self):
        """Compare counts with contents: of the map, and after the map is empty."""
        self.rng = _Calm()
        self.kept.clear()
        quiet(self.trie)
        held = list(self.trie.items())
        assert self.made - self.gone == len(held) == len(self.trie)
        # A reference in `self.keys`, one in the loop, one of the call; the pair in `held`, the map.
        there = {id(key): 1 for key, _ in held}
        for key in self.keys:
            if isinstance(key, Key):
                assert sys.getrefcount(key) == 3 + 2 * there.get(id(key), 0)
        del held
        self.trie.clear()
        quiet(self.trie)
        assert not self.errors
        assert self.made == self.gone
        assert all(sys.getrefcount(key) == 3 for key in self.keys if isinstance(key, Key))
        self.trie = None


class _Calm:
    def random(self):
        return 1.0


@pytest.mark.parametrize("mask", [MASK_OF_ALL, 7])
def test_counts_are_exact_after_random_operations_with_code_that_interferes(mask, rng):
    chaos = Chaos(rng, mask)
    for _ in range(4_000):
        chaos.step()
    chaos.check()


@pytest.mark.slow
@pytest.mark.parametrize("mask", [MASK_OF_ALL, 7])
def test_counts_are_exact_after_a_million_random_operations(mask, rng):
    chaos = Chaos(rng, mask)
    for _ in range(1_000_000):
        chaos.step()
    chaos.check()


def test_threads_write_to_one_map_while_keys_give_up_the_lock():
    """`__eq__` lets other threads in, in the midst of each write; each thread has keys of the same hashes."""
    trie, errors = Ctrie(), []
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)

    def work(me):
        try:
            keys = [Key((me, n), n % 4, lambda what: None) for n in range(12)]
            for turn in range(40):
                for key in keys:
                    trie[key] = (me, turn)
                assert all(trie[key] == (me, turn) for key in keys)
                assert all(trie.pop(key) == (me, turn) for key in keys)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(3)]
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert not errors
    assert len(trie) == 0


# the garbage collector -----------------------------------------------------------------------------------------------


@compiled
def test_the_collector_sees_what_the_live_map_owns():
    trie = Ctrie({"a": [1], Key(1, 5): [2], Key(2, 5): [3]})
    shown = [thing for thing in gc.get_referents(trie) if isinstance(thing, list | tuple)]
    assert [1] in shown
    assert any(isinstance(thing, tuple) and len(thing) == 4 for thing in shown), "both keys of one hash"
    with trie.readonly_snapshot():
        assert [1] not in gc.get_referents(trie), "a snapshot reads the same"
    assert [1] in gc.get_referents(trie)
    fork = trie.snapshot()
    fork["b"] = [4]
    assert [4] in gc.get_referents(fork)
    assert [1] not in gc.get_referents(fork), "its parent's"
    assert not any(isinstance(thing, list) for thing in gc.get_referents(Ctrie({1: 2}, keys=int, values=int)))


@compiled
@pytest.mark.parametrize("how", ["value", "key", "several", "subclass", "in a list"])
def test_a_cycle_through_the_map_is_collected(how):
    class Sub(Ctrie):
        pass

    trie = Sub() if how == "subclass" else Ctrie()
    thing = Thing()
    if how == "key":
        thing.trie = trie
        trie[thing] = 5
    elif how == "several":
        trie[Key(1, 5)], trie[Key(2, 5)] = trie, thing
    else:
        trie["self"], trie["thing"] = [trie] if how == "in a list" else trie, thing
    refs = [weakref.ref(trie), weakref.ref(thing)]
    gc.collect()
    assert refs[0]() is trie, "what is in use stays"
    del trie, thing
    gc.collect()
    assert [ref() for ref in refs] == [None, None]


@compiled
def test_a_cycle_waits_for_the_snapshot_that_reads_it():
    trie, thing = Ctrie(), Thing()
    thing.trie = trie
    trie["thing"] = thing
    ref, before = weakref.ref(thing), trie.readonly_snapshot()
    del trie, thing
    gc.collect()
    assert before["thing"] is ref()
    assert before["thing"].trie["thing"] is ref()
    del before
    gc.collect()
    assert ref() is None


@compiled
def test_finalizers_of_a_cycle_use_the_map():
    done = []

    class Node:
        def __del__(self):
            self.trie["more"] = Thing()
            done.append((self.trie["name"], len(self.trie)))

    for _ in range(20):
        trie = Ctrie({"name": "tea", "nodes": [Node() for _ in range(3)]})
        for node in trie["nodes"]:
            node.trie = trie
        del trie, node
        gc.collect()
    assert done == [("tea", 3)] * 60


def test_a_map_may_be_made_anew_by_its_own_keys():
    """`__init__` in the midst of an operation: the operation ends on the old contents, which live as long."""
    trie = Ctrie()

    def act(what):
        if what == "eq":
            trie.__init__({"new": 1})

    trie[Key(1, 7, act)] = 5
    assert trie.pop(Key(1, 7)) == 5
    assert dict(trie) == {"new": 1}


# processes -----------------------------------------------------------------------------------------------------------


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_child_goes_on_with_its_copy():
    trie, value = Ctrie(), Thing()
    base = sys.getrefcount(value)
    for n in range(300):
        trie[n] = value
    for n in range(100):
        del trie[n]
    child = os.fork()
    if not child:
        code = 1
        try:
            trie["child"] = value
            del trie[200]
            quiet(trie)
            assert sys.getrefcount(value) == base + 200
            trie.clear()
            assert sys.getrefcount(value) == base
            code = 0
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    quiet(trie)
    assert sys.getrefcount(value) == base + 200
    assert "child" not in trie


AT_EXIT = """
from latchfree import Ctrie
class Loud:
    def __del__(self): print("gone", trie is None)
trie = Ctrie({n: Loud() for n in range(2)})
trie["self"] = trie
short = Ctrie({1: [trie]})
snapshot = trie.readonly_snapshot()
walk = iter(trie.items())
next(walk)
"""


def test_an_interpreter_that_ends_says_nothing():
    done = subprocess.run([sys.executable, "-c", AT_EXIT], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
