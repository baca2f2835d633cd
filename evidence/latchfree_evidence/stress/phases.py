"""Run real threads over a structure, record what they did, and judge it.

A run is a sequence of *phases*, each on a fresh trie of another shape, alternately on bare memory and on jittered
memory. A phase is many short rounds with a barrier between them, so that its history has instants at which
nothing is in flight: the checker cuts there, and its memory stays small however long the run.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from latchfree.arena import Arena
from latchfree.ctrie.kernels.snapshot import new_trie
from latchfree.errors import ArenaFull
from latchfree_evidence.jitter import Jittered
from latchfree_evidence.stress.crew import JITTER, Board, Stuck, run_together
from latchfree_evidence.stress.ctrie_worker import SHARED_WORDS, thresholds, work
from latchfree_evidence.stress.shapes import MEMORIES, SHAPES
from latchfree_lincheck.checking.map_log import MapLog, check_map_log
from latchfree_lincheck.checking.verdict import Verdict
from latchfree_lincheck.engine.compiled_models import opcodes as op
from latchfree_lincheck.history import History

#: Operations a thread runs between two barriers, and those of all threads in one phase.
_ROUND = 250
_PHASE = 128_000
#: A run of that many operations a phase has a phase of every kind.
_SMALL_PHASE = 50_000

_ARENA_BYTES = 8 << 30
_SNAPSHOT_SHARE = 0.04

Progress = Callable[[int, int], None]


class Recording(Protocol):
    """What a phase recorded."""

    name: str
    rows: NDArray[np.int64]

    def __len__(self) -> int: ...


@dataclass(frozen=True, slots=True)
class Workload:
    """How a structure is stressed.

    Parameters
    ----------
    record : callable
        Runs a phase: see `record_phase`.
    judge : callable
        Judges a recording, within so many seconds.
    excerpt : callable
        A part of a recording, of which the judgement says that it is wrong, that fails by itself.
    phase, small_phase : int
        Operations in one phase; a run of that many a phase has a phase of every kind.
    """

    record: Callable[..., Any]
    judge: Callable[[Any, float | None], Verdict]
    excerpt: Callable[[Any, Verdict], History]
    phase: int
    small_phase: int


@dataclass(slots=True)
class StressResult:
    """What a stress run did and how it was judged.

    Attributes
    ----------
    verdict : str
        "ok", "violation" or "unknown".
    reason : str
        Why, in one line.
    operations, threads, seed : int
        As run; `operations` counts those recorded.
    overlapping : int
        Operations that were in flight together with one of another thread.
    histories : list of Verdict
        One a phase.
    failure : History, optional
        An excerpt that fails by itself, when the verdict is "violation".
    """

    target: str
    threads: int
    keys: int
    seed: int
    mutant: str | None
    verdict: str = "ok"
    reason: str = ""
    operations: int = 0
    overlapping: int = 0
    run_seconds: float = 0.0
    check_seconds: float = 0.0
    histories: list[Verdict] = field(default_factory=list)
    failure: History | None = None

    @property
    def seconds(self) -> float:
        """Running and checking together."""
        return self.run_seconds + self.check_seconds

    def explain(self) -> str:
        """The verdict in words, with the checker's explanation of a violation."""
        head = (
            f"{self.target}: {self.verdict} after {self.operations:,} operations by {self.threads} threads on "
            f"{self.keys} keys, {self.overlapping:,} of them overlapping (seed {self.seed})"
        )
        if self.reason:
            head += f"\n{self.reason}"
        return head


def overlapping(rows: NDArray[np.int64]) -> int:
    """How many operations were in flight together with another one."""
    order = np.argsort(rows[:, 6])
    invoke, finish = rows[order, 6], rows[order, 7]
    latest = np.maximum.accumulate(finish)
    after_start = np.concatenate([[False], latest[:-1] > invoke[1:]])
    before_end = np.concatenate([invoke[1:] < finish[:-1], [False]])
    return int((after_start | before_end).sum())


