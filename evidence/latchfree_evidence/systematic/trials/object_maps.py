"""Maps of objects beside a dict, with every reference counted: what is held, and when it is let go of.

Example: after ``trie[key] = cup`` the map holds one reference to each. After ``trie[key] = other`` the reference to the
cup is gone, at once, since a cup may have a finalizer. Of an integer nobody can tell, so it may go later.
"""

from __future__ import annotations

import random
import sys
from collections import Counter
from collections.abc import Callable
from typing import Any, Final

from latchfree import Ctrie
from latchfree.ctrie.references import settle
from latchfree_evidence.systematic.plain.maps import Stage, maps
from latchfree_evidence.systematic.plain.world import World
from latchfree_evidence.systematic.trials.place import ALL, require
from latchfree_evidence.systematic.trials.typed_maps import applied, outcome

_MASKS: Final = (ALL, ALL, 0, 0b11)
_SPREADS: Final[tuple[Callable[[int], int], ...]] = (
    lambda n: n * 0x9E3779B97F4A7C15 % (1 << 61),
    lambda n: n % 3,
    lambda n: (n % 4) << 58,
    lambda n: n,
)
#: The operations on one key, with how many values they take.
OPERATIONS: Final = {
    "__getitem__": 0, "__contains__": 0, "__setitem__": 1, "__delitem__": 0, "get": 0, "pop": 0, "remove": 0, "put": 1,
    "put_if_absent": 1, "put_if_present": 1, "get_or_insert": 1, "setdefault": 1, "replace": 2,
}  # fmt: skip


class Key:
    """A key whose hash and equality are what a trial says.

    Attributes
    ----------
    number, hashed : int
        Keys are equal if their numbers are.
    hooks : dict
        "hash" or "eq" -> what is called first, once.
    """

    def __init__(self, number: int, hashed: int) -> None:
        self.number, self.hashed = number, hashed
        self.hooks: dict[str, Callable[[], Any]] = {}

    def __hash__(self) -> int:
        self._run("hash")
        return self.hashed

    def __eq__(self, other: object) -> bool:
        self._run("eq")
        return isinstance(other, Key) and self.number == other.number

    def _run(self, what: str) -> None:
        hook = self.hooks.pop(what, None)
        if hook is not None:
            hook()

    def __repr__(self) -> str:
        return f"Key({self.number}, {self.hashed})"


class Thing:
    """A value."""

    def __init__(self, name: Any, ending: Callable[[], Any] | None = None) -> None:
        self.name = name
        self.ending = ending

    def __del__(self) -> None:
        if self.ending is not None:
            self.ending()

    def __repr__(self) -> str:
        return f"Thing({self.name!r})"


class Counted:
    """Objects, and how many references there are to each beyond those of the trial.

    Parameters
    ----------
    things : list
        Nobody else may have a reference to one of them.
    """

    def __init__(self, things: list[Any]) -> None:
        self.things = things
        self._first = self._own = self._counts()

    def _counts(self) -> list[int]:
        things = self.things
        return [sys.getrefcount(things[k]) for k in range(len(things))]

    def start(self, held: Counter[int]) -> None:
        """Count from here on, where `held` are the references that others hold now."""
        self._own = [count - held[id(each)] for count, each in zip(self._counts(), self.things, strict=True)]

    def restart(self) -> None:
        """Count from the beginning again."""
        self._own = self._first

    def require(self, held: Counter[int], *what: Any) -> None:
        """Fail unless as many references are held to each as its address says."""
        now = [count - own for count, own in zip(self._counts(), self._own, strict=True)]
        wanted = [held[id(each)] for each in self.things]
        wrong = [
            (each, found, right) for each, found, right in zip(self.things, now, wanted, strict=True) if found != right
        ]
        require(not wrong, "references are held", wrong[:4], *what)


def contents(held: Any) -> list[tuple[int, int]]:
    """Return the addresses of the keys and values of a map."""
    return sorted((id(key), id(value)) for key, value in held.items())


def held_by(trie: Any) -> Counter[int]:
    """Return how many references a map holds to which objects, as a snapshot shows them."""
    with trie.readonly_snapshot() as shown:
        return Counter(id(each) for pair in shown.items() for each in pair)


