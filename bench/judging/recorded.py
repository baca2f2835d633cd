"""Histories to judge: what simulated processes did to an object, recorded as columns."""

from __future__ import annotations

import heapq
import random
from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa

from latchfree_lincheck import Columns, History

Step = Callable[[Any, random.Random, int], tuple[str, tuple[Any, ...], Callable[[], Any]]]


def _register(state: Any, rng: random.Random, turn: int) -> Any:
    if rng.random() < 0.5:
        return "read", (), lambda: state.get("value")
    return "write", (turn,), lambda: state.update(value=turn)


def _cas_register(state: Any, rng: random.Random, turn: int) -> Any:
    kind, a, b = rng.randrange(3), rng.randrange(5), rng.randrange(5)
    if kind == 0:
        return "read", (), lambda: state.get("value")
    if kind == 1:
        return "write", (a,), lambda: state.update(value=a)

    def compare() -> bool:
        if state.get("value") != a:
            return False
        state["value"] = b
        return True

    return "cas", (a, b), compare


def _map(keys: int) -> Step:
    def step(state: Any, rng: random.Random, turn: int) -> Any:
        kind, key = rng.random(), rng.randrange(keys)
        if kind < 0.5:
            return "get", (key,), lambda: state.get(key)
        if kind < 0.8:

            def put() -> Any:
                old = state.get(key)
                state[key] = turn
                return old

            return "put", (key, turn), put
        return "remove", (key,), lambda: state.pop(key, None)

    return step


def _set(keys: int) -> Step:
    def step(state: Any, rng: random.Random, turn: int) -> Any:
        kind, key = rng.randrange(3), rng.randrange(keys)
        if kind == 0:
            return "contains", (key,), lambda: key in state
        if kind == 1:
            return "add", (key,), lambda: key not in state and state.update({key: True}) is None
        return "remove", (key,), lambda: state.pop(key, False)

    return step


def _mutex(state: Any, rng: random.Random, turn: int) -> Any:
    def acquire() -> bool:
        free = "held" not in state
        state["held"] = True
        return free

    return "try_acquire", (), acquire


def _release(state: Any) -> None:
    """Give back a mutex that is held."""
    del state["held"]


def _append_kv(keys: int) -> Step:
    def step(state: Any, rng: random.Random, turn: int) -> Any:
        kind, key = rng.random(), str(rng.randrange(keys))
        if kind < 0.45:
            return "get", (key,), lambda: state.get(key, "")
        if kind < 0.9:
            piece = f"x {turn} y"
            return "append", (key, piece), lambda: state.update({key: state.get(key, "") + piece})
        return "put", (key, str(turn)), lambda: state.update({key: str(turn)})

    return step


def _list(put: str, take: str, add: Callable[[Any, int], None], remove: Callable[[Any], Any], item: Any) -> Step:
    def step(state: Any, rng: random.Random, turn: int) -> Any:
        held = state.setdefault("items", deque() if put != "insert" else [])
        if rng.random() < 0.5:
            new = item(turn)
            return put, (new,), lambda: add(held, new)
        return take, (), lambda: remove(held) if held else None

    return step


def _scattered(turn: int) -> int:
    """Spread priorities, each once."""
    return turn * 7919 % 1_000_003


OBJECTS: dict[str, Callable[[int], Step]] = {
    "register": lambda keys: _register,
    "cas-register": lambda keys: _cas_register,
    "map": _map,
    "append-kv": _append_kv,
    "set": _set,
    "mutex": lambda keys: _mutex,
    "queue": lambda keys: _list("enqueue", "dequeue", deque.append, deque.popleft, int),
    "stack": lambda keys: _list("push", "pop", deque.append, deque.pop, int),
    "priority-queue": lambda keys: _list("insert", "pop_min", heapq.heappush, heapq.heappop, _scattered),
}


def record(name: str, operations: int, *, threads: int, keys: int = 1, seed: int = 1, crashes: float = 0.0) -> History:
    """Simulate processes that call an object at random; each call takes effect at one instant.

    Parameters
    ----------
    name : str
        A name of `OBJECTS`, and of the model.
    operations, threads, keys, seed : int
        How many calls, by how many processes at a time, on how many keys, and the seed.
    crashes : float
        The share of calls that never return; their process goes on under a new name.
    """
    return History.of_columns(
        name, **_columns(_simulate(name, operations, threads, keys, seed, crashes)), model_hint=name
    )


def record_many(name: str, histories: int, operations: int, *, threads: int, keys: int = 1) -> tuple[Columns, Any]:
    """Simulate many small histories, each with a seed of its own; also return the history of each operation."""
    rows = [_simulate(name, operations, threads, keys, seed, 0.0) for seed in range(histories)]
    columns = Columns.of(**_columns([row for each in rows for row in each]), object=None)
    return columns, np.repeat(np.arange(histories), operations)


def _simulate(name: str, operations: int, threads: int, keys: int, seed: int, crashes: float) -> list[Any]:
    """Return the calls as rows."""
    rng = random.Random(seed)
    step = OBJECTS[name](keys)
    state: dict[Any, Any] = {}
    names = list(range(threads))
    running: list[Any] = [None] * threads
    rows: list[Any] = []
    time = 0
    while len(rows) < operations or any(running):
        at = rng.randrange(threads)
        call = running[at]
        if call is None:
            if len(rows) < operations:
                f, arguments, run = step(state, rng, len(rows))
                running[at] = call = [names[at], f, arguments, None, time, None, run]
                rows.append(call)
                time += 1
        elif call[6] is not None:
            if name == "mutex" and "held" in state and rng.random() < 0.6:
                call[1], call[6] = "release", lambda: _release(state)
            call[3] = call[6]()
            call[6] = None
            if rng.random() < crashes:
                running[at] = None
                names[at] += threads
        else:
            call[5] = time
            time += 1
            running[at] = None
    return rows


def _columns(rows: list[Any]) -> dict[str, Any]:
    process, f, arguments, result, invoke, return_, _ = zip(*rows, strict=True)
    width = max(map(len, arguments))
    return {
        "process": np.array(process),
        "f": pa.array(f).dictionary_encode(),
        "arguments": [_numbers([each[i] if i < len(each) else None for each in arguments]) for i in range(width)],
        "result": _numbers(result),
        "invoke": np.array(invoke),
        "return_": _numbers(return_),
    }


def _numbers(values: Any) -> Any:
    """Return integers and None as a masked array; an Arrow array of text."""
    if any(isinstance(value, str) for value in values):
        return pa.array(values, pa.string())
    absent = [value is None for value in values]
    return np.ma.masked_array([0 if value is None else int(value) for value in values], absent)
