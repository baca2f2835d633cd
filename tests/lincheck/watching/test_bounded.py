"""What a monitor keeps does not grow with the history, where the state of the object does not."""

import gc
import random
from types import FunctionType, ModuleType

import pytest

from latchfree_lincheck import Operation
from latchfree_lincheck.watching import Event, Monitor, monitor
from latchfree_lincheck.watching.frontier import Configuration
from latchfree_model import UNKNOWN, Call, get_model

MODELS = ("register", "cas-register", "counter", "mutex", "map", "set", "queue", "stack", "priority-queue")


def calls(rng, model, state, number):
    """Return a call of a client that is the so-manieth; at most a few items or keys are there at once."""
    item, key = number % 1000, number // 8
    few = len(state) < 3 if isinstance(state, tuple | frozenset) else True
    match model:
        case "register":
            return rng.choice([("read", ()), ("write", (number,))])
        case "cas-register":
            return rng.choice([("read", ()), ("write", (rng.randrange(3),)), ("cas", (rng.randrange(3), number % 3))])
        case "counter":
            return rng.choice([("read", ()), ("add", (rng.choice([-1, 1]),))])
        case "mutex":
            return ("release", ()) if state else ("try_acquire", ())
        case "map":  # keys come, and go for ever
            return rng.choice([("get", (key,)), ("put", (key, number)), ("remove", (key - 1,)), ("remove", (key - 2,))])
        case "set":
            return rng.choice([("contains", (key,)), ("add", (key,)), ("remove", (key - 1,)), ("remove", (key - 2,))])
        case "queue":
            return ("enqueue", (item,)) if few and rng.random() < 0.5 else ("dequeue", ())
        case "stack":
            return ("push", (item,)) if few and rng.random() < 0.5 else ("pop", ())
        case _:
            return ("insert", (item,)) if few and rng.random() < 0.5 else ("pop_min", ())


def watched(name, operations, seed=1, clients=3):
    """Yield the monitor of a run of some clients, at each tenth of it; a call takes effect when it is invoked."""
    rng, model, found = random.Random(seed), get_model(name), Monitor(name)
    state, running, number = model.init(), {}, 0
    while number < operations:
        client = rng.randrange(clients)
        if client in running:
            found.feed(Event("ok", client, result=running.pop(client)))
            continue
        number += 1
        f, arguments = calls(rng, name, state, number)
        result, state = model.apply(state, Call(f, arguments, UNKNOWN))
        found.feed(Event("invoke", client, f, arguments))
        running[client] = result
        if number % (operations // 10) == 0:
            assert found.verdict == "ok", found.explain()
            yield found


def kept(root):
    """Return how many operations, calls and configurations an object leads to."""
    count, seen, left = 0, set(), [root]
    while left:
        each = left.pop()
        if id(each) in seen or isinstance(each, type | ModuleType | FunctionType):
            continue
        seen.add(id(each))
        count += isinstance(each, Operation | Call | Configuration)
        left += gc.get_referents(each)
    return count


@pytest.mark.parametrize("name", MODELS)
def test_what_is_kept_does_not_grow(name):
    counts = [kept(each) for each in watched(name, 3_000)]
    assert len(counts) == 10
    assert max(counts) < 150, counts


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_what_is_kept_does_not_grow_in_a_long_run(name, rng):
    counts = [kept(each) for each in watched(name, 100_000, rng.randrange(10**9))]
    assert max(counts) < 250, counts


def test_a_monitor_that_keeps_what_returned_is_caught(monkeypatch):
    monkeypatch.setattr(monitor, "RECENT", None)
    counts = [kept(each) for each in watched("register", 3_000)]
    assert max(counts) > 2_000


def test_a_monitor_that_keeps_keys_is_caught(monkeypatch):
    monkeypatch.setattr(monitor.Monitor, "_forget", lambda *_: None)
    counts = [kept(each) for each in watched("map", 3_000)]
    assert max(counts) > 1_000


def test_lost_operations_are_kept_by_their_kinds():
    """One may take effect at any later time, so each kind stays; equal ones are one kind."""
    counts = []
    for different in (1, 50):
        found = Monitor("counter")
        for number in range(200):
            found.feed(Event("invoke", 0, "add", (number % different,)))
            found.feed(Event("info", 0))
        counts.append(kept(found))
    assert counts[0] < 10 <= 50 <= counts[1]
