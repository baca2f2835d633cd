"""`Grader`: grade submissions to a lesson, each in a contained process, one after the other.

Example::

    with Grader() as grader:
        graded = grader.grade(find_lesson("1"), text)
    print(graded.score, graded.hint)
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Final

from latchfree.extras import needed
from latchfree_teach.course.lesson import Lesson
from latchfree_teach.grading.result import CheckResult, Graded

SECONDS: Final = 20
MEGABYTES: Final = 768
_IDLE: Final = 0.5
"""Seconds that a worker needs to end when it has nothing to do."""
_PATIENCE: Final = 2
"""Seconds that a worker needs to end in the midst of a submission."""


class Grader:
    """Grades submissions; the explorer is loaded once, when the first one comes.

    Parameters
    ----------
    seconds : int
        Of processor, for each submission.
    megabytes : int
        Of memory, for the process of each submission, the explorer in it included.
    """

    def __init__(self, *, seconds: int = SECONDS, megabytes: int = MEGABYTES) -> None:
        for name, value in (("seconds", seconds), ("megabytes", megabytes)):
            if type(value) is not int or not 1 <= value <= 1 << 20:
                raise ValueError(f"{name} must be a whole number from 1 to {1 << 20}, got {value!r}")
        self._seconds, self._megabytes = seconds, megabytes
        self._process: subprocess.Popen[str] | None = None
        self._one = threading.Lock()  # a question and its answer

    def __enter__(self) -> Grader:
        """Return itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close."""
        self.close()

    def start(self) -> None:
        """Load the explorer, unless it is loaded."""
        if self._process is not None:
            return
        needed("numba")  # else the process ends with a traceback
        places = [place for place in sys.path if place and place != str(Path.cwd())]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(places), "OPENBLAS_NUM_THREADS": "1"}
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "latchfree_teach.grading.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
            text=True,
            encoding="utf-8",
            start_new_session=True,
        )
        self._answer(self._process)

    def grade(self, lesson: Lesson, text: str, name: str = "submission.py", *, play: bool = False) -> Graded:
        """Grade one submission.

        Parameters
        ----------
        lesson : Lesson
            The lesson that the submission answers.
        text : str
            The submission: the file of the hole, filled in, or its functions alone.
        name : str
            What the result calls it.
        play : bool
            Whether to make the play page of the first check that failed.

        Returns
        -------
        Graded

        Raises
        ------
        TypeError
            If an argument is of another kind.
        MissingExtra
            If a package is not installed that the grader needs.
        RuntimeError
            If the grader itself fails; nothing a submission says leads to that.
        """
        for argument, value, kind in (
            ("lesson", lesson, Lesson),
            ("text", text, str),
            ("name", name, str),
            ("play", play, bool),
        ):
            if not isinstance(value, kind):
                raise TypeError(f"{argument} must be a {kind.__name__}, not {type(value).__name__}")
        request = {
            "lesson": str(lesson.folder),
            "name": name,
            "text": text,
            "seconds": self._seconds,
            "megabytes": self._megabytes,
            "play": play,
        }
        with self._one:
            answer = self._asked(json.dumps(request))
        if "defect" in answer:
            raise RuntimeError(f"{name}: the grader failed:\n{answer['defect']}")
        checks = [
            CheckResult(**{key: value for key, value in each.items() if key != "score"}) for each in answer["checks"]
        ]
        fields = {key: answer[key] for key in Graded.__dataclass_fields__ if key != "checks"}
        return Graded(**fields, checks=checks)

    def _asked(self, request: str) -> dict[str, Any]:
        self.start()
        process = self._process
        if process is not None and process.stdin is not None:
            with suppress(BrokenPipeError, ValueError):  # `_answer` says so
                process.stdin.write(request + "\n")
                process.stdin.flush()
        return self._answer(process)

    def close(self) -> None:
        """End the process behind the grader; the next `grade` starts another, and one of another thread fails."""
        process, self._process = self._process, None
        if process is None:
            return
        if self._one.locked():  # another thread waits for an answer, and holds the pipe while it does
            _end(process)
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                pipe.close()
        try:
            process.wait(_IDLE)
        except subprocess.TimeoutExpired:  # in the midst of a submission
            _end(process)

    def _answer(self, process: subprocess.Popen[str] | None) -> dict[str, Any]:
        """Return the next answer of a process; raise RuntimeError if it has ended, or was closed meanwhile."""
        line = ""
        if process is not None and process.stdout is not None:
            with suppress(ValueError):  # the pipe is closed
                line = process.stdout.readline()
        if not line:
            code = None if process is None else process.wait()
            if self._process is process:
                self.close()
            raise RuntimeError(f"the grader's process has ended with exit code {code}")
        answer: dict[str, Any] = json.loads(line)
        return answer


def _end(process: subprocess.Popen[str]) -> None:
    """End a process that does not end by itself, so that its folder goes with it if it can."""
    process.terminate()
    try:
        process.wait(_PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def read_submission(path: Path) -> str:
    """Return the text of a submission.

    Raises
    ------
    ValueError
        If it is no ordinary file, too large, or not UTF-8.
    OSError
        If it cannot be read.
    """
    from latchfree_teach.grading.syntax import MOST_BYTES

    if path.exists() and not path.is_file():
        raise ValueError(f"{path}: expected a file of Python, not a folder or a device")
    with path.open("rb") as file:
        content = file.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        raise ValueError(f"{path}: more than {MOST_BYTES >> 10} kB; a lesson's answer is short")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(f"{path}: expected UTF-8: {error}") from None
