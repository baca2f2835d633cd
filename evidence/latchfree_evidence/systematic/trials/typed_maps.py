"""Maps of integers, strings and bytes beside a dict: answers, errors, and which calls compiled code does itself.

Example: ``trie.put("tea", 4)`` on a map of strings to integers is done by compiled code; with an argument by its name,
with a string that is too long, or with no room, the Python function is asked. The answer is the same, so it is
compared who gave it.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any, Final, NamedTuple

from latchfree import Ctrie
from latchfree_evidence.systematic.plain.maps import MOST_KEY, MOST_VALUE, Stage, maps
from latchfree_evidence.systematic.plain.world import World
from latchfree_evidence.systematic.trials.place import ALL, require

_END: Final = 1 << 63
REFUSED: Final = "refused"


class _Text(str):
    """A string of another class."""

    __slots__ = ()


POOLS: Final[dict[Any, tuple[Any, ...]]] = {
    int: (0, 1, -1, 5, 64, 1 << 40, _END - 1, -_END, _END, -_END - 1, True, "five", None, 1 << 70),
    str: ("", "tea", "teatime", "tea pots", "é", "tea and é", "\u20ac", "t" * 33, "x" * MOST_KEY, "y" * (MOST_KEY + 1),
          "é" * (MOST_KEY // 2), "é" * (MOST_KEY // 2 + 1), "z" * MOST_VALUE, "z" * (MOST_VALUE + 1), "\ud800", 5,
          b"tea", _Text("tea"), None, "\x7f", "eight\u0080.."),
    bytes: (b"", b"tea", b"teatime\0", b"\xff" * 9, b"x" * MOST_KEY, b"x" * (MOST_KEY + 1), b"z" * MOST_VALUE,
            b"z" * (MOST_VALUE + 1), bytearray(b"tea"), "tea", None, 7),
    "json": (1, "tea", [1, "two"], None, {"a": 1.5}),
}  # fmt: skip
_CLASSES: Final = (int, str, bytes)
PAIRS: Final[tuple[tuple[Any, Any], ...]] = (
    *((keys, values) for keys in _CLASSES for values in _CLASSES),
    (str, "json"),
)
_MASKS: Final = (ALL, 0, 0b111)


def fits(kind: Any, thing: Any, most: int) -> bool:
    """Return whether compiled code takes an object as a key or value of a kind."""
    if type(thing) is not kind:
        return False
    if kind is int:
        return bool(-_END <= thing < _END)
    if kind is bytes:
        return len(thing) <= most
    try:
        return len(thing.encode()) <= most
    except UnicodeEncodeError:
        return False


class Call(NamedTuple):
    """A call: the operation, its arguments, and those of them that are given by name."""

    name: str
    things: tuple[Any, ...]
    named: dict[str, Any]


def outcome(act: Callable[[], Any]) -> tuple[Any, ...]:
    """Return what a call answers, or raises, in a form that can be compared."""
    try:
        found = act()
    except AssertionError:
        raise
    except KeyError as error:
        return KeyError, error.args
    except Exception as error:
        require(isinstance(error, TypeError | ValueError), "an error nobody expects", repr(error))
        return (REFUSED,)
    return type(found), found


def applied(model: dict[Any, Any], name: str, things: tuple[Any, ...]) -> Any:
    """Do on a dict what an operation does."""
    key, *rest = things
    there = key in model
    old = model.get(key)
    if name in ("__getitem__", "__delitem__") or (name == "pop" and not rest):
        if not there:
            raise KeyError(key)
        return model[key] if name == "__getitem__" else model.pop(key) if name == "pop" else model.__delitem__(key)
    if name == "__contains__":
        return there
    if name == "get":
        return model.get(key, *rest)
    if name == "pop":
        return model.pop(key, *rest)
    if name == "remove":
        done = there and (not rest or old == rest[0])
        if done:
            del model[key]
        return done
    if name == "replace":
        done = there and old == rest[0]
        if done:
            model[key] = rest[1]
        return done
    if {"put_if_absent": not there, "put_if_present": there, "get_or_insert": not there, "setdefault": not there}.get(
        name, True
    ):
        model[key] = rest[0]
    if name in ("get_or_insert", "setdefault"):
        return model[key]
    return None if name == "__setitem__" else old


#: The operations, with how many values of the map follow the key, and other things that may.
OPERATIONS: Final = {
    "__getitem__": (0, 0), "__contains__": (0, 0), "__setitem__": (1, 0), "__delitem__": (0, 0), "get": (0, 1),
    "pop": (0, 1), "remove": (0, 0), "put": (1, 0), "put_if_absent": (1, 0), "put_if_present": (1, 0),
    "get_or_insert": (1, 0), "setdefault": (1, 0), "replace": (2, 0),
}  # fmt: skip
#: The names of arguments, None for one that cannot be given by name.
NAMED: Final[dict[str, tuple[str | None, ...]]] = {
    "put": ("key", "value"), "put_if_absent": ("key", "value"), "put_if_present": ("key", "value"),
    "get_or_insert": ("key", "value"), "remove": ("key", "expected"), "replace": ("key", "old", "new"),
    "get": (None, "default"), "pop": (None, "default"), "setdefault": (None, None),
}  # fmt: skip


class _Beside:
    def __init__(self, stage: Stage, keys: Any, values: Any, mask: int, rng: random.Random) -> None:
        self.stage, self.keys, self.values, self.rng = stage, keys, values, rng
        self.arena = stage.arena()
        self.trie: Any = Ctrie(keys=keys, values=values, arena=self.arena, hash_mask=mask)
        self.model: dict[Any, Any] = {}

    def key(self) -> Any:
        if self.model and self.rng.random() < 0.4:
            return self.rng.choice(list(self.model))
        return self.rng.choice(POOLS[self.keys])

    def has(self, key: Any) -> bool:
        return any(key == each for each in self.model)

    def there(self, key: Any) -> Any:
        return next(value for each, value in self.model.items() if key == each)

    def value(self) -> Any:
        return self.rng.choice(POOLS[self.values])

    def call(self) -> Call:
        """Return some call, now and then with too few or too many arguments, or with some by name."""
        name = self.rng.choice(list(OPERATIONS))
        key = self.key()
        count, more = OPERATIONS[name]
        things = [key, *(self.value() for _ in range(count))]
        if name == "replace" and self.has(key) and self.rng.random() < 0.7:
            things[1] = self.there(key)
        if more and self.rng.random() < 0.5:
            things.append(self.rng.choice(("default", 5, None)))
        if name == "remove" and self.rng.random() < 0.5:
            things.append(self.there(key) if self.has(key) and self.rng.random() < 0.6 else self.value())
        if name in NAMED:
            chance = self.rng.random()
            if chance < 0.08:
                return Call(name, tuple(things[: self.rng.randrange(len(things))]), {})
            if chance < 0.16:
                return Call(name, (*things, *range(self.rng.choice((1, 2, 5, 9)))), {})
            if chance < 0.24:
                few = self.rng.randrange(len(things))
                names = [each for each in (*NAMED[name], "more")[few : len(things)] if each]
                if len(names) == len(things) - few:
                    return Call(name, tuple(things[:few]), dict(zip(names, things[few:], strict=True)))
        return Call(name, tuple(things), {})

    def whole(self, call: Call) -> tuple[Any, ...] | None:
        """Return the arguments of a call in order, None if there are too few or too many."""
        count, more = OPERATIONS[call.name]
        most = 1 + count + more + (call.name == "remove")
        least = 1 + count - (call.name == "setdefault")
        things = (*call.things, *call.named.values())
        return things if least <= len(things) <= most else None

    def is_compiled(self, call: Call) -> bool:
        """Return whether compiled code does a call itself."""
        things = self.whole(call)
        if things is None or call.named or self.values == "json":
            return False
        if call.name == "setdefault" and len(things) == 1:
            return False
        values = things[1 : 1 + OPERATIONS[call.name][0] + (call.name == "remove")]
        return fits(self.keys, things[0], MOST_KEY) and all(fits(self.values, each, MOST_VALUE) for each in values)

    def expected(self, call: Call) -> tuple[Any, ...]:
        """Return what a call must answer, and do it on the dict."""
        things = self.whole(call)
        if things is None:
            return (REFUSED,)
        if call.name == "setdefault" and len(things) == 1:
            things = (*things, None)
        store, count = self.trie._store, OPERATIONS[call.name][0] + (call.name == "remove")

        def act() -> Any:
            key = store.keys.decode(store.key(things[0]))
            values = [store.values.decode(store.value(each)) for each in things[1 : 1 + count]]
            return applied(self.model, call.name, (key, *values, *things[1 + count :]))

        found = outcome(act)
        return (KeyError, things[:1]) if found[0] is KeyError else found

    def done(self, call: Call, *, refused: bool = False) -> None:
        """Do a call on both, and compare."""
        compiled = self.is_compiled(call) and not refused
        expected = self.expected(call)
        asked = self.stage.c.asked
        asked.clear()
        cls = type(self.trie)
        found = outcome(lambda: vars(cls)[call.name](self.trie, *call.things, **call.named))
        # Python gives back a value as it was given, which may be of a class that is stored as another.
        same = found == expected or (not compiled and found[-1] == expected[-1])
        require(same, "the answer", call, found, expected)
        require(asked[:1] == ([] if compiled else [call.name]), "who gave the answer", call, asked)

    def check(self) -> None:
        """Compare all that is there."""
        require(dict(self.trie) == self.model, "what is there", dict(self.trie), self.model)


def operations(world: World, seed: int) -> None:
    """Do random calls."""
    rng = random.Random(seed)
    keys, values = PAIRS[seed % len(PAIRS)]
    with maps(world) as stage:
        beside = _Beside(stage, keys, values, _MASKS[seed // len(PAIRS) % len(_MASKS)], rng)
        snapshot: Any = None
        for k in range(150):
            beside.done(beside.call())
            if k % 50 == 20:
                snapshot, held = beside.trie.readonly_snapshot(), dict(beside.model)
            if k % 50 == 40:
                require(dict(snapshot) == held, "what a snapshot shows")
                require(all(snapshot[key] == value for key, value in held.items()), "what it finds")
                fork = beside.trie.snapshot()
                require(dict(fork) == beside.model, "what a copy shows")
                for key in list(held)[:3]:
                    require(fork.get(key) == beside.model.get(key), "what a copy finds", key)
                snapshot.close()
                beside.check()
        beside.check()
        stage.look()


def every_call(world: World, seed: int) -> None:
    """Do each operation with a key that is there and one that is not, refused by a full arena and by no participant."""
    keys, values = PAIRS[seed % len(PAIRS)]
    with maps(world) as stage:
        beside = _Beside(stage, keys, values, ALL, random.Random(seed))
        good = [each for each in POOLS[keys] if fits(keys, each, MOST_KEY)][-3:]
        some = [each for each in POOLS[values] if values == "json" or fits(values, each, MOST_VALUE)][:4]
        for trouble in ("", "full", "nobody"):
            for name, (count, more) in OPERATIONS.items():
                for key in good:
                    for first in some[: 1 + count]:
                        beside.done(Call("put", (good[0], some[0]), {}))
                        beside.done(Call("remove", (good[1],), {}))
                        things = (key, *(first, some[2])[:count]) if name == "replace" else (key, first)[: 1 + count]
                        for extra in ((), ("default",)) if more else ((), (first,)) if name == "remove" else ((),):
                            refused = _trouble(stage, beside.trie, name, trouble)
                            beside.done(Call(name, (*things, *extra), {}), refused=refused)
                            stage.refusing.clear()
        beside.check()
        stage.look()


def _trouble(stage: Stage, trie: Any, name: str, trouble: str) -> bool:
    """Have the next call find no room, or no participant; return whether compiled code then asks Python."""
    if trouble == "nobody":
        stage.without_participant(trie)
    elif trouble == "full":
        removes = name in ("__delitem__", "pop", "remove")
        stage.refusing.add("remove" if removes else "insert")
        return name not in ("__getitem__", "__contains__", "get")
    return trouble == "nobody"
