"""Run real threads over a structure, record what they did, and judge it.

A run is a sequence of *phases*, each on a fresh trie of another shape, alternately on bare memory and on jittered
memory. A phase is many short rounds with a barrier between them, so that its history has instants at which
nothing is in flight: the checker cuts there, and its memory stays small however long the run.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from latchfree_evidence.stress.crew import Freed, Stuck
from latchfree_evidence.stress.result import StressResult
from latchfree_evidence.stress.shapes import IN_TURN, SHAPES
from latchfree_lincheck.checking.map_log import check_map_log
from latchfree_lincheck.checking.verdict import Verdict
from latchfree_lincheck.history import History

#: Operations of all threads in one phase of a Ctrie.
_PHASE = 128_000
#: A run of that many operations a phase has a phase of every kind.
_SMALL_PHASE = 50_000

Progress = Callable[[int, int], None]


class Recording(Protocol):
    """The operations that a phase recorded."""

    name: str
    rows: NDArray[np.int64]

    def __len__(self) -> int: ...


@dataclass(frozen=True, slots=True)
class Workload:
    """The functions and sizes with which a structure is stressed.

    Parameters
    ----------
    record : callable
        Runs a phase and returns its recording; see `latchfree_evidence.stress.ctrie.record_phase`.
    judge : callable
        Judges a recording within so many seconds.
    excerpt : callable
        Returns the part of a wrong recording that fails by itself.
    phase, small_phase : int
        Operations in one phase; a run with at least `small_phase` operations for each kind of phase has every kind.
    """

    record: Callable[..., Any]
    judge: Callable[[Any, float | None], Verdict]
    excerpt: Callable[[Any, Verdict], History]
    phase: int
    small_phase: int


def overlapping(rows: NDArray[np.int64]) -> int:
    """Return how many operations were in flight together with another one."""
    order = np.argsort(rows[:, 6])
    invoke, finish = rows[order, 6], rows[order, 7]
    latest = np.maximum.accumulate(finish)
    after_start = np.concatenate([[False], latest[:-1] > invoke[1:]])
    before_end = np.concatenate([invoke[1:] < finish[:-1], [False]])
    return int((after_start | before_end).sum())


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
    plan = _plan(load, operations, forms, [memory] if memory else list(IN_TURN))
    # The judge works on a phase while the threads already run the next.
    with ThreadPoolExecutor(1, thread_name_prefix="judge") as judge:
        judged: tuple[Recording, Future[Verdict]] | None = None
        for number, (form, kind, size) in enumerate(plan):
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
                    memory=kind,
                    deadline=end,
                )
            except (Stuck, Freed) as stuck:
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


def _plan(load: Workload, operations: int, shapes: list[str], memories: list[str]) -> list[tuple[str, str, int]]:
    each = len(memories)
    phases = max(1, -(-operations // load.phase), min(each * len(shapes), operations // load.small_phase))
    size = -(-operations // phases)
    return [(shapes[n // each % len(shapes)], memories[n % each], size) for n in range(phases)]


def workload(target: str) -> Workload:
    """Return how a target is stressed."""
    if target == "ctrie":
        from latchfree_evidence.stress import ctrie

        return Workload(
            ctrie.record_phase,
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
    """Add one phase's verdict to the result; return False when that ends the run."""
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
