"""What a sequential model is: the object as one thread alone would see it.

A model is deterministic: in a given state, a call has one legal result and one next state. Linearizability is
judged against nothing else, so a model stays short enough to be checked by eye.
"""

from abc import ABC, abstractmethod
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import ClassVar, Final, Generic, Literal, Protocol, TypeVar

State = TypeVar("State", bound=Hashable)


class _Unknown(Enum):
    """The type of `UNKNOWN`: an enumeration, so that the sentinel survives copying and pickling."""

    UNKNOWN = "UNKNOWN"

    def __repr__(self) -> str:
        return "UNKNOWN"


UNKNOWN: Final[Literal[_Unknown.UNKNOWN]] = _Unknown.UNKNOWN
"""The result of a call whose result was never seen (a crash, a read that timed out): always legal."""


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

    name: ClassVar[str]
    operations: ClassVar[Mapping[str, int]]
    """The number of arguments of each operation."""

    @abstractmethod
    def init(self) -> State:
        """Return the initial state."""

    @abstractmethod
    def apply(self, state: State, call: Call) -> tuple[object, State]:
        """Return the result that `call` must have in `state`, and the next state; its arity is checked."""

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
        if call.result is UNKNOWN or self.matches(call, expected):
            return True, after
        return False, state

    def describe(self, state: State, call: Call) -> str:
        """Return one line that says what `call` returned in `state` and what was expected."""
        self.validate(call)
        expected, _ = self.apply(state, call)
        if call.result is UNKNOWN or self.matches(call, expected):
            return f"{call} returned {call.result!r}, as it may: {self.reason(state, call)}"
        return f"{call} returned {call.result!r}, but {self.reason(state, call)}"

    def reason(self, state: State, call: Call) -> str:
        """Return what made the expected result the expected one, as a clause: ``key 3 held 5``."""
        expected, _ = self.apply(state, call)
        return f"it must return {expected!r}"

    def partition(self, call: Call) -> Hashable | None:
        """Return the part of the object that `call` touches: by default all of it."""
        return None

    def validate(self, call: Call) -> None:
        """Raise ValueError unless the model has the operation and it takes that many arguments."""
        arity = self.operations.get(call.f)
        if arity is None:
            known = ", ".join(self.operations)
            raise ValueError(f"{call}: the model {self.name!r} has no operation {call.f!r}; it has {known}")
        if len(call.arguments) != arity:
            raise ValueError(f"{call}: {call.f!r} of {self.name!r} takes {arity} argument(s)")
