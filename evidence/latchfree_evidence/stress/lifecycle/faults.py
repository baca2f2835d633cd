"""Steps that do what no program may do: each must be found by the judgement that is made for it."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

import numpy as np

from latchfree_evidence.stress.lifecycle.ledger import STRUCTURES
from latchfree_evidence.stress.lifecycle.program import Step
from latchfree_evidence.stress.lifecycle.state import PRECIOUS, Process
from latchfree_evidence.stress.lifecycle.steps_arena import unrelated


def _lie(process: Process, step: Step) -> None:
    """Acknowledge a write that was not done."""
    at = process.who, STRUCTURES.index("ints"), 0, 0
    process.ledger.intended[at] = process.ledger.acknowledged[at] = process.ledger.value(process.who)


def _hang(process: Process, step: Step) -> None:
    """Wait for what nobody will ever do."""
    lock = threading.Lock()
    lock.acquire()
    lock.acquire()


def _spin(process: Process, step: Step) -> None:
    """Be busy for ever."""
    while True:
        time.monotonic()


def _crash(process: Process, step: Step) -> None:
    """Read where no memory is."""
    import ctypes

    ctypes.string_at(8)


def _abort(process: Process, step: Step) -> None:
    """End by a signal that the program does not have."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    os.kill(os.getpid(), signal.SIGTERM)


def _damage(process: Process, step: Step) -> None:
    """Change a key in the arena, so that it is not where its hash leads."""
    structure, words = process.structure("a", "ints"), process.opening("a").arena.words
    value = process.ledger.value(process.who)
    structure.put(0, value)
    for at in np.flatnonzero(words == value).tolist():
        words[at - 1] ^= 1 << 40


def _break_seal(process: Process, step: Step) -> None:
    """Cut the file of the arena short, so that nobody can open it."""
    where = process.where
    path = Path("/dev/shm") / f"latchfree-{where}" if isinstance(where, str) else where
    os.truncate(path, 100)
    os._exit(0)


def _keep_memory(process: Process, step: Step) -> None:
    """Take memory, and forget in the arena who has it."""
    from latchfree import RingBuffer
    from latchfree.arena.layout import H_OWNED
    from latchfree.streams.kernels.roster import TABLE_WORDS

    arena = process.opening("a").arena
    process.kept.append(RingBuffer(1 << 15, arena=arena))
    roster = arena.words[int(arena.words[H_OWNED]) :][: int(TABLE_WORDS)]
    roster[roster == arena.identity] = 0
    os._exit(0)


def _scribble(process: Process, step: Step) -> None:
    """Write into a file that is not ours."""
    (process.folder / f"precious-{process.who}-0").write_bytes(PRECIOUS)
    descriptor = unrelated(process.folder, process.who, 0)
    os.ftruncate(descriptor, 4096)


def _lose_number(process: Process, step: Step) -> None:
    """Close a descriptor that is not ours."""
    os.close(process.precious[0][0])


def _complain(process: Process, step: Step) -> None:
    """Raise where Python can only print."""

    class Complaint:
        def __del__(self) -> None:
            raise RuntimeError("raised in a finalizer")

    Complaint()
    sys.stderr.flush()


FAULTS: Final[dict[str, Callable[[Process, Step], None]]] = {
    "fault:lie": _lie,
    "fault:hang": _hang,
    "fault:spin": _spin,
    "fault:crash": _crash,
    "fault:abort": _abort,
    "fault:damage": _damage,
    "fault:break_seal": _break_seal,
    "fault:keep_memory": _keep_memory,
    "fault:scribble": _scribble,
    "fault:lose_number": _lose_number,
    "fault:complain": _complain,
}
