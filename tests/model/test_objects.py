"""The models of sets, counters, queues, stacks, priority queues and mutexes against plain Python objects."""

import heapq
import random
from collections import deque
from typing import Any

import pytest

from latchfree_model import UNKNOWN, BoundedQueueModel, Call, Model, get_model


class PlainSet(set[int]):
    def add(self, x: int) -> bool:  # type: ignore[override]
        absent = x not in self
        super().add(x)
        return absent

    def remove(self, x: int) -> bool:  # type: ignore[override]
        present = x in self
        super().discard(x)
        return present

    def contains(self, x: int) -> bool:
        return x in self

    def snapshot(self) -> list[int]:
        return list(self)

    def size(self) -> int:
        return len(self)


class PlainCounter:
    value = 0

    def add(self, n: int) -> int:
        self.value += n
        return self.value - n

    def read(self) -> int:
        return self.value


class PlainQueue(deque[int]):
    limit = 10**9

    def enqueue(self, x: int) -> bool:
        if len(self) < self.limit:
            self.append(x)
            return True
        return False

    def dequeue(self) -> int | None:
        return self.popleft() if self else None


class PlainBoundedQueue(PlainQueue):
    limit = 4


class PlainStack(list[int]):
    def push(self, x: int) -> None:
        self.append(x)

    def pop(self) -> int | None:  # type: ignore[override]
        return super().pop() if self else None


class PlainHeap:
    def __init__(self) -> None:
        self.items: list[int] = []

    def insert(self, x: int) -> None:
        heapq.heappush(self.items, x)

    def pop_min(self) -> int | None:
        return heapq.heappop(self.items) if self.items else None


PLAIN: dict[str, type] = {
    "set": PlainSet,
    "counter": PlainCounter,
    "queue": PlainQueue,
    "bounded-queue": PlainBoundedQueue,
    "stack": PlainStack,
    "priority-queue": PlainHeap,
}
WRONG = {"snapshot": [99], "size": -1}


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("name", PLAIN)
def test_agrees_with_a_plain_object(name: str, seed: int) -> None:
    rng = random.Random(f"{name} {seed}")
    model, plain = get_model(name), PLAIN[name]()
    state = model.init()
    for _ in range(300):
        f = rng.choice(list(model.operations))
        arguments = tuple(rng.randrange(1, 4) for _ in range(model.operations[f]))
        result = getattr(plain, f)(*arguments)
        legal, unchanged = model.step(state, Call(f, arguments, WRONG.get(f, "wrong")))
        assert legal == (f in model.silent), (f, arguments)
        assert legal or unchanged == state
        legal, unseen = model.step(state, Call(f, arguments, UNKNOWN))
        assert legal
        legal, state = model.step(state, Call(f, arguments, result))
        assert legal, (f, arguments, result)
        assert unseen == state
        hash(state)


def step(model: Model[Any], state: Any, f: str, *arguments: object, result: object = None) -> tuple[bool, Any]:
    return model.step(state, Call(f, arguments, result))


def test_a_mutex_blocks_whatever_the_result() -> None:
    model = get_model("mutex")
    free = model.init()
    legal, held = step(model, free, "acquire")
    assert legal
    for result in (None, True, UNKNOWN):
        assert step(model, held, "acquire", result=result) == (False, held)
        assert step(model, free, "release", result=result) == (False, free)
    assert step(model, free, "try_acquire", result=True) == (True, held)
    assert step(model, free, "try_acquire", result=False) == (False, free)
    assert step(model, held, "try_acquire", result=False) == (True, held)
    assert step(model, held, "try_acquire", result=True) == (False, held)
    assert step(model, held, "release") == (True, free)
    assert model.describe(held, Call("acquire", (), None)) == "acquire() returned None, but the mutex was held"


