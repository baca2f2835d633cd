"""Recorded phases of a topic trie: each round is a history of its own, judged against the topic-index model."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from latchfree.arena import Arena
from latchfree.ctrie.kernels.snapshot import new_trie
from latchfree.errors import ArenaFull
from latchfree.topics.concurrent.packed_dialect import rules_of
from latchfree.topics.concurrent.payload import NO_QUEUE, Payload
from latchfree.topics.dialects import MQTT
from latchfree_evidence.stress.crew import Board, Crew, run_together
from latchfree_evidence.stress.shapes import SHAPES
from latchfree_evidence.stress.topic_worker import (
    MATCH,
    MOST_PAIRS,
    PATTERNS,
    SETTLED,
    SNAPSHOT,
    SUBSCRIBE,
    TOPICS,
    UNSUBSCRIBE,
    TopicRun,
    work,
)
from latchfree_evidence.tickets import SHARED_WORDS
from latchfree_lincheck.checking.checker import check
from latchfree_lincheck.checking.verdict import Verdict
from latchfree_lincheck.history import History, Operation
from latchfree_model.models.topic_index import TopicIndexModel

#: Operations a thread runs between two instants at which the contents are known.
_ROUND = 12

_ARENA_BYTES = 2 << 30
_NAMES = {SUBSCRIBE: "subscribe", UNSUBSCRIBE: "unsubscribe", MATCH: "match", SNAPSHOT: "snapshot", SETTLED: "snapshot"}
_PATTERNS = len(PATTERNS)
_TEXTS = PATTERNS + TOPICS


@dataclass(slots=True)
class TopicRecording:
    """What a phase recorded.

    Parameters
    ----------
    rows : int64[n, 8]
        (process, operation, text, subscriber, 0, result, invoke, return), by time of invocation; texts are those of
        `latchfree_evidence.stress.topic_worker`, patterns first.
    name : str
        What to call it in reports.
    """

    rows: NDArray[np.int64]
    name: str

    def __len__(self) -> int:
        return int((self.rows[:, 1] != SETTLED).sum())

    def rounds(self) -> Iterator[tuple[range, History]]:
        """Yield the rows and the history of each round; the history first subscribes what is there at its beginning."""
        ends = (np.flatnonzero(self.rows[:, 1] == SETTLED) + 1).tolist()
        there: list[tuple[str, int]] = []
        for number, (low, high) in enumerate(itertools.pairwise(dict.fromkeys([0, *ends, len(self.rows)]))):
            now = 2 * len(there) - int(self.rows[low, 6])
            before = [Operation("before", "subscribe", pair, None, 2 * n, 2 * n + 1) for n, pair in enumerate(there)]
            rows = self.rows[low:high].tolist()
            history = History(f"{self.name}-{number}", [*before, *(_operation(row, now) for row in rows)])
            yield range(low, high), history
            there = _pairs(rows[-1][5])


def _pairs(word: int) -> list[tuple[str, int]]:
    """Return the pairs in a word; a spoilt snapshot has a pair that nobody subscribes."""
    if word == -1:
        return [("spoilt", -1)]
    return [(PATTERNS[bit % _PATTERNS], bit // _PATTERNS) for bit in range(MOST_PAIRS) if word >> bit & 1]


def _operation(row: list[int], shift: int) -> Operation:
    process, code, text, subscriber, _, word, invoke, return_ = row
    arguments: tuple[object, ...] = () if code >= SNAPSHOT else (_TEXTS[text],)
    result: object = None
    if code in (SUBSCRIBE, UNSUBSCRIBE):
        arguments = (_TEXTS[text], subscriber)
        result = None if code == SUBSCRIBE else bool(word)
    elif code == MATCH:
        result = [bit for bit in range(MOST_PAIRS) if word >> bit & 1]
    else:
        result = _pairs(word)
    who = "reader" if code == SETTLED else process
    return Operation(who, _NAMES[code], arguments, result, invoke + shift, return_ + shift)


def record_phase(
    shape: str,
    *,
    threads: int,
    operations: int,
    keys: int,
    seed: int,
    memory: str,
    deadline: float | None = None,
) -> TopicRecording:
    """Run one phase and return what it recorded; see `latchfree_evidence.stress.phases.record_phase`."""
    arena = Arena.anonymous(_ARENA_BYTES)
    crew = Crew(arena, memory, threads, seed)
    base = np.uint64(arena.base)
    trie = new_trie(base, np.uint64(arena.interpreter_participant()), np.uint64(SHAPES["topic-trie"][shape]))
    each = max(1, min(_ROUND, operations // threads))
    rounds = max(1, operations // (threads * each))
    rows = [np.zeros(((each + 1) * rounds, 8), np.int64) for _ in range(threads)]
    letters = np.frombuffer(b"".join(text.encode().ljust(8, b"\0") for text in _TEXTS), np.uint8)
    texts = np.array([[letters.ctypes.data + 8 * n, len(text)] for n, text in enumerate(_TEXTS)], np.uint64)
    subscribers = -(-MOST_PAIRS // _PATTERNS)
    payloads = np.frombuffer(b"".join(Payload(n, None, NO_QUEUE, None).pack() for n in range(subscribers)), np.uint64)
    rules = np.uint64(rules_of(MQTT))

    def run_one(process: int, shared: Board, threads: int, rounds: int, rows: NDArray[np.int64]) -> int:
        handle, state = crew.handle(process)
        board = np.uint64(shared.ctypes.data)
        run = TopicRun(trie, board, threads, rounds, keys, rules, texts, np.uint64(payloads.ctypes.data))
        with arena.lend() as me:
            return int(work(handle, run, np.uint64(me), state, process, rows))

    def execute(process: int, shared: Board, threads: int, rounds: int) -> int:
        return run_one(process, shared, threads, rounds, rows[process])

    # Compile here, by reading an empty trie: a thread that compiles must not look like one that is stuck.
    run_one(0, np.zeros(SHARED_WORDS, np.uint64), 1, 1, np.zeros((1, 8), np.int64))
    written = run_together(execute, crew, threads, rounds, deadline)
    if min(written) < 0:
        raise ArenaFull(f"a phase of {operations:,} operations does not fit its arena of {arena.capacity:,} bytes")
    everything = np.concatenate([mine[:count] for mine, count in zip(rows, written, strict=True)])
    ordered = everything[np.argsort(everything[:, 6])]
    return TopicRecording(ordered, f"topic-trie-{shape}-{memory}-{seed}")


def judge(recording: TopicRecording, timeout: float | None) -> Verdict:
    """Judge each round; the verdict is that of the first that is wrong or undecided, else of the last."""
    began = time.monotonic()
    model = TopicIndexModel("mqtt")
    verdict: Verdict | None = None
    for segment, history in recording.rounds():
        left = None if timeout is None else timeout - (time.monotonic() - began)
        verdict = check(history, model, timeout=None if left is None else max(left, 0.001))
        if verdict.verdict != "ok":
            verdict = replace(verdict, segment=segment)
            break
    assert verdict is not None
    return replace(verdict, operations=len(recording), seconds=time.monotonic() - began)


def excerpt(recording: TopicRecording, verdict: Verdict) -> History:
    """Return the round that the verdict is about, which fails by itself."""
    return next(history for segment, history in recording.rounds() if segment == verdict.segment)
