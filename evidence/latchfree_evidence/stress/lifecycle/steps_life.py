"""Steps in which the life of a process changes: fork, exec, the ways to end, signals, descriptors."""

from __future__ import annotations

import contextlib
import errno
import gc
import json
import os
import resource
import signal
import sys
import time
from collections.abc import Callable
from typing import Any, Final

from latchfree import Arena, ArenaClosed
from latchfree_evidence.stress.lifecycle import ledger as columns
from latchfree_evidence.stress.lifecycle.ledger import EXECUTING, RESTING, RUNNING
from latchfree_evidence.stress.lifecycle.program import Step
from latchfree_evidence.stress.lifecycle.state import PRECIOUS, Opening, Process
from latchfree_evidence.stress.lifecycle.steps_arena import unrelated

_LARGEST: Final = 256
"""Above any descriptor of a process."""
_UNRELATED: Final = 24
_LOOK: Final = 0.002


def fork(process: Process, step: Step) -> None:
    """Fork a child with steps of its own; maybe wait for the child's end."""
    process.forking = True
    child = os.fork()
    process.forking = False
    if child == 0:
        become(process, step["who"], step["steps"])
        return
    row = process.ledger.rows[step["who"]]
    if not row[columns.PID]:  # the child has not come so far
        row[columns.PID], row[columns.SINCE] = child, time.monotonic_ns()
    if step["wait"]:
        wait_for(process, child, step["who"])


def become(process: Process, who: int, steps: list[Step]) -> None:
    """Go on in a forked child, at another seat."""
    process.who, process.steps = who, list(steps)
    process.at_a_loss = process.at_a_loss or process.exhausted is not None
    process.ledger.begin(who, RUNNING)
    process.handling = False
    process.writers()
    process.forget_own()
    process.snapshots.clear()  # the parent's; dropping them here must not take them from the parent
    process.kept.clear()
    signal.setitimer(signal.ITIMER_REAL, 0)


def wait_for(process: Process, child: int, who: int) -> None:
    """Wait for a child; the time does not count as this process's."""
    process.row[columns.WAITING] = 1
    try:
        _, status = os.waitpid(child, 0)
        process.ledger.rows[who, columns.STATUS] = status + 1
    except ChildProcessError:
        pass
    finally:
        process.row[columns.SINCE] = time.monotonic_ns()
        process.row[columns.WAITING] = 0


def execute(process: Process, step: Step) -> None:
    """Become a new program that goes on with the next step."""
    _restore(process)
    process.ledger.begin(process.who, EXECUTING)
    module = "latchfree_evidence.stress.lifecycle.process"
    rest = json.dumps(process.steps)
    signal.setitimer(signal.ITIMER_REAL, 0)
    os.execv(sys.executable, [sys.executable, "-m", module, str(process.folder), str(process.who), rest])


def rest(process: Process, step: Step) -> None:
    """Become a program that knows no arena, and stay until told to end."""
    _restore(process)
    process.ledger.begin(process.who, RESTING)
    signal.setitimer(signal.ITIMER_REAL, 0)
    os.execv("/bin/sleep", ["sleep", "600"])


def exit_(process: Process, step: Step) -> None:
    """End as sys.exit does."""
    sys.exit(0)


def leave(process: Process, step: Step) -> None:
    """End at once, with nothing done at the end."""
    os._exit(0)


def kill(process: Process, step: Step) -> None:
    """Be killed."""
    process.row[columns.FATE] = signal.SIGKILL
    os.kill(os.getpid(), signal.SIGKILL)


def stop(process: Process, step: Step) -> None:
    """Be stopped; the conductor lets us go on."""
    process.row[columns.STOP] = 1 + step["until"]
    os.kill(os.getpid(), signal.SIGSTOP)


