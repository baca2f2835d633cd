"""The bystander: a process of some programs that has the arena open all the time, and does nothing with it."""

from __future__ import annotations

import faulthandler
import signal
import time
from pathlib import Path
from typing import Final

from latchfree import Arena
from latchfree_evidence.stress.lifecycle.ledger import BYSTANDER, GO_ON, RUNNING, Ledger
from latchfree_evidence.stress.lifecycle.program import Program
from latchfree_evidence.stress.lifecycle.setting import offer_ring
from latchfree_evidence.stress.lifecycle.state import place

_LOOK: Final = 0.01


def keep(folder: Path, program: Program) -> None:
    """Keep the arena open until told to close."""
    faulthandler.enable()
    faulthandler.register(signal.SIGUSR2, all_threads=True)
    ledger = Ledger(folder / "ledger")
    arena = Arena.open(place(folder, program["arena"]))
    ring = offer_ring(folder, arena)
    ledger.begin(BYSTANDER, RUNNING)
    while not ledger.rows[BYSTANDER, GO_ON]:
        time.sleep(_LOOK)
    del ring
    arena.close()
