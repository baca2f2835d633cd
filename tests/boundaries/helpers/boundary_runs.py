"""Run programs in worker processes, and notice those that die, hang or grow."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

#: Seconds of the processor that a call may take, compiling included, and seconds in which a call takes none.
_PATIENCE: Final = 300.0
_ASLEEP: Final = 900.0
_MOST_MEMORY: Final = 3 << 30

Report = Callable[[str], None]

HELPERS: Final = Path(__file__).parent


@dataclass
class Outcome:
    """What came of some programs.

    Attributes
    ----------
    findings : list of str
        The programs that did what no call may, and what they did.
    calls : int
        Programs that ran.
    """

    findings: list[str] = field(default_factory=list)
    calls: int = 0


def _processor(pid: int) -> float:
    """Return the seconds of the processor that a process and its children that ended have taken."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


def _memory(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, IndexError):
        return 0


def run(
    seed: int, each: int, start: int = 0, step: int = 1, patience: float = _PATIENCE, on_finding: Report = print
) -> Outcome:
    """Run the programs of a seed: `each` of each call, or all (0).

    A worker that dies is started again behind the call.
    """
    outcome = Outcome()
    number, at, calling = -1, start, ""
    while True:
        # The folder is ours: a worker that is killed leaves nothing.
        folder = tempfile.TemporaryDirectory(prefix="boundary-", dir="/dev/shm", ignore_cleanup_errors=True)
        with tempfile.TemporaryFile() as errors, folder as name:
            worker = subprocess.Popen(
                [sys.executable, "-m", "boundary_worker", *map(str, (seed, each, at, step, name))],
                stdout=subprocess.PIPE,
                stderr=errors,
                env=os.environ | {"PYTHONPATH": os.pathsep.join([str(HELPERS), *sys.path])},
            )
            assert worker.stdout is not None
            done, why, rest = False, "", b""
            heard, taken = time.monotonic(), 0.0
            while True:
                ready, _, _ = select.select([worker.stdout], [], [], 1.0)
                if ready:
                    chunk = os.read(worker.stdout.fileno(), 1 << 16)
                    if not chunk:
                        break
                    heard, taken = time.monotonic(), _processor(worker.pid)
                    *lines, rest = (rest + chunk).split(b"\n")
                    for line in lines:
                        letter, text_number, text = line.decode("utf-8", "replace").split(" ", 2)
                        if letter == "C":
                            number, calling = int(text_number), text
                            outcome.calls += 1
                        elif letter == "F":
                            outcome.findings.append(f"{number}: {calling}: {text}")
                            on_finding(outcome.findings[-1])
                        else:
                            done = True
                elif _processor(worker.pid) > taken + patience:
                    why = f"has taken {patience:.0f} s of the processor"
                elif time.monotonic() > heard + _ASLEEP and _processor(worker.pid) < taken + 5:
                    why = f"sleeps for {_ASLEEP:.0f} s"
                if _memory(worker.pid) > _MOST_MEMORY:
                    why = "takes more than 3 GB"
                if why:
                    worker.send_signal(signal.SIGUSR1)
                    time.sleep(2)
                    worker.kill()
                    break
            worker.stdout.close()
            code = worker.wait()
            errors.seek(0)
            said = errors.read().decode("utf-8", "replace")[-6000:]
        if done:
            return outcome
        if not calling or number < at:
            raise RuntimeError(f"the worker ended with {code} before its first call: {said}")
        why = why or (f"dies of {signal.Signals(-code).name}" if code < 0 else f"ends with {code}")
        outcome.findings.append(f"{number}: {calling}: {why}\n{said}")
        on_finding(outcome.findings[-1])
        at = number + step
