"""Every compiled engine and monitor against the compiled oracle: verdict, first failing operation, order.

`lincheck_bulk` makes the histories; its oracle shares no code with the engines, and is itself held against the
oracle on Python models.
"""

import numpy as np
import pytest
from lincheck_brute import brute
from lincheck_bulk import KINDS, generate, oracle, order_is_legal
from lincheck_calls import model_and_calls

from latchfree_lincheck import Operation
from latchfree_lincheck.engine.bounds import Deadline
from latchfree_lincheck.engine.compiled_models.opcodes import TAKE, UNKNOWN_RESULT
from latchfree_lincheck.engine.encoding.problem import Problem
from latchfree_lincheck.engine.frontier.kernels.configurations import BLOCKED, DONE
from latchfree_lincheck.engine.frontier.kernels.sweep import PLACE
from latchfree_lincheck.engine.frontier.search import Frontier
from latchfree_lincheck.engine.frontier.sweep import sweep
from latchfree_lincheck.engine.monitor import MONITORS, OK, UNDECIDED, VIOLATION
from latchfree_lincheck.engine.outcome import finish
from latchfree_lincheck.engine.pieces import linearize
from latchfree_lincheck.engine.product.search import KeyByKey
from latchfree_lincheck.engine.smt.judge import solve
from latchfree_lincheck.engine.wgl.compiled import CompiledSearch
from latchfree_lincheck.engine.wgl.plain import PlainSearch
from latchfree_model import UNKNOWN, get_model

MEMORY = 1 << 28
FOREVER = Deadline(None)
SWEPT = [name for name, (_, kind, _, keys, _) in KINDS.items() if kind == "value" and keys == 1]
MONITORED = [name for name, (family, _, _, keys, _) in KINDS.items() if family in MONITORS and keys == 1]
LISTS = [name for name in MONITORED if KINDS[name][1] == "list"]
DISTINCT = [name for name in LISTS if name.endswith("distinct")]
COMPILED = {
    "frontier": lambda problem: Frontier(problem, MEMORY, FOREVER).run(),
    "wgl": lambda problem: linearize(CompiledSearch(problem, MEMORY, FOREVER)),
}
INTERPRETED = {
    "python": lambda model, timeline, calls: linearize(PlainSearch(model, timeline, calls, MEMORY)),
    "smt": lambda model, timeline, calls: solve(model, timeline, calls, MEMORY, FOREVER),
}
NAMES = {
    "queue": ("enqueue", "dequeue"),
    "stack": ("push", "pop"),
    "priority-queue": ("insert", "pop_min"),
}


def monitored(bulk):
    """Return a monitor's verdicts."""
    verdicts, suspects = np.full(len(bulk.parts), UNDECIDED), np.full(len(bulk.parts), -1)
    MONITORS[bulk.meaning.family].judge(bulk.parts, bulk.meaning.first, verdicts, suspects)
    violated = np.flatnonzero(verdicts == VIOLATION)
    suspected = suspects[violated]
    assert ((suspected >= bulk.bounds[violated]) & (suspected < bulk.bounds[violated + 1])).all()
    return verdicts


def disagreements_of_monitor(name, seed, histories, most=6, lost=0.0):
    """Return histories on which a monitor is wrong, and how many of each verdict it gave."""
    bulk = generate(name, seed, histories, most, lost)
    bad = oracle(bulk) >= 0
    verdicts = monitored(bulk)
    wrong = ((verdicts == OK) & bad) | ((verdicts == VIOLATION) & ~bad)
    return np.flatnonzero(wrong), int((verdicts == OK).sum()), int((verdicts == VIOLATION).sum())


def lost_takes(name, seed, histories, most=6, lost=0.25):
    """Judge histories with lost takes, the results of all others known; return which are undecided, and how many."""
    bulk = generate(name, seed, histories, most, lost)
    take, returned = bulk.data[:, 0] == TAKE, bulk.data[:, 6] >= 0
    some, hidden = np.zeros((2, histories), np.bool_)
    some[bulk.part[take & ~returned]] = True
    hidden[bulk.part[take & returned & (bulk.data[:, 4] == UNKNOWN_RESULT)]] = True
    served = some & ~hidden
    return np.flatnonzero(served & (monitored(bulk) == UNDECIDED)), int(served.sum())


def disagreements_of_sweep(name, seed, histories, most=6):
    """Return histories that the sweep over many parts gets wrong."""
    bulk = generate(name, seed, histories, most)
    failing = oracle(bulk)
    verdicts, order = np.full(histories, -1), np.empty(len(bulk.data), np.int64)
    notes = np.zeros((histories, 2), np.int64)
    assert sweep(bulk.parts, bulk.meaning, verdicts, order, notes, MEMORY, FOREVER)
    first = int(bulk.meaning.first[0])
    wrong = []
    for part, (verdict, expected) in enumerate(zip(verdicts.tolist(), failing.tolist(), strict=True)):
        low, high = bulk.bounds[part], bulk.bounds[part + 1]
        mine = order[low:high]
        legal = verdict != DONE or order_is_legal(
            bulk.data, low, high, 1, first, bulk.parts.index[mine[mine >= 0]], True
        )
        blocked = bulk.parts.index[notes[part, PLACE]] if verdict == BLOCKED else -1
        if blocked != expected or verdict not in (BLOCKED, DONE) or not legal:
            wrong.append(part)
    return wrong


