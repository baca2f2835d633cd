"""Scenarios of the explorer's targets as programs in plain Python.

Example: ``put(0, 1) | put(1, 2); get(1) | keys: shared``, for the target `ctrie`, runs the same kernels `put` and `get`
that the compiled explorer runs, translated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

from latchfree.arena import layout
from latchfree.arena.kernels.allocator import ORDINARY, begin
from latchfree.ctrie.kernels import trees
from latchfree.ctrie.kernels.snapshot import new_trie
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
    world: World, target: Target, mem: Any, root: int, invocations: Iterable[Any], thread: int, process: str, keys: str
) -> list[Call]:
    """Return the operations of a thread, ready to begin."""
    calls = []
    for each in invocations:
        operation = target.operation(each.f)
        function = world[operation.kernel]
        words = [word & WORD for word in target.words(each, keys)]

        def start(function: Any = function, words: list[int] = words) -> Any:
            return function(mem, root, thread, *words)

        convert = lambda word, operation=operation: operation.result(signed(word))  # noqa: E731
        calls.append(Call(each.f, each.arguments, start, convert, process))
    return calls


def _ran(calls: list[Call]) -> list[Call]:
    for call in calls:
        call.result = call.convert(int(alone(call.start()) or 0))
    return calls


def trie_program(world: World, target: Target, text: str) -> Program:
    """Return a scenario of a trie of numbers."""
    from latchfree_evidence.targets.placement import LAYOUTS

    scenario = Scenario.parse(text)
    target.validate(scenario)
    keys = scenario.keys
    outer: Any = Alone(world)
    threads = len(scenario.threads)
    place = Place(outer, threads + 1, _CAPACITY)
    mem = place.mem
    mask = (LAYOUTS[keys] if keys else next(iter(LAYOUTS.values()))).mask
    trie = outer[new_trie](mem, place.who[0], mask)
    for me in place.who:
        outer[begin](mem, me, int(ORDINARY))
    before = _ran(calls_of(world, target, mem, trie, scenario.before, threads, "init", keys))
    mem.save()

    def audit() -> None:
        for me in place.who:
            assert mem[me + int(layout.P_PIN)] == 0, "a pin is left"
        place.settle(lambda me: outer[trees.reclaim](mem, me))
        spare = [(block, 68) for me in place.who for block in spares(mem, me)]
        place.account([*walking.of_trie(mem, trie), *spare])

    return Program(
        text,
        target.model,
        mem.restore,
        lambda: [
            calls_of(world, target, mem, trie, thread, k, str(k), keys) for k, thread in enumerate(scenario.threads)
        ],
        before,
        lambda: _ran(calls_of(world, target, mem, trie, scenario.after, threads, "after", keys)),
        audit,
        target.judged,
    )
