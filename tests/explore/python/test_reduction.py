"""The reduction loses nothing: it reaches the outcomes that all schedules reach, on random programs."""

import random

import pytest

pytest.importorskip("greenlet")

import random_tasks as rt
from random_programs import START, module_of, outcomes, random_program

from latchfree_explore.python.core.run import Run
from latchfree_explore.python.search.strategies import Reduced, Tree

SEED = 18
PARTS = 10


def compare(count, most, seed):
    rng = random.Random(seed)
    compared = cut = run = everything = 0
    while compared < count:
        module = random_program(rng)
        for polls in (False, True):
            early = rng.choice([0, 0, 1])
            all_of_them, schedules, _, whole = outcomes(module, Tree(), polls=polls, most=most, timeouts=early)
            if not whole:
                continue
            reduced, fewer, redundant, ended = outcomes(module, Reduced(), polls=polls, most=20 * most, timeouts=early)
            assert ended
            assert reduced == all_of_them, f"polls={polls} timeouts={early}\n{module.source}"
            assert fewer - redundant <= schedules
            compared, cut, run, everything = compared + 1, cut + redundant, run + fewer, everything + schedules
    return compared, cut, run, everything


def compare_tasks(count, most, seed, generated=rt.random_tasks):
    rng = random.Random(seed)
    compared = cut = run = everything = 0
    while compared < count:
        module = generated(rng)
        cancels = rng.choice([0, 0, 1])
        all_of_them, schedules, _, whole = rt.outcomes(module, Tree(), cancels=cancels, most=most)
        if not whole:
            continue
        reduced, fewer, redundant, ended = rt.outcomes(module, Reduced(), cancels=cancels, most=20 * most)
        assert ended
        assert reduced == all_of_them, f"cancels={cancels}\n{module.source}"
        compared, cut, run, everything = compared + 1, cut + redundant, run + fewer, everything + schedules
    return compared, cut, run, everything


def test_random_tasks_come_to_the_same_outcomes():
    _, cut, run, everything = compare_tasks(count=6, most=60, seed=SEED)
    assert run - cut < everything


def test_random_tasks_with_threads_come_to_the_same_outcomes():
    _, cut, run, everything = compare_tasks(count=6, most=150, seed=SEED, generated=rt.random_threads)
    assert run - cut < everything


def test_a_deadline_passes_before_a_timer_with_an_earlier_one_is_made():
    everything, _, _, whole = rt.outcomes(rt.tasks_of(rt.DEADLINE, 1), Tree(), cancels=0, most=1_000)
    assert whole
    assert any("[False]" in outcome for outcome in everything)
    assert rt.outcomes(rt.tasks_of(rt.DEADLINE, 1), Reduced(), cancels=0, most=1_000)[0] == everything


def test_a_task_is_cancelled_at_its_last_wait_beside_threads():
    everything, _, _, whole = rt.outcomes(rt.tasks_of(rt.CANCELLED_LATE, 1), Tree(), cancels=1, most=2_000)
    assert whole
    assert any("[[0], [], []], 1, [True]" in outcome for outcome in everything)
    assert rt.outcomes(rt.tasks_of(rt.CANCELLED_LATE, 1), Reduced(), cancels=1, most=2_000)[0] == everything


def test_random_programs_come_to_the_same_outcomes():
    _, cut, run, everything = compare(count=6, most=60, seed=SEED)
    assert run - cut < everything


def poll_at_once(run):
    if run.polls and not run.alone:
        run.point()


def compare_polls(count, most, seed, monkeypatch):
    """Compare switches right where the interpreter polls with those before the next access, and with those anywhere."""
    rng = random.Random(seed)
    compared = late = early = 0
    while compared < count:
        module = random_program(rng)
        put_off, fewer, _, whole = outcomes(module, Tree(), polls=True, most=most)
        with monkeypatch.context() as patched:
            patched.setattr(Run, "poll", poll_at_once)
            at_once, schedules, _, all_of_them = outcomes(module, Tree(), polls=True, most=10 * most)
        if not (whole and all_of_them):
            continue
        assert put_off == at_once, module.source
        anywhere, _, _, ended = outcomes(module, Reduced(), polls=False, most=20 * most)
        assert ended
        assert put_off <= anywhere, module.source
        compared, late, early = compared + 1, late + fewer, early + schedules
    return compared, late, early


