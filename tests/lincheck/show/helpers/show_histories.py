"""Recorded-looking histories of any length: processes that overlap, legal or with one result made wrong."""

import random
from dataclasses import replace

from latchfree_lincheck import History, Operation
from latchfree_model import UNKNOWN, Call, MapModel, get_model


def map_history(
    operations: int,
    seed: int,
    *,
    processes: int = 6,
    keys: int = 8,
    wrong: bool = False,
    pending: int = 0,
    whole: bool = False,
    name: str = "",
) -> History:
    """Simulate a map whose operations take effect at one instant between call and return."""
    rng = random.Random(f"show {operations} {seed}")
    model = MapModel()
    state = model.init()
    running: dict[int, list[object]] = {}
    done: list[Operation] = []
    time = started = 0
    while started < operations or running:
        process = rng.randrange(processes)
        if process not in running:
            if started < operations:
                started += 1
                time += 1
                running[process] = [_call(rng, keys, started, whole), time, None]
        elif running[process][2] is None:
            call = running[process][0]
            result, state = model.apply(state, call)
            running[process][2] = (result,)
        else:
            call, invoke, (result,) = running.pop(process)
            time += 1
            done.append(Operation(process, call.f, call.arguments, result, invoke, time))
    done.sort(key=lambda each: each.invoke)
    if wrong:
        at = next(i for i in range(len(done) * 3 // 5, len(done)) if done[i].f == "get")
        done[at] = replace(done[at], result=10 * operations)
    last = {operation.process: i for i, operation in enumerate(done)}
    for i in sorted(last.values())[:pending]:
        done[i] = replace(done[i], result=UNKNOWN, return_=None)
    return History(name or f"map of {operations:,}", done, "map")


def _call(rng: random.Random, keys: int, number: int, whole: bool) -> Call:
    key = rng.randrange(keys)
    f = rng.choice(["get", "get", "put", "put", "remove", "put_if_absent", "replace_if", "contains"])
    if whole and rng.random() < 0.05:
        return Call(rng.choice(["snapshot", "size", "snapshot", "size", "clear"]), (), UNKNOWN)
    if f in ("put", "put_if_absent"):
        return Call(f, (key, number), UNKNOWN)
    if f == "replace_if":
        return Call(f, (key, number - rng.randrange(1, 40), number), UNKNOWN)
    return Call(f, (key,), UNKNOWN)


def replay(history: History, model_name: str, order) -> list:
    """Return the states along an order, the first one included; each step must be legal."""
    model = get_model(model_name)
    states = [model.init()]
    for index in order:
        legal, state = model.step(states[-1], history.operations[index].call)
        assert legal, history.operations[index]
        states.append(state)
    return states
