"""Judge objects that may choose, such as a queue that may lose items, by the power-set construction.

Example: a lossy register that held 0 holds 0 or 1 after `write(1)`, so the state of the model is the set {0, 1}. A
`read` that returns 1 is legal, and leaves {1}. In general the state is the set of all states that the object may be
in; a call is legal if some state of the set allows its result. Rabin and Scott make a nondeterministic automaton
deterministic in this way ("Finite Automata and Their Decision Problems", 1959): an order of calls explains a history
if and only if some choices of the object do.
"""

import inspect
from abc import abstractmethod
from collections.abc import Callable, Hashable, Iterable, Mapping
from types import MappingProxyType
from typing import Any, Generic, TypeAlias, TypeVar

from latchfree_model.models.base import BLOCKED, UNKNOWN, Call, SequentialModel, listed

State = TypeVar("State", bound=Hashable)
Outcome: TypeAlias = tuple[object, State]
"""What a call may return, or UNKNOWN for anything, and the state after it."""


class NondeterministicModel(SequentialModel[frozenset[State]], Generic[State]):
    """A model defined by `initial` and `outcomes`: all that a call may return in a state, and where that leads."""

    @abstractmethod
    def initial(self) -> Iterable[State]:
        """Return the states that the object may be in at the beginning."""

    @abstractmethod
    def outcomes(self, state: State, call: Call) -> Iterable[Outcome[State]]:
        """Return the possible results and next states of `call` in `state`; none if the call cannot take effect."""

    def init(self) -> frozenset[State]:
        """Return the set of initial states."""
        return frozenset(self.initial())

    def apply(self, state: frozenset[State], call: Call) -> tuple[object, frozenset[State]]:
        """Return the call's own result and the states it may lead to, or `BLOCKED` if no state allows that result."""
        after = frozenset(
            following
            for one in state
            for expected, following in self.outcomes(one, call)
            if expected is UNKNOWN or self._fits(call, expected)
        )
        return (call.result, after) if after else (BLOCKED, state)

    def matches(self, call: Call, expected: object) -> bool:
        """Return whether the result seen is one that the object may give."""
        return call.result is expected or call.result == expected

    def reason(self, state: frozenset[State], call: Call) -> str:
        """Return what it may return, and in which states."""
        possible = {repr(expected) for one in state for expected, _ in self.outcomes(one, call)}
        may = f"it may return {' or '.join(sorted(possible))}" if possible else "it cannot take effect"
        return f"{may} when the state is {listed(state, separator=' or ')}"


class DefinedModel(NondeterministicModel[Any]):
    """A model made by `define`."""

    def __init__(
        self,
        name: str,
        initial: Hashable,
        operations: Mapping[str, Callable[..., object]],
        partition: Callable[[Call], Hashable | None] | None,
    ) -> None:
        self.name = name
        self.operations = MappingProxyType({f: _arity(name, f, function) for f, function in operations.items()})
        self._initial = initial
        self._functions = dict(operations)
        self._partition = partition

    def initial(self) -> Iterable[Hashable]:
        """Return the initial state, alone in a tuple."""
        return (self._initial,)

    def outcomes(self, state: Hashable, call: Call) -> Iterable[Outcome[Any]]:
        """Return the pairs that the function of the operation gives."""
        returned = self._functions[call.f](state, *call.arguments)
        if isinstance(returned, tuple):
            returned = [returned]
        try:
            return [(result, after) for result, after in returned]  # type: ignore[attr-defined]
        except (TypeError, ValueError):
            message = f"{call}: {call.f!r} of {self.name!r} returned {returned!r}: expected (result, state) or several"
            raise ValueError(message) from None

    def partition(self, call: Call) -> Hashable | None:
        """Return the part of the object that `call` touches: by default all of it."""
        return None if self._partition is None else self._partition(call)


def define(
    name: str,
    initial: Hashable,
    operations: Mapping[str, Callable[..., object]],
    *,
    partition: Callable[[Call], Hashable | None] | None = None,
) -> DefinedModel:
    """Return a model made of one function per operation.

    Parameters
    ----------
    name : str
        What to call it.
    initial : hashable
        The state at the beginning.
    operations : mapping of str to callable
        ``function(state, *arguments)`` returns ``(result, next state)``; or a list of such pairs, or yields them, if
        the object may choose; no pair at all means that the call cannot take effect now. A result of `UNKNOWN` in a
        pair means any result. States are hashable and never change.
    partition : callable, optional
        The part of the object that a `Call` touches, or None for all of it.

    Raises
    ------
    ValueError
        If a function does not take a fixed number of arguments.

    Examples
    --------
    >>> lossy = define("lossy register", None, {
    ...     "write": lambda state, value: [("ok", value), ("ok", state)],
    ...     "read": lambda state: (state, state),
    ... })
    >>> _, states = lossy.step(lossy.init(), Call("write", (1,), "ok"))
    >>> lossy.step(states, Call("read", (), 1))
    (True, frozenset({1}))
    """
    return DefinedModel(name, initial, operations, partition)


def _arity(name: str, f: str, function: Callable[..., object]) -> int:
    """Return how many arguments an operation takes besides the state."""
    kinds = [parameter.kind for parameter in inspect.signature(function).parameters.values()]
    if not kinds or any(
        kind not in (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD) for kind in kinds
    ):
        raise ValueError(f"{f!r} of {name!r} must be a function of the state and a fixed number of arguments")
    return len(kinds) - 1
