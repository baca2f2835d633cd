"""One phase of a stress run of a Ctrie: its threads run, and what they recorded is put together."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from latchfree.arena import Arena
from latchfree.ctrie.kernels.snapshot import new_trie
from latchfree.errors import ArenaFull
from latchfree_evidence.stress.crew import Board, Crew, run_together
from latchfree_evidence.stress.ctrie_worker import CtrieRun, thresholds, work
from latchfree_evidence.stress.shapes import SHAPES
from latchfree_evidence.tickets import SHARED_WORDS
from latchfree_lincheck.checking.map_log import MapLog
from latchfree_lincheck.engine.compiled_models import opcodes as op

#: Operations a thread runs between two barriers.
_ROUND = 250

_ARENA_BYTES = 8 << 30
#: Nodes are freed and used again there, and each word has a mark beside it.
_POISONED_BYTES = 1 << 30
_SNAPSHOT_SHARE = 0.04


def record_phase(
    shape: str,
    *,
    threads: int,
    operations: int,
    keys: int,
    seed: int,
    memory: str,
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
    memory : str
        A name of ``MEMORIES``.
    deadline : float, optional
        `time.monotonic` after which the threads stop early.

    Raises
    ------
    Stuck, Freed
        If a thread does not come back, or uses a freed node; see `run_together`.
    ArenaFull
        If the phase's arena is too small for it.
    """
    arena = Arena.anonymous(_POISONED_BYTES if memory == "poisoned" else _ARENA_BYTES)
    crew = Crew(arena, memory, threads, seed)
    base = np.uint64(arena.base)
    trie = new_trie(base, np.uint64(arena.interpreter_participant()), np.uint64(SHAPES["ctrie"][shape]))
    rounds = max(1, operations // (threads * _ROUND))
    each = rounds * max(1, min(_ROUND, operations // threads))
    rows = [np.zeros((each, 8), np.int64) for _ in range(threads)]
    contents = [np.zeros((int(each * _SNAPSHOT_SHARE) + 8, keys), np.int64) for _ in range(threads)]
    bounds = thresholds()

    def run_one(
        process: int, shared: Board, threads: int, rounds: int, rows: NDArray[np.int64], contents: NDArray[np.int64]
    ) -> int:
        handle, state = crew.handle(process)
        board = np.uint64(shared.ctypes.data)
        run = CtrieRun(trie, board, threads, rounds, keys, bounds)
        with arena.lend() as me:
            return int(work(handle, run, np.uint64(me), state, process, rows, contents))

    def execute(process: int, shared: Board, threads: int, rounds: int) -> int:
        return run_one(process, shared, threads, rounds, rows[process], contents[process])

    # Compile here, by running nothing with nobody: a thread that compiles must not look like one that is stuck.
    run_one(0, np.zeros(SHARED_WORDS, np.uint64), 0, 1, rows[0][:0], contents[0][:0])
    written = run_together(execute, crew, threads, rounds, deadline)
    if min(written) < 0:
        raise ArenaFull(f"a phase of {operations:,} operations does not fit its arena of {arena.capacity:,} bytes")
    return _merge(rows, contents, written, keys, f"ctrie-{shape}-{memory}-{seed}")


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
