"""The calls to generate for a model, and the way to make them on an object."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final, TypeAlias

from hypothesis import strategies as st

from latchfree_lincheck.pairs import TOGETHER
from latchfree_model import Model, SequentialModel, get_model

Strategy: TypeAlias = st.SearchStrategy[Any]
Method: TypeAlias = str | Callable[..., object]
"""The name of a method, or a function of the object and the arguments."""

KINDS: Final[Mapping[str, Strategy]] = MappingProxyType({
    "key": st.integers(0, 2),
    "value": st.integers(1, 3),
    "amount": st.integers(1, 3),
    "text": st.sampled_from(["a", "b"]),
    "pattern": st.sampled_from(["a", "b", "a.b", "*", "a.*", "#"]),
    "topic": st.sampled_from(["a", "b", "a.b"]),
})  # fmt: skip
"""What to draw for each kind of argument: few values, so that calls meet."""

ARGUMENTS: Final[Mapping[str, Mapping[str, tuple[str, ...]]]] = MappingProxyType({
    "register": {"write": ("value",)},
    "cas-register": {"write": ("value",), "cas": ("value", "value")},
    "append-kv": {"get": ("key",), "put": ("key", "text"), "append": ("key", "text")},
    "map": {
        "get": ("key",), "put": ("key", "value"), "remove": ("key",), "put_if_absent": ("key", "value"),
        "replace": ("key", "value"), "replace_if": ("key", "value", "value"), "remove_if": ("key", "value"),
        "contains": ("key",),
    },
    "set": {"add": ("key",), "remove": ("key",), "contains": ("key",)},
    "counter": {"add": ("amount",)},
    "queue": {"enqueue": ("value",)},
    "bounded-queue": {"enqueue": ("value",)},
    "stack": {"push": ("value",)},
    "priority-queue": {"insert": ("value",)},
    "topic-index": {"subscribe": ("pattern", "key"), "unsubscribe": ("pattern", "key"), "match": ("topic",)},
})  # fmt: skip
"""The kinds of the arguments of each operation of the built-in models; other operations take none."""


@dataclass(frozen=True, slots=True)
class Step:
    """One call of a program."""

    f: str
    arguments: tuple[Any, ...]

    def __repr__(self) -> str:
        return f"{self.f}({', '.join(map(repr, self.arguments))})"


_FIX: Final = "fix: arguments={'put': (st.integers(0, 2), st.integers())}, of hypothesis.strategies"


@dataclass(frozen=True, slots=True)
class Menu:
    """The operations that can be called, how, and with what.

    Parameters
    ----------
    model : SequentialModel
        What the object is.
    operations : collection of str, optional
        Which operations to call; by default all that the object has.
    arguments : mapping of str to tuple of strategy
        What to draw for the arguments of an operation, instead of a few small integers.
    methods : mapping of str to str or callable
        The method of the object for an operation that has another name there, or a function that makes the call.
    """

    model: SequentialModel[Any]
    operations: Collection[str] | None = None
    arguments: Mapping[str, tuple[Strategy, ...]] = field(default_factory=dict)
    methods: Mapping[str, Method] = field(default_factory=dict)

    def __post_init__(self) -> None:
        known = self.model.operations
        self._require_kinds()
        for name in {*(self.operations or ()), *self.arguments, *self.methods}:
            if name not in known:
                raise ValueError(f"the model {self.model.name!r} has no operation {name!r}; it has {', '.join(known)}")
        for name, strategies in self.arguments.items():
            given: object = strategies
            if isinstance(given, str) or not isinstance(given, Sequence):
                raise TypeError(f"arguments[{name!r}] must be a tuple of strategies, got {strategies!r}; {_FIX}")
            if len(strategies) != known[name]:
                raise ValueError(f"{name!r} takes {known[name]} argument(s), not {len(strategies)}")
            for each in strategies:
                if not isinstance(each, st.SearchStrategy):
                    raise TypeError(f"arguments[{name!r}] must be a tuple of strategies, got {each!r} in it; {_FIX}")

    def _require_kinds(self) -> None:
        """Raise TypeError or ValueError if what was given is of another kind than is asked for."""
        if self.operations is not None:
            if isinstance(self.operations, str) or not isinstance(self.operations, Collection):
                raise TypeError(
                    f"operations must be a list of names, got {self.operations!r}; fix: operations=['put', 'get']"
                )
            if not self.operations:
                raise ValueError("operations has no name, so nothing would be called; fix: leave it out, or name some")
        for name, given in (("arguments", self.arguments), ("methods", self.methods)):
            if not isinstance(given, Mapping):
                raise TypeError(f"{name} must be a mapping of operations, got {type(given).__name__}")
        for name, method in self.methods.items():
            if not isinstance(method, str) and not callable(method):
                raise TypeError(f"methods[{name!r}] must be a name or a function, got {method!r}")

    def call(self, target: Any, step: Step) -> object:
        """Make a call on an object and return its result."""
        method = self.methods.get(step.f, step.f)
        return getattr(target, method)(*step.arguments) if isinstance(method, str) else method(target, *step.arguments)

    def available(self, target: Any) -> list[str]:
        """Return the operations that can be called on an object.

        Raises
        ------
        ValueError
            If there are none, or one that was asked for is missing.
        """
        names = list(self.operations or self.model.operations)
        methods = {name: self.methods.get(name, name) for name in names}
        found = [name for name, method in methods.items() if not isinstance(method, str) or hasattr(target, method)]
        if found == names or (found and self.operations is None):
            return found
        missing = ", ".join(name for name in names if name not in found)
        raise ValueError(
            f"{type(target).__name__} has no method for {missing}; say how to call them: "
            "methods={'put': 'set', 'size': lambda it: len(it)}"
        )

    def asynchronous(self, target: Any) -> bool:
        """Return whether a call on an object is a coroutine: a method, or function, declared with ``async def``."""
        methods = [self.methods.get(name, name) for name in self.available(target)]
        return any(
            inspect.iscoroutinefunction(getattr(target, each) if isinstance(each, str) else each) for each in methods
        )

    def drawn(self, name: str) -> tuple[Strategy, ...]:
        """Return what to draw for the arguments of an operation.

        Raises
        ------
        ValueError
            If nothing is known of them.
        """
        if name in self.arguments:
            return self.arguments[name]
        kinds = ARGUMENTS.get(self.model.name.partition(":")[0], {}).get(name, ())
        if len(kinds) != self.model.operations[name]:
            count = self.model.operations[name]
            raise ValueError(f"say what to call {name!r} with: arguments={{{name!r}: ({count} strategies)}}")
        return tuple(KINDS[kind] for kind in kinds)

    def blocks(self, target: Any) -> Strategy:
        """Return a strategy for a few steps that one thread makes in a row."""
        names = self.available(target)
        together = TOGETHER.get(self.model.name, ())
        blocks = [tuple(block) for block in together if set(block) <= set(names)]
        bound = {name for block in together for name in block}
        blocks += [(name,) for name in names if name not in bound and (not blocks or self.operations is not None)]
        return st.one_of([st.tuples(*map(self._step, block)) for block in blocks])

    def _step(self, name: str) -> Strategy:
        return st.builds(Step, st.just(name), st.tuples(*self.drawn(name)))


def model_of(model: str | Model[Any]) -> SequentialModel[Any]:
    """Return the model, by name or itself.

    Raises
    ------
    TypeError
        If it does not list its operations.
    """
    if isinstance(model, str):
        return get_model(model)
    if not isinstance(model, SequentialModel):
        raise TypeError(f"{model!r} does not list its operations: derive it from SequentialModel, or use define(...)")
    return model
