"""Calls of maps of integers, strings and bytes that go wrong: a map not made, no memory, names that no method has.

Example: ``Ctrie.__new__(Ctrie)["tea"]`` raises: the map has no context, so compiled code does not know where it works.
"""

from __future__ import annotations

from typing import Any

from latchfree import Ctrie
from latchfree.ctrie.one_key import OneKey
from latchfree_evidence.systematic.plain.maps import MOST_VALUE, maps
from latchfree_evidence.systematic.plain.world import World
from latchfree_evidence.systematic.trials.place import require
from latchfree_evidence.systematic.trials.typed_maps import NAMED, OPERATIONS, PAIRS, POOLS, REFUSED, fits, outcome


def unready(world: World, seed: int) -> None:
    """Call a map that `__init__` has not made."""

    class Short(Ctrie[Any, Any]):
        """A map that says that it is empty."""

        __slots__ = ()

        def __len__(self) -> int:
            return 0

    class Long(Short):
        """A map that says that it has one pair."""

        __slots__ = ()

        def __len__(self) -> int:
            return 1

    with maps(world) as stage:
        for cls, error in ((Ctrie, AttributeError), (Short, TypeError), (Long, TypeError)):
            for name, (count, _) in OPERATIONS.items():
                trie = cls.__new__(cls)
                try:
                    getattr(trie, name)(*range(1 + count))
                except error:
                    continue
                raise AssertionError(f"{name} of a map that was not made")
        stage.look()


def no_memory(world: World, seed: int) -> None:
    """Find a value whose object cannot be made."""
    with maps(world) as stage:
        for keys, values in PAIRS[:-1]:
            trie: Any = Ctrie(keys=keys, values=values, arena=stage.arena())
            key, plain = POOLS[keys][1], POOLS[values][1]
            for value in (each for each in POOLS[values] if fits(values, each, MOST_VALUE)):
                trie[key] = value
                require(trie[key] == value, "a value is found", value)
                made = values is not int or not -5 <= value < 257  # the interpreter has the small integers
                for name in ("__getitem__", "get", "setdefault", "pop"):
                    stage.c.failing = 0
                    try:
                        found = getattr(trie, name)(*((key, plain) if name == "setdefault" else (key,)))
                    except MemoryError:
                        require(made, "a small integer is found without memory", value)
                        continue
                    stage.c.failing = None
                    require(not made, "a value that cannot be made is not found", value)
                    require(found is value, "it is the interpreter's integer", value)
        stage.look()


def more_names(world: World, seed: int) -> None:
    """Give an argument by a name that no method has."""
    with maps(world) as stage:
        trie: Any = Ctrie({1: 2}, keys=int, values=int, arena=stage.arena())
        objects: Any = Ctrie({1: 2}, arena=stage.arena())
        for each in (trie, objects):
            for name, (count, more) in OPERATIONS.items():
                if name in NAMED:
                    for extra in range(more + 1 + (name == "remove")):
                        things = (1, *[2] * (count + extra))
                        found = outcome(lambda: getattr(each, name)(*things, more=1))  # noqa: B023
                        require(found == (REFUSED,), "a name that no method has", name, things, found)
            require(dict(each) == {1: 2}, "nothing was done")
        stage.look()


def six_arguments(world: World, seed: int) -> None:
    """Give as many arguments as compiled code passes on, by all names: the error is that of the Python function."""
    with maps(world) as stage:
        trie: Any = Ctrie(keys=int, values=int, arena=stage.arena())
        for count in range(7):
            things, named = tuple(range(count)), dict(zip("abcdef"[count:], range(9), strict=False))
            said = []
            for get in (vars(OneKey)["get"], vars(Ctrie)["get"]):
                try:
                    get(trie, *things, **named)
                except TypeError as error:
                    said.append(str(error))
            require(len(said) == 2 and said[0] == said[1], "six arguments", said)
        stage.look()
