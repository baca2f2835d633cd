"""Models that may choose, and models made of one function per operation."""

import itertools
from collections.abc import Iterator
from typing import Any

import pytest

from latchfree_model import UNKNOWN, Call, NondeterministicModel, define, get_model


class LossyQueue(NondeterministicModel[tuple[int, ...]]):
    """A queue that may lose what it is given, and then says nothing."""

    name = "lossy-queue"
    operations = {"enqueue": 1, "dequeue": 0}  # noqa: RUF012

    def initial(self) -> Iterator[tuple[int, ...]]:
        yield ()

    def outcomes(self, state: tuple[Any, ...], call: Call) -> Iterator[tuple[object, tuple[Any, ...]]]:
        if call.f == "enqueue":
            yield None, (*state, call.arguments[0])
            yield None, state
        else:
            yield (state[0], state[1:]) if state else (None, state)


def by_choices(model: LossyQueue, calls: list[Call]) -> bool:
    """Try every sequence of choices: the definition of what a nondeterministic object allows."""

    def explain(state: tuple[int, ...], rest: list[Call]) -> bool:
        if not rest:
            return True
        return any(
            rest[0].result in (result, UNKNOWN) and explain(after, rest[1:])
            for result, after in model.outcomes(state, rest[0])
        )

    return explain((), calls)


def test_the_power_set_is_what_choices_allow() -> None:
    model = LossyQueue()
    menu = [Call("enqueue", (1,), None), Call("enqueue", (2,), None)]
    menu += [Call("dequeue", (), result) for result in (None, 1, 2, UNKNOWN)]
    seen = {True: 0, False: 0}
    for calls in itertools.product(menu, repeat=5):
        legal, state = True, model.init()
        for call in calls:
            if legal:
                legal, state = model.step(state, call)
        expected = by_choices(model, list(calls))
        assert legal == expected, calls
        seen[expected] += 1
    assert min(seen.values()) > 500


def test_describe_says_what_was_possible() -> None:
    model = LossyQueue()
    _, state = model.step(model.init(), Call("enqueue", (1,), None))
    text = model.describe(state, Call("dequeue", (), 7))
    assert text.startswith("dequeue() returned 7, but it may return 1 or None when the state is ")
    assert "(1,) or ()" in text or "() or (1,)" in text


STACK = define(
    "my-stack",
    (),
    {
        "push": lambda state, x: (None, (*state, x)),
        "pop": lambda state: (state[-1], state[:-1]) if state else (None, state),
    },
)


def test_a_defined_model_is_the_one_written_out() -> None:
    mine, theirs = STACK, get_model("stack")
    menu = [Call("push", (1,), None), Call("push", (2,), None), *(Call("pop", (), r) for r in (None, 1, 2, UNKNOWN))]
    for calls in itertools.product(menu, repeat=4):
        state, other = mine.init(), theirs.init()
        for call in calls:
            (legal, state), (agreed, other) = mine.step(state, call), theirs.step(other, call)
            assert legal == agreed, calls
        assert state == {other}


def test_a_defined_call_may_be_blocked_or_return_anything() -> None:
    latch = define("latch", False, {"open": lambda state: (UNKNOWN, True), "wait": lambda s: [(None, s)] if s else []})
    closed = latch.init()
    assert latch.step(closed, Call("wait", (), None)) == (False, closed)
    assert latch.step(closed, Call("wait", (), UNKNOWN)) == (False, closed)
    assert "it cannot take effect when the state is False" in latch.describe(closed, Call("wait", (), None))
    legal, opened = latch.step(closed, Call("open", (), "whatever"))
    assert legal
    assert latch.step(opened, Call("wait", (), None)) == (True, opened)


def test_a_defined_model_may_be_split() -> None:
    flags = define(
        "flags", frozenset(), {"set": lambda s, k: (None, s | {k})}, partition=lambda call: call.arguments[0]
    )
    assert flags.partition(Call("set", ("a",), None)) == "a"
    assert STACK.partition(Call("pop", (), None)) is None


def test_definitions_that_cannot_be_are_refused() -> None:
    with pytest.raises(ValueError, match="'push' of 'bad' must be a function of the state and a fixed number"):
        define("bad", (), {"push": lambda state, *x: (None, state)})
    with pytest.raises(ValueError, match="'f' of 'bad' must be"):
        define("bad", (), {"f": lambda: (None, 0)})
    for returned in (None, 3, [3], [(1, 2, 3)], (1, 2, 3)):
        model = define("bad", (), {"f": _constant(returned)})
        with pytest.raises(ValueError, match=r"f\(\): 'f' of 'bad' returned .*expected \(result, state\)"):
            model.step(model.init(), Call("f", (), None))
    with pytest.raises(ValueError, match="has no operation 'peek'; it has push, pop"):
        STACK.step(STACK.init(), Call("peek", (), None))
    with pytest.raises(ValueError, match="'push' of 'my-stack' takes 1 argument"):
        STACK.step(STACK.init(), Call("push", (), None))


def _constant(value: object) -> Any:
    return lambda state: value
