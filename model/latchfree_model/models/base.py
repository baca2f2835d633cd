"""The interface of a sequential model: an object as one thread alone sees it.

Example: in the state "key 1 holds 5" the call `get(1)` has one legal result, 5, and leaves the state unchanged. Every
model is deterministic in this way; `NondeterministicModel` makes a deterministic model of an object that may choose.
Linearizability is judged against the model alone, so a model stays short enough to be checked by eye.
"""

from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from types import MappingProxyType
from typing import Final, Generic, Literal, Protocol, TypeVar

State = TypeVar("State", bound=Hashable)


class _Unknown(Enum):
    """The type of `UNKNOWN`: an enumeration, so that the sentinel survives copying and pickling."""

    UNKNOWN = "UNKNOWN"

    def __repr__(self) -> str:
        return "UNKNOWN"


UNKNOWN: Final[Literal[_Unknown.UNKNOWN]] = _Unknown.UNKNOWN
"""The result of a call whose result was never seen (a crash, a read that timed out): always legal."""


class _Blocked(Enum):
    """The type of `BLOCKED`."""

    BLOCKED = "BLOCKED"


BLOCKED: Final[Literal[_Blocked.BLOCKED]] = _Blocked.BLOCKED
"""What `SequentialModel.apply` returns for a call that cannot take effect now, whatever it returned."""


@dataclass(frozen=True, slots=True)
class Call:
    """One operation as a model sees it: no process and no time.

    Parameters
    ----------
    f : str
        The operation's name, for instance ``"put"``.
    arguments : tuple
        Its arguments; they must be hashable.
    result : object
        What it returned, or `UNKNOWN`.
    """

    f: str
    arguments: tuple[object, ...]
    result: object

    def __str__(self) -> str:
        return f"{self.f}({', '.join(map(repr, self.arguments))})"


class Model(Protocol[State]):
    """A sequential model: an initial state and a transition function."""

    @property
    def name(self) -> str:
        """The name users type, for instance ``"map"``."""
        ...

    def init(self) -> State:
        """Return the initial state; states are hashable and never change."""
        ...

    def step(self, state: State, call: Call) -> tuple[bool, State]:
        """Return whether `call` is legal in `state`, and the next state (`state` itself when it is not)."""
        ...

    def describe(self, state: State, call: Call) -> str:
        """Return one line that says what `call` returned in `state` and what was expected."""
        ...

    def partition(self, call: Call) -> Hashable | None:
        """Return the part of the object that `call` touches, or None for the whole object.

        Calls with different partitions are independent, so a history without a None may be split.
        """
        ...


class SequentialModel(ABC, Generic[State]):
    """A `Model` defined by `apply` alone: the result expected in a state, and the next state."""

    name: str
    operations: Mapping[str, int]
    """The number of arguments of each operation."""

    silent: frozenset[str] = frozenset()
    """Operations whose result is not looked at."""

    readonly: frozenset[str] = frozenset()
    """Operations that change no state, whatever they return."""

    overwriting: frozenset[str] = frozenset()
    """Operations that lead the part of the object they touch to the same state, whatever the state before."""

    stored: Mapping[str, tuple[int, ...]] = MappingProxyType({})
    """Positions of the stored arguments. They may not be None, because a read returns None for "nothing there"."""

    queries: frozenset[str] = frozenset()
    """Operations that read a quantity; all other operations only raise the quantity, in whatever order they come."""

    flushes: frozenset[str] = frozenset()
    """Operations after which no update of their process is kept back, where a relaxed criterion lets it be."""

    @abstractmethod
    def init(self) -> State:
        """Return the initial state."""

    @abstractmethod
    def apply(self, state: State, call: Call) -> tuple[object, State]:
        """Return the result that `call` must have in `state`, or `BLOCKED`, and the next state.

        The call's name and number of arguments have been checked.
        """

    def matches(self, call: Call, expected: object) -> bool:
        """Return whether the result seen is the one expected."""
        return call.result == expected

    def step(self, state: State, call: Call) -> tuple[bool, State]:
        """Return whether `call` is legal in `state`, and the next state.

        Raises
        ------
        ValueError
            If the model has no such operation, or the operation takes another number of arguments.
        """
        self.validate(call)
        expected, after = self.apply(state, call)
        if self._fits(call, expected):
            return True, after
        return False, state

    def describe(self, state: State, call: Call) -> str:
        """Return one line that says what `call` returned in `state` and what was expected."""
        self.validate(call)
        expected, _ = self.apply(state, call)
        if self._fits(call, expected):
            return f"{call} returned {call.result!r}, as it may: {self.reason(state, call)}"
        return f"{call} returned {call.result!r}, but {self.reason(state, call)}"

    def reason(self, state: State, call: Call) -> str:
        """Return what made the expected result the expected one, as a clause: ``key 3 held 5``."""
        expected, _ = self.apply(state, call)
        return f"it must return {expected!r}"

    def partition(self, call: Call) -> Hashable | None:
        """Return the part of the object that `call` touches: by default all of it."""
        return None

    def effectless(self, call: Call) -> bool:
        """Return whether the call leaves every state unchanged that allows its result: a read, or a failed update."""
        return call.f in self.readonly

    def validate(self, call: Call) -> None:
        """Raise ValueError unless the model has the operation and the arguments and result fit."""
        arity = self.operations.get(call.f)
        if arity is None:
            known = ", ".join(self.operations)
            raise ValueError(f"{call}: the model {self.name!r} has no operation {call.f!r}; it has {known}")
        if len(call.arguments) != arity:
            raise ValueError(f"{call}: {call.f!r} of {self.name!r} takes {arity} argument(s)")
        if any(call.arguments[position] is None for position in self.stored.get(call.f, ())):
            raise ValueError(f"{call}: None means that nothing is there, so it cannot be stored")

    def _fits(self, call: Call, expected: object) -> bool:
        if expected is BLOCKED:
            return False
        return call.result is UNKNOWN or call.f in self.silent or self.matches(call, expected)


def listed(items: Iterable[object], separator: str = ", ", most: int = 12) -> str:
    """Return the first items as text for `reason`: ``1, 2, 3``, or ``nothing``."""
    texts = [repr(item) for item in items]
    more = f"{separator}... ({len(texts):,} in all)" if len(texts) > most else ""
    return separator.join(texts[:most]) + more if texts else "nothing"


def elements(call: Call) -> frozenset[Hashable] | None:
    """Return the result of `call` as a set, or None if it lists an element twice.

    Raises
    ------
    ValueError
        If it is no collection of hashable elements.
    """
    result = call.result
    try:
        if isinstance(result, str | bytes):
            raise TypeError
        found = list(result)  # type: ignore[call-overload]
        distinct = frozenset(found)
    except TypeError:
        raise ValueError(f"{call} returned {result!r}: expected a collection of hashable elements") from None
    return distinct if len(distinct) == len(found) else None
