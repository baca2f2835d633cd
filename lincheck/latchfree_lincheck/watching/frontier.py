"""Just-in-time linearization (Lowe) of a history that grows, for any sequential model.

A *configuration* is one way to explain what happened so far: the state; which calls in flight took effect, each with
the result that it must return then; what each read in flight may have seen on the way; and how many calls that were
lost took effect. When a call returns, every configuration in which it did not yet take effect is extended by calls in
flight until it has, and those that expected another result go. A history is linearizable if and only if a configuration
is left after each return, so the first event that leaves none is the first after which the history is a violation.

What returned is in the states and nowhere else: memory is what the configurations take, however long the history is.

Exact, with three prunings. A read takes effect wherever it helps, as it changes nothing: it is enough to remember what
it may have seen. Of equal lost calls, it does not matter which took effect, only how many. A configuration covers one
that is equal but for more lost calls used, or less seen by reads.

Source: Lowe, "Testing for Linearizability", 2017, section 5, whose results are known at the calls.
"""

from __future__ import annotations

import sys
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Final

from latchfree_lincheck.watching.outcomes import Outcomes
from latchfree_model import Call

Noted = frozenset[tuple[int, Hashable]]
"""Numbers of calls, each with what stands for a result."""

BYTES: Final = 700
"""About what a configuration takes, beside its state."""

_NONE: Final[Noted] = frozenset()


class TooLarge(Exception):
    """The configurations take more memory than they may."""


@dataclass(frozen=True, slots=True)
class Configuration:
    """One way to explain what happened.

    Parameters
    ----------
    state : object
        The state of the object.
    done : frozenset of (int, result)
        Calls in flight that took effect, with the result that each must return.
    seen : frozenset of (int, result)
        What reads in flight may have seen before the state became this one.
    used : tuple of int
        How many of each kind of lost call took effect; without zeros at the end.
    """

    state: Any
    done: Noted = _NONE
    seen: Noted = _NONE
    used: tuple[int, ...] = ()

    def covers(self, other: Configuration) -> bool:
        """Return whether this one can go on wherever the other can, if both have the same state and calls done."""
        return (
            len(self.used) <= len(other.used)
            and all(mine <= theirs for mine, theirs in zip(self.used, other.used, strict=False))
            and self.seen >= other.seen
        )

    def has_done(self, number: int) -> bool:
        """Return whether a call in flight took effect."""
        return any(each == number for each, _ in self.done)


