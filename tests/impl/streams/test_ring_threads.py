"""The ring buffer under threads: nothing is lost, nothing comes twice, in order; recorded runs are judged."""

import threading

import numpy as np
import pytest
from threads_together import together

from latchfree.streams import RingBuffer
from latchfree_evidence.stress.rings import record_ring
from latchfree_lincheck import check
from latchfree_lincheck.criteria.weak_queue import without_excused


@pytest.mark.parametrize(("capacity", "weak"), [(2, False), (64, False), (64, True)])
def test_every_value_comes_out_once_and_each_producers_in_order(capacity, weak):
    producers, consumers, each = 3, 3, 1_000 * capacity
    ring, got = RingBuffer(capacity, weak=weak), [[] for _ in range(consumers)]
    running, lock = [producers], threading.Lock()

    def produce(number):
        waiting = np.arange(number * each, (number + 1) * each)
        while len(waiting):
            waiting = waiting[ring.put_many(waiting[:100]) :]
        with lock:
            running[0] -= 1

    def consume(number):
        while True:
            over = running[0] == 0
            values = ring.get_many(100)
            got[number].extend(values.tolist())
            if over and not len(values):
                return

    bodies = [lambda n=n: produce(n) for n in range(producers)] + [lambda n=n: consume(n) for n in range(consumers)]
    together(*bodies)
    assert sorted(value for values in got for value in values) == list(range(producers * each))
    for values in got:
        for number in range(producers):
            mine = [value for value in values if value // each == number]
            assert mine == sorted(mine)
    assert len(ring) == 0
    assert ring.try_get() is None


def test_single_calls_of_many_threads():
    ring, taken = RingBuffer(8), []

    def produce(number):
        for k in range(200):
            while not ring.try_put(1000 * number + k):
                pass

    def consume():
        mine = []
        while len(mine) < 200:
            value = ring.try_get()
            if value is not None:
                mine.append(value)
        taken.extend(mine)

    together(lambda: produce(0), lambda: produce(1), consume, consume)
    assert sorted(taken) == [*range(200), *range(1000, 1200)]


@pytest.mark.parametrize("jittered", [True, False])
@pytest.mark.parametrize("capacity", [2, 4])
def test_recorded_runs_of_a_strict_ring_are_those_of_a_bounded_queue(capacity, jittered):
    refused = 0
    for seed in range(20):
        history = record_ring(capacity=capacity, threads=4, operations=60, seed=seed, jittered=jittered)
        refused += sum(each.result in (False, None) for each in history.operations)
        verdict = check(history, f"bounded-queue:{capacity}")
        assert verdict.verdict == "ok", f"seed {seed}: {verdict.explain()}"
    assert refused > 0


@pytest.mark.parametrize("capacity", [2, 4])
def test_recorded_runs_of_a_weak_ring_are_those_of_a_weak_queue(capacity):
    excused = 0
    for seed in range(2_000):
        history = record_ring(capacity=capacity, threads=4, operations=60, seed=seed, weak=True)
        left = without_excused(history)
        excused += len(history) - len(left)
        verdict = check(left, f"bounded-queue:{capacity}")
        assert verdict.verdict == "ok", f"seed {seed}: {verdict.explain()}"
        if excused and seed >= 39:
            break
    assert excused > 0, "the threads never met"


def test_recorded_runs_of_a_weak_ring_are_not_those_of_a_strict_one():
    """So the check above can fail, and the runs do meet."""
    verdicts = set()
    for seed in range(10_000):
        history = record_ring(capacity=2, threads=4, operations=40, seed=seed, weak=True)
        verdicts.add(check(history, "bounded-queue:2").verdict)
        if "violation" in verdicts:
            break
    assert "violation" in verdicts


@pytest.mark.slow
def test_a_long_campaign():
    for seed in range(600):
        weak = seed % 2 == 1
        history = record_ring(capacity=2 << seed % 3, threads=2 + seed % 4, operations=100, seed=seed, weak=weak)
        verdict = check(without_excused(history) if weak else history, f"bounded-queue:{2 << seed % 3}")
        assert verdict.verdict == "ok", f"seed {seed}: {verdict.explain()}"
