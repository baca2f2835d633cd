"""``latchfree course``: the course as two archives, for students and for teachers."""

from enum import StrEnum
from typing import Annotated

import typer

from latchfree_cli import exits
from latchfree_cli.frame import examples
from latchfree_cli.settings import Outcome, Settings, write_whole


class Action(StrEnum):
    """What is done with the course."""

    build = "build"


@examples("latchfree course build -o course", "latchfree course build --play -o course")
def course(
    settings: Settings,
    action: Annotated[Action, typer.Argument(metavar="ACTION", help="build: write the archives.")] = Action.build,
    play: Annotated[
        bool,
        typer.Option("--play", help="Add the play pages of wrong answers, and pictures; it takes a minute or two."),
    ] = False,
) -> Outcome:
    """Write the course as two archives: student.zip, without any solution, and teacher.zip.

    The student archive has pages, holes, questions and slides. The teacher archive has all answers, right and wrong,
    the answers to the questions, a syllabus of six weeks and one of twelve, and an exam. The same latchfree writes the
    same bytes.
    """
    from latchfree_teach.handouts.packs import archive, play_pages, student_files, teacher_files

    with settings.progress("course build: making the play pages" if play else "course build"):
        try:
            pages = play_pages() if play else {}
        except RuntimeError as error:
            raise exits.Stop(exits.TOOL, str(error)) from None
    written = {}
    for name, own in (("student.zip", student_files()), ("teacher.zip", teacher_files())):
        files = own | pages
        path = settings.out / name
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(path, archive(files))
        except OSError as error:
            raise exits.cannot_write(path, error) from None
        written[name] = len(files)
        settings.say(f"wrote {path}: {len(files)} files")
    return Outcome("built", {"files": written}, code=exits.OK)
