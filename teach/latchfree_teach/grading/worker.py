"""The worker: the explorer is loaded and compiled once, here, and each submission gets a child forked from it.

It reads requests from standard input and writes answers to standard output, a JSON object a line; see
`latchfree_teach.grading.grader`, which starts it. It has one thread, so that it can be forked.
"""

from __future__ import annotations

import json
import os
import select
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

from latchfree_explore.examples.counter import LOST_UPDATE
from latchfree_model.tlc.tools import ToolMissing
from latchfree_teach.course.lesson import Check, Lesson, read_lesson
from latchfree_teach.grading import child, judging
from latchfree_teach.grading.hints import hint_of
from latchfree_teach.grading.kinds import judged
from latchfree_teach.grading.result import FAILED, NOT_RUN, PASSED, CheckResult, Graded
from latchfree_teach.grading.specs import archive

_SLACK: Final = 20
"""Seconds by the clock for each second of processor: a busy machine is no fault of the student's."""


def main() -> None:
    """Answer requests until there are no more; SIGTERM ends it in the midst of one, and leaves nothing behind."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    warm_up()
    print(json.dumps({"ready": True}), flush=True)
    known: set[str] = set()
    for line in sys.stdin:
        request = json.loads(line)
        lesson = read_lesson(Path(request["lesson"]))
        if request["lesson"] not in known:
            known.add(request["lesson"])
            prepare(lesson)
        graded = grade(
            lesson,
            request["name"],
            request["text"],
            request["seconds"],
            request["megabytes"],
            play=request["play"],
        )
        print(json.dumps(graded), flush=True)


def warm_up() -> None:
    """Compile what every check needs: all strategies, and threads that go on alone."""
    judging.judge_check(LOST_UPDATE, Check("increment | increment", random=1))
    judging.judge_check(LOST_UPDATE, Check("increment | increment", alone=True))
    judging.judge_check(LOST_UPDATE, Check("increment | increment"))


def prepare(lesson: Lesson) -> None:
    """Compile what judging a lesson needs, which its solution shows; TLC needs its classes."""
    if lesson.kind == "spec":
        with suppress(ToolMissing):  # which the child says, too
            archive()
    else:
        for _ in judged(lesson, lesson.solution, lesson.folder / "solution.py"):
            pass


def grade(lesson: Lesson, name: str, text: str, seconds: int, megabytes: int, *, play: bool = False) -> dict[str, Any]:
    """Grade one submission in a child; return the fields of a `Graded`, or the defect of ours that ended it."""
    with _deaf(), tempfile.TemporaryDirectory(prefix="latchfree-grade-") as place:
        folder = Path(place).resolve()
        (folder / child.FILE).write_text(text, encoding="utf-8", errors="replace")
        reading, writing = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.close(reading)
            child.run(lesson, folder, writing, seconds, megabytes, play=play)
        os.close(writing)
        try:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGTERM])
            found, late = _lines(reading, time.monotonic() + _SLACK * seconds, pid)
            signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])
        except SystemExit:
            signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            raise
        os.close(reading)
        _, status, usage = os.wait4(pid, 0)
        page = folder / child.PAGE
        shown = page.read_text(encoding="utf-8") if play and page.is_file() and not page.is_symlink() else ""
    defect = next((each["defect"] for each in found if "defect" in each), None)
    if defect is not None:
        return {"defect": defect}
    number = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
    if late or number == signal.SIGXCPU:
        why = (
            f"it was stopped after {seconds} seconds of processor: a loop without an access to memory, or too much work"
        )
        found.append({"status": "out of time", "message": why})
    graded = _graded(lesson, name, found, number)
    graded["page"] = shown
    graded["seconds"] = round(usage.ru_utime + usage.ru_stime, 2)
    graded["megabytes"] = round(usage.ru_maxrss / 1024, 1)
    return graded


@contextmanager
def _deaf() -> Iterator[None]:
    """Let SIGTERM wait: in the midst of a fork, or of making or removing a folder, it would leave things behind."""
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGTERM])


def _lines(pipe: int, deadline: float, pid: int) -> tuple[list[dict[str, Any]], bool]:
    """Read what a child tells until it ends; end it if it does not, and return whether that was so."""
    text = b""
    while True:
        ready, _, _ = select.select([pipe], [], [], max(0.0, deadline - time.monotonic()))
        piece = os.read(pipe, 1 << 16) if ready else b""
        if not piece:
            break
        text += piece
    if not ready:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    whole = text[: text.rfind(b"\n") + 1]
    return [json.loads(line) for line in whole.splitlines()], not ready


def _graded(lesson: Lesson, name: str, found: list[dict[str, Any]], number: int) -> dict[str, Any]:
    told = {each["check"]: each for each in found if "check" in each}
    end = next((each for each in found if "status" in each), None)
    if end is None:
        end = {"status": "crashed", "message": f"it ended by signal {number}"}
    checks: list[CheckResult] = []
    begun = end["status"] not in ("refused", "does not compile")
    for check in lesson.checks:
        each = told.get(check.name)
        if each is None:
            kind = end["status"] if begun else ""
            checks.append(CheckResult(check.name, check.points, FAILED if begun else NOT_RUN, kind, end["message"]))
            begun = False
        else:
            state = FAILED if each["kind"] else PASSED
            checks.append(CheckResult(check.name, check.points, state, each["kind"], each["message"], each["shown"]))
    mark = end.get("fingerprint", "")
    wrong = end["status"] != "graded" or any(check.status != PASSED for check in checks)
    graded = Graded(
        name=name,
        lesson=lesson.name,
        status=end["status"],
        message=end.get("message", ""),
        checks=checks,
        mistake=lesson.mistake(mark) if wrong and mark else "",
        fingerprint=mark,
        contained=next((each["contained"] for each in found if "contained" in each), []),
    )
    answer = graded.to_json()
    answer["hint"] = hint_of(lesson, graded) if wrong else ""
    return answer


if __name__ == "__main__":
    try:
        main()
    except BrokenPipeError:  # nobody waits for the answer any more
        os._exit(0)