@pytest.mark.parametrize(
    ("name", "history", "call", "expected"),
    [
        ("set", [("add", 3)], Call("add", (3,), True), "add(3) returned True, but 3 was present"),
        ("set", [("add", 3)], Call("size", (), 2), "size() returned 2, but the set held 1 element(s)"),
        ("set", [("add", 3)], Call("snapshot", (), []), "snapshot() returned [], but the set held 3"),
        ("set", [], Call("snapshot", (), [1]), "snapshot() returned [1], but the set held nothing"),
        ("counter", [("add", 3)], Call("read", (), 2), "read() returned 2, but the counter held 3"),
        (
            "queue",
            [("enqueue", 1), ("enqueue", 2)],
            Call("dequeue", (), 2),
            "dequeue() returned 2, but the queue held 1, 2 (oldest first)",
        ),
        (
            "bounded-queue:1",
            [("enqueue", 1)],
            Call("enqueue", (2,), True),
            "enqueue(2) returned True, but the queue held 1, 1 of at most 1",
        ),
        (
            "stack",
            [("push", 1), ("push", 2)],
            Call("pop", (), 1),
            "pop() returned 1, but the stack held 2, 1 (latest first)",
        ),
        (
            "priority-queue",
            [("insert", 2), ("insert", 1)],
            Call("pop_min", (), 2),
            "pop_min() returned 2, but the queue held 1, 2 (least first)",
        ),
        (
            "queue",
            [("enqueue", n) for n in range(20)],
            Call("dequeue", (), 7),
            "dequeue() returned 7, but the queue held 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, ... (20 in all)"
            " (oldest first)",
        ),
    ],
)
def test_describe(name: str, history: list[Any], call: Call, expected: str) -> None:
    model = get_model(name)
    state = model.init()
    for f, *arguments in history:
        legal, state = step(model, state, f, *arguments, result=UNKNOWN)
        assert legal
    assert model.describe(state, call) == expected


@pytest.mark.parametrize(
    ("name", "calls", "message"),
    [
        ("set", [Call("snapshot", (), 5)], r"snapshot\(\) returned 5: expected a collection of hashable elements"),
        ("set", [Call("snapshot", (), "ab")], "expected a collection"),
        ("counter", [Call("add", ("1",), 0)], "'add' of 'counter' takes an integer, not '1'"),
        ("counter", [Call("add", (True,), 0)], "takes an integer, not True"),
        ("queue", [Call("enqueue", (None,), None)], "None means that nothing is there"),
        ("stack", [Call("push", (None,), None)], "None means that nothing is there"),
        ("priority-queue", [Call("insert", (None,), None)], "None means that nothing is there"),
        ("priority-queue", [Call("insert", (1,), None), Call("insert", ("a",), None)], "must be comparable"),
    ],
)
def test_malformed_calls(name: str, calls: list[Call], message: str) -> None:
    model = get_model(name)
    state = model.init()
    for call in calls[:-1]:
        _, state = model.step(state, call)
    with pytest.raises(ValueError, match=message):
        model.step(state, calls[-1])


def test_a_snapshot_that_lists_an_element_twice_is_illegal() -> None:
    model = get_model("set")
    _, state = step(model, model.init(), "add", 1, result=True)
    assert step(model, state, "snapshot", result=[1, 1]) == (False, state)
    assert step(model, state, "snapshot", result={1}) == (True, state)


def test_partition() -> None:
    assert get_model("set").partition(Call("add", (3,), True)) == 3
    assert {get_model("set").partition(Call(f, (), None)) for f in ("snapshot", "size")} == {None}
    for name in ("counter", "queue", "bounded-queue", "stack", "priority-queue", "mutex", "token-bucket"):
        model = get_model(name)
        assert {model.partition(Call(f, (1,) * n, None)) for f, n in model.operations.items()} == {None}


