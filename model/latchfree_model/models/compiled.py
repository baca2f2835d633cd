"""Models that are compiled: one small function on words says what every call does.

Example: a counter that stops at 3.

>>> INCREMENT, READ = 0, 1
>>> def step(state, op, argument, result):
...     if op == READ:
...         return fits(result, state), state
...     if state == 3:
...         return fits(result, False), state
...     return fits(result, True), state + 1
>>> counter = CompiledModel("counter to 3", 0, {"increment": 0, "read": 0}, step, readonly=("read",))
>>> counter.step(3, Call("increment", (), False))
(True, 3)

The function runs as it is in plain Python, and `latchfree_lincheck` compiles it for its searches. Both see the same
words; see `latchfree_model.models.words`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any, Final

from latchfree_model.models.base import BLOCKED, Call, SequentialModel
from latchfree_model.models.words import LOST, NOTHING, Words

State = int | tuple[int, ...]
_LARGEST: Final = (1 << 63) - 1


class CompiledModel(SequentialModel[State]):
    """A model whose states are words and whose calls are decided by one function on words.

    Parameters
    ----------
    name : str
        What to call it.
    initial : int or tuple of int
        The state at the beginning: a word, or a tuple of words that keeps its length.
    operations : mapping of str to int
        How many arguments each operation takes. The first operation is number 0 for the step, the next is number 1.
    step : callable
        ``step(state, op, argument, result)`` returns whether the call is legal in the state with that result, and the
        next state, both of the kind they came in. `op` is the number of the operation. `argument` is a word or, if an
        operation takes several arguments, a tuple of as many words as the longest list of arguments has; what is not
        given is `NOTHING`. Compare results with ``fits(result, expected)``, which allows the result that nobody saw.
        The function may use integers, truth values, tuples, conditions and loops, and call functions that are compiled
        by numba; it must depend on nothing else.
    readonly : iterable of str
        Operations that change no state. Naming them makes searches much faster.
    failures : mapping of str to object, optional
        Results with which an operation changes no state, such as ``{"cas": False}``. Naming them does the same.

    Raises
    ------
    ValueError
        If the initial state is no word and no tuple of words, there are no operations, a name in `readonly` or
        `failures` is no operation, or `step` does not take four arguments.
    """

    def __init__(
        self,
        name: str,
        initial: State,
        operations: Mapping[str, int],
        step: Callable[[Any, int, Any, int], tuple[bool, Any]],
        *,
        readonly: Iterable[str] = (),
        failures: Mapping[str, object] = MappingProxyType({}),
    ) -> None:
        self.name = name
        self.operations = MappingProxyType(dict(operations))
        self.readonly = frozenset(readonly)
        self.failures = MappingProxyType(dict(failures))
        self.function = step
        self.words = Words()
        self._initial = initial
        self._numbers = {f: number for number, f in enumerate(self.operations)}
        self._refuse_nonsense()
        self.arguments = max(self.operations.values())

    def _refuse_nonsense(self) -> None:
        words = self._initial if isinstance(self._initial, tuple) else (self._initial,)
        if not words or not all(type(word) is int and -_LARGEST <= word <= _LARGEST for word in words):
            raise ValueError(f"the initial state of {self.name!r} must be an integer of 64 bits or a tuple of them")
        if not self.operations or not all(type(takes) is int and takes >= 0 for takes in self.operations.values()):
            raise ValueError(f"the operations of {self.name!r} must say how many arguments each takes: {{'read': 0}}")
        for what, named in (("readonly", self.readonly), ("failures", set(self.failures))):
            if unknown := sorted(named - set(self.operations)):
                raise ValueError(f"{what} of {self.name!r} names {unknown[0]!r}, which is no operation of it")
        try:
            inspect.signature(self.function).bind(0, 0, 0, 0)
        except TypeError as error:
            raise ValueError(f"step of {self.name!r} must take (state, op, argument, result): {error}") from None

    def init(self) -> State:
        """Return the initial state."""
        return self._initial

    def call_words(self, call: Call) -> tuple[int, ...]:
        """Return a call as words: the number of the operation, the arguments, the result.

        Raises
        ------
        ValueError
            If the model has no such operation, it takes another number of arguments, or an integer has more than 62
            bits.
        """
        self.validate(call)
        given = [self.words.word(argument) for argument in call.arguments]
        nothing = [NOTHING] * (max(self.arguments, 1) - len(given))
        return self._numbers[call.f], *given, *nothing, self.words.word(call.result)

    def apply(self, state: State, call: Call) -> tuple[object, State]:
        """Return the call's own result if it is legal, else BLOCKED, and the next state."""
        legal, after = self.apply_words(state, self.call_words(call))
        return (call.result, after) if legal else (BLOCKED, state)

    def apply_words(self, state: State, words: tuple[int, ...]) -> tuple[bool, State]:
        """Return whether a call, given as words, is legal in a state, and the next state.

        Raises
        ------
        ValueError
            If the step fails, or does not return a truth value and a state.
        """
        op, *arguments, result = words
        argument = arguments[0] if self.arguments <= 1 else tuple(arguments)
        try:
            legal, after = self.function(state, op, argument, result)
            after = tuple(map(int, after)) if isinstance(self._initial, tuple) else int(after)
        except Exception as error:
            called = self.told(words)
            raise ValueError(f"step of {self.name!r} fails on {called}: {type(error).__name__}: {error}") from error
        parts = after if isinstance(after, tuple) else (after,)
        first = state if isinstance(state, tuple) else (state,)
        if len(parts) != len(first) or not all(-_LARGEST <= part <= _LARGEST for part in parts):
            raise ValueError(
                f"step of {self.name!r} leaves the state {after!r} after {self.told(words)}: "
                f"expected {len(first)} integer(s) of 64 bits"
            )
        return bool(legal), after

    def effectless(self, call: Call) -> bool:
        """Return whether the call changes no state, as its name or its result tells."""
        return call.f in self.readonly or (call.f in self.failures and self.failures[call.f] == call.result)

    def matches(self, call: Call, expected: object) -> bool:
        """Return whether the result seen is the one expected."""
        return call.result is expected or call.result == expected

    def told(self, words: tuple[int, ...]) -> str:
        """Return a call that is given as words as text."""
        op, *arguments, result = words
        f = list(self.operations)[op]
        given = ", ".join(repr(self.words.thing(word)) for word in arguments[: self.operations[f]])
        return f"{f}({given}) -> {self.words.thing(result)!r}"

    def reason(self, state: State, call: Call) -> str:
        """Return the state, with things in place of the words that stand for them."""
        if isinstance(state, tuple):
            return f"the state was {tuple(map(self.words.thing, state))!r}"
        return f"the state was {self.words.thing(state)!r}"

    def require_lost(self, calls: Iterable[tuple[int, ...]]) -> None:
        """Raise ValueError if the step refuses a lost call at the beginning and allows it with a result of the history.

        A step that compares results by ``==`` in place of `fits` would let no lost call take effect.
        """
        seen: dict[int, set[int]] = {}
        lost = set()
        for words in calls:
            seen.setdefault(words[0], {0, 1, NOTHING}).add(words[-1])
            if words[-1] == LOST:
                lost.add(words)
        for words in sorted(lost):
            if self.apply_words(self._initial, words)[0]:
                continue
            for result in sorted(seen[words[0]]):
                known = *words[:-1], result
                if self.apply_words(self._initial, known)[0]:
                    raise ValueError(
                        f"step of {self.name!r} refuses {self.told(words)}, a call whose result nobody saw, but allows "
                        f"{self.told(known)}: compare results with fits(result, expected)"
                    )
