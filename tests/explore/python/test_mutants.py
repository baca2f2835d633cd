"""The explorer's own bugs: each part that is left out is missed by a small program made for it."""

import itertools
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

pytest.importorskip("greenlet")

import random_tasks as rt
import shared_objects as so
from random_programs import START, module_of, outcomes

from latchfree_explore import CannotControl, explore_object, explore_threads
from latchfree_explore.python import objects
from latchfree_explore.python.core import names, steps, undo
from latchfree_explore.python.facts import effects, polling
from latchfree_explore.python.hooks import flow as hooks_flow
from latchfree_explore.python.library import locks
from latchfree_explore.python.rewriting import codes, instrument
from latchfree_explore.python.search import races
from latchfree_explore.python.search import strategies as search
from latchfree_explore.python.search.strategies import Reduced, Tree


def without_part(part):
    real = effects._at_key

    def mutant(*arguments):
        return tuple(each for each in real(*arguments) if each[0] != part)

    return mutant


def no_race_of_writes_with_reads(a, b):
    return steps.conflict(a, b) and {a, b} != {"read", "write"}


REDUCTION = {
    "an insert changes no shape": (effects, "_at_key", without_part("shape"), "s.d['a'] = 5", "r.append(len(s.d))"),
    "an item is none of the values": (
        effects, "_at_key", without_part("vals"), "s.d['b'] = 5", "r.append(sorted(s.d.values()))",
    ),
    "an attempt waits": (
        locks, "TRY", steps.ACQUIRE, "with s.la:\n        s.x = 1",
        "if s.la.acquire(False): s.la.release()\n    else: r.append('busy')",
    ),
    "sleepers never wake": (
        search, "dependent", lambda a, b: False, "s.x = s.x + 1; s.y = s.x", "s.x = s.x + 1; s.y = s.x",
    ),
    "a write does not race with reads": (races, "conflict", no_race_of_writes_with_reads, "s.y = 1", "r.append(s.y)"),
    "who waits at the end races with nobody": (
        races.Order, "_add_waiting", lambda self: None, "s.la.acquire(); s.x = 1", "s.la.acquire(); s.y = 1",
    ),
    "who waited in vain races with nobody": (
        races.Order, "_waits", lambda self, *waiting: None,
        "if s.lb.acquire(timeout=1):\n        s.l[0] = s.x\n        s.lb.release()",
        "s.l.pop()\n    if s.lb.acquire(timeout=1):\n        s.y += 1\n        s.lb.release()",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REDUCTION)
def test_a_mutant_of_the_reduction_misses_an_outcome(name, monkeypatch):
    owner, attribute, mutant, first, second = REDUCTION[name]
    source = f"{START}\ndef t0(s):\n    r = s.results[0]\n    {first}\ndef t1(s):\n    r = s.results[1]\n    {second}\n"
    everything, _, _, whole = outcomes(module_of(source, 2), Tree(), polls=False, most=5_000)
    assert whole
    assert outcomes(module_of(source, 2), Reduced(), polls=False, most=5_000)[0] == everything
    monkeypatch.setattr(owner, attribute, mutant)
    assert outcomes(module_of(source, 2), Reduced(), polls=False, most=5_000)[0] < everything


def test_if_a_timer_keeps_none_from_passing_an_outcome_is_missed(monkeypatch):
    everything = rt.outcomes(rt.tasks_of(rt.DEADLINE, 1), Tree(), cancels=0, most=1_000)[0]
    monkeypatch.setattr(races, "BAR", "no kind")
    monkeypatch.setattr(steps, "_COMMUTING", steps._COMMUTING | {("bar", "due")})
    assert rt.outcomes(rt.tasks_of(rt.DEADLINE, 1), Reduced(), cancels=0, most=1_000)[0] < everything


def one_call_after_the_other():
    workers = set()
    with ThreadPoolExecutor(2) as pool:
        for _ in range(2):
            workers.add(pool.submit(threading.get_ident).result())
    assert len(workers) == 1


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="a worker looks before it waits, which is a race of its own")
def test_if_a_take_is_a_write_the_second_worker_of_a_pool_is_missed(monkeypatch):
    found = explore_threads(one_call_after_the_other, strategy="dpor", raises=False)
    assert found.wrong is not None
    monkeypatch.setattr(locks, "TAKE", steps.WRITE)
    missed = explore_threads(one_call_after_the_other, strategy="dpor", raises=False)
    assert (missed.verdict, missed.complete) == ("ok", True)


