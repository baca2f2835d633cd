"""A process of `kill.py`: it works on an arena until it is killed, and writes down in the ledger what it does.

It has a range of keys of its own, where it knows what every key must hold, and some keys shared with all others,
where each call is recorded for the checker of linearizability.
"""

from __future__ import annotations

import os
import tempfile
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from killing.ledger import (
    ABSENT,
    ACKNOWLEDGED,
    IN_FLIGHT,
    LONGEST,
    LONGEST_KIND,
    OPERATIONS,
    OWN_KEYS,
    PROCESS,
    READY,
    ROW,
    SHARED_KEYS,
    SLOWEST_START,
    STARTED,
    STOP,
    TICKET,
    Ledger,
)
from latchfree import Arena, Ctrie
from latchfree_lincheck.engine.compiled_models import opcodes as op

T = TypeVar("T")

NAME = "killed"
KINDS = ("get", "put", "pop", "put_many", "get_many", "remove_many", "snapshot", "close", "fork", "shared")
_RANGE_BITS = 32
_BATCH = 512
_SINGLES = 50
_SHARED_CALLS = 10
_HELD = 2


class Wrong(Exception):
    """A key did not hold what it must."""


def key_of(seat: int, key: int) -> int:
    """A seat's own keys are apart from those of others; seat -1 is for the keys that all share."""
    return (seat + 1) << _RANGE_BITS | key


def warm_up() -> None:
    """Have everything compiled that a worker calls, so that it can be forked in milliseconds."""
    trie: Ctrie[int, int] = Ctrie(keys=int, values=int, arena=Arena.anonymous(64 << 20))
    keys = np.arange(10)
    trie.put_many(keys, keys)
    trie.get_many(keys)
    for copy in (trie.readonly_snapshot(), trie.snapshot()):
        dict(copy.items())
    for call in (trie.put, trie.put_if_absent, trie.put_if_present):
        call(1, 2)
    trie.replace(1, 2, 3)
    trie.remove(1, 2)
    trie.remove_many(keys)
    trie.arena.collect()
    np.random.default_rng()
    with tempfile.TemporaryDirectory() as folder:  # tickets are the benchmark's own compiled code
        Ledger(str(Path(folder, "ledger")), 1, create=True).take(TICKET)


