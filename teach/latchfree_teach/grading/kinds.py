"""What a submission is judged by: the explorer, the checker of histories, or TLC, as the lesson's kind says."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from latchfree_teach.course.lesson import Check, Lesson
from latchfree_teach.grading.assembling import module_of, target_of
from latchfree_teach.grading.judging import Judgement, judge_check
from latchfree_teach.grading.syntax import admit


def judged(lesson: Lesson, text: str, file: Path) -> Iterator[tuple[Check, Judgement]]:
    """Judge each check of a lesson, small ones first.

    Parameters
    ----------
    lesson : Lesson
        The lesson, with its checks.
    text : str
        The submission.
    file : Path
        Where it is.

    Raises
    ------
    Refused
        If it is no program that may be run.
    ValueError
        If it cannot be compiled.
    """
    if lesson.kind == "spec":
        from latchfree_teach.grading.specs import judgements as spec_judgements

        return spec_judgements(lesson, text, file.parent)
    program = admit(text, lesson)
    if lesson.kind == "histories":
        from latchfree_teach.grading.histories import judgements

        return judgements(module_of(lesson, program, file).__dict__[lesson.target], lesson.checks)
    target = target_of(lesson, program, file)
    return ((check, judge_check(target, check)) for check in lesson.checks)
