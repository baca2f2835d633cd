"""The search by dequeues against the search over states, and on runs that are long and hold few values."""

import random
from dataclasses import replace

import numpy as np
import pytest
from lincheck_queues import queue_run, with_results_swapped
from lincheck_random import random_history
from lincheck_shapes import UNIVERSES, as_history, brute_force, histories, shapes, transitions

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


def outcomes(history, model=QUEUE):
    """Return what the search by dequeues says of a queue, if it serves, and what the frontier says."""
    problem = Problem.of(*encode(model, history, FOREVER), 0)
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


def compare(histories, model=QUEUE):
    """Compare the two searches; return how many histories were ok and how many were violations."""
    told = [0, 0]
    for history in histories:
        mine, theirs = outcomes(history, model)
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


def hide(history, seed, share=0.3):
    """Return a history of which some dequeues returned with a result that nobody saw."""
    rng = random.Random(f"hide {seed}")
    hidden = [
        replace(each, result=UNKNOWN) if each.f == "dequeue" and rng.random() < share else each
        for each in history.operations
    ]
    return History(history.name, hidden)


def bounded(history):
    """Return the same run of a queue with a bound, which was not full."""
    operations = [
        replace(each, result=True) if each.f == "enqueue" and each.return_ is not None else each
        for each in history.operations
    ]
    return History(history.name, operations)


def disagreements(name, operations, every):
    """Compare the search with brute force on every so-manieth small history; return how often it said what."""
    calls, model, told = UNIVERSES[name], get_model(name), [0, 0]
    steps = transitions(model, calls, operations)
    for shape in shapes(operations):
        made = list(histories(shape, calls))[::every]
        for chosen, expected in zip(made, brute_force(steps, shape, made).tolist(), strict=True):
            history = as_history(shape, [calls[number] for number in chosen])
            problem = Problem.of(*encode(model, history, FOREVER), 0)
            searcher = search.ByDequeues()
            if searcher.accepts(problem, MEMORY):
                found = finish(searcher.start(problem, MEMORY, FOREVER), FOREVER)
                assert (found.blocked is None) == expected, [str(each) for each in history.operations]
                told[found.blocked is not None] += 1
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


def test_it_agrees_where_nobody_saw_what_was_taken():
    assert min(compare(hide(run, seed) for seed, run in enumerate(runs(range(300))))) > 20


def test_it_agrees_on_queues_with_a_bound_that_are_never_full():
    model = get_model("bounded-queue:6")
    assert min(compare((bounded(run) for run in runs(range(300))), model)) > 20


@pytest.mark.parametrize("name", ["queue", "bounded-queue:2"])
def test_it_agrees_with_brute_force(name):
    for operations, every in ((2, 1), (3, 3), (4, 101)):
        assert min(disagreements(name, operations, every)) >= 2


@pytest.mark.slow
@pytest.mark.parametrize(("operations", "every"), [(3, 1), (4, 1), (5, 37)])
@pytest.mark.parametrize("name", ["queue", "bounded-queue:2"])
def test_it_agrees_with_brute_force_on_all(name, operations, every):
    assert min(disagreements(name, operations, every)) >= 2


@pytest.mark.slow
def test_it_agrees_where_nobody_saw_what_was_taken_on_many():
    assert min(compare(hide(run, seed) for seed, run in enumerate(runs(range(1000, 20_000), 16)))) > 1000
    assert min(compare((bounded(run) for run in runs(range(1000, 10_000), 16)), get_model("bounded-queue:7"))) > 1000


@pytest.mark.slow
def test_it_agrees_with_the_search_over_states_on_many():
    assert min(compare(runs(range(1000, 40_000), 16))) > 1000
    assert min(compare(random_history("queue", seed, 9) for seed in range(1000, 40_000))) > 1000


@pytest.mark.parametrize("change", ["options", "empties", "order", "hidden", "unseen"])
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
    elif change == "hidden":  # a dequeue whose result nobody saw never finds nothing
        put("_find_nothing", lambda *_: None)
    elif change == "unseen":  # it always takes the item that would come first if all were alike
        put("find_options", lambda *given: min(python["find_options"](*given), 1))
    else:  # of equal enqueues the last to return is taken
        put("_offer", lambda calls, *rest: python["_offer"](calls._replace(return_=-calls.return_), *rest))
    with pytest.raises(AssertionError):
        compare(hide(run, seed, 0.2) for seed, run in enumerate(runs(range(150))))


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


@pytest.mark.parametrize("threads", [4, 16])
def test_long_runs_are_decided_where_nobody_saw_what_was_taken(threads):
    run = hide(queue_run("long", threads, 3_000, 2, takes=0.55), "long", 0.05)
    verdict = check(run, "queue")
    assert verdict.verdict == "ok"
    explain(run, verdict.witness)


def test_a_long_run_of_a_queue_with_a_bound_that_is_never_full():
    run = bounded(queue_run("long", 8, 3_000, 2, takes=0.5))
    assert check(run, "bounded-queue:1000").verdict == "ok"


def test_a_burst_of_puts_before_a_burst_of_takes():
    """No search over states gets through: every pair of puts that overlap doubles the states."""
    puts = [Operation(n, "enqueue", (n % 2,), None, n, n + 16) for n in range(200)]
    takes = [Operation("t", "dequeue", (), n % 2, 1000 + 2 * n, 1001 + 2 * n) for n in range(200)]
    assert check(History("bursts", [*puts, *takes]), "queue").verdict == "ok"
    gap = Operation("t", "dequeue", (), None, 1200, 1201)
    verdict = check(History("gap", [*puts, *takes[:100], gap]), "queue")
    assert (verdict.verdict, verdict.engine, verdict.failing) == ("violation", "dequeues", 300)


def test_what_it_does_not_serve():
    """A queue that may be full, or was."""
    put, take = Operation(0, "enqueue", (1,), True, 0, 1), Operation(1, "dequeue", (), 1, 2, 3)
    more = [replace(put, process=n, invoke=2 * n, return_=2 * n + 1) for n in range(2, 6)]
    for operations, serves in [([put, take], True), ([put, take, *more], True), ([put, *more], False)]:
        problem = Problem.of(*encode(get_model("bounded-queue:4"), History("h", operations), FOREVER), 0)
        assert search.ByDequeues().accepts(problem, MEMORY) == serves
    full = History("h", [put, replace(put, process=2, result=False)])
    problem = Problem.of(*encode(get_model("bounded-queue:4"), full, FOREVER), 0)
    assert not search.ByDequeues().accepts(problem, MEMORY)
