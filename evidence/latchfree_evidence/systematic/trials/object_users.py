"""Maps of objects whose classes are the user's: what raises, and what changes the map meanwhile.

Example: the `__eq__` of a key removes that key from the map. A lookup that is comparing it finds its value, or does
not, as if it came before the removal or after; and the references are right.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any

from latchfree.ctrie.references import settle
from latchfree_evidence.systematic.plain.maps import maps
from latchfree_evidence.systematic.plain.world import World
from latchfree_evidence.systematic.trials.object_maps import OPERATIONS, Beside, Key, Thing, contents, held_by
from latchfree_evidence.systematic.trials.place import ALL, require
from latchfree_evidence.systematic.trials.typed_maps import applied, outcome


class Oops(Exception):
    """What a user's method raises."""


def _raise() -> None:
    raise Oops


def _meddle(keys: list[Key], values: list[Thing]) -> tuple[Callable[[Any], Any], ...]:
    """Return what may happen to a map meanwhile."""
    same, _, other, again = keys
    return (
        lambda held: held.pop(same, None),
        lambda held: held.__setitem__(same, values[3]),
        lambda held: held.__setitem__(other, values[3]),
        lambda held: held.clear(),
        lambda held: (held.pop(same, None), held.__setitem__(other, values[3])),
        lambda held: (held.pop(same, None), held.__setitem__(again, values[0])),
        lambda held: (held.pop(same, None), held.__setitem__(again, values[3])),
    )


def _things(name: str, key: Any, values: list[Thing]) -> list[tuple[Any, ...]]:
    every = [(key, *values[:2], *values[1:])[: 1 + OPERATIONS[name]]]
    if name in ("get", "pop", "remove"):
        every += [(key, values[0]), (key, values[2])]
    return every


