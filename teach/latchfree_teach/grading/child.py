"""The child: one submission, from its text to its last check, in a process that can do nothing else.

What it finds goes line by line into a pipe, so that what had passed counts if the process is stopped on the way.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from latchfree_model.tlc.tools import ToolMissing
from latchfree_teach.course.lesson import Lesson
from latchfree_teach.grading.assembling import target_of
from latchfree_teach.grading.containing import code_folders, contain, limit
from latchfree_teach.grading.judging import Judgement, fingerprint
from latchfree_teach.grading.kinds import judged
from latchfree_teach.grading.specs import OutOfTime
from latchfree_teach.grading.syntax import Refused, admit

FILE: Final = "submission.py"
PAGE: Final = "play.html"
MEMORY: Final = "out of memory"
TIME: Final = "out of time"


def run(lesson: Lesson, folder: Path, pipe: int, seconds: int, megabytes: int, *, play: bool = False) -> None:
    """Grade ``folder/submission.py``, write what is found into a pipe, and end the process.

    With `play`, the page of the first check that failed is written to ``folder/play.html``, where there can be one.
    """
    try:
        _run(lesson, folder, pipe, seconds, megabytes, play=play)
    finally:  # whatever happens, the child does not go on as the worker that it was forked from
        os._exit(0)


def _run(lesson: Lesson, folder: Path, pipe: int, seconds: int, megabytes: int, *, play: bool) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGTERM])
    no_memory = _line(status=MEMORY, message=f"it needs more than {megabytes} MB")  # then there is none to say so

    def tell(**found: Any) -> None:
        os.write(pipe, _line(**found))

    try:
        _silence()
        sys.dont_write_bytecode = True
        os.environ["NUMBA_CACHE_DIR"] = str(folder)
        os.chdir(folder)
        readable = [*code_folders(), str(lesson.folder)]
        spec = lesson.kind == "spec"  # TLC is a process of its own, and Java maps much more than it uses
        limit(seconds, 1 << 20 if spec else megabytes)
        tell(contained=["limits"] if spec else contain(folder, readable))
        failed = _grade(lesson, folder / FILE, tell)
        if play and failed:
            _play(lesson, folder, failed)
    except MemoryError:
        os.write(pipe, no_memory)
    except OutOfTime:
        tell(status=TIME, message="TLC was stopped: what you define takes too long to compute")
    except ToolMissing as missing:
        tell(defect=str(missing))
    except BaseException:
        tell(defect=traceback.format_exc())


def _line(**found: Any) -> bytes:
    return json.dumps(found).encode() + b"\n"


def _silence() -> None:
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)


def _grade(lesson: Lesson, file: Path, tell: Callable[..., None]) -> str:
    """Judge every check; return the scenario of the first that failed, "" if none did or nothing was judged."""
    found: list[tuple[Any, Judgement]] = []
    try:
        for check, judgement in judged(lesson, file.read_text(encoding="utf-8"), file):
            found.append((check, judgement))
            tell(check=check.name, kind=judgement.kind, message=judgement.message, shown=judgement.shown)
    except Refused as refused:
        tell(status="refused", message=str(refused))
    except ValueError as error:
        why = (str(error).rpartition("; see docs")[0] or str(error)).rstrip("; ")
        tell(status="does not compile", message=why)
    except RecursionError:
        tell(status="does not compile", message="your functions call each other too deeply: write fewer of them")
    except (ArithmeticError, TypeError) as error:  # of a constant
        tell(status="does not compile", message=f"a constant cannot be computed: {error}")
    else:
        tell(status="graded", fingerprint=fingerprint(found))
        return next((check.scenario for check, each in found if each.kind), "")
    return ""


def _play(lesson: Lesson, folder: Path, scenario: str) -> None:
    """Write the play page of a scenario, opened at a shortest failure; none if it cannot be played to a failure."""
    if lesson.kind != "kernels":
        return
    from latchfree_teach.play.making import play_page

    file = folder / FILE
    target = target_of(lesson, admit(file.read_text(encoding="utf-8"), lesson), file)
    try:
        made = play_page(target, scenario, title=f"lesson {lesson.number}: {lesson.title}", opened=True)
    except (ValueError, RuntimeError):
        return
    if made.par is not None:
        (folder / PAGE).write_text(made.text, encoding="utf-8")
