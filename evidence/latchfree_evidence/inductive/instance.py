"""A small instance of a system: the same text on plain values, explored state by state.

Example: the strict ring with two threads and two cells. Every case of every action must be taken in some state,
else the proof about the case may be about nothing. A wrong variant must reach a state that breaks the theorem.
"""

from __future__ import annotations

import itertools
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from latchfree_evidence.inductive.logic import Term
from latchfree_evidence.inductive.system import Case, Field, Part, State, System

Key = tuple[Any, ...]


class Taken(NamedTuple):
    """A step of a run.

    Attributes
    ----------
    name : str
        The action.
    label : str
        Its case.
    arguments : tuple
        Its parameters.
    case : Case
        The case itself.
    """

    name: str
    label: str
    arguments: tuple[Any, ...]
    case: Case

    @property
    def step(self) -> str:
        """``action:case``."""
        return f"{self.name}:{self.label}".rstrip(":")


@dataclass(frozen=True, slots=True)
class Run:
    """What came of exploring an instance.

    Attributes
    ----------
    states : int
        The states found.
    steps : int
        The steps taken.
    taken : Counter
        How often each case was taken.
    broken : str
        The conjunct or claim that does not hold in some state, "" if all hold.
    path : tuple of str
        A shortest run that breaks it: each step with its thread.
    whole : bool
        Whether all states within the bound were explored.
    """

    states: int
    steps: int
    taken: Counter[str]
    broken: str
    path: tuple[str, ...]
    whole: bool


