"""The fork server: imports and compiles everything once, and forks a conductor for each program it is told to run.

``python -m latchfree_evidence.stress.lifecycle.server FOLDER`` reads a folder a line, each below FOLDER and with a
``program.json``, and prints the folder again when the program has been judged; the findings are in ``result.json``. At
the end of its input, and when it is told to end, nothing that it has started is left.
"""

from __future__ import annotations

import gc
import json
import os
import select
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any, Final

from latchfree_evidence.stress.lifecycle import ledger as columns
from latchfree_evidence.stress.lifecycle.conductor import Conductor, Task
from latchfree_evidence.stress.lifecycle.descent import adopt_descendants, clean_up, kill_all
from latchfree_evidence.stress.lifecycle.judge import (
    complaints,
    conclusions,
    look_at_life,
    look_at_remains,
    unrelated_files,
)
from latchfree_evidence.stress.lifecycle.program import load
from latchfree_evidence.stress.lifecycle.setting import prepare
from latchfree_evidence.stress.lifecycle.warming import warm
from latchfree_support.publishing import publish_file

READY: Final = "ready"
_LOOK: Final = 0.01
_COMPILED: Final = 8.0
"""Seconds of processor time that nobody needs who finds everything compiled."""
_AGAIN: Final = "LATCHFREE_LIFECYCLE_COMPILED"
_STDERR_SHOWN: Final = 12_000


def serve(folder: Path) -> Task | None:
    """Run programs until the input ends; return the task of a process that was forked for one."""
    adopt_descendants()
    ended: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, frame: ended.append(number))
    warm()
    if time.process_time() > _COMPILED and not os.environ.get(_AGAIN):
        # A process that has compiled is large, and slow to fork and to end. What it has compiled is on the disk.
        os.execve(sys.executable, [sys.executable, "-m", __spec__.name, str(folder)], {**os.environ, _AGAIN: "1"})
    gc.freeze()
    _tell(READY)
    running: dict[int, str] = {}
    buffer = b""
    while not ended and os.getppid() != 1:
        readable, _, _ = select.select([0], [], [], _LOOK)
        if readable:
            read = os.read(0, 1 << 16)
            if not read:
                break
            *lines, buffer = (buffer + read).split(b"\n")
            for line in lines:
                pid = os.fork()
                if pid == 0:
                    return partial(conduct, Path(line.decode()))
                running[pid] = line.decode()
        for pid in _ended():
            if pid in running:
                _tell(running.pop(pid))
    kill_all()
    clean_up(folder)
    return None


def _tell(line: str) -> None:
    """Print a line; if the driver was killed, the end of the input says so, too."""
    try:
        print(line, flush=True)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for what is still to be flushed


def _ended() -> list[int]:
    pids = []
    try:
        while pid := os.waitpid(-1, os.WNOHANG)[0]:
            pids.append(pid)
    except ChildProcessError:
        pass
    return pids


def conduct(folder: Path) -> Task | None:
    """Run and judge the program of a folder; return the task of a process that was forked for the program."""
    adopt_descendants()
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    errors = os.open(folder / "stderr", os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o600)
    os.dup2(errors, 2)
    os.close(errors)
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    os.dup2(null, 1)
    os.close(null)
    began = time.monotonic()
    program = load(folder / "program.json")
    conductor = Conductor(folder, program)
    parts: list[Callable[[], Task | None]] = [
        lambda: conductor.run_apart(lambda: _prepare(folder), "making the arena"),
        conductor.run_processes,
        lambda: conductor.run_apart(lambda: look_at_life(folder, program), "opening the arena beside the bystander"),
        conductor.end_the_rest,
        lambda: conductor.run_apart(lambda: look_at_remains(folder, program), "opening what is left"),
    ]
    for part in parts:
        task = part()
        if task is not None:
            return task
        if conductor.findings:
            break
    conductor.end_all()
    _write_result(folder, conductor, time.monotonic() - began)
    os._exit(0)


def _prepare(folder: Path) -> None:
    prepare(folder, load(folder / "program.json"))
    os._exit(0)


def _write_result(folder: Path, conductor: Conductor, seconds: float) -> None:
    errors = (folder / "stderr").read_text(errors="replace")
    exits = '"then": "exit"' in json.dumps(conductor.program)
    findings = [*conductor.findings, *complaints(errors, exits=exits), *conclusions(folder), *unrelated_files(folder)]
    rows = conductor.ledger.rows
    result: dict[str, Any] = {
        "findings": [asdict(each) for each in findings],
        "stderr": errors[-_STDERR_SHOWN:],
        "seconds": seconds,
        "processes": int((rows[:, columns.PID] != 0).sum()),
        "steps": int(rows[:, columns.STEPS].sum()),
        "writes": int(rows[:, columns.WRITES].sum()),
        "kills": int((rows[:, columns.FATE] == signal.SIGKILL).sum()),
    }
    publish_file(folder / "result.json", json.dumps(result).encode(), synchronised=False)


if __name__ == "__main__":
    task: object = serve(Path(sys.argv[1]))
    while callable(task):
        task = task()
    sys.stderr.flush()