def meddlers(world: World, seed: int) -> None:
    """Have a comparison, or a hash, change the map that is at work."""
    start = seed % 3
    hooked = ("eq", "hash")[seed // 3]
    with maps(world) as stage:
        values = [Thing(n) for n in range(4)]
        keys = [Key(1, 5), Key(1, 5), Key(2, 5), Key(1, 5)]
        beside = Beside(stage, ALL, list(keys), list(values))
        first: dict[Any, Any] = {keys[0]: values[0]} if start != 1 else {}
        if start:
            first[keys[2]] = values[2]
        for name in OPERATIONS:
            for things in _things(name, keys[1], values):
                for change in _meddle(keys, values):
                    _met(beside, first, keys, (name, *things), change, hooked)
        del first, things, change
        beside.finish()


def _met(beside: Beside, first: dict[Any, Any], keys: list[Key], call: Any, change: Any, hooked: str) -> None:
    name, *things = call
    possible = []
    for order in ((0, 1), (1, 0)):
        held = dict(first)
        answer: Any = None
        for step in order:
            if step:
                change(held)
            else:
                answer = outcome(partial(applied, held, name, tuple(things)))
        possible.append((contents(held), answer))
    del held, answer
    trie = beside.trie
    beside.counted.start(Counter())
    for key in first:
        trie[key] = first[key]
    del key
    asker = keys[1] if hooked == "hash" else keys[0]
    asker.hooks[hooked] = lambda: change(trie)
    found = outcome(lambda: getattr(trie, name)(*things))
    happened = not asker.hooks
    asker.hooks.clear()
    with trie.readonly_snapshot() as shown:
        what = contents(shown), found
    if happened:
        require(what in possible, "before or after", name, things, what, possible)
    del found, what, asker
    settle(beside.arena)
    beside.counted.require(held_by(trie), "somebody meddles", call)
    trie.clear()
    beside.stage.look()


def raising(world: World, seed: int) -> None:
    """Have a comparison, or a hash, raise: nothing has changed."""
    with maps(world) as stage:
        values = [Thing(n) for n in range(4)]
        keys = [Key(1, 5), Key(1, 5), Key(2, 5)]
        beside = Beside(stage, ALL, list(keys), list(values))
        for both in (False, True):
            beside.done("__setitem__", keys[0], values[0])
            if both:
                beside.done("__setitem__", keys[2], values[1])
            for name in OPERATIONS:
                for things in _things(name, keys[1], values):
                    for asker, hooked in ((keys[0], "eq"), (keys[1], "hash")):
                        asker.hooks[hooked] = _raise
                        beside.counted.start(beside.held())
                        try:
                            getattr(beside.trie, name)(*things)
                        except Oops:
                            pass
                        else:
                            raise AssertionError(f"{name} does not raise what {hooked} raises")
                        require(stage.c.error is None, "no error is left")
                        beside.counted.require(beside.held(), "something raises", name, things)
                    del asker
                del things
            for name in OPERATIONS:  # who is asked about the key itself is not compared
                keys[0].hooks["eq"] = _raise
                beside.done(name, *_things(name, keys[0], values)[0])
                keys[0].hooks.clear()
                beside.done("__setitem__", keys[0], values[0])
        beside.finish()


def who_answers(world: World, seed: int) -> None:
    """Compare who gives the answer: compiled code, or Python, to which compiled code leaves what is rare."""
    with maps(world) as stage:
        values = [Thing(n) for n in range(4)]
        keys = [Key(1, 5), Key(1, 5), Key(2, 5), Key(3, 6)]
        beside = Beside(stage, ALL, list(keys), list(values))
        asked = stage.c.asked
        for trouble in ("", "full", "nobody", "names"):
            for name in OPERATIONS:
                for key in (keys[0], keys[1], keys[2], keys[3]):
                    for things in _things(name, key, values):
                        beside.done("__setitem__", keys[0], values[0])
                        beside.done("pop", keys[2], None)
                        beside.done("pop", keys[3], None)
                        python = _is_rare(name, things, key is keys[2], trouble)
                        removes = name in ("__delitem__", "pop", "remove")
                        there = key in keys[:2]
                        if trouble == "full":
                            stage.refusing.add("remove" if removes else "insert")
                        if trouble == "nobody":
                            stage.without_participant(beside.trie)
                        asked.clear()
                        beside.counted.start(beside.held())
                        if trouble == "names" and name in ("put", "put_if_absent", "put_if_present", "get_or_insert"):
                            _by_name(beside, name, *things)
                            python = True
                        else:
                            beside.done(name, *things)
                        full = trouble == "full" and not stage.refusing and there | (not removes)
                        require(bool(asked) == (python or full), "who answers", name, things, trouble, asked)
                        stage.refusing.clear()
                        beside.counted.require(beside.held(), "whoever answers", name, things, trouble)
        del key, things
        for count in (0, 3, 4, 7):
            for name in ("get", "pop", "remove", "put", "setdefault"):
                refused = outcome(lambda: getattr(beside.trie, name)(*keys[:1], *range(count - 1)))  # noqa: B023
                require(refused == ("refused",) or count == 0, "too many arguments", name, count)
        beside.finish()


def _by_name(beside: Beside, name: str, key: Any, value: Any) -> None:
    expected = outcome(lambda: applied(beside.model, name, (key, value)))
    found = outcome(lambda: getattr(beside.trie, name)(key=key, value=value))
    require(found == expected, "by name", name, found, expected)


def _is_rare(name: str, things: tuple[Any, ...], collides: bool, trouble: str) -> bool:
    if name == "replace" or (name == "remove" and len(things) > 1) or trouble == "nobody":
        return True
    return collides and name in ("__setitem__", "put", "put_if_absent", "get_or_insert", "setdefault")


def no_memory(world: World, seed: int) -> None:
    """Have no memory for what a call makes: MemoryError, and no reference is lost."""
    with maps(world) as stage:
        values = [Thing(n) for n in range(3)]
        keys = [Key(1, 5), Key(2, 5), Key(3, 7)]
        beside = Beside(stage, ALL, list(keys), list(values))
        beside.done("__setitem__", keys[0], values[0])
        for name, things in (
            ("__getitem__", (keys[2],)),
            ("pop", (keys[2],)),
            ("replace", (keys[0], values[0], values[1])),
            ("__delitem__", (keys[1],)),
        ):
            stage.c.failing = 0
            beside.counted.start(beside.held())
            try:
                getattr(beside.trie, name)(*things)
            except MemoryError:
                pass
            else:
                raise AssertionError("an error is made without memory")
            beside.counted.require(beside.held(), "without memory")
        del things
        beside.finish()
