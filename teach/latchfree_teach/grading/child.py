"""The child: one submission, from its text to its last check, in a process that can do nothing else.

What it finds goes line by line into a pipe, so that what had passed counts if the process is stopped on the way.
"""

from __future__ import annotations

import json
import os
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from latchfree_teach.course.lesson import Lesson
from latchfree_teach.grading.assembling import target_of
from latchfree_teach.grading.containing import code_folders, contain, limit
from latchfree_teach.grading.judging import Judgement, fingerprint, judge_check
from latchfree_teach.grading.syntax import Refused, admit

FILE: Final = "submission.py"
MEMORY: Final = "out of memory"


def run(lesson: Lesson, folder: Path, pipe: int, seconds: int, megabytes: int) -> None:
    """Grade ``folder/submission.py``, write what is found into a pipe, and end the process."""
    with os.fdopen(pipe, "w") as out:

        def tell(**found: Any) -> None:
            out.write(json.dumps(found) + "\n")
            out.flush()

        try:
            _silence()
            sys.dont_write_bytecode = True
            os.environ["NUMBA_CACHE_DIR"] = str(folder)
            os.chdir(folder)
            readable = [*code_folders(), str(lesson.folder)]
            limit(seconds, megabytes)
            tell(contained=contain(folder, readable))
            _grade(lesson, folder / FILE, tell)
        except MemoryError:
            tell(status=MEMORY, message=f"it needs more than {megabytes} MB")
        except BaseException:
            tell(defect=traceback.format_exc())
    os._exit(0)


def _silence() -> None:
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)


def _grade(lesson: Lesson, file: Path, tell: Callable[..., None]) -> None:
    try:
        program = admit(file.read_text(encoding="utf-8"), lesson)
    except Refused as refused:
        return tell(status="refused", message=str(refused))
    try:
        target = target_of(lesson, program, file)
    except ValueError as error:
        return tell(
            status="does not compile", message=(str(error).rpartition("; see docs")[0] or str(error)).rstrip("; ")
        )
    except (ArithmeticError, TypeError) as error:  # of a constant
        return tell(status="does not compile", message=f"a constant cannot be computed: {error}")
    judged: list[tuple[Any, Judgement]] = []
    for check in lesson.checks:
        found = judge_check(target, check)
        judged.append((check, found))
        tell(check=check.name, kind=found.kind, message=found.message, shown=found.shown)
    return tell(status="graded", fingerprint=fingerprint(judged))