def daemonize(process: Process, step: Step) -> None:
    """Fork twice, lead a session, close all descriptors; the numbers become those of other files."""
    process.forking = True
    # A handler would write the keys that are the daemon's by then. A forked process inherits no timer.
    signal.signal(signal.SIGALRM, signal.SIG_IGN)
    child = os.fork()
    if child:
        with contextlib.suppress(ChildProcessError):
            os.waitpid(child, 0)  # the row may be the daemon's by now
        os._exit(0)
    os.setsid()
    if os.fork():
        os._exit(0)
    process.forking = False
    process.snapshots.clear()  # they are the parent's
    process.ledger.begin(process.who, RUNNING)
    process.at_a_loss = process.at_a_loss or process.exhausted is not None
    lose_descriptors(process, step)


def lose_descriptors(process: Process, step: Step) -> None:
    """Close all descriptors as daemons do, and open other files, which take the numbers."""
    _restore(process)
    for number, _ in process.precious:
        os.close(number)
    process.precious.clear()
    os.closerange(3, _LARGEST)
    for number in range(_UNRELATED):
        path = process.folder / f"precious-{process.who}-{number}"
        path.write_bytes(PRECIOUS)
        descriptor = unrelated(process.folder, process.who, number)
        process.precious.append((descriptor, os.fstat(descriptor).st_ino))


def exhaust(process: Process, step: Step) -> None:
    """Have no descriptor free."""
    if process.exhausted is None:
        process.exhausted = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (3, process.exhausted[1]))


def restore(process: Process, step: Step) -> None:
    """Have descriptors again."""
    _restore(process)


def _restore(process: Process) -> None:
    if process.exhausted is not None:
        resource.setrlimit(resource.RLIMIT_NOFILE, process.exhausted)
        process.exhausted = None


def alarm(process: Process, step: Step) -> None:
    """Have a signal handler do something soon, in the midst of the steps that follow."""
    left = [step["times"]]

    def handler(number: int, frame: Any) -> None:
        if process.handling:
            return
        left[0] -= 1
        if left[0] <= 0:
            signal.setitimer(signal.ITIMER_REAL, 0)
        process.handling = True
        try:
            with contextlib.suppress(OSError) if process.exhausted else contextlib.nullcontext():
                _THEN[step["then"]](process, step)
        finally:
            process.handling = False

    signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, step["after"] / 1e6, step["after"] / 1e6)


def _use(process: Process, step: Step) -> None:
    for opening in list(process.openings.values()):
        for what, structure in list(opening.structures.items()):
            if what != "own" and not opening.arena.closed:
                try:
                    process.handler.write(structure, what, 0)
                    process.handler.work(structure, what, "scan", 1)
                    process.handler.work(structure, what, "many", 1)
                except ArenaClosed:
                    if not opening.arena._lender.closing:  # the step in whose midst this handler runs may close it
                        raise


def _open(process: Process, step: Step) -> None:
    process.openings[step["on"]] = Opening(_opened(process))
    gc.collect()


def _opened(process: Process) -> Any:
    return Arena.open(process.where)


def _close(process: Process, step: Step) -> None:
    process.at_a_loss = True
    for opening in list(process.openings.values()):
        opening.arena.close()


def _fork(process: Process, step: Step) -> None:
    if process.forking:
        return  # a fork from within the handlers of a fork is not one of the lives that are promised
    child = os.fork()
    if child == 0:
        os._exit(0)
    while True:
        try:
            found, _ = os.waitpid(child, os.WNOHANG)
        except OSError as error:
            if error.errno == errno.ECHILD:
                return
            raise
        if found:
            return
        time.sleep(_LOOK)


_THEN: Final[dict[str, Callable[[Process, Step], None]]] = {
    "use": _use,
    "kill": kill,
    "stop": stop,
    "exit": exit_,
    "fork": _fork,
    "open": _open,
    "close": _close,
}

LIFE_STEPS: Final[dict[str, Callable[[Process, Step], None]]] = {
    "fork": fork, "exec": execute, "rest": rest, "exit": exit_, "leave": leave, "kill": kill, "stop": stop,
    "daemonize": daemonize, "lose_descriptors": lose_descriptors, "exhaust": exhaust, "restore": restore,
    "alarm": alarm,
}  # fmt: skip
