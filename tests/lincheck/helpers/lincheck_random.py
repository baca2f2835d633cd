"""Random small histories of every built-in model: legal ones, corrupted ones, with pending and unknown results."""

import random
from dataclasses import replace

from latchfree_lincheck import History, Operation
from latchfree_model import BLOCKED, UNKNOWN, Call, get_model

CALLS = {
    "register": [("read", ""), ("write", "v"), ("write", "v")],
    "cas-register": [("read", ""), ("write", "v"), ("cas", "vv"), ("cas", "vv")],
    "append-kv": [("get", "k"), ("put", "kt"), ("append", "kt"), ("append", "kt")],
    "map": [
        ("get", "k"),
        ("put", "kv"),
        ("put", "kv"),
        ("remove", "k"),
        ("put_if_absent", "kv"),
        ("replace", "kv"),
        ("replace_if", "kvv"),
        ("remove_if", "kv"),
        ("contains", "k"),
    ],
    "whole-map": [
        ("get", "k"),
        ("put", "kv"),
        ("put", "kv"),
        ("remove", "k"),
        ("put_if_absent", "kv"),
        ("replace_if", "kvv"),
        ("snapshot", ""),
        ("size", ""),
        ("clear", ""),
    ],
    "set": [("add", "k"), ("remove", "k"), ("contains", "k")],
    "whole-set": [("add", "k"), ("add", "k"), ("remove", "k"), ("contains", "k"), ("snapshot", ""), ("size", "")],
    "counter": [("add", "v"), ("add", "v"), ("read", "")],
    "queue": [("enqueue", "v"), ("dequeue", "")],
    "bounded-queue": [("enqueue", "v"), ("enqueue", "v"), ("dequeue", "")],
    "stack": [("push", "v"), ("pop", "")],
    "priority-queue": [("insert", "v"), ("pop_min", "")],
    "mutex": [("acquire", ""), ("release", ""), ("try_acquire", "")],
}
KINDS = tuple(CALLS)


def model_of(kind: str):
    """Return the model of a kind of history."""
    return get_model({"bounded-queue": "bounded-queue:2"}.get(kind, kind.removeprefix("whole-")))


def random_history(kind: str, seed: int, most: int = 7) -> History:
    """Simulate a few processes, then perhaps corrupt results, lose returns and hide results."""
    rng = random.Random(f"{kind} {seed}")
    model = model_of(kind)
    operations = _simulate(rng, kind, model, rng.randint(1, most), rng.randint(1, 4))
    if rng.random() < 0.6:
        for _ in range(rng.randint(1, 2)):
            i = rng.randrange(len(operations))
            operations[i] = replace(operations[i], result=_other_result(rng, kind, operations, i))
    for i, operation in enumerate(operations):
        if rng.random() < 0.05:
            operations[i] = replace(operation, result=UNKNOWN)
    last = {operation.process: i for i, operation in enumerate(operations)}
    lost = rng.choice((0, 0.2, 0.8))
    for i in last.values():
        if rng.random() < lost:
            operations[i] = replace(operations[i], result=UNKNOWN, return_=None)
    if rng.random() < 0.3:
        rng.shuffle(operations)
    return History(f"{kind}-{seed}", operations)


def _simulate(rng, kind, model, count, processes):
    """Run calls that take effect at one instant between invocation and return."""
    state = model.init()
    running = {}
    operations = []
    time = 0
    started = 0
    while started < count or running:
        process = rng.randrange(processes)
        time += 1
        if process not in running:
            if started < count:
                started += 1
                f, shape = rng.choice(CALLS[kind])
                running[process] = [
                    Call(f, tuple(_argument(rng, kind, letter) for letter in shape), UNKNOWN),
                    time,
                    None,
                ]
        elif running[process][2] is None:
            call, invoke, _ = running[process]
            result, after = model.apply(state, call)
            if result is BLOCKED:
                if all(each[2] is None for each in running.values()):
                    running[process][0] = Call("try_acquire", (), UNKNOWN)
                continue
            state = after
            running[process][2] = Call(call.f, call.arguments, result)
        else:
            _, invoke, call = running.pop(process)
            result = call.result
            if kind == "whole-map" and call.f == "snapshot" and rng.random() < 0.5:
                result = dict(result)
            operations.append(Operation(process, call.f, call.arguments, result, invoke, time))
    return sorted(operations, key=lambda operation: operation.invoke)


def _argument(rng, kind, letter):
    if letter == "k":
        return rng.choice("abc" if kind.startswith("whole-") else "ab")
    if kind == "counter":
        return rng.randrange(-1, 3)
    if letter == "t":
        return rng.choice(["x", "y", "xy", "", "é"])
    return rng.randrange(3)


def _other_result(rng, kind, operations, i):
    """Return a result of the right kind that some operation of the same name, or chance, suggests."""
    f = operations[i].f
    same = [operation.result for operation in operations if operation.f == f]
    if f in ("replace_if", "remove_if", "contains", "cas"):
        return rng.random() < 0.5
    if f == "size":
        return rng.randrange(4)
    if f in ("add", "remove", "contains", "try_acquire") and any(isinstance(result, bool) for result in same):
        return rng.random() < 0.5
    if f == "snapshot" and kind == "whole-set":
        return tuple(key for key in "abc" if rng.random() < 0.5)
    if f == "snapshot":
        return tuple((key, rng.randrange(3)) for key in "abc" if rng.random() < 0.5)
    if any(isinstance(result, str) for result in same):
        return rng.choice(["", "x", "xy", "yx", "xx", "z"])
    return rng.choice([None, 0, 1, 2, 9])
