"""The search by dequeues against the search over states, and on runs that are long and hold few values."""

import numpy as np
import pytest
from lincheck_queues import queue_run, with_results_swapped
from lincheck_random import random_history

from latchfree_lincheck import History, Operation, check
from latchfree_lincheck.engine.bounds import Deadline
from latchfree_lincheck.engine.dequeues import search
from latchfree_lincheck.engine.dequeues.kernels import advance, configurations, taking
from latchfree_lincheck.engine.encoding.encode import encode
from latchfree_lincheck.engine.encoding.problem import Problem
from latchfree_lincheck.engine.frontier.search import JustInTime
from latchfree_lincheck.engine.outcome import finish
from latchfree_model import UNKNOWN, get_model

MEMORY = 1 << 28
FOREVER = Deadline(None)
QUEUE = get_model("queue")


def outcomes(history):
    """Return what the search by dequeues says of a queue, if it serves, and what the frontier says."""
    problem = Problem.of(*encode(QUEUE, history, FOREVER), 0)
    searcher = search.ByDequeues()
    mine = finish(searcher.start(problem, MEMORY, FOREVER), FOREVER) if searcher.accepts(problem, MEMORY) else None
    return mine, finish(JustInTime().start(problem, MEMORY, FOREVER), FOREVER)


def explain(history, order):
    """Raise unless an order is a legal run of a queue that keeps real time."""
    state, latest = QUEUE.init(), -1
    for index in order:
        each = history.operations[index]
        legal, state = QUEUE.step(state, each.call)
        assert legal, (each, [str(history.operations[i]) for i in order])
        latest = max(latest, each.invoke)
        assert each.return_ is None or latest < each.return_ or latest == each.invoke


def compare(histories):
    """Compare the two searches; return how many histories were ok and how many were violations."""
    told = [0, 0]
    for history in histories:
        mine, theirs = outcomes(history)
        if mine is None:
            continue
        assert not mine.gave_up
        assert mine.blocked == theirs.blocked, [str(each) for each in history.operations]
        explain(history, mine.order.tolist())
        if mine.blocked is None:
            done = {place for place, each in enumerate(history.operations) if each.return_ is not None}
            assert done <= set(mine.order.tolist())
        told[mine.blocked is not None] += 1
    return told


def runs(seeds, most=12):
    """Yield small runs, as they are and with results exchanged."""
    for seed in seeds:
        run = queue_run(seed, 2 + seed % 4, 3 + seed % most, 1 + seed % 3, lost=(0, 0.2)[seed % 2], takes=0.5)
        yield run
        yield with_results_swapped(run, seed)


def test_it_agrees_with_the_search_over_states():
    assert min(compare(runs(range(300)))) > 20
    assert min(compare(random_history("queue", seed) for seed in range(300))) > 20


@pytest.mark.slow
def test_it_agrees_with_the_search_over_states_on_many():
    assert min(compare(runs(range(1000, 40_000), 16))) > 1000
    assert min(compare(random_history("queue", seed, 9) for seed in range(1000, 40_000))) > 1000


@pytest.mark.parametrize("change", ["options", "empties", "order"])
def test_a_search_that_forgets_a_rule_is_caught(change, monkeypatch):
    """The kernel runs as Python, with a fault in it."""
    modules = (advance, configurations, taking)
    python = {
        name: each.py_func
        for module in modules
        for name, each in vars(module).items()
        if hasattr(each, "py_func") and each.__module__ == module.__name__
    }

    def put(name, function):
        for module in modules:
            if hasattr(module, name):
                monkeypatch.setattr(module, name, function)

    for call, name in (
        ("advance_dequeues", "advance"),
        ("rehash_dequeues", "rehash"),
        ("write_dequeues", "write_path"),
    ):
        monkeypatch.setattr(search.ENGINE, call, python[name])
    for name, function in python.items():
        put(name, function)
    put("mix", lambda a, b: hash((int(a), int(b))) & 0xFFFF)
    put("lowest_bit", lambda bits: (int(bits) & -int(bits)).bit_length() - 1)
    if change == "options":  # any enqueue that was called may be next
        put("find_options", lambda calls, *rest: python["find_options"](calls._replace(return_=far(calls)), *rest))
    elif change == "empties":  # a dequeue that finds nothing takes effect at any time
        put("holds", lambda *_: False)
    else:  # of equal enqueues the last to return is taken
        put("_offer", lambda calls, *rest: python["_offer"](calls._replace(return_=-calls.return_), *rest))
    with pytest.raises(AssertionError):
        compare(runs(range(150)))


def far(calls):
    return np.full_like(calls.return_, 1 << 60)


@pytest.mark.parametrize("threads", [4, 16])
@pytest.mark.parametrize("values", [1, 3])
def test_long_runs_are_decided(threads, values):
    run = queue_run("long", threads, 3_000, values, lost=0.001)
    verdict = check(run, "queue")
    assert verdict.verdict == "ok"
    explain(run, verdict.witness)
    late = max(each.return_ for each in run.operations if each.return_ is not None)
    more = [Operation("late", "dequeue", (), 0, late + 2 * n + 1, late + 2 * n + 2) for n in range(3_000)]
    verdict = check(History("too many", [*run.operations, *more]), "queue")
    assert verdict.verdict == "violation"
    assert verdict.failing is not None
    assert verdict.failing >= len(run)


def test_a_burst_of_puts_before_a_burst_of_takes():
    """No search over states gets through: every pair of puts that overlap doubles the states."""
    puts = [Operation(n, "enqueue", (n % 2,), None, n, n + 16) for n in range(200)]
    takes = [Operation("t", "dequeue", (), n % 2, 1000 + 2 * n, 1001 + 2 * n) for n in range(200)]
    assert check(History("bursts", [*puts, *takes]), "queue").verdict == "ok"
    gap = Operation("t", "dequeue", (), None, 1200, 1201)
    verdict = check(History("gap", [*puts, *takes[:100], gap]), "queue")
    assert (verdict.verdict, verdict.engine, verdict.failing) == ("violation", "dequeues", 300)


def test_what_it_does_not_serve():
    put, take = Operation(0, "enqueue", (1,), None, 0, 1), Operation(1, "dequeue", (), UNKNOWN, 2, 3)
    for operations, model in [([put, take], "queue"), ([put], "bounded-queue")]:
        problem = Problem.of(*encode(get_model(model), History("h", operations), FOREVER), 0)
        assert not search.ByDequeues().accepts(problem, MEMORY)
