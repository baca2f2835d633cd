"""``latchfree play``: a page on which the reader is the scheduler of compiled code."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from latchfree_cli import exits
from latchfree_cli.frame import examples
from latchfree_cli.pages import SUFFIXES
from latchfree_cli.settings import Outcome, Settings

if TYPE_CHECKING:
    from latchfree_teach.play.making import Play
    from latchfree_teach.play.models import ModelPlay
    from latchfree_teach.play.serving import PlayServer


class SwitchesHere(StrEnum):
    """Where threads of plain Python may change."""

    free = "free"
    gil = "gil"


@examples(
    "latchfree play S1 -o S1.html",
    "latchfree play counter_lost -o counter.html",
    'latchfree play cache:Cache --model map --scenario "put(0, 1) | get(0)"',
)
def play(
    settings: Settings,
    target: Annotated[
        str,
        typer.Argument(
            metavar="TARGET",
            help="A mutant, a model of TLA+, ctrie, topic-trie, ring, FILE.py[:NAME], MODULE:CLASS, MODULE:COROUTINE "
            "or a replay of one.",
        ),
    ],
    *,
    scenario: Annotated[
        str | None,
        typer.Option(metavar="TEXT", help='Such as "init: put(1, 1) | put(1, 2) | get(1)"; a mutant has its own.'),
    ] = None,
    within: Annotated[
        int | None, typer.Option(metavar="N", min=0, help="Only the states within N changes of threads.")
    ] = None,
    serve: Annotated[
        bool, typer.Option("--serve", help="Serve the page on this machine, and find states when they are needed.")
    ] = False,
    model: Annotated[
        str | None, typer.Option(metavar="NAME", help="MODULE:CLASS: the sequential model that judges it (map).")
    ] = None,
    switches: Annotated[
        SwitchesHere | None, typer.Option(help="MODULE:CLASS: where threads may change (free).")
    ] = None,
    cancels: Annotated[
        int | None, typer.Option(min=0, help="Plain Python with coroutines: the most tasks that are cancelled (0).")
    ] = None,
) -> Outcome:
    """Make an HTML page on which the reader chooses which thread goes on, and tries to break the code.

    The page goes to the file given with -o (PAGE.html), else into the output folder. It needs no network. The page of a
    model, one that latchfree spec --list names, shows the steps of the specification. With --serve there is no file and
    no bound: Ctrl-C ends the server.
    """
    from latchfree_cli.exploring.classes import names_a_class
    from latchfree_cli.exploring.playing import play_class, wrote
    from latchfree_explore.board.stacks import Unsupported

    if names_a_class(target) or target.endswith(".json"):
        if serve:
            raise exits.Stop(exits.USAGE, f"{target}: --serve is for compiled code; a page of a class has a file")
        where = None if switches is None else str(switches)
        return play_class(
            settings, target, scenario=scenario, model=model, switches=where, changes=within, cancels=cancels
        )
    if model is not None or switches is not None or cancels is not None:
        raise exits.Stop(
            exits.USAGE, "--model, --switches and --cancels are for plain Python: MODULE:CLASS or MODULE:COROUTINE"
        )
    if _is_model(target, scenario):
        if serve or within is not None:
            raise exits.Stop(exits.USAGE, f"{target}: the page of a model has every state: no --serve, no --within")
        return _model_page(settings, target, _model(target))
    if serve:
        return _serve(settings, target, scenario)
    path = settings.out if settings.out.suffix.lower() in SUFFIXES else settings.out / f"play-{_stem(target)}.html"
    with settings.progress(f"play {target}: searching its states"):
        try:
            made = _made(target, scenario, within)
        except (ValueError, RuntimeError) as error:
            code = exits.TOOL if isinstance(error, Unsupported) else exits.USAGE
            raise exits.Stop(code, str(error)) from None
    return wrote(settings, target, path, made.text, states=made.states, bound=made.graph.bound, par=made.par)


def _is_model(target: str, scenario: str | None) -> bool:
    """Return whether a target is a model of the manifest."""
    from latchfree_evidence.mutants import MUTANTS
    from latchfree_model.tlc import load_manifest, spec_dir

    if scenario is not None or target in MUTANTS:
        return False
    return any(each.name == target for each in load_manifest(spec_dir() / "manifest.toml"))


def _model(target: str) -> "ModelPlay":
    """Return the page of a model of the manifest."""
    from latchfree_model.graph import Unexplored
    from latchfree_model.tlc import ToolMissing
    from latchfree_teach.play.models import model_page

    try:
        return model_page(target)
    except (Unexplored, ToolMissing) as error:
        raise exits.Stop(exits.TOOL, str(error)) from None
    except ValueError as error:
        raise exits.Stop(exits.USAGE, str(error)) from None


def _model_page(settings: Settings, target: str, made: "ModelPlay") -> Outcome:
    from latchfree_cli.exploring.playing import wrote

    path = settings.out if settings.out.suffix.lower() in SUFFIXES else settings.out / f"play-{target}.html"
    return wrote(settings, target, path, made.text, states=made.states, bound="", par=made.par, model=True)


def _serve(settings: Settings, target: str, scenario: str | None) -> Outcome:
    """Serve pages until Ctrl-C."""
    from latchfree_explore.board.stacks import Unsupported

    try:
        server = _server(target, scenario)
    except (ValueError, RuntimeError) as error:
        code = exits.TOOL if isinstance(error, Unsupported) else exits.USAGE
        raise exits.Stop(code, str(error)) from None
    settings.say(f"play {target}: {server.address}; Ctrl-C ends it")
    server.run()
    return Outcome("ok", {"address": server.address})


def _server(target: str, scenario: str | None) -> "PlayServer":
    from latchfree_evidence.mutants import MUTANTS, apply_mutant
    from latchfree_evidence.targets.finding import find_target
    from latchfree_teach.play.serving import PlayServer

    name = target
    if target in MUTANTS:
        mutant = MUTANTS[target]
        scenario = scenario or mutant.scenario
        apply_mutant(target)
        name = mutant.target
    found = find_target(name)
    if scenario is None:
        raise ValueError(f'{target}: give the operations to play, such as --scenario "put(0, 1) | get(0)"')
    return PlayServer(found, scenario, title=target)


def _stem(target: str) -> str:
    return Path(target.partition(":")[0]).stem


def _made(target: str, scenario: str | None, within: int | None) -> "Play":
    """Return the page of a mutant or of a target."""
    from latchfree_evidence.mutants import MUTANTS
    from latchfree_evidence.targets.finding import find_target
    from latchfree_teach.play.making import mutant_page, play_page

    if target in MUTANTS:
        return mutant_page(target, scenario=scenario, switches=within)
    found = find_target(target)
    if scenario is None:
        raise ValueError(f'{target}: give the operations to play, such as --scenario "put(0, 1) | get(0)"')
    return play_page(found, scenario, switches=within)