class Frontier:
    """The configurations of one independent part of an object.

    Parameters
    ----------
    outcomes : Outcomes
        The model.
    """

    def __init__(self, outcomes: Outcomes) -> None:
        self._outcomes = outcomes
        self._initial = [Configuration(state) for state in outcomes.initial()]
        self.configurations = self._initial
        self._writers: dict[int, Call] = {}
        self._readers: dict[int, Call] = {}
        self._lost: dict[Call, int] = {}
        self._counts: list[int] = []
        self.bytes = 0

    @property
    def fresh(self) -> bool:
        """Whether nothing is in flight and all is as at the beginning, so that the part can be forgotten."""
        quiet = not self._writers and not self._readers and not self._lost
        return quiet and len(self._initial) == 1 and self.configurations == self._initial

    @property
    def lost(self) -> int:
        """How many calls may still take effect though nobody waits for them."""
        return sum(self._counts)

    def invoke(self, number: int, call: Call) -> None:
        """Begin a call, whose result is UNKNOWN; its number is new."""
        (self._readers if self._outcomes.reads(call) else self._writers)[number] = call

    def returned(self, number: int, call: Call, room: int) -> Configuration | None:
        """End a call with its result.

        Parameters
        ----------
        number : int
            Of the call.
        call : Call
            With its result.
        room : int
            Bytes that the configurations may take.

        Returns
        -------
        Configuration or None
            None if a configuration is left; else one that explains what came before, and shows what is wrong.

        Raises
        ------
        TooLarge
            If they take more.
        ChoosesByResult
            If the model does not tell enough.
        """
        known, read = (self._readers, True) if number in self._readers else (self._writers, False)
        kept, tried = _Covering(), _Covering()
        left = list(self.configurations)
        for each in left:
            tried.add(each)
        while left:
            one = left.pop()
            ended = self._ended(one, number, call) if read else self._ended_write(one, number, call)
            if ended is not None:
                kept.add(ended)
            elif read or not one.has_done(number):
                left += [each for each in self._extended(one, number, call) if tried.add(each)]
            if (kept.bytes + tried.bytes) > room:
                raise TooLarge
        if not len(kept):
            return max(tried, key=lambda each: len(each.done) + sum(each.used))
        del known[number]
        self._become(kept)
        return None

    def dropped(self, number: int) -> bool:
        """End a call that had no effect; return whether a configuration is left."""
        if self._readers.pop(number, None) is not None:
            self._forget_read(number)
            return True
        left = _Covering(each for each in self.configurations if not each.has_done(number))
        if not len(left):
            return False
        del self._writers[number]
        self._become(left)
        return True

    def became_lost(self, number: int) -> None:
        """End a call of which nobody will know whether it took effect."""
        if self._readers.pop(number, None) is not None:
            self._forget_read(number)
            return
        call = self._writers.pop(number)
        kind = self._lost.setdefault(call, len(self._counts))
        if kind == len(self._counts):
            self._counts.append(0)
        self._counts[kind] += 1
        self._become(
            _Covering(
                replace(each, done=_without(each.done, number), used=_one_more(each.used, kind))
                if each.has_done(number)
                else each
                for each in self.configurations
            )
        )

    def _ended(self, one: Configuration, number: int, call: Call) -> Configuration | None:
        """Return the configuration after a read returned, or None if the read cannot have seen that in it."""
        noted = any(each == number for each, _ in one.seen)
        seen = noted and any(each == number and self._outcomes.fits(result, call) for each, result in one.seen)
        if not seen and not any(self._outcomes.fits(result, call) for result, _ in self._outcomes.of(one.state, call)):
            return None
        return Configuration(one.state, one.done, _without(one.seen, number), one.used) if noted else one

    def _ended_write(self, one: Configuration, number: int, call: Call) -> Configuration | None:
        """Return the configuration after a call returned, or None if it did not take effect in it with that result."""
        for each, result in one.done:
            if each == number:
                if not self._outcomes.fits(result, call):
                    return None
                return Configuration(one.state, one.done - {(each, result)}, one.seen, one.used)
        return None

    def _extended(self, one: Configuration, number: int, call: Call) -> Iterator[Configuration]:
        """Yield the configurations in which one more call took effect."""
        seen = one.seen.union(
            (reader, result)
            for reader, read in self._readers.items()
            for result, _ in self._outcomes.of(one.state, read)
        )
        for writer, write in self._writers.items():
            if one.has_done(writer):
                continue
            for result, after in self._outcomes.of(one.state, write):
                if writer != number or self._outcomes.fits(result, call):
                    yield Configuration(after, one.done | {(writer, result)}, seen, one.used)
        for lost, kind in self._lost.items():
            if kind < len(one.used) and one.used[kind] >= self._counts[kind]:
                continue
            for _, after in self._outcomes.of(one.state, lost):
                if after != one.state:
                    yield Configuration(after, one.done, seen, _one_more(one.used, kind))

    def _forget_read(self, number: int) -> None:
        self._become(_Covering(replace(each, seen=_without(each.seen, number)) for each in self.configurations))

    def _become(self, covering: _Covering) -> None:
        self.configurations = list(covering)
        self.bytes = covering.bytes


class _Covering:
    """Configurations none of which another one covers, as far as was seen when each was added."""

    def __init__(self, configurations: Iterable[Configuration] = ()) -> None:
        self._found: dict[Hashable, list[Configuration]] = {}
        self.bytes = 0
        for each in configurations:
            self.add(each)

    def add(self, new: Configuration) -> bool:
        """Add one unless another covers it; return whether it was added."""
        alike = self._found.setdefault((new.state, new.done), [])
        if any(each.covers(new) for each in alike):
            return False
        alike.append(new)
        self.bytes += BYTES + sys.getsizeof(new.state)
        return True

    def __iter__(self) -> Iterator[Configuration]:
        for alike in self._found.values():
            for place, each in enumerate(alike):
                if not any(other.covers(each) for other in alike[place + 1 :]):
                    yield each

    def __len__(self) -> int:
        return len(self._found)


def _without(noted: Noted, number: int) -> Noted:
    return frozenset(each for each in noted if each[0] != number) if noted else noted


def _one_more(used: tuple[int, ...], kind: int) -> tuple[int, ...]:
    """Return the counts with one more of a kind."""
    counts = [*used, *([0] * (kind + 1 - len(used)))]
    counts[kind] += 1
    return tuple(counts)
