"""The layers that judge a mutant in plain Python, cheapest first.

Example: of a mutant that drops ``poke(mem, c + BITMAP, bitmap)`` the first trial finds that a key is missing, after a
few milliseconds. One that takes a lost compare-and-swap for a success passes all trials, which run one operation at a
time; an interleaving of two puts finds it.

Every layer passes the code as it is: a test says so, for otherwise everything would be caught. A trial or program that
never calls the changed kernel is left out: `coverage` runs each once, and notes what it calls.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from latchfree_evidence.systematic.interleaved.exploring import Explorer
from latchfree_evidence.systematic.interleaved.scenarios import PROGRAMS
from latchfree_evidence.systematic.limits import allow
from latchfree_evidence.systematic.plain.memory import MARKING
from latchfree_evidence.systematic.plain.world import World
from latchfree_evidence.systematic.trials.table import TRIALS

#: Preemptions, schedules of a program at most, and seconds of processor time for a program at most.
_FEW: Final = (2, 60, 2.0)
_MANY: Final = (3, 600, 3.0)
#: Seconds of processor time after which a trial, or a program, counts as one that hangs; a trial takes a tenth of one,
#: and none of them more than half of one.
_LIMIT: Final = 3.0
_PROGRAM_LIMIT: Final = 10.0


def sequential(group: str, replaced: Mapping[Any, Any]) -> None:
    """Run the trials of a group; raise for what is wrong."""
    world = World(replaced=replaced, wrapped=MARKING)
    covers = coverage(group)
    try:
        for trial, seeds in TRIALS[group]:
            if _is_called(covers[_name(trial)], replaced):
                for seed in range(seeds):
                    allow(_LIMIT)
                    trial(world, seed)
    finally:
        allow(0)


def interleaved(
    group: str, replaced: Mapping[Any, Any], *, bound: int = _FEW[0], schedules: int = _FEW[1], seconds: float = _FEW[2]
) -> None:
    """Run the programs of a group; raise for what is wrong.

    Parameters
    ----------
    group : str
        Of kernels.
    replaced : mapping
        (module, function) -> the changed tree.
    bound, schedules, seconds : number
        The most preemptions; the most schedules, and seconds of processor time, for each program.
    """
    for text, explorer in explorers(group, replaced, bound, schedules, seconds):
        try:
            allow(_PROGRAM_LIMIT)
            explorer.run()
        except Exception as error:
            error.add_note(text)
            raise
        finally:
            allow(0)


def deeper(group: str, replaced: Mapping[Any, Any]) -> None:
    """Run the programs of a group with more preemptions, and many more schedules."""
    interleaved(group, replaced, bound=_MANY[0], schedules=_MANY[1], seconds=_MANY[2])


def explorers(
    group: str,
    replaced: Mapping[Any, Any],
    bound: int = _FEW[0],
    schedules: int = _FEW[1],
    seconds: float = _FEW[2],
) -> Iterator[tuple[str, Explorer]]:
    """Yield the programs of a group that call a changed kernel."""
    covers = coverage(group)
    for make, texts in PROGRAMS[group]:
        prepare = make(replaced, None)
        for text in texts:
            if _is_called(covers[text], replaced):
                deadline = time.process_time() + seconds
                yield text, Explorer(prepare(text), bound=bound, schedules=schedules, deadline=deadline)


def _name(trial: Callable[[World, int], None]) -> str:
    return f"{trial.__module__}.{trial.__name__}"


def _is_called(kernels: frozenset[tuple[str, str]], replaced: Mapping[Any, Any]) -> bool:
    return not replaced or any(place in kernels for place in replaced)


@functools.cache
def coverage(group: str) -> dict[str, frozenset[tuple[str, str]]]:
    """Return the kernels that each trial and each program of a group calls."""
    found = {}
    for trial, seeds in TRIALS[group]:
        called: set[tuple[str, str]] = set()
        world = World(wrapped=MARKING, called=called)
        for seed in range(seeds):
            trial(world, seed)
        found[_name(trial)] = frozenset(called)
    for make, texts in PROGRAMS[group]:
        for text in texts:
            called = set()
            Explorer(make({}, called)(text), bound=1, schedules=150).run()
            found[text] = frozenset(called)
    return found


LAYERS: Final[dict[str, Callable[[str, Mapping[Any, Any]], None]]] = {
    "sequential": sequential,
    "interleaved": interleaved,
    "deeper": deeper,
}