def search(engine, name, bulk, part):
    """Return an engine's search of one history."""
    if engine in COMPILED:
        return COMPILED[engine](Problem.of(bulk.parts, bulk.meaning, part))
    timeline = bulk.parts.timeline(part)
    model, calls = model_and_calls(name, bulk, part, bulk.data[timeline.index].tolist())
    return INTERPRETED[engine](model, timeline, calls)


def disagreements_of_search(engine, name, seed, histories, most=6):
    """Return histories that a search gets wrong: its verdict, where it fails, or its order."""
    bulk = generate(name, seed, histories, most)
    wrong = []
    for part, expected in enumerate(oracle(bulk).tolist()):
        outcome = finish(search(engine, name, bulk, part), FOREVER)
        low, high = bulk.bounds[part], bulk.bounds[part + 1]
        blocked = -1 if outcome.blocked is None else outcome.blocked
        first = int(bulk.meaning.first[part])
        legal = order_is_legal(bulk.data, low, high, bulk.keys, first, outcome.order, expected < 0)
        if outcome.gave_up or blocked != expected or not legal:
            wrong.append(part)
    return wrong


@pytest.mark.parametrize("name", MONITORED)
def test_monitors_agree_with_brute_force(name):
    wrong, good, bad = disagreements_of_monitor(name, 1, 20_000)
    assert len(wrong) == 0
    assert good > 2_000
    assert bad > 200


def disagreements_with_search(name, seed, histories):
    """Return long histories on which a monitor and a search differ, and how many of each verdict there are."""
    bulk = generate(name, seed, histories, most=80)
    wrong, seen = [], {OK: 0, VIOLATION: 0}
    for part, verdict in enumerate(monitored(bulk).tolist()):
        if verdict != UNDECIDED:
            blocked = finish(search("frontier", name, bulk, part), FOREVER).blocked
            seen[verdict] += 1
            if (verdict == VIOLATION) != (blocked is not None):
                wrong.append(part)
    return wrong, seen


@pytest.mark.parametrize("name", DISTINCT)
def test_monitors_agree_with_a_search_on_long_histories(name):
    wrong, seen = disagreements_with_search(name, 4, 300)
    assert wrong == []
    assert min(seen.values()) > 10


@pytest.mark.parametrize("name", LISTS)
def test_monitors_agree_with_brute_force_on_lost_operations(name):
    wrong, good, bad = disagreements_of_monitor(name, 5, 20_000, most=8, lost=0.25)
    assert len(wrong) == 0
    assert good > 2_000
    assert bad > 200


def test_the_monitor_of_queues_decides_every_lost_dequeue():
    undecided, served = lost_takes("queue distinct", 6, 20_000, most=8)
    assert served > 5_000
    assert len(undecided) == 0


@pytest.mark.parametrize("name", ["stack distinct", "priority queue distinct"])
def test_other_monitors_decide_almost_every_lost_pop(name):
    undecided, served = lost_takes(name, 6, 20_000, most=8)
    assert served > 5_000
    assert len(undecided) < served // 2_000


@pytest.mark.parametrize("name", SWEPT)
def test_the_sweep_agrees_with_brute_force(name):
    assert disagreements_of_sweep(name, 2, 4_000) == []


@pytest.mark.parametrize("name", SWEPT)
def test_the_sweep_does_not_depend_on_where_it_pauses(name):
    bulk = generate(name, 9, 500)
    found = []
    for steps in (500_000, 1, 7):
        verdicts, order, notes = np.full(500, -1), np.full(len(bulk.data), -1), np.zeros((500, 2), np.int64)
        assert sweep(bulk.parts, bulk.meaning, verdicts, order, notes, MEMORY, FOREVER, steps)
        found.append((verdicts.tolist(), notes.tolist(), order.tolist()))
    assert found[0] == found[1] == found[2]


def disagreements_of_product(seed, histories, most, lost=0.0, judge=None):
    """Return histories of a map that the product over keys gets wrong, and how many are right and wrong ones."""
    bulk = generate("map", seed, histories, most, lost)
    expected = oracle(bulk).tolist() if judge is None else None
    wrong, seen = [], {True: 0, False: 0}
    for part in range(histories):
        problem = Problem.of(bulk.parts, bulk.meaning, part)
        if not KeyByKey().accepts(problem, MEMORY):
            continue
        outcome = finish(KeyByKey().start(problem, MEMORY, FOREVER), FOREVER)
        if judge is None:
            blocked = None if expected[part] < 0 else expected[part]
        else:
            blocked = finish(judge(problem), FOREVER).blocked
        seen[blocked is None] += 1
        if outcome.gave_up or outcome.blocked != blocked or outcome.ordered != (blocked is not None):
            wrong.append(part)
    return wrong, seen


