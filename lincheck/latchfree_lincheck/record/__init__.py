"""Record real systems: clients of a server, faults, and what came of them.

>>> from latchfree_lincheck.record import SharedRecorder
>>> with SharedRecorder() as recorder:
...     with recorder.call(0, "write", 1) as call:
...         call.result = None
...     print(len(recorder.history("demo")))
1

`SharedRecorder`, `operation` and `recording` record the calls of clients that a program has already. `Server` and
`Proxy` start servers on this machine, and the faults are what can be done to them. `run` does it all: clients with
seeded workloads, faults by a plan, a history and a report.
"""

from latchfree_lincheck.record.faults import (
    Fault,
    Window,
    cut,
    delay,
    hold,
    kill,
    pause,
    random_windows,
    restart,
    together,
)
from latchfree_lincheck.record.generators import Mix, OnKeys, Share, unique
from latchfree_lincheck.record.outcome import Run
from latchfree_lincheck.record.proxy import Proxy
from latchfree_lincheck.record.running import RunError, run
from latchfree_lincheck.record.servers import Server, ServerError, free_port, listens
from latchfree_lincheck.record.shared import SharedRecorder
from latchfree_lincheck.record.values import Unrecordable
from latchfree_lincheck.record.wrapping import operation, recording

__all__ = [
    "Fault",
    "Mix",
    "OnKeys",
    "Proxy",
    "Run",
    "RunError",
    "Server",
    "ServerError",
    "Share",
    "SharedRecorder",
    "Unrecordable",
    "Window",
    "cut",
    "delay",
    "free_port",
    "hold",
    "kill",
    "listens",
    "operation",
    "pause",
    "random_windows",
    "recording",
    "restart",
    "run",
    "together",
    "unique",
]