class Worker:
    """One process at a seat."""

    def __init__(self, seat: int, arena: Arena, ledger: Ledger) -> None:
        self.trie = Ctrie.open(arena, NAME)
        self.ledger = ledger
        self.seat = seat
        self.cell = ledger.seats[seat]
        self.intended = ledger.intended[seat]
        self.acknowledged = ledger.acknowledged[seat]
        self.process = ledger.take(PROCESS)
        self.rng = np.random.default_rng(self.process)
        self.seen = [ABSENT] * SHARED_KEYS
        self.held: list[tuple[Any, Any]] = []
        self.own = np.arange(OWN_KEYS, dtype=np.int64) + key_of(seat, 0)

    def run(self) -> None:
        """Settle what the last process at this seat left, then work until told to stop."""
        self._settle()
        steps = (self._put_many, self._remove_many, self._get_many, self._singles, self._snapshots)
        self.cell[READY] += 1
        while not self.ledger.clock[STOP]:
            steps[self.rng.integers(len(steps))]()
            for _ in range(_SHARED_CALLS):
                self._shared()

    def _timed(self, kind: str, call: Callable[[], T], operations: int = 1) -> T:
        began = time.monotonic_ns()
        self.cell[STARTED] = began
        result = call()
        took = time.monotonic_ns() - began
        self.cell[STARTED] = 0
        self.cell[OPERATIONS] += operations
        if took > self.cell[LONGEST]:
            self.cell[LONGEST] = took
            self.cell[LONGEST_KIND] = KINDS.index(kind)
        return result

    # keys of its own -------------------------------------------------------------------------------------------

    def _many(self, keys: Any) -> Any:
        return np.ma.filled(self._timed("get_many", lambda: self.trie.get_many(self.own[keys]), len(keys)), ABSENT)

    def _check(self, keys: Any, found: Any, expected: Any, what: str) -> None:
        bad = np.flatnonzero(np.asarray(found) != np.asarray(expected))
        if len(bad):
            key, first = int(keys[bad[0]]), int(bad[0])
            raise Wrong(
                f"{what}: key {key} of seat {self.seat} holds {found[first]}, but must hold {expected[first]} "
                f"(intended {self.intended[key]}, acknowledged {self.acknowledged[key]}; {len(bad)} such keys)"
            )

    def _settle(self) -> None:
        """What was in flight has happened or has not; everything else is as it was acknowledged."""
        keys = np.flatnonzero(self.intended != self.acknowledged)
        if len(keys):
            found = self._many(keys)
            self._check(
                keys,
                np.where(found == self.intended[keys], found, self.acknowledged[keys]),
                found,
                "a write in flight was mangled",
            )
            self.acknowledged[keys] = found
            self.intended[keys] = found
            self.cell[IN_FLIGHT] += len(keys)
        everything = np.arange(OWN_KEYS)
        self._check(everything, self._many(everything), self.acknowledged, "an acknowledged write was lost")

    def _some(self) -> Any:
        return np.unique(self.rng.integers(0, OWN_KEYS, self.rng.integers(1, _BATCH)))

    def _put_many(self) -> None:
        keys = self._some()
        values = self.rng.integers(0, 1 << 62, len(keys))
        self.intended[keys] = values
        self._timed("put_many", lambda: self.trie.put_many(self.own[keys], values), len(keys))
        self.acknowledged[keys] = values
        self.cell[ACKNOWLEDGED] += len(keys)

    def _remove_many(self) -> None:
        keys = self._some()
        self.intended[keys] = ABSENT
        there = self._timed("remove_many", lambda: self.trie.remove_many(self.own[keys]), len(keys))
        self._check(keys, there, self.acknowledged[keys] != ABSENT, "remove_many found")
        self.acknowledged[keys] = ABSENT
        self.cell[ACKNOWLEDGED] += len(keys)

    def _get_many(self) -> None:
        keys = self._some()
        self._check(keys, self._many(keys), self.acknowledged[keys], "get_many")

    def _singles(self) -> None:
        for key in self.rng.integers(0, OWN_KEYS, _SINGLES).tolist():
            name, before = int(self.own[key]), int(self.acknowledged[key])
            choice = self.rng.integers(3)
            if choice == 0:
                found = self._timed("get", lambda name=name: self.trie.get(name, ABSENT))  # type: ignore[misc]
                self._check([key], [found], [before], "get")
                continue
            value = ABSENT if choice == 1 else int(self.rng.integers(1 << 62))
            self.intended[key] = value
            if choice == 1:
                found = self._timed("pop", lambda name=name: self.trie.pop(name, ABSENT))  # type: ignore[misc]
                self._check([key], [found], [before], "pop")
            else:
                self._timed("put", lambda name=name, value=value: self.trie.__setitem__(name, value))  # type: ignore[misc]
            self.acknowledged[key] = value
            self.cell[ACKNOWLEDGED] += 1

    # snapshots -------------------------------------------------------------------------------------------------

    def _snapshots(self) -> None:
        """Look into the oldest snapshot and close it, or take one more."""
        if len(self.held) == _HELD or (self.held and self.rng.random() < 0.3):
            self._finish(*self.held.pop(0))
        elif self.rng.random() < 0.8:
            snapshot: Any = self._timed("snapshot", self.trie.readonly_snapshot)
            self.held.append((snapshot, self.acknowledged.copy()))
        else:
            self._fork()

    def _finish(self, snapshot: Any, expected: Any) -> None:
        keys = self._some()
        found = [snapshot.get(name, ABSENT) for name in self.own[keys].tolist()]
        self._check(keys, found, expected[keys], "a snapshot")
        if self.rng.random() < 0.1:
            contents = dict(snapshot.items())
            found = [contents.get(name, ABSENT) for name in self.own.tolist()]
            self._check(range(OWN_KEYS), found, expected, "iterating over a snapshot")
        self._timed("close", snapshot.close)

    def _fork(self) -> None:
        """A writable snapshot: what is written there is not written here."""
        keys = self._some()
        copy = self._timed("fork", self.trie.snapshot)
        copy.put_many(self.own[keys], keys)
        copy.remove_many(self.own[: OWN_KEYS // 4])
        expected = np.where(keys < OWN_KEYS // 4, ABSENT, keys)
        self._check(keys, np.ma.filled(copy.get_many(self.own[keys]), ABSENT), expected, "a writable snapshot")

    # keys of all -----------------------------------------------------------------------------------------------

    def _shared(self) -> None:
        """One recorded call. Values are never written twice: each is the number of its row."""
        ledger, trie = self.ledger, self.trie
        number = ledger.take(ROW)
        if number >= ledger.capacity:
            return
        key = int(self.rng.integers(SHARED_KEYS))
        code = int(self.rng.integers(op.GET, op.CONTAINS + 1))
        name, seen = key_of(-1, key), self.seen[key]
        a, b = number, 0
        if code in (op.REPLACE_IF, op.REMOVE_IF):
            a, b = max(seen, 0), number if code == op.REPLACE_IF else 0
        calls: dict[int, Callable[[], Any]] = {
            op.GET: lambda: trie.get(name),
            op.PUT: lambda: trie.put(name, a),
            op.REMOVE: lambda: trie.pop(name, None),
            op.PUT_IF_ABSENT: lambda: trie.put_if_absent(name, a),
            op.REPLACE_IF: lambda: trie.replace(name, a, b),
            op.REMOVE_IF: lambda: trie.remove(name, a),
            op.REPLACE: lambda: trie.put_if_present(name, a),
            op.CONTAINS: lambda: name in trie,
        }
        row = ledger.rows[number]
        row[:5] = self.process, code, key, a, b
        row[6] = ledger.take(TICKET)
        result = self._timed("shared", calls[code])
        row[5] = ABSENT if result is None else int(result)
        row[7] = ledger.take(TICKET)
        if code in (op.GET, op.PUT_IF_ABSENT) and result is not None:
            self.seen[key] = result
        elif code == op.PUT:
            self.seen[key] = a


def work(seat: int, arena_name: str, ledger_path: str, rows: int, failures: str) -> None:
    """What a process does: `Worker.run`, leaving a file in folder `failures` if something is wrong."""
    began = time.monotonic_ns()
    try:
        ledger = Ledger(ledger_path, rows)
        with Arena.open(arena_name) as arena:
            worker = Worker(seat, arena, ledger)
            ledger.seats[seat, SLOWEST_START] = max(int(ledger.seats[seat, SLOWEST_START]), time.monotonic_ns() - began)
            worker.run()
            worker.held.clear()
    except BaseException:
        Path(failures, f"{seat}-{os.getpid()}").write_text(traceback.format_exc())
        raise


if __name__ != "__main__":
    warm_up()
