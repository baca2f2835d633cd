"""Does an arena survive its processes? ``python bench/kill.py --seconds 300``.

Eight processes work on one named arena; five times a second one of them is killed with SIGKILL, wherever it is, and
replaced. `killing.worker` says what they do, and `killing.ledger` how it is known what they had done when they died.
Asked for:

- no operation of a survivor takes a second: nobody waits for the dead;
- no acknowledged write is lost, and the contents at the end are those acknowledged, give or take what was in flight;
- the history of the keys that all processes share is linearizable;
- memory stays bounded, and what kills have leaked is found and given back by ``latchfree arena fsck --repair``.

Workers are forked from a process that has everything compiled: a fresh interpreter needs a second of processor time to
begin, so eight of them would never get to work.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import random
import signal
import sys
import tempfile
import time
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import numpy as np

from killing import worker
from killing.ledger import (
    ABSENT,
    ACKNOWLEDGED,
    IN_FLIGHT,
    LONGEST,
    LONGEST_KIND,
    OPERATIONS,
    OWN_KEYS,
    READY,
    SEATS,
    SHARED_KEYS,
    SLOWEST_START,
    STARTED,
    STOP,
    TICKET,
    Ledger,
)
from killing.worker import KINDS, NAME, key_of, work
from latchfree import Arena, Ctrie
from latchfree_fsck import Report, fsck
from latchfree_fsck.reach import Reach
from measuring.soak import Figure, show

_SECOND = 10**9
_FAREWELL = 60
_COLLECTIONS = 4
_JUDGE_SECONDS = 300


class Failed(Exception):
    """A worker ended in another way than by being killed or being told to stop."""


class Campaign:
    """Processes at their seats, and the kills."""

    def __init__(self, folder: Path, rows: int, seed: int) -> None:
        self.name = f"bench-kill-{os.getpid()}"
        self.arena = Arena.create(name=self.name, capacity=1 << 30)
        self.trie: Ctrie[int, int] = Ctrie.create(self.arena, NAME, keys=int, values=int)
        self.path = str(folder / "ledger")
        self.ledger = Ledger(self.path, rows, create=True)
        self.ledger.take(TICKET)  # 0 stands for no ticket
        self.failures = folder / "failures"
        self.failures.mkdir()
        self.rng = random.Random(seed)
        os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, sys.path))
        self.context = multiprocessing.get_context("forkserver")
        self.context.set_forkserver_preload([worker.__name__])
        self.kills = 0
        self.stuck = 0
        self.used: list[int] = []
        self.processes = [self._start(seat) for seat in range(SEATS)]

    def _start(self, seat: int) -> BaseProcess:
        process = self.context.Process(
            target=work,
            args=(seat, str(self.arena.region.where), self.path, self.ledger.capacity, str(self.failures)),
            daemon=True,
        )
        process.start()
        return process

    def run(self, seconds: float, period: float) -> None:
        """Kill one every `period` seconds; then let the others finish."""
        while not self.ledger.seats[:, READY].all():
            self._look()
            time.sleep(0.05)
        due = time.monotonic()
        end = due + seconds
        while (due := due + period) < end:
            time.sleep(max(0.0, due - time.monotonic()))
            self._look()
            self._kill(self.rng.randrange(SEATS))
        self.ledger.clock[STOP] = 1
        for process in self.processes:
            process.join(_FAREWELL)
        self._look()

    def _kill(self, seat: int) -> None:
        process = self.processes[seat]
        assert process.pid is not None
        os.kill(process.pid, signal.SIGKILL)
        process.join()
        self.kills += 1
        self.ledger.seats[seat, STARTED] = 0
        self.processes[seat] = self._start(seat)

    def _look(self) -> None:
        """Note how long operations have been under way, and stop at the first failure."""
        self.used.append(self.arena.used)
        started = self.ledger.seats[:, STARTED].copy()
        now = time.monotonic_ns()
        self.stuck = max(self.stuck, *(now - int(since) for since in started if since), 0)
        for file in self.failures.iterdir():
            raise Failed(file.read_text())
        for seat, process in enumerate(self.processes):
            if process.exitcode:
                raise Failed(f"the process at seat {seat} ended with code {process.exitcode}")
            if self.ledger.clock[STOP] and process.is_alive():
                raise Failed(f"the process at seat {seat} does not stop")

    def repair(self) -> Report:
        """Close the arena, repair it, and open it again."""
        self.arena.close()
        report = fsck(name=self.name, repair=True)
        self.arena = Arena.open(self.name)
        self.trie = Ctrie.open(self.arena, NAME)
        return report

    def close(self) -> None:
        """End all processes and remove the arena."""
        for process in self.processes:
            process.kill()
            process.join()
        self.arena.unlink()
        self.arena.close()


def lost(campaign: Campaign) -> int:
    """Keys that hold neither what was acknowledged nor what was in flight, and keys nobody wrote."""
    ledger, trie = campaign.ledger, campaign.trie
    contents = dict(trie.items())
    wrong = 0
    for seat in range(SEATS):
        keys = np.arange(OWN_KEYS, dtype=np.int64) + key_of(seat, 0)
        found = np.array([contents.pop(key, ABSENT) for key in keys.tolist()])
        looked_up = np.ma.filled(trie.get_many(keys), ABSENT)
        right = (found == ledger.acknowledged[seat]) | (found == ledger.intended[seat])
        wrong += int(np.count_nonzero(~right | (looked_up != found)))
    for key in range(SHARED_KEYS):
        contents.pop(key_of(-1, key), None)
    return wrong + len(contents)


def judge(ledger: Ledger) -> tuple[Any, int, int]:
    """The verdict on the shared keys, how many calls were recorded, and how many are pending."""
    from latchfree_lincheck.checking.map_log import MapLog, check_map_log

    rows = ledger.recorded()
    nothing = np.full(SHARED_KEYS, ABSENT)
    recording = MapLog(rows, np.empty((0, SHARED_KEYS), np.int64), SHARED_KEYS, nothing, "shared keys")
    verdict = check_map_log(recording, timeout=_JUDGE_SECONDS)
    return verdict, len(rows), int(np.count_nonzero(rows[:, 7] == -1))


def leaked(campaign: Campaign) -> int:
    """Words in use that the trie does not reach."""
    arena = campaign.arena
    arena.adopt()
    for _ in range(_COLLECTIONS):
        arena.collect()
    reach = Reach(arena.base)
    reach.add(campaign.trie._store.trie)
    return arena.census().nodes - reach.words


def report(campaign: Campaign, seconds: float) -> int:
    """Print everything; returns the exit code."""
    seats = campaign.ledger.seats
    worst = int(seats[:, LONGEST].argmax())
    longest = max(int(seats[worst, LONGEST]), campaign.stuck) / _SECOND
    verdict, calls, pending = judge(campaign.ledger)
    used = campaign.used
    facts = {
        "kills": f"{campaign.kills:,}",
        "processes that worked": f"{int(seats[:, READY].sum()):,}",
        "operations a second": f"{int(seats[:, OPERATIONS].sum()) / seconds:,.0f}",
        "acknowledged writes": f"{int(seats[:, ACKNOWLEDGED].sum()):,}",
        "writes in flight": f"{int(seats[:, IN_FLIGHT].sum()):,} when their process was killed",
        "longest operation": f"{longest * 1000:.0f} ms, {KINDS[seats[worst, LONGEST_KIND]]}",
        "slowest start": f"{int(seats[:, SLOWEST_START].max()) / 1e6:.0f} ms",
        "calls on shared keys": f"{calls:,}, {pending} pending: {verdict.verdict}, {verdict.reason}",
        "arena.used": f"{used[len(used) // 2] / 1e6:.1f} MB at half time, {used[-1] / 1e6:.1f} MB in the end",
        "words lost to kills": f"{leaked(campaign):,}",
    }
    wrong = lost(campaign)
    repaired = campaign.repair()
    facts["fsck --repair"] = "; ".join([*repaired.damage, *repaired.faults, f"{repaired.leaked // 8:,} words leaked"])
    for what, found in facts.items():
        print(f"{what:<24}{found}")
    return show(
        [
            Figure("longest operation of a survivor", longest, 1, "s"),
            Figure("keys that do not hold what was acknowledged", wrong, 0),
            Figure("calls on shared keys that no order explains", int(verdict.verdict != "ok"), 0),
            Figure("structures damaged", len(repaired.damage), 0),
            Figure("keys that do not hold it after the repair", lost(campaign), 0),
            Figure("words lost after the repair", leaked(campaign), 0),
        ]
    )


def main() -> int:
    """Run and print; 1 if something asked for was missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--period", type=float, default=0.2, help="seconds between two kills (default: 0.2)")
    parser.add_argument("--rows", type=int, default=1 << 22, help="record at most so many calls on shared keys")
    parser.add_argument("--seed", type=int, default=1, help="of who is killed (default: 1)")
    given = parser.parse_args()
    print(f"{SEATS} processes, a kill every {given.period * 1000:.0f} ms for {given.seconds:.0f} s, seed {given.seed}")
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        campaign = Campaign(Path(folder), given.rows, given.seed)
        try:
            campaign.run(given.seconds, given.period)
            return report(campaign, given.seconds)
        except Failed as failure:
            print(failure, file=sys.stderr)
            return 2
        finally:
            campaign.close()


if __name__ == "__main__":
    sys.exit(main())
