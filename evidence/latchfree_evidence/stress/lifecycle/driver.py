"""The driver: runs programs through a fork server, several at a time, and leaves nothing behind."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Final

from latchfree_evidence.stress.lifecycle.descent import clean_up
from latchfree_evidence.stress.lifecycle.program import Program, save

_FAREWELL: Final = 60


@dataclass(frozen=True)
class Judged:
    """What became of one program.

    Attributes
    ----------
    findings : list
        Of kind and text; none if all is well.
    stderr : str
        The end of what its processes have printed.
    """

    findings: list[tuple[str, str]]
    stderr: str
    seconds: float
    processes: int
    steps: int
    writes: int
    kills: int

    @classmethod
    def of(cls, result: dict[str, Any]) -> Judged:
        """Make one of the conductor's result."""
        findings = [(each["kind"], each["text"]) for each in result.pop("findings")]
        return cls(findings, **result)

    @property
    def kind(self) -> str:
        """The kind of the first finding, "" if there is none."""
        return self.findings[0][0] if self.findings else ""


class Driver:
    """A fork server and the folder where programs run; a context.

    Parameters
    ----------
    jobs : int, optional
        Programs at a time; by default as many as processors.
    """

    def __init__(self, jobs: int | None = None) -> None:
        self.jobs = jobs or len(os.sched_getaffinity(0))

    def __enter__(self) -> Driver:
        self._folder = Path(tempfile.mkdtemp(prefix="lifecycle-"))
        self._number = 0
        self._errors = (self._folder / "server-stderr").open("w+")
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
        self._server = subprocess.Popen(
            [sys.executable, "-m", "latchfree_evidence.stress.lifecycle.server", str(self._folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            text=True,
            env=environment,
            start_new_session=True,
        )
        try:
            self._answer()
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        server = self._server
        with suppress(OSError):
            server.stdin and server.stdin.close()
        server.terminate()
        try:
            server.wait(_FAREWELL)
        finally:
            server.kill()
            server.wait()
            server.stdout and server.stdout.close()
            self._errors.close()
            clean_up(self._folder)

    def _answer(self) -> str:
        assert self._server.stdout is not None
        line = self._server.stdout.readline()
        if not line:
            self._errors.seek(0)
            raise RuntimeError(f"the fork server has ended: {self._errors.read()[-2000:]}")
        return line.strip()

    def run(self, programs: Iterable[Program]) -> Iterator[tuple[Program, Judged]]:
        """Run programs, several at a time, and yield each when it has been judged."""
        assert self._server.stdin is not None
        waiting = iter(programs)
        running: dict[str, Program] = {}
        try:
            while True:
                while len(running) < self.jobs and (program := next(waiting, None)) is not None:
                    folder = self._new_folder()
                    save(program, folder / "program.json")
                    running[str(folder)] = program
                    self._server.stdin.write(f"{folder}\n")
                    self._server.stdin.flush()
                if not running:
                    return
                done = self._answer()
                yield running.pop(done), self._judged(Path(done))
        except GeneratorExit:  # enough is known; the server still answers for those that run
            for _ in running:
                self._answer()
            raise

    def _new_folder(self) -> Path:
        self._number += 1
        folder = self._folder / f"{self._folder.name}-{self._number}"
        folder.mkdir()
        return folder

    def _judged(self, folder: Path) -> Judged:
        result = folder / "result.json"
        if not result.exists():
            errors = (folder / "stderr").read_text(errors="replace") if (folder / "stderr").exists() else ""
            raise RuntimeError(f"the conductor of a program has died: {errors[-2000:]}")
        judged = Judged.of(json.loads(result.read_text()))
        clean_up(folder)
        return judged