def test_without_the_orders_of_calls_a_stale_read_is_missed(monkeypatch):
    class Shared:
        def __init__(self):
            self.new = self.old = None

        def write(self, value):
            self.new = value

        def read(self):
            return self.old

    assert explore_object(Shared, "read() | write(1)", model="register", raises=False).verdict == "violation"
    monkeypatch.setattr(objects, "orders", lambda run, calls: [next(races_orders(run, calls))])
    assert explore_object(Shared, "read() | write(1)", model="register", raises=False).verdict == "ok"


races_orders = objects.orders


def test_without_waiting_a_loop_never_ends(monkeypatch):
    threads = [lambda it: it.wait(), lambda it: it.set()]
    assert explore_threads(*threads, setup=so.Spin, strategy="dpor").verdict == "ok"
    monkeypatch.setattr(hooks_flow, "_repeats", lambda run, task, line: None)
    monkeypatch.setattr(hooks_flow, "MOST_IDLE", 50)
    with pytest.raises(CannotControl, match=r"the loop at line 220 goes on after 50 rounds .*fix: fewer rounds"):
        explore_threads(*threads, setup=so.Spin, strategy="dpor")


def test_without_polls_after_calls_into_c_a_lost_update_is_missed(monkeypatch):
    def explored():
        return explore_threads(
            *[lambda it: it.increment()] * 2, setup=so.ConvertingCounter, check=lambda it: it.n == 2, switches="gil",
            strategy="dpor", raises=False,
        ).verdict  # fmt: skip

    assert explored() == "violation"
    monkeypatch.setattr(polling, "RULES", replace(polling.RULES, after_c_call=False))
    assert explored() == "ok"


def test_without_the_undo_log_state_leaks_from_run_to_run(monkeypatch):
    counter = so.Counter()

    def explored():
        return explore_threads(counter.increment, check=lambda: counter.n == 1, strategy="dpor", raises=False)

    assert explored().verdict == "ok"
    assert counter.n == 0
    monkeypatch.setattr(undo.Undo, "attribute", lambda self, owner, name: None)
    explored()
    assert counter.n > 0


def test_iterating_before_the_event_misses_an_outcome(monkeypatch):
    def early(value, line):
        iterator = iter(value)  # reads the size of a dict before others may change it
        return real(iterator, line)

    source = f"{START}\ndef t0(s):\n    s.results[0].append([k for k in s.d])\ndef t1(s):\n    s.d['a'] = 5\n"
    real = codes.HOOKS["each"]
    everything = outcomes(module_of(source, 2), Tree(), polls=False, most=5_000)[0]
    assert outcomes(module_of(source, 2), Reduced(), polls=False, most=5_000)[0] == everything
    monkeypatch.setattr(instrument, "of_module", codes.of_module.__wrapped__)
    monkeypatch.setitem(codes.HOOKS, "each", early)
    assert outcomes(module_of(source, 2), Reduced(), polls=False, most=5_000)[0] != everything


def test_without_initials_a_race_with_a_waiting_thread_is_not_reversed(monkeypatch):
    """Thread 1 cannot come first where it waits for the lock; thread 2, which frees the lock, can."""
    start = START.replace("s.results =", "s.la.acquire(); s.results =")
    source = (
        f"{start}\ndef t0(s):\n    s.x = 1\ndef t1(s):\n    s.la.acquire()\n    s.results[1].append(s.x)\n"
        "def t2(s):\n    s.la.release()\n"
    )
    everything = outcomes(module_of(source, 3), Tree(), polls=False, most=5_000)[0]
    assert outcomes(module_of(source, 3), Reduced(), polls=False, most=5_000)[0] == everything
    monkeypatch.setattr(races.Order, "firsts", lambda self, race: {race.thread})
    assert outcomes(module_of(source, 3), Reduced(), polls=False, most=5_000)[0] < everything


def test_with_names_that_differ_from_run_to_run_the_first_bug_is_missed(monkeypatch):
    """Addresses are such names; here every access numbers anew, as if no address came back."""

    def explored():
        return explore_threads(
            *[lambda it: it.increment()] * 2,
            setup=so.Counter,
            check=lambda it: it.n == 2,
            strategy="dpor",
            raises=False,
        ).verdict

    assert explored() == "violation"
    outside = {"numbers": itertools.count(1 << 40), "__name__": "latchfree_explore"}  # what is here would be rewritten
    monkeypatch.setattr(names, "reachable", eval("lambda roots: []", outside))
    monkeypatch.setattr(names.Names, "born", eval("lambda self, value, thread: None", outside))
    monkeypatch.setattr(names.Names, "of", eval("lambda self, value, thread, first: next(numbers)", outside))
    assert explored() == "ok"
