"""The layers that judge a mutant in plain Python, cheapest first.

Example: of a mutant that drops ``poke(mem, c + BITMAP, bitmap)`` the first trial finds that a key is missing, after a
few milliseconds. One that takes a lost compare-and-swap for a success passes all trials, which run one operation at a
time; an interleaving of two puts finds it.

Every layer passes the code as it is: a test says so, for otherwise everything would be caught. A trial or program that
never calls the changed kernel is left out: `coverage` runs each once, and notes what it calls. No verdict depends on
how fast the machine is: schedules are counted, and so are the steps of what may hang.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from latchfree_evidence.systematic.interleaved.exploring import Explorer
from latchfree_evidence.systematic.interleaved.scenarios import PROGRAMS
from latchfree_evidence.systematic.limits import allow, taken
from latchfree_evidence.systematic.plain.memory import MARKING
from latchfree_evidence.systematic.plain.world import World
from latchfree_evidence.systematic.trials.table import TRIALS

#: Preemptions, and schedules of a program at most.
_FEW: Final = (2, 60)
_MANY: Final = (3, 600)
#: A trial or a schedule hangs that takes so many times the steps that it takes of the code as it is, and so many more.
_TIMES: Final = 4
_MORE: Final = 50_000


class Cover(NamedTuple):
    """What a trial or a program does on the code as it is.

    Attributes
    ----------
    kernels : frozenset of (str, str)
        (module, function) of what it calls.
    steps : int
        The most steps of one seed, or of one schedule; and of preparing a program.
    """

    kernels: frozenset[tuple[str, str]]
    steps: int

    def is_called(self, replaced: Mapping[Any, Any]) -> bool:
        """Return whether one of the changed kernels is called, or none is changed."""
        return not replaced or any(place in self.kernels for place in replaced)

    @property
    def most(self) -> int:
        """The steps after which it hangs."""
        return _TIMES * self.steps + _MORE


def sequential(group: str, replaced: Mapping[Any, Any]) -> None:
    """Run the trials of a group; raise for what is wrong."""
    world = World(replaced=replaced, wrapped=MARKING)
    covers = coverage(group)
    try:
        for trial, seeds in TRIALS[group]:
            cover = covers[_name(trial)]
            if cover.is_called(replaced):
                for seed in range(seeds):
                    allow(cover.most)
                    trial(world, seed)
    finally:
        allow(0)


def interleaved(group: str, replaced: Mapping[Any, Any], *, bound: int = _FEW[0], schedules: int = _FEW[1]) -> None:
    """Run the programs of a group; raise for what is wrong.

    Parameters
    ----------
    group : str
        Of kernels.
    replaced : mapping
        (module, function) -> the changed tree.
    bound, schedules : int
        The most preemptions; the most schedules for each program.
    """
    covers = coverage(group)
    for make, texts in PROGRAMS[group]:
        prepare = make(replaced, None)
        for text in texts:
            if not covers[text].is_called(replaced):
                continue
            try:
                allow(covers[text].most)
                Explorer(prepare(text), bound=bound, schedules=schedules).run()
            except Exception as error:
                error.add_note(text)
                raise
            finally:
                allow(0)


def deeper(group: str, replaced: Mapping[Any, Any]) -> None:
    """Run the programs of a group with more preemptions, and many more schedules."""
    interleaved(group, replaced, bound=_MANY[0], schedules=_MANY[1])


def _name(trial: Callable[[World, int], None]) -> str:
    return f"{trial.__module__}.{trial.__name__}"


@functools.cache
def coverage(group: str) -> dict[str, Cover]:
    """Return what each trial and each program of a group does on the code as it is."""
    found = {}
    for trial, seeds in TRIALS[group]:
        called: set[tuple[str, str]] = set()
        world = World(wrapped=MARKING, called=called)
        steps = 0
        for seed in range(seeds):
            allow(0)
            trial(world, seed)
            steps = max(steps, taken())
        found[_name(trial)] = Cover(frozenset(called), steps)
    for make, texts in PROGRAMS[group]:
        for text in texts:
            called = set()
            allow(0)
            explorer = Explorer(make({}, called)(text), bound=1, schedules=150)
            prepared = taken()
            explorer.run()
            found[text] = Cover(frozenset(called), max(prepared, explorer.steps))
    return found


LAYERS: Final[dict[str, Callable[[str, Mapping[Any, Any]], None]]] = {
    "sequential": sequential,
    "interleaved": interleaved,
    "deeper": deeper,
}
