"""``latchfree grade``: grade what students hand in, in every interleaving, each in a process that is closed in."""

import json
import os
from collections.abc import Iterator
from contextlib import closing, suppress
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from latchfree_cli import exits
from latchfree_cli.frame import examples
from latchfree_cli.settings import Outcome, Settings

if TYPE_CHECKING:
    from latchfree_teach.course.lesson import Lesson
    from latchfree_teach.grading.grader import Grader
    from latchfree_teach.grading.result import Graded


class GradeFormat(StrEnum):
    """How grades are printed."""

    text = "text"
    json = "json"
    csv = "csv"
    gradescope = "gradescope"


MALFORMED: Final = "malformed"


@examples(
    "latchfree grade counter.py --lesson 1",
    "latchfree grade ada/ grace/ --lesson 1 --format csv -o grades",
    "latchfree grade submission.py --lesson 1 --format gradescope",
)
def grade(
    settings: Settings,
    submissions: Annotated[
        list[Path], typer.Argument(metavar="SUBMISSION", help="Files, or folders: one for each student.")
    ],
    lesson: Annotated[str, typer.Option(metavar="N", help="The lesson's number or name.")],
    format_: Annotated[GradeFormat, typer.Option("--format", help="How grades are printed.")] = GradeFormat.text,
    seconds: Annotated[int, typer.Option(min=1, max=3600, help="Of processor, for each submission.")] = 20,
    megabytes: Annotated[int, typer.Option(min=64, max=65536, help="Of memory, for each submission.")] = 768,
) -> Outcome:
    """Grade answers to a lesson of the course: run each in every interleaving, in a process that can do nothing else.

    With -o DIR each submission has a folder there with report.txt, results.json, and the play page of its first failure
    where it can be played, beside grades.csv. The exit code is
    0 if everything was graded, whatever the grades, and 2 if a submission could not be read.
    """
    from latchfree_teach.course.lesson import find_lesson
    from latchfree_teach.grading.reports.table import table
    from latchfree_teach.grading.together import cores, graded

    try:
        found = find_lesson(lesson)
    except ValueError as error:
        raise exits.Stop(exits.USAGE, str(error)) from None
    if format_ == GradeFormat.gradescope and len(submissions) > 1 and not settings.address:
        raise exits.Stop(exits.USAGE, "results.json is for one submission: give one, or a folder with -o DIR")
    if settings.address:
        try:  # before anything is graded
            settings.out.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise exits.cannot_write(settings.out, error) from None
    grades: list[Graded] = []
    defects = 0
    single = len(submissions) == 1
    at_once = max(1, cores() // 2) if found.kind == "spec" else cores()  # TLC has two processes for a submission

    def work(grader: "Grader", submission: tuple[str, Path]) -> "Graded | RuntimeError":
        try:
            return _grade(grader, found, *submission, play=bool(settings.address))
        except RuntimeError as error:  # of one submission; the others are graded
            return error

    named = list(_named(submissions))
    answers = graded(work, named, at_once=at_once, seconds=seconds, megabytes=megabytes)
    with closing(answers), settings.progress("grade: loading") as report:
        for name, _ in named:
            report(f"grade: {len(grades) + 1} of {len(named)}: {name}")
            answer = next(answers)
            if isinstance(answer, RuntimeError):
                defects += 1
                settings.warn(str(answer))
                answer = _not_graded(found, name, "crashed", "the grader failed: a defect of latchfree")
            grades.append(answer)
            if settings.address:
                _keep(settings, answer)
            if format_ == GradeFormat.text:
                _say(settings, answer, whole=single)
    if settings.address:
        settings.write("grades.csv", table(grades))
    if format_ == GradeFormat.csv:
        settings.say(table(grades).rstrip("\n"))
    elif format_ == GradeFormat.gradescope and single:
        settings.say(json.dumps(_gradescope(grades[0]), indent=2))
    elif format_ == GradeFormat.json:
        settings.say(json.dumps([each.to_json() for each in grades], indent=2))
    malformed = any(each.status == MALFORMED for each in grades)
    payload = {"lesson": found.name, "submissions": [each.to_json() for each in grades]}
    code = exits.TOOL if defects else exits.USAGE if malformed else exits.OK
    return Outcome("graded", payload, code=code)


def _named(submissions: list[Path]) -> Iterator[tuple[str, Path]]:
    """Yield each submission with a name of its own, which is also the name of its folder below that of the grades."""
    taken = {"grades.csv"}
    for path in submissions:
        name = path.resolve().name if path.is_dir() else path.stem
        name = "".join(letter if letter.isprintable() and letter != "/" else "_" for letter in name)
        name = name if name.strip(".") else "submission"
        number, unique = 1, name
        while unique in taken:
            number += 1
            unique = f"{name}-{number}"
        taken.add(unique)
        yield unique, path


def _grade(grader: "Grader", lesson: "Lesson", name: str, path: Path, *, play: bool) -> "Graded":
    """Grade one submission; one that cannot be read is malformed, and the others go on."""
    from latchfree_teach.grading.grader import read_submission

    try:
        text = read_submission(_file_of(path, lesson))
    except (OSError, ValueError) as error:
        why = f"{path}: {error.strerror}" if isinstance(error, OSError) else str(error)
        return _not_graded(lesson, name, MALFORMED, why)
    return grader.grade(lesson, text, name, play=play)


def _not_graded(lesson: "Lesson", name: str, status: str, why: str) -> "Graded":
    from latchfree_teach.grading.result import NOT_RUN, CheckResult, Graded

    checks = [CheckResult(check.name, check.points, NOT_RUN, message=why) for check in lesson.checks]
    return Graded(name, lesson.name, status, why, checks)


def _file_of(path: Path, lesson: "Lesson") -> Path:
    """Return the file of a submission: in a folder that of the lesson's name, else the only one.

    A student makes the folder, so a link in it may lead to somebody else's answer.
    """
    if not path.is_dir():
        return path
    files = sorted(path.glob(f"*{lesson.suffix}"))
    named = [file for file in files if file.stem in (lesson.name, lesson.name.partition("_")[2])]
    chosen = named or files
    if len(chosen) != 1:
        raise ValueError(
            f"{path}: expected {lesson.name}{lesson.suffix}, or one file *{lesson.suffix}; there are {len(files)}"
        )
    if not Path(os.path.realpath(chosen[0])).is_relative_to(os.path.realpath(path)):
        raise ValueError(f"{chosen[0]}: it is a link that leads out of the folder")
    return chosen[0]


def _keep(settings: Settings, graded: "Graded") -> None:
    from latchfree_teach.grading.reports.text import report

    settings.write(f"{graded.name}/report.txt", report(graded) + "\n", synchronised=False)
    if graded.page:
        settings.write(f"{graded.name}/play.html", graded.page, synchronised=False)
    else:  # the page of an earlier answer
        with suppress(OSError):
            (settings.out / graded.name / "play.html").unlink()
    settings.write(f"{graded.name}/results.json", json.dumps(_gradescope(graded), indent=2) + "\n", synchronised=False)


def _gradescope(graded: "Graded") -> dict[str, object]:
    from latchfree_teach.grading.reports.gradescope import results

    return results(graded)


def _say(settings: Settings, graded: "Graded", *, whole: bool) -> None:
    from latchfree_teach.grading.reports.text import line_of, report

    if whole and not settings.quiet:
        settings.say(report(graded))
        return
    settings.say(line_of(graded))
    if graded.hint:
        settings.note(f"  hint: {graded.hint}")
