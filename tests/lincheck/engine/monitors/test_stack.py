"""The monitor of stacks against its own theorem, read literally: unite the zones, take a bottom item out, again.

The other tests of monitors compare with searches, on histories of few processes. Here any number of operations overlap,
so that bottom items are not the first of their run nor the last, and runs fall apart anyhow.
"""

import numpy as np
import pytest

from latchfree_lincheck.engine.compiled_models.opcodes import ABSENT, PUSH, TAKE, UNKNOWN_RESULT
from latchfree_lincheck.engine.encoding.parts import Parts
from latchfree_lincheck.engine.monitor import MONITORS, UNDECIDED, VIOLATION
from latchfree_lincheck.history.order import order_events
from latchfree_lincheck.history.timeline import NEVER_RETURNS


def legal(items):
    """Judge items given as (push invoked, returned, pop invoked, returned)."""
    zones = [(min(item[1], item[3]), max(item[0], item[2]), item) for item in items]
    runs, until = [], -1
    for begin, end, item in sorted(zone for zone in zones if zone[0] < zone[1]):
        if begin > until:
            runs.append([])
        runs[-1].append((begin, end, item))
        until = max(until, end)
    for run in runs:
        left, right = run[0][0], max(end for _, end, _ in run)
        bottom = [item for _, _, item in run if item[0] < left and item[3] > right]
        if not bottom or not legal([item for _, _, item in run if item != bottom[-1]]):
            return False
    return True


def stretched(rng, pushes, width):
    """Simulate a stack, exchange what a few pops took, and stretch calls to intervals, as rows of operations."""
    rows, held, time, pushed = [], [], 0, 0
    while pushed < pushes or held:
        time += 1
        begin, end = time - rng.integers(width + 1), time + rng.integers(width + 1)
        if pushed < pushes and (not held or rng.random() < 0.55):
            rows.append([PUSH, 0, pushed, 0, UNKNOWN_RESULT, begin, end])
            held.append(pushed)
            pushed += 1
        elif rng.random() < 0.1 and pushed == pushes:
            break
        else:
            rows.append([TAKE, 0, 0, 0, held.pop(), begin, end])
    pops = [row for row in rows if row[0] == TAKE]
    for _ in range(rng.integers(4) if pops else 0):
        other = rng.integers(len(pops))
        one = max(0, other - rng.integers(4))
        pops[one][4], pops[other][4] = pops[other][4], pops[one][4]
    return rows


def disagreements(seed, histories):
    """Return histories that the monitor judges otherwise than its theorem says, and how many are violations."""
    rng = np.random.default_rng(seed)
    made = [stretched(rng, 1 + rng.integers(30), rng.integers(1, 12)) for _ in range(histories)]
    part = np.repeat(np.arange(histories), [len(rows) for rows in made])
    rows = np.array([row for rows in made for row in rows])
    shift = 1_000 * part
    events = order_events(rows[:, 5] + shift, rows[:, 6] + shift, np.ones(len(rows), np.bool_))
    parts = Parts.of(part, events, rows[:, :5].astype(np.int32), histories)
    verdicts, suspects = np.full(histories, UNDECIDED), np.full(histories, -1)
    MONITORS["stack"].judge(parts, np.full(histories, ABSENT), verdicts, suspects)
    wrong = []
    for number in range(histories):
        items = {}
        for i in range(parts.bounds[number], parts.bounds[number + 1]):
            pushes, value = parts.rows[i, 0] == PUSH, parts.rows[i, 2] if parts.rows[i, 0] == PUSH else parts.rows[i, 4]
            item = items.setdefault(int(value), [0, 0, NEVER_RETURNS, NEVER_RETURNS + 1])
            item[(0 if pushes else 2) : (2 if pushes else 4)] = [int(parts.invoke[i]), int(parts.return_[i])]
        early = any(item[3] < item[0] for item in items.values())
        if (verdicts[number] == VIOLATION) != (early or not legal(list(items.values()))):
            wrong.append(number)
    return wrong, int((verdicts == VIOLATION).sum())


@pytest.mark.parametrize("seed", range(3))
def test_the_monitor_is_its_theorem(seed):
    wrong, violations = disagreements(seed, 700)
    assert wrong == []
    assert 100 < violations < 600


@pytest.mark.slow
def test_the_monitor_is_its_theorem_on_many():
    for seed in range(100, 200):
        assert disagreements(seed, 3_000)[0] == [], seed
