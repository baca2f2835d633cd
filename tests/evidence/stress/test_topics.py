"""Stress of the topic trie: recordings are whole and judged by rounds; the real one passes, a wrong one fails."""

import numpy as np
import pytest

from latchfree_evidence.stress import SHAPES, run_stress
from latchfree_evidence.stress.topic_worker import MATCH, SETTLED, SNAPSHOT, SUBSCRIBE, UNSUBSCRIBE
from latchfree_evidence.stress.topics import TopicRecording, excerpt, judge, record_phase
from latchfree_lincheck import check


def test_the_real_topic_trie_is_linearizable() -> None:
    for seed in range(7, 27):
        result = run_stress("topic-trie", threads=4, operations=6_000, keys=24, seed=seed, memory="jittered")
        assert result.verdict == "ok", result.explain()
        assert result.operations == 6_000
        if result.overlapping > 100:
            return
    raise AssertionError("the threads never met")


@pytest.mark.parametrize("shape", SHAPES["topic-trie"])
@pytest.mark.parametrize("memory", ["bare", "jittered"])
def test_what_is_recorded_is_whole(shape: str, memory: str) -> None:
    recording = record_phase(shape, threads=3, operations=3_600, keys=10, seed=3, memory=memory)
    rows = recording.rows
    assert len(recording) == 3_600
    assert set(rows[:, 1]) == {SUBSCRIBE, UNSUBSCRIBE, MATCH, SNAPSHOT, SETTLED}
    tickets = np.sort(rows[:, 6:8].ravel())
    assert np.array_equal(tickets, np.arange(2 * len(rows))), "every ticket is used once"
    for process in range(3):
        mine = rows[(rows[:, 0] == process) & (rows[:, 1] != SETTLED)]
        assert np.all(mine[:-1, 7] < mine[1:, 6]), "a thread's operations follow each other"
    settled = rows[rows[:, 1] == SETTLED]
    assert len(settled) == 100
    for row in settled:
        others = rows[rows[:, 6] != row[6]]
        assert np.all((others[:, 7] < row[6]) | (others[:, 6] > row[7])), "nothing else happens"
    assert len({int(word) for word in settled[:, 5]}) > 10
    assert judge(recording, None).verdict == "ok"


@pytest.mark.parametrize("code", [UNSUBSCRIBE, MATCH, SNAPSHOT, SETTLED])
def test_a_wrong_result_is_found_in_its_round(code: int) -> None:
    recording = record_phase("apart", threads=3, operations=720, keys=6, seed=3, memory="bare")
    at = int(np.flatnonzero(recording.rows[:, 1] == code)[4])
    wrong = TopicRecording(recording.rows.copy(), recording.name)
    wrong.rows[at, 5] ^= 1 << 60 if code != UNSUBSCRIBE else 1
    verdict = judge(wrong, None)
    assert verdict.verdict == "violation"
    assert at in verdict.segment
    failing = excerpt(wrong, verdict)
    assert len(failing) < 60
    assert check(failing, "topic-index:mqtt").verdict == "violation"


def test_a_spoilt_snapshot_is_a_violation() -> None:
    recording = record_phase("apart", threads=2, operations=480, keys=64, seed=5, memory="bare")
    at = int(np.flatnonzero(recording.rows[:, 1] == SNAPSHOT)[0])
    recording.rows[at, 5] = -1
    assert judge(recording, None).verdict == "violation"


def test_a_deadline_is_no_pass() -> None:
    assert run_stress("topic-trie", operations=400, seed=1, timeout=1e-9).verdict == "unknown"


@pytest.mark.slow
@pytest.mark.parametrize(("threads", "keys"), [(2, 8), (4, 16), (4, 64), (6, 24)])
def test_campaign(threads: int, keys: int) -> None:
    result = run_stress("topic-trie", threads=threads, operations=400_000, keys=keys, seed=1000 * threads + keys)
    assert result.verdict == "ok", result.explain()
