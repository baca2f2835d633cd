"""Porcupine, the linearizability checker in Go: two programs, compiled against a folder of its source.

``PorcupineBench.go`` judges histories as `latchfree_lincheck` writes them; ``PorcupineShell.go`` reads log files by
itself and is run beside the whole command ``latchfree check``.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from latchfree_lincheck import History
from latchfree_lincheck.formats import jsonl
from peers import Unavailable

TIMEOUT = 60.0
"""Seconds for one history; Porcupine takes about 200 MB in each of them."""

_SOURCES = Path(__file__).resolve().parent
_MODULE = "github.com/anishathalye/porcupine"
_VERDICTS = {"Ok": "ok", "Illegal": "violation", "Unknown": "unknown"}


@dataclass(frozen=True, slots=True)
class Judged:
    """What Porcupine said of some histories: verdicts, seconds in all, and its peak of memory in MB."""

    verdicts: list[str]
    seconds: float
    peak: int

    def __str__(self) -> str:
        unknown = self.verdicts.count("unknown")
        gave_up = f", {unknown} unknown after {TIMEOUT:g} s" if unknown else ""
        return f"Porcupine {self.seconds:.3g} s, {self.peak:,} MB{gave_up}"


class Porcupine:
    """The compiled programs.

    Parameters
    ----------
    folder : Path
        The source of Porcupine.

    Raises
    ------
    Unavailable
        If there is no Go toolchain, or no such source.
    """

    def __init__(self, folder: Path) -> None:
        go = shutil.which("go")
        if go is None:
            raise Unavailable("no go on PATH: apt-get install golang-go")
        if not (folder / "go.mod").is_file():
            raise Unavailable(f"no Go module in {folder}: give a checkout of {_MODULE}")
        self._folder = tempfile.TemporaryDirectory()
        self._program, self._shell = (
            self._build(go, folder.resolve(), name) for name in ("PorcupineBench", "PorcupineShell")
        )

    def _build(self, go: str, source: Path, name: str) -> Path:
        build = Path(self._folder.name) / name
        build.mkdir()
        shutil.copy(_SOURCES / f"{name}.go", build / "main.go")
        (build / "go.mod").write_text(
            f"module bench\n\ngo 1.18\n\nrequire {_MODULE} v0.0.0\n\nreplace {_MODULE} => {source}\n"
        )
        program = build / "bench"
        command = [go, "build", "-mod=mod", "-o", program, "."]
        environment = {**os.environ, "GOPROXY": "off"}
        done = subprocess.run(command, cwd=build, env=environment, capture_output=True, text=True, check=False)
        if done.returncode:
            raise Unavailable(f"Porcupine does not compile: {done.stderr.strip()}")
        return program

    def command(self, kind: str, files: Sequence[Path]) -> list[str]:
        """Return the command that judges log files, of the kind "etcd" or "kv"; it prints "file: verdict" for each."""
        return [str(self._shell), kind, *map(str, files)]

    @staticmethod
    def verdicts(printed: str) -> list[str]:
        """Return what `command` printed as verdicts of ours."""
        return [_VERDICTS[line.rpartition(": ")[2]] for line in printed.splitlines()]

    def judge(self, histories: Sequence[History], model: str) -> Judged:
        """Judge histories, one after the other."""
        file = self._program.with_suffix(".jsonl")
        jsonl.write(file, list(histories))
        done = subprocess.run([self._program, file, model, str(TIMEOUT)], capture_output=True, text=True, check=True)
        *lines, peak = (line.split() for line in done.stdout.splitlines())
        file.unlink()
        return Judged([_VERDICTS[verdict] for verdict, _ in lines], sum(float(s) for _, s in lines), int(peak[1]))
