"""Keep the classes of TLC as Java has them in memory, so that the next run of TLC does not read and verify them again.

Example: a model of a hundred states takes 0.8 s of processor time, of which Java spends 0.2 to 0.3 s on loading a
thousand classes of TLC. From an archive of these classes (Java calls it a dynamic CDS archive) they are there at once.

Invariant: an archive changes how long a run takes and nothing else. Java itself compares the archive with its version
and with the jar, and leaves an archive aside that is of others. The archive is made by a run of its own, whose result
nobody uses, and gets its name when that run has ended well. Java would crash on a damaged archive, so the name has a
digest of the content, and an archive that does not fit its name is made anew.
"""

import hashlib
import secrets
import subprocess
import tempfile
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from latchfree_model.tlc.tools import find_jar, find_java

QUIET: Final = "-Xlog:disable"
"""Java says nothing about archives: its words would stand among those of TLC."""

NO_RECORDER: Final = "-Djfr.unsupported.vm=true"
"""TLC tells its progress to Java's flight recorder, which nobody reads and which takes a tenth of a small run."""

LONGEST: Final = 120.0
"""Seconds for making an archive."""

_TICK: Final = 0.1
"""Seconds between two looks at whether all has been cancelled."""

_COUNTER: Final = """---- MODULE Counter ----
EXTENDS Naturals, Sequences, FiniteSets, TLC
VARIABLES n, seen
Init == n = 0 /\\ seen = {}
Next == n' = n + 1 /\\ seen' = seen \\cup {[at |-> n, line |-> <<n, "a">>]}
Small == n < 4 /\\ \\A each \\in seen : Len(each.line) = 2
====
"""
_CONFIG: Final = "INIT Init\nNEXT Next\nINVARIANT Small\n"
_VIOLATED: Final = 12
"""TLC's exit code where an invariant is violated, as this one is."""


def options(archive: Path | None) -> tuple[str, ...]:
    """Return the options with which Java uses an archive; none without one."""
    return (f"-XX:SharedArchiveFile={archive}", QUIET) if archive else ()


def class_archive(folder: Path, cancelled: threading.Event) -> Path | None:
    """Return the archive of this Java and this TLC, which is made if it is not there.

    Parameters
    ----------
    folder : Path
        Where archives are kept.
    cancelled : threading.Event
        Set by another thread to end the making of an archive.

    Returns
    -------
    Path or None
        None where no archive can be made: Java has no archive of its own to add to, the disk is full, or all has been
        cancelled.

    Raises
    ------
    ToolMissing
        If there is no Java or no TLC.
    """
    java, jar = find_java(), find_jar()
    key = _key(java, jar)
    with suppress(OSError):
        for path in sorted(folder.resolve().glob(f"tlc-{key}-*.jsa")):
            if path.stem.endswith(_digest(path)):
                return path
            path.unlink()
        folder.mkdir(parents=True, exist_ok=True)
        new = folder.resolve() / f".tlc-{secrets.token_hex(8)}.tmp"
        try:
            command = [str(java), f"-XX:ArchiveClassesAtExit={new}", QUIET]
            if _train(command, jar, cancelled) == _VIOLATED and new.is_file():
                return new.rename(new.with_name(f"tlc-{key}-{_digest(new)}.jsa"))
        finally:
            new.unlink(missing_ok=True)
    return None


def _digest(path: Path) -> str:
    """Return a digest of a file's content."""
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16]


def _key(java: Path, jar: Path) -> str:
    """Return a digest of which Java and which jar these are."""
    facts = [(str(file), status.st_size, status.st_mtime_ns) for file in (java, jar) if (status := file.stat())]
    return hashlib.sha256(repr(facts).encode()).hexdigest()[:16]


def _train(java: Sequence[str], jar: Path, cancelled: threading.Event) -> int:
    """Run TLC on a counter of four states, and return the exit code."""
    with tempfile.TemporaryDirectory(prefix="latchfree-tlc-") as scratch:
        Path(scratch, "Counter.tla").write_text(_COUNTER, encoding="utf-8")
        Path(scratch, "Counter.cfg").write_text(_CONFIG, encoding="utf-8")
        command = [*java, NO_RECORDER, f"-Djava.io.tmpdir={scratch}", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"]
        command += ["-cp", str(jar), "tlc2.TLC", "-tool", "-fp", "0", "-metadir", f"{scratch}/states", "Counter"]
        nowhere = subprocess.DEVNULL
        end = time.monotonic() + LONGEST
        with subprocess.Popen(command, cwd=scratch, stdin=nowhere, stdout=nowhere, stderr=nowhere) as process:
            try:
                while not cancelled.is_set() and time.monotonic() < end:
                    with suppress(subprocess.TimeoutExpired):
                        return process.wait(_TICK)
            finally:
                process.kill()
        return process.returncode
