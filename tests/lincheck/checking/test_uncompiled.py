"""Time and compiled code: what is compiled is not counted, and a short timeout leaves no time to compile."""

import json
import os
import subprocess
import sys

import pytest
from numba.core import event

from latchfree.jit import start
from latchfree_lincheck import History, Operation, check
from latchfree_lincheck.engine.bounds import Deadline
from latchfree_lincheck.history import compiled_code

PROGRAM = """
import json
from latchfree_lincheck import Column, History, Operation, check
import numpy as np

def register(pairs):
    writes = [Operation(f"w{i}", "write", (i % 3,), None, i, 200 + i) for i in range(pairs)]
    reads = [Operation(f"r{i}", "read", (), (i * 7) % 3, 50 + i, 300 + i) for i in range(pairs)]
    return History("hard", [*writes, *reads, Operation("end", "read", (), 9, 900, 901)])

turn = np.arange(20)
columns = History.of_columns(
    "columns", process=turn % 2, f=np.where(turn % 2 == 0, "write", "read"),
    arguments=[np.ma.masked_array(turn % 4, turn % 2 == 1)], result=np.ma.masked_array((turn - 1) % 4, turn % 2 == 0),
    invoke=2 * turn, return_=2 * turn + 1,
)
stale = [("write", (1,), None), ("write", (2,), None), ("read", (), 1)]
stale = History("stale", [Operation(0, f, a, r, 2 * i, 2 * i + 1) for i, (f, a, r) in enumerate(stale)])
for history, timeout in ((columns, 9), (stale, 9), (register(16), 1)):
    verdict = check(history, "register", timeout=timeout)
    print(json.dumps([verdict.verdict, verdict.engine, verdict.reason]))
"""


def test_a_short_timeout_leaves_no_time_to_compile(tmp_path):
    """Python decides what is easy and gives up on what is not; no code is compiled, so none is kept."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path), "LATCHFREE_COMPILED": "jit"}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, check=True, timeout=1200
    )
    columns, stale, hard = map(json.loads, done.stdout.splitlines())
    assert columns[:2] == ["ok", "python"]
    assert stale[:2] == ["violation", "python"]
    assert hard[:2] == ["unknown", "python"]
    assert hard[2].startswith("timeout of 1 s reached in plain Python: the fast engines are not compiled yet")
    assert not list(tmp_path.rglob("*.o"))


@pytest.mark.parametrize("engine", ["auto", "wgl", "python"])
def test_what_is_there_is_used_whatever_the_timeout(engine):
    history = History("h", [Operation(0, "write", (value,), None, 2 * value, 2 * value + 1) for value in (1, 2)])
    usual = check(history, "cas-register", engine=engine)  # compiles what is missing
    hasty = check(history, "cas-register", engine=engine, timeout=9)
    assert (hasty.verdict, hasty.engine, hasty.why) == (usual.verdict, usual.engine, usual.why)


def test_the_clock_stands_still_while_code_is_compiled(monkeypatch):
    start()  # the clock listens to numba from then on: before, nothing is compiled
    now = 1000.0
    monkeypatch.setattr(compiled_code.time, "monotonic", lambda: now)
    deadline = Deadline(5)
    now += 4
    event.start_event("numba:compiler_lock")
    now += 100
    assert not deadline.passed()
    event.start_event("numba:compiler_lock")  # one kernel compiles another
    now += 100
    event.end_event("numba:compiler_lock")
    event.end_event("numba:compiler_lock")
    assert deadline.left() == 1
    now += 2
    assert deadline.passed()
