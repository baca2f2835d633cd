"""One process of a program: step after step until the end of its life.

``python -m latchfree_evidence.stress.lifecycle.process FOLDER WHO STEPS`` goes on after an exec.
"""

from __future__ import annotations

import errno
import faulthandler
import json
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from latchfree import ArenaClosed
from latchfree_evidence.stress.lifecycle import ledger as columns
from latchfree_evidence.stress.lifecycle.faults import FAULTS
from latchfree_evidence.stress.lifecycle.ledger import ENDING, RUNNING
from latchfree_evidence.stress.lifecycle.program import Step, load
from latchfree_evidence.stress.lifecycle.state import Process
from latchfree_evidence.stress.lifecycle.steps_arena import ARENA_STEPS
from latchfree_evidence.stress.lifecycle.steps_life import LIFE_STEPS
from latchfree_evidence.stress.lifecycle.warming import warm

STEPS: Final[dict[str, Callable[[Process, Step], None]]] = {**ARENA_STEPS, **LIFE_STEPS, **FAULTS}

#: Processes stay referenced while the interpreter ends, as those of a program with globals do.
_ALIVE: Final[list[Process]] = []


def live(folder: Path, who: int, steps: list[Step]) -> None:
    """Run the steps; whatever is open stays so until the interpreter has ended."""
    faulthandler.enable()
    faulthandler.register(signal.SIGUSR2, all_threads=True)
    process = Process(folder, load(folder / "program.json"), who, steps)
    process.ledger.begin(who, RUNNING)
    _ALIVE.append(process)
    try:
        while process.steps:
            step = process.steps.pop(0)
            process.take_stock()
            _run(process, step)
        process.take_stock()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        process.row[columns.STATE] = ENDING
        process.row[columns.SINCE] = time.monotonic_ns()


def _run(process: Process, step: Step) -> None:
    """Run a step; pass over the errors that the program itself has brought about."""
    try:
        STEPS[step["do"]](process, step)
    except ArenaClosed:
        if not process.at_a_loss:
            raise
        process.openings.clear()
        process.ring = None
    except OSError as error:
        if error.errno != errno.EMFILE or process.exhausted is None:
            raise


if __name__ == "__main__":
    warm()
    live(Path(sys.argv[1]), int(sys.argv[2]), json.loads(sys.argv[3]))
