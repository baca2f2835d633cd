"""Recordings: the columnar check agrees with the check of the same history, and narrows violations."""

import random

import numpy as np
import pytest
from lincheck_brute import assert_order

from latchfree_lincheck import check
from latchfree_lincheck.checking.map_log import MapLog, check_map_log
from latchfree_lincheck.engine.compiled_models import opcodes as op
from latchfree_model import MapModel

KEYED = (
    op.GET,
    op.GET,
    op.PUT,
    op.PUT,
    op.REMOVE,
    op.PUT_IF_ABSENT,
    op.REPLACE_IF,
    op.REMOVE_IF,
    op.REPLACE,
    op.CONTAINS,
)
WHOLE = (op.SNAPSHOT, op.SIZE, op.CLEAR)


def simulate(seed, count, threads, keys, *, whole=0.1, quiet=0, base=0, values=5, initial=None, lose=False):
    """Run random operations that take effect at one instant; with `quiet`, all threads meet that often."""
    rng = random.Random(seed)
    start = [-1] * keys if initial is None else list(initial)
    held = list(start)
    rows, contents, running, time, meet = [], [], {}, 0, quiet
    while len(rows) < count or running:
        thread = rng.randrange(threads)
        if thread not in running:
            if len(rows) == count:
                continue
            if quiet and len(rows) >= meet:
                meet += quiet if not running else 0
                if running:
                    continue
            code = rng.choice(WHOLE if rng.random() < whole else KEYED)
            key = rng.randrange(keys)
            a, b = (base + rng.randrange(values) for _ in range(2))
            running[thread] = len(rows)
            rows.append([thread, code, key, a, b, None, time, -1])
        elif rows[running[thread]][5] is None:
            take_effect(rows[running[thread]], held, contents)
            continue
        else:
            rows[running.pop(thread)][7] = time
        time += 1
    if lose:
        for thread in range(threads):
            mine = [row for row in rows if row[0] == thread]
            if mine and rng.random() < 0.5:
                mine[-1][5:8] = [op.UNKNOWN_RESULT, mine[-1][6], -1]
    return MapLog(
        np.array(rows, np.int64).reshape(-1, 8),
        np.array(contents, np.int64).reshape(-1, keys),
        keys,
        np.array(start, np.int64),
        f"seed {seed}",
    )


def take_effect(row, held, contents):
    """Apply a row to the map and write its result."""
    _, code, key, a, b, *_ = row
    old = held[key]
    row[5] = old
    if code == op.SNAPSHOT:
        row[5] = len(contents)
        contents.append(list(held))
    elif code == op.SIZE:
        row[5] = sum(value != -1 for value in held)
    elif code == op.CLEAR:
        row[5] = 0
        held[:] = [-1] * len(held)
    elif code == op.PUT or (code == op.PUT_IF_ABSENT and old == -1) or (code == op.REPLACE and old != -1):
        held[key] = a
    elif code == op.REMOVE:
        held[key] = -1
    elif code in (op.REPLACE_IF, op.REMOVE_IF):
        row[5] = int(old == a)
        if old == a:
            held[key] = b if code == op.REPLACE_IF else -1
    elif code == op.CONTAINS:
        row[5] = int(old != -1)


def corrupt(recording, rng):
    """Change the result of one row."""
    row = recording.rows[rng.randrange(len(recording))]
    code, result = row[1], row[5]
    if row[7] == -1 or code == op.CLEAR:
        return
    if code == op.SNAPSHOT:
        recording.contents[result, rng.randrange(recording.keys)] = rng.choice([-1, 1, 2])
    elif code in (op.REPLACE_IF, op.REMOVE_IF, op.CONTAINS):
        row[5] = 1 - result
    else:
        row[5] = rng.choice([0 if code == op.SIZE else -1, 1, 2, 3])


@pytest.mark.parametrize("whole", [0, 0.2])
@pytest.mark.parametrize("base", [0, 1 << 40])
def test_agrees_with_the_check_of_the_history(whole, base):
    seen = {"ok": 0, "violation": 0}
    for seed in range(700):
        rng = random.Random(seed)
        initial = [rng.choice([-1, base]) for _ in range(rng.randint(1, 3))]
        recording = simulate(
            seed,
            rng.randint(1, 9),
            3,
            len(initial),
            whole=whole,
            base=base,
            values=3,
            initial=initial,
            lose=seed % 3 == 0,
        )
        if seed % 2:
            corrupt(recording, rng)
        verdict = check_map_log(recording)
        history = recording.to_history()
        expected = check(history, "map", engine="python")
        assert verdict.verdict == expected.verdict, seed
        seen[verdict.verdict] += 1
        setup = len(history) - len(recording)
        if verdict.verdict == "ok":
            order = [*range(setup), *(setup + row for row in verdict.witness)]
            completed = set(np.flatnonzero(recording.rows[:, 7] != -1) + setup)
            assert completed <= assert_order(history, MapModel(), order), seed
        else:
            segment = recording.to_history(verdict.segment, verdict.contents)
            assert check(segment, "map", engine="python").verdict == "violation", seed
            assert verdict.failing in verdict.segment
    assert min(seen.values()) > 100


