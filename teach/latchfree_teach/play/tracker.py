"""All linearizations of a history, kept while the history grows.

Example: `put(1, 5)` is under way on an empty map, and `get(1)` returns 5. The get fits only behind the put, so what is
left is one *configuration*: the map holds 5, and the put has taken effect although it has not returned.

A configuration is a state of the model with the pending operations that have taken effect, and what they must return.
When an operation returns, pending operations take effect in every possible order, and the configurations remain in
which the operation has returned what it did. None left: no order explains the history, and none ever will.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any, NamedTuple

from latchfree_explore.target import Target
from latchfree_model import UNKNOWN, Call, Model, SequentialModel, get_model
from latchfree_model.models.base import BLOCKED
from latchfree_model.models.compiled import CompiledModel
from latchfree_model.models.nondeterministic import NondeterministicModel


class Configuration(NamedTuple):
    """A state of the model, and the pending operations in it: pairs of a number and a result."""

    state: Hashable
    done: frozenset[tuple[int, Hashable]]


Configurations = frozenset[Configuration]
#: Configuration after an operation has returned -> a configuration before, and the operations that took effect.
Steps = dict[Configuration, tuple[Configuration, tuple[int, ...]]]


class Tracker:
    """Follows the configurations of the operations of a scenario.

    Parameters
    ----------
    model : SequentialModel
    calls : iterable of Invocation
        The operations, which have the numbers 0, 1, ...
    name : str
        What the model is of, for errors.

    Raises
    ------
    ValueError
        If the results that the model allows cannot be told in advance.
    """

    def __init__(self, model: Model[Any], calls: Iterable[Any], name: str) -> None:
        if not isinstance(model, SequentialModel) or isinstance(model, NondeterministicModel | CompiledModel):
            raise ValueError(
                f"{name}: its model {model.name!r} must be a SequentialModel with one result for each call, "
                "so that pending operations can be followed"
            )
        self.model: SequentialModel[Any] = model
        self.calls = [Call(each.f, tuple(each.arguments), UNKNOWN) for each in calls]
        for call in self.calls:
            model.validate(call)
        self.first: Configurations = frozenset({Configuration(model.init(), frozenset())})
        self._known: dict[Any, Steps] = {}

    @classmethod
    def of(cls, target: Target, calls: Iterable[Any]) -> Tracker:
        """Return the tracker of a target's operations.

        Raises
        ------
        ValueError
            If the target judges a part of a history only, or as for any model.
        """
        if type(target).judged is not Target.judged:
            raise ValueError(f"{target.name}: it judges a part of each history, so no state can be judged by itself")
        model = get_model(target.model) if isinstance(target.model, str) else target.model
        return cls(model, calls, target.name)

    def returns(self, held: Configurations, pending: frozenset[int], call: int, result: Hashable) -> Steps:
        """Return the configurations left when operation `call` returns, and how each came about.

        Parameters
        ----------
        held : frozenset of Configuration
            The configurations before the return.
        pending : frozenset of int
            The operations under way, `call` among them.
        call : int
            The number of the operation that returns.
        result : object
            What the operation returned.
        """
        key = (held, pending, call, result)
        if key not in self._known:
            self._known[key] = self._returns(held, sorted(pending), call, result)
        return self._known[key]

    def _returns(self, held: Configurations, pending: list[int], call: int, result: Hashable) -> Steps:
        found: Steps = {}
        todo = sorted(held, key=shown)  # what is found comes in the same order in every process
        origin: Steps = {each: (each, ()) for each in todo}
        for each in todo:
            source, order = origin[each]
            expected = dict(each.done)
            if call in expected:
                if self._fits(call, result, expected[call]):
                    left = Configuration(each.state, frozenset(pair for pair in each.done if pair[0] != call))
                    found.setdefault(left, (source, order))
                continue  # the rest may take effect later
            for k in pending:
                if k not in expected:
                    must, after = self.model.apply(each.state, self.calls[k])
                    if must is BLOCKED:
                        continue
                    new = Configuration(after, each.done | {(k, _hashable(must))})
                    if new not in origin:
                        origin[new] = (source, (*order, k))
                        todo.append(new)
        return found

    def _fits(self, call: int, result: Hashable, expected: Hashable) -> bool:
        one = self.calls[call]
        return one.f in self.model.silent or self.model.matches(Call(one.f, one.arguments, result), expected)


def _hashable(result: object) -> Hashable:
    if not isinstance(result, Hashable):
        raise ValueError(f"the model returned {result!r}: results must be hashable")
    return result


def shown(each: Configuration) -> str:
    """Return a text by which configurations sort in every process alike."""
    return f"{text_of(each.state)} {sorted((k, text_of(result)) for k, result in each.done)}"


def text_of(value: object) -> str:
    """Return a value in words; sets and pairs of a map in order."""
    if isinstance(value, frozenset | set):
        pairs = [item for item in value if isinstance(item, tuple) and len(item) == 2]
        if value and len(pairs) == len(value):
            return "{" + ", ".join(sorted(f"{text_of(k)}: {text_of(v)}" for k, v in pairs)) + "}"
        return "{" + ", ".join(sorted(map(text_of, value))) + "}"
    if isinstance(value, tuple):
        return "[" + ", ".join(map(text_of, value)) + "]"
    return repr(value)
