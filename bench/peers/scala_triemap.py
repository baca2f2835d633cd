"""Scala's ``TrieMap``, the reference Ctrie, in a JVM of its own: ``TrieMapBench.java`` does the same workload.

Its loops are compiled, so its rows stand under "bulk". Garbage collection runs in other threads and is not in the
CPU time; the heap is fixed and touched beforehand, as the other side's memory is.
"""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from measuring.workload import PASSES, SNAPSHOTS, THREADS, Row, Settings
from peers import Unavailable

TITLE = "TrieMap"

_SOURCE = Path(__file__).resolve().parent / "TrieMapBench.java"
_MANY = 1_000_000
#: The JVM compiles while it runs, so it gets more rounds before the smallest is taken.
WARM_UP = 4
_TIMEOUT = 600


def heap(keys: int) -> tuple[str, ...]:
    """Options of a JVM for maps of so many keys: a heap of fixed size, touched."""
    size = "4g" if keys > _MANY else "2g"
    return f"-Xms{size}", f"-Xmx{size}", "-XX:+AlwaysPreTouch"


def _more(keys: int) -> int:
    """How many times as many rounds as others it gets: with many keys all is compiled after the first round."""
    return 1 if keys > _MANY else WARM_UP


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
    """Run the Java program, read its rows."""
    if "bulk" not in settings.calls:
        return
    parts = [
        f"{keys}:{threads}:{_more(keys) * settings.rounds_of(keys, threads)}:{settings.cycles(keys, threads)}"
        for keys in settings.sizes
        for threads in THREADS
    ]
    arguments = [str(settings.seed), str(SNAPSHOTS), str(PASSES), *parts]
    for line in run(_SOURCE, heap(max(settings.sizes)), arguments).splitlines():
        keys, threads, operation, cpu, wall, overlap = line.split("\t")
        yield Row("triemap", "bulk", int(keys), int(threads), operation, float(cpu), float(wall), float(overlap))


def run(source: Path, options: Sequence[str], arguments: Sequence[str]) -> str:
    """Compile a Java program and run it; return what it prints."""
    jar, javac, java = _jar(), _tool("javac"), _tool("java")
    with tempfile.TemporaryDirectory() as classes:
        _run([javac, "-cp", str(jar), "-d", classes, str(source)])
        return _run([java, *options, "-cp", f"{classes}:{jar}", source.stem, *arguments])


def _run(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, timeout=_TIMEOUT, check=False)
    if done.returncode != 0:
        raise Unavailable(f"{Path(command[0]).name} failed: {done.stderr.strip()[-400:]}")
    return done.stdout