class Instance:
    """A system with finite domains.

    Parameters
    ----------
    system : System
        The system; the instance gives the constants their values.
    domains : mapping
        The elements of each sort.
    constants : mapping
        The values of the constants.
    rigid : mapping
        The rigid fields, as functions.
    only : mapping
        For some actions: which parameters to try, where all would be too many.
    bound : callable, optional
        States where it is false have no steps.
    awake : callable, optional
        Whether an action with these parameters is worth a look in a state: false only where no guard of it holds.
    """

    def __init__(
        self,
        system: System,
        domains: Mapping[str, Sequence[Any]],
        *,
        constants: Mapping[str, Any] | None = None,
        rigid: Mapping[str, Callable[..., Any]] | None = None,
        only: Mapping[str, Callable[..., bool]] | None = None,
        bound: Callable[[State], bool] | None = None,
        awake: Callable[[State, str, tuple[Any, ...]], bool] | None = None,
    ) -> None:
        self.system = system
        enumerations = {name: values for name, values in system.sorts.items() if values is not None}
        self.domains: dict[str, Sequence[Any]] = {"Bool": (False, True), **enumerations, **domains}
        for name, value in (constants or {}).items():
            setattr(system, name, value)
        self._bound = bound or (lambda _: True)
        self._awake = awake or (lambda *_: True)
        self._coerce: dict[str, Callable[[Term], Term]] = dict.fromkeys(system.fields, _as_it_is)
        self._rigid = {name: Field(read, _as_it_is) for name, read in (rigid or {}).items()}
        self._moving = [(name, *kind) for name, kind in system.fields.items() if name not in system.rigid]
        self._points = {name: self.points(sorts) for name, sorts, _ in self._moving}
        self._invariant = self._of(system.invariant)
        self._between = self._of(system.steps)
        tried: Mapping[str, Callable[..., bool]] = only or {}
        self._calls = [
            (part, [point for point in self.points(part.sorts) if name not in tried or tried[name](*point)])
            for name, part in system.actions.items()
        ]

    def points(self, sorts: tuple[str, ...]) -> list[tuple[Any, ...]]:
        """Return all combinations of elements of some sorts."""
        return list(itertools.product(*(self.domains[sort] for sort in sorts)))

    def _of(self, parts: Mapping[str, Part]) -> list[tuple[Part, list[tuple[Any, ...]]]]:
        """Return parts, each with all its points."""
        return [(part, self.points(part.sorts)) for part in parts.values()]

    def state(self, values: Mapping[str, Any]) -> State:
        """Return a state: of each field that moves, and of others if given, a value or a dict by points."""
        made: dict[str, Any] = dict(self._rigid)
        rigid = [(name, *self.system.fields[name]) for name in self.system.rigid if name in values]
        for name, sorts, result in (*self._moving, *rigid):
            made[name] = self._field(values[name], result) if sorts else values[name]
        return State(made, self._coerce)

    def steps(self, s: State, allowed: Callable[[str, tuple[Any, ...]], bool] | None = None) -> Iterator[Taken]:
        """Yield every step that a state has."""
        for part, points in self._calls:
            for point in points:
                if (allowed is None or allowed(part.name, point)) and self._awake(s, part.name, point):
                    for case in part.run(s, *point):
                        if case.guard and self._given(case):
                            yield Taken(part.name, case.label, point, case)

    def _given(self, case: Case) -> bool:
        return case.given is None or all(case.given.run(*point) for point in self.points(case.given.sorts))

    def broken(self, s: State, names: Sequence[str] | None = None) -> str:
        """Return the first conjunct that a state breaks, "" if all hold."""
        for part, points in self._invariant:
            if (names is None or part.name in names) and not all(part.run(s, *point) for point in points):
                return part.name
        return ""

    def starts_at(self, s: State) -> bool:
        """Return whether a state is an initial one, by the formulas of the proof."""
        formulas = self.system.initially(s).values()
        return all(part.run(*point) for part in formulas for point in self.points(part.sorts))

    def explore(self, *, limit: int = 100_000, names: Sequence[str] | None = None) -> Run:
        """Explore the states, breadth first, until something is broken.

        Parameters
        ----------
        limit : int
            The most states.
        names : sequence of str, optional
            The conjuncts to check; else all. Claims are always checked.
        """
        parent: dict[Key, tuple[Key, str] | None] = {}
        queue: deque[Key] = deque()
        taken: Counter[str] = Counter()
        for start in map(self.state, self.system.starts(self.domains)):
            parent.setdefault(self._key(start), None)
        queue.extend(parent)
        whole = True

        def found(name: str, key: Key, last: tuple[str, ...] = ()) -> Run:
            return Run(len(parent), taken.total(), taken, name, (*_path(parent, key), *last), False)

        while queue:
            key = queue.popleft()
            s = self._thaw(key)
            if name := self.broken(s, names):
                return found(name, key)
            if not self._bound(s):
                continue
            for step in self.steps(s):
                taken[step.step] += 1
                says = f"{step.arguments[0]}.{step.name}"
                if name := self._broken_between(s, step):
                    return found(name, key, (says,))
                after = self._key(step.case.post)
                if after not in parent:
                    if len(parent) >= limit:
                        whole = False
                        continue
                    parent[after] = (key, says)
                    queue.append(after)
        return Run(len(parent), taken.total(), taken, "", (), whole)

    def _broken_between(self, s: State, step: Taken) -> str:
        """Return a claim that a step breaks, "" if none."""
        for name, claim in step.case.claims.items():
            if not claim:
                return name
        for part, points in self._between:
            if not all(part.run(s, step.step, step.case.post, *point) for point in points):
                return part.name
        return ""

    def _key(self, s: State) -> Key:
        return tuple(
            tuple(getattr(s, name)(*point) for point in self._points[name]) if sorts else getattr(s, name)
            for name, sorts, _ in self._moving
        )

    def _thaw(self, key: Key) -> State:
        values = {
            name: dict(zip(self._points[name], part, strict=True)) if sorts else part
            for (name, sorts, _), part in zip(self._moving, key, strict=True)
        }
        return self.state(values)

    def _field(self, values: Any, result: str) -> Field:
        """Return a field that has the values of a dict, elsewhere 0 or False; what is no dict it has everywhere."""
        if not isinstance(values, dict):
            return Field(lambda *_: values, _as_it_is)
        default = False if result == "Bool" else 0
        return Field(lambda *point: values.get(point, default), _as_it_is)


def _path(parent: Mapping[Key, tuple[Key, str] | None], key: Key) -> tuple[str, ...]:
    steps = []
    while (before := parent[key]) is not None:
        key, says = before
        steps.append(says)
    return tuple(reversed(steps))


def _as_it_is(value: Term) -> Term:
    return value
