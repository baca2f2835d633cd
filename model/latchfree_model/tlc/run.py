"""Run TLC on one bounded model, in a process of its own, and remove its scratch files."""

import contextlib
import os
import subprocess
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path

from latchfree_model.tlc.archive import NO_RECORDER
from latchfree_model.tlc.archive import options as archived
from latchfree_model.tlc.config import temporal_properties, unknown_assignment
from latchfree_model.tlc.manifest import SpecModel
from latchfree_model.tlc.messages import read_messages
from latchfree_model.tlc.result import OnProgress, ResultReader, TlcResult
from latchfree_model.tlc.tools import find_jar, find_java

TINY = 3_000
"""Up to as many distinct states, Java's compiler does too much: most code runs a few times."""

SMALL = 20_000
"""Up to as many distinct states, Java's quick compiler and simplest collector take half the time."""

MEDIUM = 100_000
"""Up to as many distinct states, the simplest collector takes a tenth less processor time."""

STOPPED = "timeout: stopped after"

_running: set[subprocess.Popen[str]] = set()
_running_lock = threading.Lock()


def run_model(
    spec: SpecModel,
    *,
    workers: int | None = None,
    timeout: float | None = None,
    coverage: bool = False,
    options: Sequence[str] = (),
    on_progress: OnProgress | None = None,
    cancelled: threading.Event | None = None,
    archive: Path | None = None,
    seed: int = 0,
    java_options: Sequence[str] = (),
) -> TlcResult:
    """Check one model.

    Parameters
    ----------
    spec : SpecModel
        The model.
    workers : int, optional
        TLC's worker threads, else as the manifest says.
    timeout : float, optional
        Seconds after which the run is stopped; the verdict is then unknown, but for a simulation that has run for as
        long as its manifest says.
    coverage : bool
        Whether to count the states each action generates.
    options : sequence of str
        Further options of TLC.
    on_progress : callable, optional
        Called with (distinct, generated, queue) about once a minute and at the end.
    cancelled : threading.Event, optional
        Set by another thread, before it calls `kill_running`, to end this run even if it has yet to start.
    archive : Path, optional
        The classes of TLC, see `class_archive`.
    seed : int
        Of random behaviours.
    java_options : sequence of str
        Further options of Java.

    Raises
    ------
    ToolMissing
        If there is no Java or no TLC.
    """
    java, jar = find_java(), find_jar()
    module, config = (spec.root / spec.module).resolve(), (spec.root / spec.config).resolve()
    wrong = unknown_assignment(config, module, _folders(spec.root))
    if wrong:
        return TlcResult("unknown", reason=wrong)
    temporal = temporal_properties(config)
    reader = ResultReader(temporal, on_progress)
    states = spec.distinct if spec.distinct is not None else MEDIUM + 1
    with tempfile.TemporaryDirectory(prefix="latchfree-tlc-") as scratch:
        command = [
            *(str(java), f"-Djava.io.tmpdir={scratch}"),
            # Else TLC says that memory has run out, and then goes on for ever.
            "-XX:+ExitOnOutOfMemoryError",
            "-XX:+UseSerialGC" if states <= MEDIUM else "-XX:+UseParallelGC",
            *(("-XX:TieredStopAtLevel=1",) if states <= SMALL else ()),
            *(("-XX:CompileThresholdScaling=3", "-XX:C1MaxInlineSize=6") if states <= TINY else ()),
            "-XX:-UsePerfData",  # a file in /tmp for tools that watch Java
            NO_RECORDER,
            *archived(archive),
            "-Xss64m",  # names are made by recursion over the nodes
            *java_options,
            f"-DTLA-Library={library(spec.root)}",
            *("-cp", str(jar), "tlc2.TLC", "-tool", "-fp", "0"),
            *("-workers", str(workers or spec.workers), "-metadir", str(Path(scratch, "states"))),
            # Look for cycles once, at the end: where TLC stops does not depend then on how fast it is.
            *(("-lncheck", "final") if temporal else ()),
            *(("-coverage", "1") if coverage else ()),
            *(("-simulate", "-depth", str(spec.steps), "-seed", str(seed)) if spec.simulate else ()),
            *options,
            *("-config", str(config), module.name),
        ]
        limit = min(spec.simulate or float("inf"), timeout or float("inf"))
        result = _run(command, module.parent, reader, limit, cancelled or threading.Event())
        whole = spec.simulate and limit == spec.simulate and result.reason.startswith(STOPPED)
        return reader.simulated(result.seconds) if whole else result


def _run(
    command: list[str],
    folder: Path,
    reader: ResultReader,
    timeout: float,
    cancelled: threading.Event,
) -> TlcResult:
    begun = time.monotonic()
    stopped = threading.Event()
    with subprocess.Popen(
        command,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        errors="replace",
    ) as process:
        with _running_lock:
            _running.add(process)
        if cancelled.is_set():
            process.kill()

        def stop() -> None:
            stopped.set()
            process.kill()

        timer = threading.Timer(timeout, stop) if timeout < float("inf") else None
        if timer:
            timer.daemon = True
            timer.start()
        try:
            assert process.stdout is not None
            for message in read_messages(process.stdout):
                reader.feed(message)
            exit_code = process.wait()
        finally:
            if timer:
                timer.cancel()
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            with _running_lock:
                _running.discard(process)
    reason = f"{STOPPED} {timeout:g} s" if stopped.is_set() else ""
    reason = "interrupted" if cancelled.is_set() else reason
    return reader.result(exit_code, time.monotonic() - begun, reason)


def kill_running() -> None:
    """Stop every run, whichever thread started it; each returns with an unknown verdict."""
    with _running_lock:
        for process in _running:
            process.kill()


def library(root: Path) -> str:
    """Return the folders where TLC looks for modules: `root` and its subfolders."""
    return os.pathsep.join(map(str, _folders(root)))


def _folders(root: Path) -> list[Path]:
    return [root.resolve(), *sorted(folder for folder in root.resolve().iterdir() if folder.is_dir())]


def agree(spec: SpecModel, result: TlcResult) -> list[str]:
    """Return how the result differs from what the manifest expects; nothing if it agrees."""
    if result.verdict != spec.expect:
        said = f"{result.verdict} ({result.reason or result.property})"
        return [f"verdict: expected {spec.expect}, got {said if result.verdict != 'ok' else 'ok'}"]
    differences = []
    if spec.expect == "violation" and result.property != spec.property:
        differences.append(f"property: expected {spec.property}, got {result.property} ({result.kind})")
    for name, expected, got in (
        ("distinct", spec.distinct, result.distinct),
        ("total", spec.total, result.generated),
        ("depth", spec.depth, result.depth),
    ):
        if expected is not None and got != expected:
            differences.append(f"{name}: expected {expected}, got {got}")
    return differences