@pytest.mark.parametrize(("whole", "quiet"), [(0.02, 500), (0.02, 0), (0, 500), (0, 0)])
def test_a_long_recording_and_the_segment_that_fails(whole, quiet):
    recording = simulate(7, 20_000, 4, 16, whole=whole, quiet=quiet, values=1000)
    verdict = check_map_log(recording)
    assert verdict.verdict == "ok"
    assert sorted(verdict.witness) == list(range(20_000))
    gets = np.flatnonzero(recording.rows[:, 1] == op.GET)
    bad = int(gets[len(gets) * 3 // 4])
    recording.rows[bad, 5] = 5000
    verdict = check_map_log(recording)
    assert (verdict.verdict, verdict.failing) == ("violation", bad)
    assert "returned 5000, but key" in verdict.explain()
    segment = recording.to_history(verdict.segment, verdict.contents)
    assert len(segment) < 5_000
    assert check(segment, "map").verdict == "violation"


def test_many_ways_to_end_a_piece_are_searched_together():
    rows = []
    for turn in range(800):
        time = 20 * turn
        rows += [[t, op.PUT, t, turn * 4 + t, 0, op.UNKNOWN_RESULT, time + t, time + 10 + t] for t in range(4)]
        rows += [
            [4 + t, op.PUT, t, turn * 4 + t + 5000, 0, op.UNKNOWN_RESULT, time + 5 + t, time + 15 + t] for t in range(4)
        ]
    rows.append([8, op.SIZE, 0, 0, 0, 4, 20 * 800, 20 * 800 + 1])
    recording = MapLog(np.array(rows), np.empty((0, 4), np.int64), 4, np.full(4, -1), "blind puts")
    verdict = check_map_log(recording, timeout=600)
    assert verdict.verdict == "ok"
    assert sorted(verdict.witness) == list(range(len(rows)))


def test_more_ways_to_end_than_are_carried_on():
    keys = 12
    rows = []
    for turn in range(100):
        time = 200 * turn
        for key in range(keys):
            rows += [
                [
                    2 * key + side,
                    op.PUT,
                    key,
                    side,
                    0,
                    op.UNKNOWN_RESULT,
                    time + 2 * key + side,
                    time + 50 + 2 * key + side,
                ]
                for side in range(2)
            ]
        rows.append([99, op.SIZE, 0, 0, 0, keys, time + 100, time + 101])
    recording = MapLog(np.array(rows), np.empty((0, keys), np.int64), keys, np.full(keys, -1), "ambiguous puts")
    verdict = check_map_log(recording, timeout=600)
    assert verdict.verdict == "ok"
    assert sorted(verdict.witness) == list(range(len(rows)))


def test_an_empty_recording_is_ok():
    recording = MapLog(np.empty((0, 8), np.int64), np.empty((0, 2), np.int64), 2, np.array([-1, 4]), "empty")
    assert check_map_log(recording).verdict == "ok"
    assert [one.arguments for one in recording.to_history().operations] == [(1, 4)]


@pytest.mark.parametrize(("code", "b"), [(op.REPLACE_IF, 3), (op.REMOVE_IF, 0)])
def test_an_absent_value_is_never_the_expected_one(code, b):
    for result, expected in ((0, "ok"), (1, "violation")):
        row = [0, code, 0, -1, b, result, 5, 6]
        recording = MapLog(np.array([row]), np.empty((0, 1), np.int64), 1, np.array([-1]), "r")
        assert check_map_log(recording).verdict == expected
        assert check(recording.to_history(), "map").verdict == expected


def test_bounds_make_it_unknown():
    rows = [[t, op.PUT, t % 4, t, 0, op.UNKNOWN_RESULT, t, 100 + t] for t in range(24)]
    rows.append([24, op.SIZE, 0, 0, 0, 99, 200, 201])
    recording = MapLog(np.array(rows), np.empty((0, 4), np.int64), 4, np.full(4, -1), "hard")
    little = 100 << 20  # the product over keys, which would decide at once, needs more
    assert check_map_log(recording, timeout=0.01, memory=little).reason == "timeout of 0.01 s reached"
    assert check_map_log(recording, timeout=600, memory=1 << 20).reason == "memory bound of 1 MB reached"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ((1, 11), "row 0 must have an opcode from 0 to 10"),
        ((2, 2), "row 0 must have a key from 0 to 1"),
        ((3, -1), "row 0 must have a value >= 0 as a"),
        ((7, 4), "row 0 must have a return after its invocation, or -1"),
        ((7, -1), "row 0 must have result -2, as it is pending"),
        ((1, op.SNAPSHOT), "row 0 must have as result a row of contents, below 0"),
    ],
)
def test_malformed_rows_are_refused(change, message):
    row = [0, op.PUT, 1, 7, 0, 3, 5, 6]
    row[change[0]] = change[1]
    with pytest.raises(ValueError, match=f"r: {message}"):
        MapLog(np.array([row]), np.empty((0, 2), np.int64), 2, np.array([-1, -1]), "r")


def test_malformed_shapes_are_refused():
    with pytest.raises(ValueError, match=r"r: initial must have shape \(2,\), but has \(3,\)"):
        MapLog(np.empty((0, 8), np.int64), np.empty((0, 2), np.int64), 2, np.zeros(3, np.int64), "r")
