"""The conductor of one program: starts its processes, stops and kills some, and notices what must not happen.

Every process of the program is a descendant of the conductor, and becomes a child when its parent ends, so nobody gets
away: neither a daemon nor the child of a process that was killed.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Final, TypeAlias

from latchfree_evidence.stress.lifecycle import ledger as columns
from latchfree_evidence.stress.lifecycle.bystander import keep
from latchfree_evidence.stress.lifecycle.descent import children, descendants, kill_all
from latchfree_evidence.stress.lifecycle.judge import Finding
from latchfree_evidence.stress.lifecycle.ledger import (
    BYSTANDER,
    ENDING,
    PROCESSES,
    RESTING,
    RUNNING,
    TOLD_TO_END,
    Ledger,
)
from latchfree_evidence.stress.lifecycle.process import live
from latchfree_evidence.stress.lifecycle.program import Program
from latchfree_evidence.stress.lifecycle.watch import GONE, Watch, state_of

_LOOK: Final = 0.004
_LOOKS: Final = 3
_ALTOGETHER: Final = 600.0
"""Seconds after which a program that does not end is judged, whatever its processes seem to wait for."""
_FAREWELL: Final = 0.3

Task: TypeAlias = Callable[[], object]
"""What a process does after the fork; it may return another task."""


class Conductor:
    """Runs one program."""

    def __init__(self, folder: Path, program: Program) -> None:
        self.folder, self.program = folder, program
        self.ledger = Ledger(folder / "ledger", create=True)
        self.findings: list[Finding] = []
        self.statuses: dict[int, int] = {}
        self.resumed: dict[int, float] = {}
        self.strangers: dict[int, tuple[Watch, int]] = {}
        self.watches = [Watch() for _ in range(PROCESSES)]
        self.began = time.monotonic()
        self.signals = [(each["after"] / 1000, each) for each in program["signals"]]

    def start(self, task: Task) -> int | None:
        """Fork a process for a task; return its id, and None in the process, which must return to run the task."""
        child = os.fork()
        if child:
            return child
        self.task = task
        return None

    def find(self, kind: str, text: str) -> None:
        """Note what must not be."""
        self.findings.append(Finding(kind, text))

    # one after another -----------------------------------------------------------------------------------------

    def run_processes(self) -> Task | None:
        """Start the processes and see them to their ends; return a task in a process that is to run it."""
        if self.program["bystander"]:
            if self.start(lambda: keep(self.folder, self.program)) is None:
                return self.task
            while not self.ledger.rows[BYSTANDER, columns.STATE]:
                if self.reap() and BYSTANDER not in self.living():
                    self.find("exception", "the bystander could not open the arena")
                    return None
                time.sleep(_LOOK)
        for each in self.program["processes"]:
            if self.start(partial(live, self.folder, each["who"], each["steps"])) is None:
                return self.task
        self.began = time.monotonic()
        while not self.findings and self.busy():
            self.reap()
            self.signal_at_times()
            self.let_go_on()
            self.look_for_hangs()
            if time.monotonic() - self.began > _ALTOGETHER:
                self.find("hang", f"the program takes more than {_ALTOGETHER:g} s")
            time.sleep(_LOOK)
        self.reap()
        for who, status in enumerate(self.ledger.rows[:, columns.STATUS].tolist()):
            if status and int(self.ledger.rows[who, columns.PID]) not in self.statuses:
                self.judge_status(who, status - 1)
        return None

    def run_apart(self, task: Task, what: str) -> Task | None:
        """Run a task of ours in a process of its own; it must neither die nor hang."""
        pid = self.start(task)
        if pid is None:
            return self.task
        watch, since = Watch(), time.monotonic_ns()
        while pid not in self.statuses:
            self.reap()
            if watch.look(pid, since):
                self.find("hang", f"{what} takes more than 5 s")
                self.stacks([pid])
                return None
            time.sleep(_LOOK)
        return None

    def end_the_rest(self) -> Task | None:
        """Have the bystander close and end, and end the processes that rest; return None, as nothing is forked."""
        rows = self.ledger.rows
        for who, pid in self.living().items():
            if rows[who, columns.STATE] == RESTING:
                rows[who, columns.FATE] = TOLD_TO_END
                os.kill(pid, signal.SIGKILL)
        rows[BYSTANDER, columns.GO_ON] = 1
        rows[BYSTANDER, columns.SINCE] = time.monotonic_ns()
        while children() and not self.findings:
            self.reap()
            self.look_for_hangs()
            time.sleep(_LOOK)
        return None

    # looks -----------------------------------------------------------------------------------------------------

    def living(self) -> dict[int, int]:
        """Return the processes of the ledger that are alive."""
        pids = self.ledger.rows[:, columns.PID].tolist()
        return {who: pid for who, pid in enumerate(pids) if pid and state_of(pid) not in GONE}

    def busy(self) -> bool:
        """Return whether any process is still to end; the kernel may leave children out of one list, while some end."""
        rows = self.ledger.rows
        for _ in range(_LOOKS):
            idle = {int(rows[BYSTANDER, columns.PID])}
            idle |= {int(row[columns.PID]) for row in rows if row[columns.STATE] == RESTING}
            if (children() | set(self.living().values())) - idle:
                return True
            time.sleep(_LOOK)
        return False

    def reap(self) -> bool:
        """Take the exit statuses of our children that have ended, and judge them; return whether there were any."""
        found = False
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return found
            if not pid:
                return found
            found = True
            self.statuses[pid] = status
            pids = self.ledger.rows[:, columns.PID].tolist()
            self.judge_status(pids.index(pid) if pid in pids else None, status)

    def judge_status(self, who: int | None, status: int) -> None:
        """Note a process that ended as it should not."""
        # A daemon has left its seat to its grandchild: who was killed there is not known any more.
        fates = (
            self.ledger.rows[:, columns.FATE].tolist() if who is None else [int(self.ledger.rows[who, columns.FATE])]
        )
        name = "a process" if who is None else f"process {who}" if who != BYSTANDER else "the bystander"
        if os.WIFSIGNALED(status):
            number = os.WTERMSIG(status)
            if not (number == signal.SIGKILL and {signal.SIGKILL, TOLD_TO_END} & set(fates)):
                self.find("signal", f"{name} died of {signal.Signals(number).name}")
        elif os.WEXITSTATUS(status):
            self.find("exception", f"{name} ended with exit code {os.WEXITSTATUS(status)}")

    def signal_at_times(self) -> None:
        """Send the signals that are due."""
        now = time.monotonic() - self.began
        due = [each for after, each in self.signals if after <= now]
        self.signals = [(after, each) for after, each in self.signals if after > now]
        for each in due:
            pid = self.living().get(each["to"])
            row = self.ledger.rows[each["to"]]
            if pid is None or row[columns.STATE] in (columns.NOT_YET, columns.EXECUTING, RESTING):
                continue
            if each["send"] == "kill":
                row[columns.FATE] = signal.SIGKILL
                os.kill(pid, signal.SIGKILL)
            elif not row[columns.STOP]:
                row[columns.STOP] = 1 + each["until"]
                os.kill(pid, signal.SIGSTOP)

    def let_go_on(self) -> None:
        """Continue the processes that have been stopped for long enough."""
        rows, now = self.ledger.rows, time.monotonic()
        seats = {pid: who for who, pid in self.living().items()}
        # One without a seat has left it to a daemon: it goes on at once.
        stopped = {pid: seats.get(pid) for pid in descendants() | set(seats) if state_of(pid) == "T"}
        if not stopped:
            return
        idle = {pid for pid, who in seats.items() if self.is_idle(who)} | set(stopped)
        for pid, who in stopped.items():
            since = self.resumed.setdefault(pid, now)
            until = -1 if who is None else int(rows[who, columns.STOP]) - 1
            if (until and now - since > until / 1000) or (not until and not set(seats) - idle):
                if who is not None:
                    rows[who, columns.STOP] = 0
                    rows[who, columns.SINCE] = time.monotonic_ns()
                del self.resumed[pid]
                os.kill(pid, signal.SIGCONT)

    def is_idle(self, who: int) -> bool:
        """Return whether a process does nothing that could have an end: it keeps, rests, or waits for a child."""
        row = self.ledger.rows[who]
        keeping = who == BYSTANDER and not row[columns.GO_ON]
        return bool(keeping or row[columns.STATE] == RESTING or row[columns.WAITING])

    def look_for_hangs(self) -> None:
        """Note a process whose step takes too long."""
        rows, now = self.ledger.rows, time.monotonic_ns()
        for who in range(PROCESSES):
            row = rows[who]
            if not row[columns.PID] or now - int(row[columns.SINCE]) < 1e9 or self.is_idle(who):
                continue
            pid = int(row[columns.PID])
            if pid in self.statuses or state_of(pid) in ("T", *GONE):
                continue
            if self.watches[who].look(pid, int(row[columns.SINCE])):
                at = "its end" if row[columns.STATE] == ENDING else f"step {int(row[columns.STEPS])} of its steps"
                self.find("hang", f"process {who} takes more than 5 s for {at}")
        for pid in children() - set(rows[:, columns.PID].tolist()):
            watch, since = self.strangers.setdefault(pid, (Watch(), now))
            if watch.look(pid, since):
                self.find("hang", "a process takes more than 5 s for its fork")
        if self.findings and self.findings[-1].kind == "hang":
            self.stacks([pid for who, pid in self.living().items() if rows[who, columns.STATE] in (RUNNING, ENDING)])

    def stacks(self, pids: list[int]) -> None:
        """Have processes print where they are."""
        for pid in pids:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGUSR2)
        time.sleep(_FAREWELL)

    def end_all(self) -> None:
        """Kill whoever is left."""
        kill_all()
