"""Log the atomic accesses of threads of two processes, which share an arena.

Example: of three threads the first and the third run here, the second in another process, which has opened the arena at
another address and has compiled the operations for itself.

The log lies in a file that both have mapped, its spin lock in it. So its rows are in the order of the accesses,
whichever process has made them. A row holds the address of the text that says where the access stands. That is an
address of the process that has made the access: each process reads its own.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import Any, Final, Self

import numpy as np

from latchfree.arena import Arena
from latchfree_evidence.refinement.traces.explored import Log
from latchfree_evidence.refinement.traces.logger import (
    LOG_WORDS,
    R_SITE,
    R_THREAD,
    Rows,
    Unlogged,
    board_of,
    checked_rows,
    rows_of,
    run_before,
    run_threads,
    site_at,
    step_of,
    table_of,
)
from latchfree_evidence.refinement.traces.mains import mains_of
from latchfree_evidence.targets.ctrie import CAPACITY, CtrieTarget
from latchfree_explore.board import layout as b
from latchfree_explore.scenario import Scenario

_MODULE: Final = "latchfree_evidence.refinement.traces.companion"


def shared_log(path: Path) -> Rows:
    """Return the log in a file."""
    return np.memmap(path, np.int64, "r+", shape=(LOG_WORDS,))


def theirs(scenario: Scenario) -> range:
    """Return the threads that run in the other process: every second one."""
    return range(1, len(scenario.threads), 2)


class TwoProcesses:
    """One process, that of the caller, and a companion; to be used in a ``with`` block.

    Parameters
    ----------
    target : CtrieTarget
        Whose operations are run; the companion's is that of `latchfree_evidence.refinement.traces.forked`.
    mutant : str, optional
        Also applied in the companion.
    """

    def __init__(self, target: CtrieTarget, mutant: str | None = None) -> None:
        self._target = target
        self._command = [sys.executable, "-m", _MODULE, *([mutant] if mutant else [])]
        self._companion: subprocess.Popen[str] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._companion is not None:
            self._companion.kill()
            self._companion.communicate()

    def log(self, scenario: Scenario, seed: int) -> Log:
        """Run a scenario of two threads or more, and return its accesses in the order in which they were made.

        Raises
        ------
        Unlogged
            If there were too many accesses, an operation raised an exception, or the companion has ended.
        TooLong
            If there were so many that memory may have been freed.
        """
        target, threads = self._target, len(scenario.threads)
        with TemporaryDirectory(prefix="latchfree-log-") as folder:
            place, file = Path(folder, "arena"), Path(folder, "log")
            with file.open("wb") as made:
                made.truncate(8 * LOG_WORDS)
            log = shared_log(file)
            with Arena.create(path=place, capacity=CAPACITY) as arena:
                memory = target.prepare_in(arena, threads + 1, scenario.keys)
                table = table_of(target, scenario)
                words = memory.words.ctypes.data, memory.root
                boards = [board_of(k, threads, seed, words, table, log) for k in range(threads + 1)]
                begin = run_before(boards[threads], scenario, log)
                job = {"arena": str(place), "log": str(file), "root": memory.root, "scenario": str(scenario)}
                if self._ask({**job, "seed": seed}) != "ready":
                    raise Unlogged("the companion has ended")
                run_threads(boards, scenario, range(0, threads, 2))
                told = self._answer()
                if not isinstance(told, dict):
                    raise Unlogged("the companion has ended")
                rows = checked_rows(log, begin, scenario)
                other = set(theirs(scenario))
                sites = {int(address): site for address, site in told["sites"].items()}
                steps = [
                    step_of(row, sites[row[R_SITE]] if row[R_THREAD] in other else site_at(row[R_SITE])) for row in rows
                ]
                answers = {int(k): word for k, word in told["results"].items()}
                results = [
                    target.operation(each.f).result(answers.get(k, int(table[k, b.C_RESULT])))
                    for k, each in enumerate(scenario.operations)
                ]
                mains = mains_of(steps, memory.words)
                del memory
            return Log(steps, results, mains)

    def _ask(self, job: dict[str, Any]) -> Any:
        if self._companion is None:
            environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
            self._companion = subprocess.Popen(
                self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
            )
        assert self._companion.stdin is not None
        self._companion.stdin.write(json.dumps(job) + "\n")
        self._companion.stdin.flush()
        return self._answer()

    def _answer(self) -> Any:
        assert self._companion is not None
        assert self._companion.stdout is not None
        line = self._companion.stdout.readline()
        return json.loads(line) if line else None


def run_job(target: CtrieTarget, job: dict[str, Any]) -> None:
    """Run, in the companion, its threads of one scenario; print "ready" before, and results and places after."""
    scenario = Scenario.parse(job["scenario"])
    threads, mine = len(scenario.threads), theirs(scenario)
    log = shared_log(Path(job["log"]))
    with Arena.open(job["arena"]) as arena:
        table = table_of(target, scenario)
        words = arena.words.ctypes.data, job["root"]
        boards = [board_of(k, threads, job["seed"], words, table, log) for k in range(threads)]
        print(json.dumps("ready"), flush=True)
        run_threads(boards, scenario, mine)
        own = {row[R_SITE] for row in rows_of(log).tolist() if row[R_THREAD] in mine}
        ends = np.cumsum([len(scenario.before), *map(len, scenario.threads)]).tolist()
        results = {k: int(table[k, b.C_RESULT]) for thread in mine for k in range(ends[thread], ends[thread + 1])}
    print(json.dumps({"results": results, "sites": {address: site_at(address) for address in own}}), flush=True)
