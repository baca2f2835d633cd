"""Figures of a fresh process: the memory that engines take, and the functions that are compiled."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from judging.figure import Figure, ok
from judging.hard import hard
from judging.recorded import record
from latchfree_lincheck import History, Operation, check

_PROGRAM = Path(__file__).resolve().parents[1] / "lincheck.py"


def bounds() -> list[Figure]:
    """How much more memory than allowed each engine takes."""
    figures = []
    for engine in ("auto", "frontier", "wgl", "python"):
        grown, allowed = map(float, fresh("bound", engine).split())
        figures.append(Figure(f"memory grown by, {engine}, bound {allowed:.0f} MB", "%", 110, 100 * grown / allowed))
    return figures


def compiled() -> Figure:
    """How many functions a second process compiles."""
    fresh("compile")
    return Figure("functions compiled by a second process", "", 0, float(fresh("compile")))


def fresh(task: str, *arguments: str) -> str:
    """Run one of `TASKS` in a fresh process; return what it prints."""
    command = [sys.executable, str(_PROGRAM), "--task", task, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)}: {done.stderr}")
    return done.stdout


def _peak() -> int:
    """Return the most bytes this program had in memory; getrusage would count what its parent had, too."""
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) * 1024


def _task_memory() -> str:
    history = record("cas-register", 100_000, threads=8)
    ok(history, "cas-register")
    return str(_peak() / (1 << 20))


def _task_bound(engine: str) -> str:
    from latchfree_lincheck.engine.resident import resident

    bound = 256 << 20
    history = hard(14, 12)
    check(hard(3, 2), "cas-register", engine=engine)  # type: ignore[arg-type]
    before = resident()
    verdict = check(history, "cas-register", engine=engine, memory=bound, timeout=120)  # type: ignore[arg-type]
    if "memory" not in verdict.reason:
        raise SystemExit(verdict.explain())
    grown = _peak() - before
    return f"{grown / (1 << 20)} {bound / (1 << 20)}"


def _task_compile() -> str:
    from numba.core import event

    with event.install_recorder("numba:compile") as recorder:
        for name in ("register", "cas-register", "map", "set", "queue", "stack", "priority-queue", "counter"):
            if name == "counter":
                check(History("c", [Operation(0, "add", (1,), 0, 0, 1)]), name)
                continue
            history = record(name, 200, threads=4)
            for engine in ("auto", "frontier", "wgl"):
                check(history, name, engine=engine)  # type: ignore[arg-type]
    return str(len(recorder.buffer))


TASKS: dict[str, Callable[..., str]] = {"memory": _task_memory, "bound": _task_bound, "compile": _task_compile}
