"""``latchfree check --follow``: judge a history of events while it grows.

Example: ``my-client | latchfree check --follow - --model register`` prints the violation at the event that shows it,
and ends with exit code 1 then. Else the command ends with the pipe, with ``--timeout``, or by Ctrl-C, and prints the
verdict on what it has read.
"""

import math
import signal
import threading
import time
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

from latchfree_cli import exits
from latchfree_cli.settings import Outcome, Settings

if TYPE_CHECKING:
    from latchfree_cli.settings import Report
    from latchfree_lincheck.watching.monitor import Monitor

STATUS = 0.5
"""Seconds between two lines of status."""


def follow_events(
    settings: Settings, files: list[Path], model: str | None, memory: int, *, follow: bool, whole: bool, plain: bool
) -> Outcome:
    """Judge the events of a file, or of standard input, as they come.

    Parameters
    ----------
    settings : Settings
        The global options.
    files : list of Path
        The file, one only; ``-`` is standard input.
    model : str or None
        The sequential model.
    memory : int
        Bytes for the tables.
    follow, whole : bool
        Whether ``--follow`` was given, and ``--whole``: keys are not judged apart.
    plain : bool
        Whether no option was given that is for complete histories.
    """
    from latchfree_lincheck.watching.monitor import Monitor
    from latchfree_model import MODELS, get_model

    if not follow:
        raise exits.Stop(exits.USAGE, "--whole is for --follow: a complete history is split where it can be")
    if not plain:
        raise exits.Stop(exits.USAGE, "--follow judges events; give --model, --py-files, --memory and --whole only")
    if len(files) != 1:
        raise exits.Stop(exits.USAGE, f"--follow takes one file of events, or -, not {len(files)}")
    file = str(files[0])
    if model is None:
        raise exits.Stop(exits.USAGE, f"{file}: say what to check against: --model {'|'.join(MODELS)}")
    try:
        monitor = Monitor(get_model(model), memory=memory, split=not whole)
    except ValueError as error:
        raise exits.Stop(exits.USAGE, str(error)) from None
    with settings.progress(f"following {file}") as report, _Interrupt() as interrupt:
        try:
            ended = _read(file, monitor, settings.timeout, interrupt, report)
        except KeyboardInterrupt:
            ended = "Ctrl-C"
    settings.say(f"{file}: {monitor.explain()}")
    if monitor.verdict != "violation":
        settings.note(f"followed until {ended}; what comes later was not judged")
    payload = {
        "file": file, "model": model, "reason": monitor.reason, "message": monitor.message, "events": monitor.events,
        "operations": monitor.operations, "running": monitor.running, "ended": ended,
    }  # fmt: skip
    nothing = not monitor.operations and monitor.verdict == "ok"
    return Outcome("nothing" if nothing else monitor.verdict, payload)


class _Interrupt:
    """Ctrl-C while a file is followed: what was read is judged first. A second one, or one before, ends at once."""

    def __init__(self) -> None:
        self.reading = False
        self.pressed = False
        self._before: Any = None

    def _received(self, number: int, frame: FrameType | None) -> None:
        if self.pressed or not self.reading:
            raise KeyboardInterrupt
        self.pressed = True

    def __enter__(self) -> "_Interrupt":
        main = threading.current_thread() is threading.main_thread()
        if main and signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
            self._before = signal.signal(signal.SIGINT, self._received)
        return self

    def __exit__(self, *exception: object) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)


def _read(file: str, monitor: "Monitor", timeout: float | None, interrupt: _Interrupt, report: "Report") -> str:
    """Tell the monitor of each line until a violation, or the end; return what ended it."""
    from latchfree_lincheck.watching.events import parse_event
    from latchfree_lincheck.watching.tail import lines

    until = math.inf if timeout is None else time.monotonic() + timeout
    number, shown = 0, 0.0
    try:
        for line in lines(file, lambda: interrupt.pressed or time.monotonic() >= until):
            interrupt.reading = True
            now = time.monotonic()
            if now - shown > STATUS:
                shown = now
                report(f"{file}: {monitor.verdict} so far: {monitor.events:,} events, {monitor.running:,} in flight")
            if line is None:
                continue
            number += 1
            if not line.strip():
                continue
            try:
                monitor.feed(parse_event(line.decode()))
            except ValueError as error:
                raise exits.Stop(exits.USAGE, f"{file}:{number}: {error}") from None
            if monitor.verdict == "violation":
                return "the violation"
    except ValueError as error:
        raise exits.Stop(exits.USAGE, str(error)) from None
    except OSError as error:
        raise exits.Stop(exits.USAGE, f"cannot read {file}: {error.strerror}; name a file that may be read") from None
    if interrupt.pressed:
        return "Ctrl-C"
    return "the end of the input" if time.monotonic() < until else f"--timeout {timeout:g}"
