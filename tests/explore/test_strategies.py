"""Strategies are objects: a search takes any of them, also one that this file declares."""

import pytest

from latchfree.jit import kernel
from latchfree_explore import Scenario, explore, search
from latchfree_explore.board import layout as b
from latchfree_explore.board.layout import get, put
from latchfree_explore.examples.counter import CAS_COUNTER, COUNTER, LOST_UPDATE
from latchfree_explore.machine.machine import Machine
from latchfree_explore.strategies.bounded import BOUNDED
from latchfree_explore.strategies.directed import DIRECTED
from latchfree_explore.strategies.dpor import DPOR
from latchfree_explore.strategies.strategy import Strategy
from latchfree_explore.strategies.table import STRATEGIES, strategy_named


@kernel
def in_turn(board, runnable):
    """Let the next thread go on after each access."""
    thread = (get(board, b.CURRENT) + 1) % get(board, b.THREADS)
    while not runnable >> thread & 1:
        thread = (thread + 1) % get(board, b.THREADS)
    return thread


@kernel
def last_first(board, runnable):
    """Run the threads one after the other, the last one first."""
    thread = get(board, b.THREADS) - 1
    while not runnable >> thread & 1:
        thread -= 1
    return thread


@kernel
def once(board):
    return False


@kernel
def until_three(board):
    return get(board, b.SCHEDULES) < 3


@kernel
def count_steps(board):
    put(board, b.CHANGES, get(board, b.CHANGES) + 1)


IN_TURN = Strategy("in turn", in_turn, once, count_steps)
LAST_FIRST = Strategy("last first", last_first, until_three)


def test_a_strategy_of_ones_own_decides():
    machine = Machine(LOST_UPDATE, Scenario.parse("increment | increment"))
    done = search.run(machine, IN_TURN)
    assert done.failure.kind == "not linearizable"
    assert machine.schedule in ([0, 1, 0, 1], [1, 0, 1, 0])
    assert machine.board[b.CHANGES] == 4, "each step was accounted for"
    done = search.run(machine, LAST_FIRST)
    assert (done.failure, done.complete, done.schedules) == (None, True, 2), "the machine counts on"
    assert machine.schedule == [1, 1, 0, 0]
    assert machine.board[b.CHANGES] == 4, "this one accounts for nothing"


def test_one_machine_changes_its_strategy():
    machine = Machine(CAS_COUNTER, Scenario.parse("increment | increment"))
    counts = []
    for strategy in (DPOR, BOUNDED, DPOR, BOUNDED):
        done = search.run(machine, strategy, bound=9)
        assert (done.complete, done.failure) == (True, None)
        counts.append(done.schedules)
    assert counts[:2] == counts[2:]
    assert counts[0] < counts[1]


@pytest.mark.parametrize("name", STRATEGIES)
def test_what_an_exploration_says_is_what_its_strategy_promises(name):
    strategy = strategy_named(name)
    assert strategy.name == name
    script = "1 0" if strategy.needs_script else ""
    result = explore(COUNTER, scenario="increment | increment", strategy=name, schedules=100, script=script)
    assert (result.verdict, result.strategy) == ("ok", name)
    assert result.reason == strategy.claim.format(bound=strategy.default_bound, memory="sc")
    assert result.complete == strategy.complete
    assert (result.interleavings is None) == (not strategy.complete or strategy.by_graphs)
    cut = explore(CAS_COUNTER, scenario="increment | increment", strategy=name, schedules=1, script=script)
    assert cut.verdict == ("unknown" if strategy.exhaustive else "ok")


@pytest.mark.parametrize("name", STRATEGIES)
def test_bounds_are_the_strategys(name):
    strategy = strategy_named(name)
    script = "0" if strategy.needs_script else ""
    for bound in (strategy.least_bound - 1, strategy.most_bound + 1):
        with pytest.raises(ValueError, match=f"bound must be from {strategy.least_bound} to {strategy.most_bound}"):
            explore(COUNTER, scenario="increment", strategy=name, bound=bound, script=script)


def test_an_unknown_strategy_is_named():
    names = "dpor, graphs, bounded, random, pct, directed"
    with pytest.raises(ValueError, match=f"unknown strategy 'depth'; there are: {names}"):
        explore(COUNTER, strategy="depth")


def test_only_a_directed_schedule_has_a_script():
    for strategy, script in (("dpor", "0"), ("directed", "")):
        with pytest.raises(ValueError, match="runs along a script, and no other does"):
            explore(COUNTER, scenario="increment", strategy=strategy, script=script)
    assert DIRECTED.needs_script