@pytest.mark.parametrize(("most", "lost"), [(6, 0.0), (7, 0.2)])
def test_the_product_over_keys_agrees_with_brute_force(most, lost):
    wrong, seen = disagreements_of_product(most, 4_000, most, lost)
    assert wrong == []
    assert min(seen.values()) > 500


def test_the_product_over_keys_agrees_with_the_frontier_on_long_histories():
    wrong, seen = disagreements_of_product(5, 1_000, 60, judge=COMPILED["frontier"])
    assert wrong == []
    assert min(seen.values()) > 300


@pytest.mark.slow
def test_the_product_over_keys_agrees_with_brute_force_on_a_million():
    for seed in range(90, 100):
        wrong, _ = disagreements_of_product(seed, 130_000, 6 + seed % 2, lost=0.1 * (seed % 3))
        assert wrong == [], seed
        wrong, _ = disagreements_of_product(seed, 3_000, 40 + 4 * seed, judge=COMPILED["frontier"])
        assert wrong == [], seed


@pytest.mark.parametrize("engine", COMPILED)
@pytest.mark.parametrize("name", KINDS)
def test_searches_agree_with_brute_force(engine, name):
    assert disagreements_of_search(engine, name, 3, 700 if name != "append" else 60) == []


@pytest.mark.parametrize("name", KINDS)
def test_the_python_search_agrees_with_brute_force(name):
    assert disagreements_of_search("python", name, 7, 300) == []


@pytest.mark.parametrize("name", KINDS)
def test_the_smt_judge_agrees_with_brute_force_on_bulk(name):
    assert disagreements_of_search("smt", name, 8, 6, most=4) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", MONITORED)
def test_monitors_agree_with_brute_force_on_a_million(name):
    for seed in range(10, 15):
        wrong, _, _ = disagreements_of_monitor(name, seed, 200_000, most=6 + seed % 2)
        assert len(wrong) == 0, seed


@pytest.mark.slow
@pytest.mark.parametrize("name", KINDS)
def test_the_python_search_agrees_with_brute_force_on_a_million(name):
    for seed in range(60, 65):
        assert disagreements_of_search("python", name, seed, 11_200, most=6 + seed % 2) == [], seed


@pytest.mark.slow
@pytest.mark.parametrize("name", KINDS)
def test_the_smt_judge_agrees_with_brute_force_on_many(name):
    for seed in range(70, 74):
        assert disagreements_of_search("smt", name, seed, 500, most=4) == [], seed


@pytest.mark.slow
@pytest.mark.parametrize("name", DISTINCT)
def test_monitors_agree_with_a_search_on_many_long_histories(name):
    for seed in range(80, 84):
        assert disagreements_with_search(name, seed, 10_000)[0] == [], seed


@pytest.mark.slow
@pytest.mark.parametrize("name", LISTS)
def test_monitors_agree_with_brute_force_on_a_million_with_lost_operations(name):
    for seed in range(50, 56):
        wrong, _, _ = disagreements_of_monitor(name, seed, 200_000, most=7 + seed % 3, lost=0.15 + seed % 3 / 10)
        assert len(wrong) == 0, seed


@pytest.mark.slow
@pytest.mark.parametrize("name", SWEPT)
def test_the_sweep_agrees_with_brute_force_on_a_million(name):
    for seed in range(20, 25):
        assert disagreements_of_sweep(name, seed, 30_000, most=6 + seed % 2) == [], seed


@pytest.mark.slow
@pytest.mark.parametrize("engine", COMPILED)
@pytest.mark.parametrize("name", KINDS)
def test_searches_agree_with_brute_force_on_a_million(engine, name):
    for seed in range(30, 35):
        count = 12_000 if name != "append" else 400
        assert disagreements_of_search(engine, name, seed, count, most=6 + seed % 2) == [], seed


@pytest.mark.parametrize("name", ["queue distinct", "stack distinct", "priority queue distinct"])
def test_the_compiled_oracle_agrees_with_the_one_on_python_models(name):
    bulk = generate(name, 4, 1_500)
    failing = oracle(bulk)
    put, take = NAMES[bulk.meaning.family]
    model = get_model(bulk.meaning.family)
    for part, expected in enumerate(failing.tolist()):
        operations = []
        for process, row in enumerate(bulk.data[bulk.bounds[part] : bulk.bounds[part + 1]].tolist()):
            code, _, a, _, result, invoke, return_ = row
            took = code == 18
            seen = UNKNOWN if result == -2 or not took else None if result == -1 else result
            call = (take, ()) if took else (put, (a,))
            operations.append(
                Operation(process, *call, UNKNOWN if return_ < 0 else seen, invoke, None if return_ < 0 else return_)
            )
        assert brute(operations, model) == (expected < 0), part
