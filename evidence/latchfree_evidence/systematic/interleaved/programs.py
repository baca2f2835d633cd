"""Scenarios of the explorer's targets as programs in plain Python.

Example: ``put(0, 1) | put(1, 2); get(1) | keys: shared``, for the target `ctrie`, runs the same kernels `put` and `get`
that the compiled explorer runs, translated.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Generator, Iterable
from typing import Any, Final

from latchfree.arena import layout
from latchfree.arena.kernels.allocator import ORDINARY, begin
from latchfree.arena.kernels.epochs import pin, unpin
from latchfree.ctrie.kernels import entry_points, loops, trees
from latchfree.ctrie.kernels.lookup import lookup_frozen
from latchfree.ctrie.kernels.registry import FROZEN, drop
from latchfree.ctrie.kernels.snapshot import freeze, new_trie
from latchfree.ctrie.kernels.snode import VALUE, full_hash, placed
from latchfree_evidence.systematic.interleaved.exploring import Program
from latchfree_evidence.systematic.interleaved.threads import Call, alone
from latchfree_evidence.systematic.plain.memory import MARKING
from latchfree_evidence.systematic.plain.words import WORD, signed
from latchfree_evidence.systematic.plain.world import World
from latchfree_evidence.systematic.trials import walking
from latchfree_evidence.systematic.trials.place import Place
from latchfree_evidence.systematic.trials.tries import spares
from latchfree_explore.scenario import Scenario
from latchfree_explore.target import Target

_CAPACITY: Final = 3 << 20


def _scratch(made: Any, steps: bool) -> Callable[..., Any]:
    return lambda mem, me: [0] * layout.SINK_WORDS


def stepping_world(replaced: Any, called: set[tuple[str, str]] | None = None) -> World:
    """Return kernels whose accesses are steps, on memory with marks."""
    wrapped = {**MARKING, "latchfree_evidence.targets.ctrie:_scratch": _scratch}
    return World(steps=True, replaced=replaced, wrapped=wrapped, called=called)


class Alone:
    """A world whose kernels run to their end at once."""

    def __init__(self, world: World) -> None:
        self._world = world

    def __getitem__(self, kernel: Any) -> Callable[..., Any]:
        return lambda *arguments: alone(self._world[kernel](*arguments))


def calls_of(
    world: World,
    target: Target,
    mem: Any,
    root: int,
    invocations: Iterable[Any],
    thread: int,
    process: str,
    keys: str,
    *,
    bulk: str = "",
) -> list[Call]:
    """Return the operations of a thread, ready to begin; `bulk` says how they read."""
    calls = []
    for each in invocations:
        operation = target.operation(each.f)
        function = world[operation.kernel]
        words = [word & WORD for word in target.words(each, keys)]

        if bulk and each.f == "get":
            function = functools.partial(_get_many if bulk == "bulk" else _get_frozen, world)

        def start(function: Any = function, words: list[int] = words) -> Any:
            return function(mem, root, thread, *words)

        convert = lambda word, operation=operation: operation.result(signed(word))  # noqa: E731
        calls.append(Call(each.f, each.arguments, start, convert, process))
    return calls


def _get_many(world: World, mem: Any, trie: int, thread: int, key: int) -> Generator[Any, Any, Any]:
    me, out, found = layout.PARTICIPANTS + thread * layout.PARTICIPANT_WORDS, [0], [0]
    yield from world[loops.get_words](mem, trie, me, [key], 0, 1, out, found)
    return out[0] if found[0] else -1


def _get_frozen(world: World, mem: Any, trie: int, thread: int, key: int) -> Generator[Any, Any, Any]:
    """Look a key up in a snapshot."""
    me = layout.PARTICIPANTS + thread * layout.PARTICIPANT_WORDS
    yield from world[pin](mem, me)
    slot = yield from world[freeze](mem, trie, me)
    h = world[placed](mem, trie, world[full_hash](key))
    node = yield from world[lookup_frozen](mem, mem[slot + int(FROZEN)], h, 0, key)
    value = mem[node + int(VALUE)] if node else -1
    yield from world[drop](mem, trie, me, slot)
    yield from world[unpin](mem, me)
    return value


def ran(calls: list[Call]) -> list[Call]:
    """Run operations without anybody else; return them with their results."""
    for call in calls:
        call.result = call.convert(int(alone(call.start()) or 0))
    return calls


def trie_program(world: World, target: Target, text: str) -> Program:
    """Return a scenario of a trie of numbers."""
    from latchfree_evidence.targets.placement import LAYOUTS

    scenario = Scenario.parse(text.removeprefix("bulk ").removeprefix("frozen "))
    target.validate(scenario)
    keys = scenario.keys
    outer: Any = Alone(world)
    threads = len(scenario.threads)
    bulk = text.partition(" ")[0] if text.startswith(("bulk ", "frozen ")) else ""
    place = Place(outer, threads + 1, _CAPACITY)
    mem = place.mem
    mask = (LAYOUTS[keys] if keys else next(iter(LAYOUTS.values()))).mask
    # The generation of the root is the word where who mistakes READ_ONLY for a trie finds one.
    mem[int(layout.H_GENERATION)] = mem[int(layout.H_CHUNK)] - 1
    trie = outer[new_trie](mem, place.who[0], mask)
    for me in place.who:
        outer[begin](mem, me, int(ORDINARY))
    before = ran(calls_of(world, target, mem, trie, scenario.before, threads, "init", keys))
    mem.save()

    def audit() -> None:
        for me in place.who:
            assert mem[me + int(layout.P_PIN)] == 0, "a pin is left"
        outer[entry_points.unpark](mem, trie, place.who[0])
        assert mem[trie + 4] == 0, "a snapshot is left in the registry"
        place.settle(lambda me: outer[trees.reclaim](mem, me))
        spare = [(block, 68) for me in place.who for block in spares(mem, me)]
        place.account([*walking.of_trie(mem, trie), *spare])

    return Program(
        text,
        target.model,
        mem.restore,
        lambda: [
            calls_of(world, target, mem, trie, thread, k, str(k), keys, bulk=bulk)
            for k, thread in enumerate(scenario.threads)
        ],
        before,
        lambda: ran(calls_of(world, target, mem, trie, scenario.after, threads, "after", keys)),
        audit,
        target.judged,
    )
