"""Scala's ``TrieMap``, the reference Ctrie, in a JVM of its own: ``TrieMapBench.java`` does the same workload.

Its loops are compiled, so its rows stand under "bulk". Garbage collection runs in other threads and is not in the
CPU time; the heap is fixed and touched beforehand, as the other side's memory is.
"""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

from measuring.workload import PASSES, SNAPSHOTS, THREADS, Row, Settings
from peers import Unavailable

TITLE = "TrieMap"

_SOURCE = Path(__file__).resolve().parent / "TrieMapBench.java"
_HEAP = ("-Xms2g", "-Xmx2g", "-XX:+AlwaysPreTouch")
#: The JVM compiles while it runs, so it gets more rounds before the smallest is taken.
_WARM_UP = 4
_TIMEOUT = 600


def _jar() -> Path:
    spec = importlib.util.find_spec("pyspark")
    folders = spec.submodule_search_locations if spec is not None else None
    for folder in folders or ():
        for jar in sorted(Path(folder, "jars").glob("scala-library-*.jar")):
            return jar
    raise Unavailable("no scala-library jar: pip install pyspark==4.3.0, which brings it")


def _tool(name: str) -> str:
    path = shutil.which(name)
    if path is None:
        raise Unavailable(f"no {name} on PATH: install a JDK, 17 or newer")
    return path


def version() -> str:
    return _jar().stem.removeprefix("scala-library-")


def rows(settings: Settings) -> Iterator[Row]:
    """Compile the Java program, run it, read its rows."""
    jar, javac, java = _jar(), _tool("javac"), _tool("java")
    parts = [
        f"{keys}:{threads}:{_WARM_UP * settings.rounds_of(keys, threads)}:{settings.cycles(keys, threads)}"
        for keys in settings.sizes
        for threads in THREADS
    ]
    with tempfile.TemporaryDirectory() as classes:
        _run([javac, "-cp", str(jar), "-d", classes, str(_SOURCE)])
        path = f"{classes}:{jar}"
        arguments = [str(settings.seed), str(SNAPSHOTS), str(PASSES), *parts]
        output = _run([java, *_HEAP, "-cp", path, _SOURCE.stem, *arguments])
    for line in output.splitlines():
        keys, threads, operation, cpu, wall, overlap = line.split("\t")
        yield Row("triemap", "bulk", int(keys), int(threads), operation, float(cpu), float(wall), float(overlap))


def _run(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, timeout=_TIMEOUT, check=False)
    if done.returncode != 0:
        raise Unavailable(f"{Path(command[0]).name} failed: {done.stderr.strip()[-400:]}")
    return done.stdout
