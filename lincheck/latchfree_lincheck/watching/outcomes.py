"""What a call whose result is not known yet may return, and the state after it.

A history that grows has calls in flight whose results come later. A search lets such a call take effect now, notes what
it must return then, and compares when it has returned.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Any

from latchfree_model import BLOCKED, UNKNOWN, Call, Model, NondeterministicModel, SequentialModel


class ChoosesByResult(Exception):
    """The state after a call depends on what it returned, and the model does not say how."""


@dataclass(frozen=True, slots=True)
class _Step:
    """The states before and after a call of a model that only tells whether a result is legal."""

    before: Hashable
    after: Hashable


class _Unhashable:
    """A result that equals itself alone."""

    __slots__ = ("result",)

    def __init__(self, result: object) -> None:
        self.result = result


class Outcomes:
    """The outcomes of the calls of a model.

    Parameters
    ----------
    model : Model
        The sequential model. A state here is one of its states; of a nondeterministic model, one state of the object.
    """

    def __init__(self, model: Model[Any]) -> None:
        self._model = model
        # What kind of model it is, asked once: a frontier asks for thousands of outcomes a second.
        self._sequential = model if isinstance(model, SequentialModel) else None
        self._choosing = model if isinstance(model, NondeterministicModel) else None

    def initial(self) -> list[Any]:
        """Return the states in which the object may be at the beginning."""
        if self._choosing is not None:
            return list(self._choosing.initial())
        return [self._model.init()]

    def validate(self, call: Call) -> None:
        """Raise ValueError if the model does not have the call."""
        if self._sequential is not None:
            self._sequential.validate(call)

    def reads(self, call: Call) -> bool:
        """Return whether the call changes no state, whatever it returns."""
        return self._sequential is not None and call.f in self._sequential.readonly

    def of(self, state: Any, call: Call) -> Iterable[tuple[Hashable, Any]]:
        """Return what stands for each result that a call may have in a state, with the state after it."""
        if self._choosing is not None:
            return [(_hashable(result), after) for result, after in self._choosing.outcomes(state, call)]
        if self._sequential is not None:
            result, after = self._sequential.apply(state, call)
            return [] if result is BLOCKED else [(_hashable(result), after)]
        legal, after = self._model.step(state, call)
        return [(_Step(state, after), after)] if legal else []

    def fits(self, expected: Hashable, call: Call) -> bool:
        """Return whether a call that returned may have returned what stands for a result.

        Raises
        ------
        ChoosesByResult
            If the call led to another state than was assumed.
        """
        if call.result is UNKNOWN or expected is UNKNOWN:
            return True
        if isinstance(expected, _Step):
            legal, after = self._model.step(expected.before, call)
            if legal and after != expected.after:
                raise ChoosesByResult
            return legal
        model = self._sequential
        assert model is not None
        result = expected.result if isinstance(expected, _Unhashable) else expected
        return call.f in model.silent or model.matches(call, result)

    def objection(self, state: Any, call: Call) -> str:
        """Return what the model says about a call in a state that does not allow its result."""
        whole = state if self._choosing is None else frozenset({state})
        legal, _ = self._model.step(whole, call)
        text = self._model.describe(whole, call)
        return f"{text}, yet no order that allows it explains the calls before it" if legal else text


def _hashable(result: object) -> Hashable:
    try:
        hash(result)
    except TypeError:
        return _Unhashable(result)
    return result
