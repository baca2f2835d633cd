"""``latchfree play``: a page on which the reader is the scheduler of compiled code."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from latchfree_cli import exits
from latchfree_cli.commands.show import SUFFIXES, write_page
from latchfree_cli.frame import examples
from latchfree_cli.settings import Outcome, Settings

if TYPE_CHECKING:
    from latchfree_teach.play.making import Play


@examples(
    "latchfree play S1 -o S1.html",
    'latchfree play ctrie --scenario "init: put(0, 1) | put(0, 2) | get(0)"',
    'latchfree play my_counter.py --scenario "increment | increment"',
)
def play(
    settings: Settings,
    target: Annotated[
        str, typer.Argument(metavar="TARGET", help="A mutant such as S1, or ctrie, topic-trie, ring, FILE.py[:NAME].")
    ],
    *,
    scenario: Annotated[
        str | None,
        typer.Option(metavar="TEXT", help='Such as "init: put(1, 1) | put(1, 2) | get(1)"; a mutant has its own.'),
    ] = None,
    within: Annotated[
        int | None, typer.Option(metavar="N", min=0, help="Only the states within N changes of threads.")
    ] = None,
) -> Outcome:
    """Make an HTML page on which the reader chooses which thread goes on, and tries to break the code.

    The page goes to the file given with -o (PAGE.html), else into the output folder. It needs no network.
    """
    from latchfree_explore.board.stacks import Unsupported

    path = settings.out if settings.out.suffix.lower() in SUFFIXES else settings.out / f"play-{_stem(target)}.html"
    with settings.progress(f"play {target}: searching its states"):
        try:
            made = _made(target, scenario, within)
        except (ValueError, RuntimeError) as error:
            code = exits.TOOL if isinstance(error, Unsupported) else exits.USAGE
            raise exits.Stop(code, str(error)) from None
    size = write_page(path, made.text)
    par = "no schedule on it fails" if made.par is None else f"par is {made.par} change(s) of threads"
    part = f", those {made.graph.bound}" if made.graph.bound else ""
    settings.say(f"play {target}: {made.states:,} states{part}; {par}")
    settings.note(f"wrote {path} ({size / 1000:.0f} kB): open it in a browser")
    return Outcome(
        "ok", {"page": str(path), "bytes": size, "states": made.states, "bound": made.graph.bound, "par": made.par}
    )


def _stem(target: str) -> str:
    return Path(target.partition(":")[0]).stem


def _made(target: str, scenario: str | None, within: int | None) -> "Play":
    """Return the page of a mutant or of a target."""
    from latchfree_evidence.mutants import MUTANTS
    from latchfree_evidence.targets.finding import find_target
    from latchfree_teach.play.making import mutant_page, play_page

    if target in MUTANTS:
        return mutant_page(target, scenario=scenario, switches=within)
    if scenario is None:
        raise ValueError(f'{target}: give the operations to play, such as --scenario "put(0, 1) | get(0)"')
    return play_page(find_target(target), scenario, switches=within)
