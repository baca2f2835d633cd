"""Every small program of calls: what is explored where nobody has said which calls to make.

For example, a counter's calls are ``add(1)``, ``add(2)`` and ``read()``, and its programs go from ``add(1) | add(1)``
to ``read(); read() | read(); read()``. Programs that differ in the order of the threads count once. Two calls of an
operation differ in their arguments, which are 1, 2 and so on: few, so that calls meet.
"""

from __future__ import annotations

import itertools
import random
from typing import Any, Final

from latchfree_explore.python.given.owners import Methods, Owner
from latchfree_explore.scenario import Invocation, Scenario
from latchfree_lincheck.pairs import TOGETHER
from latchfree_model import UNKNOWN, Call, SequentialModel

THREADS: Final = 2
MOST_CALLS: Final = 2
"""Calls of one thread."""
MOST_PROGRAMS: Final = 1_000
"""Where there are more, all with fewer calls are explored, and some of the largest, which a seed draws."""


def small_programs(
    owner: Owner, model: SequentialModel[Any], methods: Methods, seed: int = 0
) -> tuple[list[Scenario], int]:
    """Return the small programs of calls on an object, those with the fewest calls first, and how many there are.

    Raises
    ------
    ValueError
        If the class has no method for any operation of the model, or the calls take more than whole numbers.
    """
    pieces = _pieces(owner, model, methods)
    bodies = [body for count in range(1, MOST_CALLS + 1) for body in itertools.product(pieces, repeat=count)]
    programs = [
        Scenario(tuple(tuple(itertools.chain(*body)) for body in chosen))
        for chosen in itertools.combinations_with_replacement(bodies, THREADS)
    ]
    programs.sort(key=lambda each: len(each.operations))
    if len(programs) <= MOST_PROGRAMS:
        return programs, len(programs)
    largest = len(programs[-1].operations)
    smaller = [each for each in programs if len(each.operations) < largest]
    rest = programs[len(smaller) :]
    drawn = random.Random(seed).sample(rest, max(0, min(len(rest), MOST_PROGRAMS - len(smaller))))
    return [*smaller, *drawn], len(programs)


def _pieces(owner: Owner, model: SequentialModel[Any], methods: Methods) -> list[tuple[Invocation, ...]]:
    """Return what a thread can do: a call, or calls that belong together."""
    together = TOGETHER.get(model.name, ())
    bound = {f for sequence in together for f in sequence}
    names = (*together, *((f,) for f in model.operations if f not in bound))
    found: list[tuple[Invocation, ...]] = []
    for sequence in names:
        if not all(owner.has(f, methods) for f in sequence):
            continue
        most = max(model.operations[f] for f in sequence)
        for first in (1, 2) if most else (1,):
            found.append(tuple(Invocation(f, _arguments(model, f, first)) for f in sequence))
    if not found:
        known = ", ".join(model.operations)
        raise ValueError(f"{owner.name} has no method of the model {model.name!r}, which has {known}")
    for each in itertools.chain(*found):
        _try(model, each)
    return found


def _arguments(model: SequentialModel[Any], f: str, first: int) -> tuple[int, ...]:
    return tuple(range(first, first + model.operations[f]))


def _try(model: SequentialModel[Any], call: Invocation) -> None:
    """Raise ValueError if a model cannot judge a call with whole numbers."""
    try:
        model.step(model.init(), Call(call.f, call.arguments, UNKNOWN))
    except Exception as error:
        raise ValueError(
            f"the model {model.name!r} does not take {call}: {error}; fix: say which calls to explore, or have "
            "@linearizable(explore=...) draw them"
        ) from None