def test_a_poll_that_is_put_off_until_the_next_access_loses_no_outcome(monkeypatch):
    _, late, early = compare_polls(count=3, most=60, seed=SEED, monkeypatch=monkeypatch)
    assert late < early


MISSED = {
    "a sleeping thread commutes with what comes first, not with what follows": (
        True,
        """def t0(s):
    while not s.x and len(s.d) < 2:
        s.d['w'] = 1
        del s.d['a']
def t1(s):
    if s.la.acquire(False):
        s.x = s.x + 1
        s.la.release()
def t2(s):
    s.l.append(s.x)
""",
    ),
    "who waited in vain could have come first": (
        False,
        """def t0(s):
    if s.lb.acquire(timeout=1):
        s.l[0] = s.x
        s.lb.release()
def t1(s):
    s.l.pop()
    if s.lb.acquire(timeout=1):
        s.y += 1
        s.lb.release()
""",
    ),
    "who waits for an item could have had an earlier one": (
        False,
        """def t0(s):
    s.sq.put(1)
def t1(s):
    s.results[1].append(s.sq.get())
    s.sq.put(3)
def t2(s):
    s.results[2].append(s.sq.get())
""",
    ),
    "two deadlines pass at one time": (
        False,
        """def t0(s):
    if s.lb.acquire(timeout=1):
        del s.d['a']
        s.lb.release()
    else: s.results[0].append('late')
def t1(s):
    with s.lb:
        time.sleep(1)
""",
    ),
}
"""Whether threads change where the interpreter polls, and a program with an outcome that was missed once."""


@pytest.mark.parametrize("name", MISSED)
@pytest.mark.parametrize("timeouts", [0, 1])
def test_an_outcome_that_was_missed_once_is_reached(name, timeouts):
    polls, source = MISSED[name]
    threads = source.count("def t")
    options = {"polls": polls, "most": 5_000, "timeouts": timeouts}
    everything, _, _, whole = outcomes(module_of(START + source, threads), Tree(), **options)
    assert whole
    assert len(everything) > 1
    assert outcomes(module_of(START + source, threads), Reduced(), **options)[0] == everything


@pytest.mark.slow
def test_polls_of_a_thousand_random_programs_that_are_put_off_lose_no_outcome(monkeypatch):
    compared, late, early = compare_polls(count=1_000, most=300, seed=SEED + 2, monkeypatch=monkeypatch)
    print(f"{compared} programs: {early:,} schedules with switches at polls, {late:,} with switches before accesses")
    assert late < early


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_five_thousand_random_programs_come_to_the_same_outcomes(part):
    compared, cut, run, everything = compare(count=5_000 // PARTS, most=1_000, seed=SEED + 1 + part)
    print(f"{compared} programs: {everything:,} schedules in all, {run:,} run with the reduction, {cut:,} of them cut")
    assert cut < run / 5


@pytest.mark.slow
def test_four_hundred_random_programs_of_tasks_come_to_the_same_outcomes():
    compared, cut, run, everything = compare_tasks(count=400, most=400, seed=SEED + 1)
    print(f"{compared} programs: {everything:,} schedules in all, {run:,} run with the reduction, {cut:,} of them cut")
    assert run - cut < everything


@pytest.mark.slow
def test_four_hundred_random_programs_of_tasks_and_threads_come_to_the_same_outcomes():
    compared, cut, run, everything = compare_tasks(count=400, most=2_000, seed=SEED + 1, generated=rt.random_threads)
    print(f"{compared} programs: {everything:,} schedules in all, {run:,} run with the reduction, {cut:,} of them cut")
    assert run - cut < everything
