"""``latchfree gallery``: a folder of pages, one for each known bug."""

from typing import Annotated

import typer

from latchfree_cli import exits
from latchfree_cli.frame import examples
from latchfree_cli.pages import unwritable
from latchfree_cli.settings import Outcome, Settings


@examples(
    "latchfree gallery -o gallery",
    "latchfree gallery S1 Q2 -o gallery",
)
def gallery(
    settings: Settings,
    mutants: Annotated[list[str] | None, typer.Argument(metavar="[MUTANT]", help="By default all with a page.")] = None,
) -> Outcome:
    """Make pages of the known bugs: story, what each changes, a play page, and the failing history drawn.

    They go to the folder given with -o; begin with its index.html. They need no network.
    """
    from latchfree_teach.gallery.building import build_gallery
    from latchfree_teach.play.par import changes

    with settings.progress("gallery") as report:
        try:
            made = build_gallery(settings.out, mutants or (), on_entry=lambda name: report(f"gallery: {name}"))
        except ValueError as error:
            raise exits.Stop(exits.USAGE, str(error)) from None
        except RuntimeError as error:
            raise exits.Stop(exits.TOOL, str(error)) from None
        except OSError as error:
            raise unwritable(settings.out, error) from None
    for each in made:
        par = "no schedule on it fails" if each["par"] is None else f"par is {changes(each['par'])} of threads"
        part = f", those {each['bound']}" if each["bound"] else ""
        settings.say(f"{each['id']}: {each['states']:,} states{part}; {par}")
    settings.note(f"wrote {settings.out / 'index.html'}: open it in a browser")
    return Outcome("ok", {"index": str(settings.out / "index.html"), "pages": made})
