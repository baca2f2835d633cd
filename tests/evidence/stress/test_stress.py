"""The stress driver: what it records is whole, what it refuses it names, and the real Ctrie passes."""

import numpy as np
import pytest

from latchfree_evidence.stress import SHAPES, run_stress
from latchfree_evidence.stress.ctrie import record_phase
from latchfree_evidence.stress.phases import overlapping


def test_the_real_ctrie_is_linearizable() -> None:
    seen: list[tuple[int, int]] = []
    result = run_stress(threads=4, operations=40_000, keys=8, seed=7, on_progress=lambda *p: seen.append(p))
    assert result.verdict == "ok", result.explain()
    assert result.operations == 40_000
    assert seen[-1] == (40_000, 40_000)
    assert result.failure is None


@pytest.mark.parametrize("shape", SHAPES["ctrie"])
@pytest.mark.parametrize("memory", ["bare", "jittered"])
def test_every_shape_and_handle(shape: str, memory: str) -> None:
    recording = record_phase(shape, threads=3, operations=6_000, keys=6, seed=3, memory=memory)
    rows = recording.rows
    assert len(rows) == 6_000
    tickets = np.sort(rows[:, 6:8].ravel())
    assert np.array_equal(tickets, np.arange(12_000)), "every ticket is used once"
    for process in range(3):
        mine = rows[rows[:, 0] == process]
        assert np.all(mine[:-1, 7] < mine[1:, 6]), "a thread's operations follow each other"


def test_a_seed_repeats_the_workload() -> None:
    def workload(seed: int) -> list[list[list[int]]]:
        rows = record_phase("tree", threads=2, operations=2_000, keys=4, seed=seed, memory="bare").rows
        return [rows[rows[:, 0] == p][:, 1:3].tolist() for p in range(2)]

    assert workload(5) == workload(5)
    assert workload(5) != workload(6)


def test_overlapping_counts_operations_in_flight_together() -> None:
    rows = np.zeros((4, 8), np.int64)
    rows[:, 6] = [0, 1, 4, 6]
    rows[:, 7] = [2, 3, 5, 7]
    assert overlapping(rows) == 2
    assert overlapping(rows[2:]) == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"target": "queue"}, "unknown target 'queue'"),
        ({"shape": "round"}, "unknown shape 'round'"),
        ({"threads": 1}, "threads must be from 2 to 64, got 1"),
        ({"keys": 0}, "keys must be from 1 to 64, got 0"),
        ({"operations": 3}, "operations must be from 4 to"),
        ({"mutant": "S9"}, "unknown mutant 'S9'"),
    ],
)
def test_bad_options_are_named(options: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        run_stress(**options)  # type: ignore[arg-type]


def test_a_mutant_needs_a_fresh_process() -> None:
    record_phase("flat", threads=2, operations=500, keys=2, seed=1, memory="bare")
    with pytest.raises(RuntimeError, match="needs a fresh process"):
        run_stress(mutant="S1")


def test_a_deadline_ends_the_run_without_a_pass() -> None:
    result = run_stress(operations=10_000, seed=1, timeout=0.0)
    assert result.verdict == "unknown"
    assert "timeout" in result.reason


@pytest.mark.slow
@pytest.mark.parametrize(("threads", "keys"), [(2, 2), (3, 16), (4, 4), (8, 16), (4, 64)])
def test_campaign(threads: int, keys: int) -> None:
    result = run_stress(threads=threads, operations=10_000_000, keys=keys, seed=1000 * threads + keys)
    assert result.verdict == "ok", result.explain()
