"""``latchfree learn``: the course, a file a lesson, graded whenever it is saved."""

from pathlib import Path
from typing import Annotated

import typer

from latchfree_cli import exits
from latchfree_cli.frame import examples
from latchfree_cli.settings import Outcome, Settings


@examples(
    "latchfree learn",
    "latchfree learn 2 --folder course",
    "latchfree learn --check",
)
def learn(
    settings: Settings,
    lesson: Annotated[
        str | None, typer.Argument(metavar="LESSON", help="Its number or name; default: the first not yet passed.")
    ] = None,
    folder: Annotated[Path, typer.Option(metavar="DIR", help="Where your files are.")] = Path("lessons"),
    check: Annotated[bool, typer.Option("--check", help="Grade the lesson, or all that you began, and stop.")] = False,
    list_: Annotated[bool, typer.Option("--list", help="List the lessons and stop.")] = False,
) -> Outcome:
    """Learn to write lock-free code: fill the hole in a file, save it, and read what every interleaving came to.

    The file is a copy of the lesson's hole and is watched until you press q. Keys: n next lesson, h hint, p page,
    l list, r reset (a copy is kept), c check all.
    """
    from latchfree_teach.course.lesson import find_lesson, lessons
    from latchfree_teach.grading.grader import Grader
    from latchfree_teach.learning.desk import Desk
    from latchfree_teach.learning.keyboard import keyboard
    from latchfree_teach.learning.session import Session, listing

    if check and not lesson and not folder.is_dir():
        raise exits.Stop(exits.USAGE, f"no lesson has been begun in {folder}; `latchfree learn` begins the first")
    try:
        desk = Desk(folder)
        chosen = find_lesson(lesson) if lesson else desk.current or lessons()[-1]
    except ValueError as error:
        raise exits.Stop(exits.USAGE, str(error)) from None
    except OSError as error:
        raise _cannot(error, folder) from None
    if list_:
        settings.say(listing(desk, chosen))
        return Outcome("listed", {"finished": desk.finished}, code=exits.OK)
    passed = True
    with Grader() as grader:
        session = Session(desk, chosen, grader, settings.say)
        try:
            if check and lesson:
                desk.file(chosen)
                passed = session.check()
            elif check:
                passed = session.check_all()
            else:
                grader.start()
                with keyboard() as key:
                    session.run(key)
        except RuntimeError as error:
            raise exits.Stop(exits.TOOL, str(error)) from None
        except ValueError as error:
            raise exits.Stop(exits.USAGE, str(error)) from None
        except OSError as error:
            raise _cannot(error, folder) from None
    return Outcome("ok" if passed else "violation", {"finished": desk.finished})


def _cannot(error: OSError, folder: Path) -> exits.Stop:
    where = error.filename or folder
    return exits.Stop(exits.USAGE, f"cannot use {where}: {error.strerror}; choose another folder with --folder")