def record_phase(
    shape: str,
    *,
    threads: int,
    operations: int,
    keys: int,
    seed: int,
    jittered: bool,
    deadline: float | None = None,
) -> MapLog:
    """Run one phase and return its history.

    Parameters
    ----------
    shape : str
        A name of ``SHAPES["ctrie"]``.
    threads, operations, keys : int
        Operations are shared evenly by the threads, in whole rounds.
    seed : int
        Of the random choices; the interleaving is the machine's.
    jittered : bool
        Whether threads give up the processor between atomic accesses.
    deadline : float, optional
        `time.monotonic` after which the threads stop early.

    Raises
    ------
    Stuck
        If a thread does not come back; see `run_together`.
    ArenaFull
        If the phase's arena is too small for it.
    """
    arena = Arena.anonymous(_ARENA_BYTES)
    base = np.uint64(arena.base)
    trie = new_trie(base, np.uint64(arena.participant()), np.uint64(SHAPES["ctrie"][shape]))
    rounds = max(1, operations // (threads * _ROUND))
    each = rounds * max(1, min(_ROUND, operations // threads))
    states = np.zeros((threads, 8), np.uint64)
    states[:, 0] = np.random.default_rng(seed).integers(1, 1 << 62, threads)
    states[:, 1] = JITTER - 1
    rows = [np.zeros((each, 8), np.int64) for _ in range(threads)]
    contents = [np.zeros((int(each * _SNAPSHOT_SHARE) + 8, keys), np.int64) for _ in range(threads)]
    bounds = thresholds()

    def run_one(
        process: int, shared: Board, threads: int, rounds: int, rows: NDArray[np.int64], contents: NDArray[np.int64]
    ) -> int:
        state = np.uint64(states[process].ctypes.data)
        handle = Jittered(base, state) if jittered else base
        me, board = np.uint64(arena.participant()), np.uint64(shared.ctypes.data)
        return int(work(handle, trie, me, board, state, process, threads, rounds, keys, bounds, rows, contents))

    def execute(process: int, shared: Board, threads: int, rounds: int) -> int:
        return run_one(process, shared, threads, rounds, rows[process], contents[process])

    # Compile here, by running nothing with nobody: a thread that compiles must not look like one that is stuck.
    run_one(0, np.zeros(SHARED_WORDS, np.uint64), 0, 1, rows[0][:0], contents[0][:0])
    written = run_together(execute, threads, rounds, deadline)
    if min(written) < 0:
        raise ArenaFull(f"a phase of {operations:,} operations does not fit its arena of {_ARENA_BYTES:,} bytes")
    return _merge(rows, contents, written, keys, f"ctrie-{shape}-{'jittered' if jittered else 'bare'}-{seed}")


def _merge(
    rows: list[NDArray[np.int64]],
    contents: list[NDArray[np.int64]],
    written: list[int],
    keys: int,
    name: str,
) -> MapLog:
    offset = 0
    for process, (mine, count) in enumerate(zip(rows, written, strict=True)):
        taken = mine[:count]
        snapshots = taken[:, 1] == op.SNAPSHOT
        taken[snapshots, 5] += offset
        used = int(snapshots.sum())
        contents[process] = contents[process][:used]
        offset += used
    everything = np.concatenate([mine[:count] for mine, count in zip(rows, written, strict=True)])
    return MapLog(everything, np.concatenate(contents), keys, np.full(keys, -1, np.int64), name)


def run(
    target: str,
    *,
    threads: int,
    operations: int,
    keys: int,
    seed: int,
    mutant: str | None,
    shape: str | None,
    memory: str | None,
    timeout: float | None,
    on_progress: Progress | None,
) -> StressResult:
    """Run and judge all phases; see `latchfree_evidence.stress.run_stress`."""
    result = StressResult(target, threads, keys, seed, mutant)
    load = workload(target)
    end = None if timeout is None else time.monotonic() + timeout
    forms = [shape] if shape else list(SHAPES[target])
    plan = _plan(load, operations, forms, [MEMORIES[memory]] if memory else list(MEMORIES.values()))
    # The judge works on a phase while the threads already run the next.
    with ThreadPoolExecutor(1, thread_name_prefix="judge") as judge:
        judged: tuple[Recording, Future[Verdict]] | None = None
        for number, (form, jittered, size) in enumerate(plan):
            if end is not None and time.monotonic() > end:
                result.verdict, result.reason = "unknown", f"timeout after {timeout:g} s"
                break
            began = time.monotonic()
            try:
                recording = load.record(
                    form,
                    threads=threads,
                    operations=size,
                    keys=keys,
                    seed=seed + number,
                    jittered=jittered,
                    deadline=end,
                )
            except Stuck as stuck:
                result.verdict, result.reason = "violation", str(stuck)
                break
            result.run_seconds += time.monotonic() - began
            if judged is not None and not _take(load, result, *judged, on_progress, operations):
                judged = None
                break
            left = None if end is None else max(0.1, end - time.monotonic())
            judged = (recording, judge.submit(load.judge, recording, left))
        if judged is not None and result.verdict != "violation":
            _take(load, result, *judged, on_progress, operations)
    return result


def _plan(load: Workload, operations: int, shapes: list[str], memories: list[bool]) -> list[tuple[str, bool, int]]:
    each = len(memories)
    phases = max(1, -(-operations // load.phase), min(each * len(shapes), operations // load.small_phase))
    size = -(-operations // phases)
    return [(shapes[n // each % len(shapes)], memories[n % each], size) for n in range(phases)]


def workload(target: str) -> Workload:
    """How a target is stressed."""
    if target == "ctrie":
        return Workload(
            record_phase,
            lambda recording, timeout: check_map_log(recording, timeout=timeout),
            lambda recording, verdict: recording.to_history(verdict.segment, verdict.contents),
            _PHASE,
            _SMALL_PHASE,
        )
    from latchfree_evidence.stress import topics

    return Workload(topics.record_phase, topics.judge, topics.excerpt, phase=40_000, small_phase=10_000)


def _take(
    load: Workload,
    result: StressResult,
    recording: Recording,
    judged: Future[Verdict],
    on_progress: Progress | None,
    total: int,
) -> bool:
    """Add one phase's verdict to the result; False when it ends the run."""
    verdict = judged.result()
    result.histories.append(verdict)
    result.operations += len(recording)
    result.overlapping += overlapping(recording.rows)
    result.check_seconds += verdict.seconds
    if on_progress is not None:
        on_progress(min(result.operations, total), total)
    if verdict.verdict == "violation":
        result.verdict, result.reason = "violation", f"{recording.name}: {verdict.explain()}"
        result.failure = load.excerpt(recording, verdict)
        return False
    if verdict.verdict == "unknown" and result.verdict == "ok":
        result.verdict, result.reason = "unknown", f"{recording.name}: {verdict.reason}"
    return True
