"""Who calls what: workloads of clients, drawn with a seed.

A workload takes the number of a client and its random generator, and yields calls: the operation's name, then the
arguments. Any generator function is one::

    def lock_user(client, rng):
        while True:
            if (yield ("try_acquire",)):
                yield ("release",)

A generator gets the result of each call, `UNKNOWN` if there is none. Each client draws from a stream of its own, so a
client's calls do not depend on how fast the others are. What this file makes can be pickled, for clients that are
processes, if the functions that it was made of stand at the top of a module.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Generator, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, TypeAlias

Call: TypeAlias = tuple[Any, ...]
"""The name of an operation, then its arguments."""

Workload: TypeAlias = Callable[[int, Random], Iterator[Call]]
"""What a client calls: of the client's number and random generator."""

Arguments: TypeAlias = Callable[[int, Random, int], tuple[Hashable, ...]]
"""The arguments of a call: of the client's number, its random generator, and how many calls it made before."""


def unique(client: int, rng: Random, turn: int) -> tuple[int]:
    """Return a value that no other call has: a register whose values are all different is judged without a search."""
    return (client * 1_000_000_000 + turn + 1,)


@dataclass(frozen=True, slots=True)
class Mix:
    """A workload without end that draws each call by weights.

    ``Mix({"read": 3, "write": 1}, {"write": unique})`` reads three times as often as it writes.

    Parameters
    ----------
    weights : mapping of str to float
        How often each operation is called, beside the others.
    arguments : mapping of str to callable
        What makes the arguments of an operation; an operation that is not in it has none.

    Raises
    ------
    ValueError
        If there is no operation, a weight is negative or all are 0, or arguments are of an operation without weight.
    """

    weights: Mapping[str, float]
    arguments: Mapping[str, Arguments]

    def __post_init__(self) -> None:
        if not self.weights or min(self.weights.values()) < 0 or sum(self.weights.values()) <= 0:
            raise ValueError(
                f"weights {dict(self.weights)}: give each operation 0 or more, and one of them more than 0"
            )
        if unknown := set(self.arguments) - set(self.weights):
            raise ValueError(f"arguments are given for {', '.join(sorted(unknown))}, which has no weight")

    def __call__(self, client: int, rng: Random) -> Iterator[Call]:
        """Yield calls."""
        names, weights = list(self.weights), list(self.weights.values())
        for turn in itertools.count():
            (f,) = rng.choices(names, weights)
            make = self.arguments.get(f)
            yield (f,) if make is None else (f, *make(client, rng, turn))


@dataclass(frozen=True, slots=True)
class OnKeys:
    """A workload on several keys: a key is drawn for each call and becomes its first argument."""

    workload: Workload
    keys: Sequence[Hashable]

    def __call__(self, client: int, rng: Random) -> Iterator[Call]:
        """Yield calls on keys."""
        return _through(self.workload(client, rng), lambda call: (call[0], rng.choice(self.keys), *call[1:]))


@dataclass(frozen=True, slots=True)
class Share:
    """Different workloads for different clients: the first for client 0, and so on; the last for all others."""

    workloads: Sequence[Workload]

    def __call__(self, client: int, rng: Random) -> Iterator[Call]:
        """Yield the calls of the client's own workload."""
        return self.workloads[min(client, len(self.workloads) - 1)](client, rng)


def _through(calls: Iterator[Call], change: Callable[[Call], Call]) -> Iterator[Call]:
    """Yield changed calls, and hand each result on."""
    result: object = None
    while True:
        try:
            call = following(calls, result)
        except StopIteration:
            return
        result = yield change(call)


def following(calls: Iterator[Call], result: object) -> Call:
    """Return the next call of a workload, which gets the result of the one before (None at first).

    Raises
    ------
    StopIteration
        If there is none.
    """
    return calls.send(result) if isinstance(calls, Generator) else next(calls)