def test_models_with_a_parameter() -> None:
    assert get_model("bounded-queue:4") is get_model("bounded-queue")
    assert get_model("bounded-queue:9").name == "bounded-queue:9"
    assert isinstance(get_model("bounded-queue:9"), BoundedQueueModel)
    for name in ("bounded-queue:x", "bounded-queue:-1", "map:3", "queue:"):
        with pytest.raises(ValueError, match=f"no model is called '{name}'"):
            get_model(name)
    with pytest.raises(ValueError, match="holds at least 1 item, not 0"):
        get_model("bounded-queue:0")
    assert get_model("token-bucket:4") is get_model("token-bucket")
    assert get_model("token-bucket:9").init() == 9
    with pytest.raises(ValueError, match="holds at least 1 token, not 0"):
        get_model("token-bucket:0")


def test_a_token_bucket_holds_no_more_than_its_burst() -> None:
    model = get_model("token-bucket:2")
    assert step(model, 2, "tick") == (True, 2)
    assert step(model, 0, "tick") == (True, 1)
    assert step(model, 1, "acquire", 2, result=False) == (True, 1)
    assert step(model, 1, "acquire", 2, result=True) == (False, 1)
    assert model.describe(1, Call("acquire", (2,), True)) == (
        "acquire(2) returned True, but the bucket held 1 of at most 2 tokens"
    )
    for wrong in (0, -1, True, "1", None):
        with pytest.raises(ValueError, match="tokens are counted"):
            model.step(1, Call("acquire", (wrong,), True))


CALLS: dict[str, list[tuple[str, tuple[object, ...], list[object]]]] = {
    "register": [("write", (1,), [None]), ("write", (2,), [None]), ("read", (), [None, 1, 2])],
    "cas-register": [("write", (1,), [None]), ("cas", (1, 2), [True, False]), ("cas", (None, 1), [True, False])],
    "append-kv": [("put", ("k", "x"), [None]), ("append", ("k", "y"), [None]), ("get", ("k",), ["", "x", "xy"])],
    "map": [
        ("put", ("k", 1), [None, 1, 2]),
        ("put_if_absent", ("k", 2), [None, 1, 2]),
        ("replace", ("k", 2), [None, 1, 2]),
        ("replace_if", ("k", 1, 2), [True, False]),
        ("remove", ("k",), [None, 1, 2]),
        ("remove_if", ("k", 2), [True, False]),
        ("contains", ("k",), [True, False]),
        ("get", ("k",), [None, 1, 2]),
    ],
    "set": [(f, (1,), [True, False]) for f in ("add", "remove", "contains")],
    "counter": [("add", (1,), [0, 1, None]), ("read", (), [0, 1])],
    "queue": [("enqueue", (1,), [None]), ("dequeue", (), [None, 1])],
    "bounded-queue:1": [("enqueue", (1,), [True, False]), ("dequeue", (), [None, 1])],
    "stack": [("push", (1,), [None]), ("pop", (), [None, 1])],
    "priority-queue": [("insert", (1,), [None]), ("pop_min", (), [None, 1])],
    "mutex": [("acquire", (), [None]), ("release", (), [None]), ("try_acquire", (), [True, False])],
    "token-bucket:2": [("acquire", (1,), [True, False]), ("acquire", (2,), [True, False]), ("tick", (), [None])],
    "topic-index": [
        ("subscribe", ("a", 1), [None]),
        ("unsubscribe", ("a", 1), [True, False]),
        ("match", ("a",), [[], [1]]),
    ],
}


@pytest.mark.parametrize("name", CALLS)
def test_what_has_no_effect_has_none_and_what_overwrites_does(name: str) -> None:
    model = get_model(name)
    calls = [Call(f, arguments, result) for f, arguments, results in CALLS[name] for result in [*results, UNKNOWN]]
    states = {model.init()}
    for _ in range(4):
        states |= {after for state in states for call in calls for legal, after in [model.step(state, call)] if legal}
    found = 0
    for call in calls:
        steps = {state: after for state in states for legal, after in [model.step(state, call)] if legal}
        if model.effectless(call):
            assert all(after == state for state, after in steps.items()), call
            found += 1
        if call.f in model.overwriting and call.result is UNKNOWN:
            assert len(set(steps.values())) == 1, call
            assert set(steps) == states, call
    assert found