class Beside:
    """A map of objects, and a dict."""

    def __init__(self, stage: Stage, mask: int, keys: list[Any], values: list[Any]) -> None:
        self.stage = stage
        self.arena = stage.arena()
        self.nodes = stage.nodes(self.arena)
        self.trie: Any = Ctrie(arena=self.arena, hash_mask=mask)
        self.model: dict[Any, Any] = {}
        self.keys, self.values = keys, values
        self.counted = Counted([*keys, *values])

    def held(self) -> Counter[int]:
        """Return the references that the dict and the map hold."""
        model = Counter(id(each) for pair in self.model.items() for each in pair)
        return model + model

    def done(self, name: str, *things: Any) -> None:
        """Do an operation on both, and compare the answers."""
        expected = outcome(lambda: applied(self.model, name, things))
        found = outcome(lambda: getattr(self.trie, name)(*things))
        require(found[0] is expected[0] and found == expected, "the answer", name, things, found, expected)
        if found[0] is not KeyError:
            require(found[1] is expected[1], "the same object", name, things, found, expected)

    def finish(self) -> None:
        """Fail unless nothing is left."""
        self.model.clear()
        self.trie.clear()
        settle(self.arena)
        self.counted.restart()
        self.counted.require(Counter(), "in the end")
        self.trie._store.owner.end()
        settle(self.arena)
        require(self.stage.nodes(self.arena) == self.nodes, "no node is lost", self.arena)
        self.stage.look()


def _arguments(rng: random.Random, beside: Beside, name: str) -> tuple[Any, ...]:
    key = rng.choice(beside.keys)
    things = [key, *(rng.choice(beside.values) for _ in range(OPERATIONS[name]))]
    if name == "replace" and key in beside.model and rng.random() < 0.6:
        things[1] = beside.model[key]
    if name in ("get", "pop", "remove") and rng.random() < 0.5:
        things.append(beside.model.get(key, beside.values[0]) if rng.random() < 0.6 else rng.choice(beside.values))
    return tuple(things)


def operations(world: World, seed: int) -> None:
    """Do random operations; references are exact after each."""
    rng = random.Random(seed)
    spread = _SPREADS[seed % len(_SPREADS)]
    with maps(world) as stage:
        keys: list[Any] = [Key(n, spread(n)) for n in range(14)] + [Key(n, spread(n)) for n in range(6)]
        beside = Beside(stage, _MASKS[seed // 4 % 4], keys, [Thing(n) for n in range(8)])
        for k in range(120):
            name = rng.choice(list(OPERATIONS))
            beside.done(name, *_arguments(rng, beside, name))
            beside.counted.require(beside.held(), k, name)
        beside.finish()


def snapshots(world: World, seed: int) -> None:
    """Do random operations with snapshots and copies about; in the end references are exact."""
    rng = random.Random(seed)
    with maps(world) as stage:
        keys: list[Any] = [Key(n, n % 5 if seed % 2 else n << 58) for n in range(12)]
        beside = Beside(stage, (ALL, 0b11)[seed // 2 % 2], keys, [Thing(n) for n in range(6)])
        shown: list[tuple[Any, dict[Any, Any]]] = []
        for _ in range(150):
            name = rng.choice(list(OPERATIONS))
            beside.done(name, *[rng.choice(keys), *(rng.choice(beside.values) for _ in range(OPERATIONS[name]))])
            chance = rng.random()
            if chance < 0.1 and len(shown) < 4:
                made = beside.trie.readonly_snapshot() if chance < 0.05 else beside.trie.snapshot()
                shown.append((made, dict(beside.model)))
                del made
            elif chance < 0.2 and shown:
                made, model = shown.pop(rng.randrange(len(shown)))
                require(contents(made) == contents(model), "what is shown")
                del made, model
            elif chance < 0.3 and shown and isinstance(shown[0][0], Ctrie):
                made, model = shown[0]
                key, value = rng.choice(keys), rng.choice(beside.values)
                made[key] = model[key] = value
                key = rng.choice(keys[:3])
                require(made.pop(key, None) is model.pop(key, None), "what a copy gives")
                del made, model, key, value
        require(all(contents(made) == contents(model) for made, model in shown), "what is shown in the end")
        shown.clear()
        settle(beside.arena)
        beside.counted.require(beside.held(), "after snapshots")
        require(contents(beside.trie) == contents(beside.model), "all that is there")
        beside.finish()


def plain_things(world: World, seed: int) -> None:
    """Hold strings, integers and bytes: references are exact once nothing waits."""
    with maps(world) as stage:
        keys: list[Any] = [f"key {n}" for n in range(6)] + [10**9 + n for n in range(3)]
        keys += [f"b{n}".encode() for n in range(3)]
        values: list[Any] = [f"value {n}" for n in range(4)]
        beside = Beside(stage, ALL, keys, values)
        rng = random.Random(seed)
        for _ in range(150):
            name = rng.choice(list(OPERATIONS))
            beside.done(name, *[rng.choice(keys), *(rng.choice(values) for _ in range(OPERATIONS[name]))])
        settle(beside.arena)
        beside.counted.require(beside.held(), "plain things")
        beside.finish()
