"""``latchfree graph``: the state graph of a bounded model."""

import json
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from latchfree_cli import exits
from latchfree_cli.frame import examples
from latchfree_cli.settings import Outcome, Settings

if TYPE_CHECKING:
    from latchfree_cli.specs.questions import GraphReport

DRAWABLE: Final = 1000
"""Laying out more states than this takes too long."""


@examples(
    "latchfree graph mutant_a1 --livelock",
    "latchfree graph ring_one_cell --svg ring.svg",
)
def graph(
    settings: Settings,
    names: Annotated[list[str], typer.Argument(metavar="MODEL", help="Models, as latchfree spec --list names them.")],
    livelock: Annotated[bool, typer.Option("--livelock", help="Find a cycle in which no operation completes.")] = False,
    returns: Annotated[
        list[str] | None, typer.Option(metavar="ACTION", help="An action that completes an operation.")
    ] = None,
    coverage: Annotated[bool, typer.Option("--coverage", help="Require that each action is taken.")] = False,
    invariant: Annotated[
        str | None, typer.Option(metavar="NAME", help="Find the shortest counterexample to this operator.")
    ] = None,
    paths: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write paths that take every step, as JSON.")
    ] = None,
    svg: Annotated[Path | None, typer.Option(metavar="FILE", help="Draw a small graph.")] = None,
    dot: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the graph for Graphviz.")] = None,
    colour: Annotated[
        str | None, typer.Option(metavar="VARIABLE", help="Colour the states by a variable, or a field: L.w.pc.")
    ] = None,
    manifest: Annotated[
        Path | None, typer.Option("--manifest", metavar="FILE", help="A manifest of your own models.")
    ] = None,
) -> Outcome:
    """Explore a TLA+ model to the end and ask its state graph.

    Several models are asked one by one, but for --coverage together: an action must be taken in one of them.
    """
    from latchfree_cli.specs.questions import ask_invariant, ask_livelock, report_on
    from latchfree_cli.specs.runs import named, read_manifest
    from latchfree_model.graph import Unexplored

    models = named(read_manifest(manifest), names)
    if len(models) > 1 and (paths or svg or dot):
        raise exits.Stop(exits.USAGE, "--paths, --svg and --dot write one file: name one model")
    reports: list[GraphReport] = []
    unexplored: list[dict[str, object]] = []
    with settings.progress("graph") as progress:
        for model in models:
            progress(f"graph {model.name}: TLC is starting")
            try:
                report = report_on(model, settings, progress)
                if livelock:
                    ask_livelock(report, returns or [])
                if invariant:
                    ask_invariant(report, invariant, settings)
            except Unexplored as error:
                settings.say("\n".join([error.result.reason, *error.result.errors]))
                unexplored.append({"name": model.name, "verdict": "unknown", "reason": error.result.reason})
                continue
            _show(report, settings)
            reports.append(report)
        untaken = _coverage(reports, settings) if coverage and not unexplored else []
    if reports:
        _write(reports[0], settings, paths=paths, svg=svg, dot=dot, colour=colour)
    asked = livelock or coverage or invariant is not None
    verdicts = [report.verdict for report in reports] + ["unknown" for _ in unexplored]
    verdict = exits.worst([*verdicts, *(["violation"] if untaken else [])])
    payload = {"models": [*(report.to_json() for report in reports), *unexplored], "never_taken": untaken}
    if verdict == "ok" and not asked:
        return Outcome("explored", payload, code=exits.OK)
    again = ["latchfree", "graph", *names, *(["--livelock"] if livelock else []), *(["--coverage"] if coverage else [])]
    again += [part for action in returns or [] for part in ("--returns", action)]
    again += [*(["--invariant", invariant] if invariant else []), *(["--manifest", str(manifest)] if manifest else [])]
    return Outcome(verdict, payload, reproduce=shlex.join(again) if verdict == "violation" else None)


def _show(report: "GraphReport", settings: Settings) -> None:
    from latchfree_model.tlc.render import render

    settings.say(report.line())
    for reason in report.reasons:
        settings.say(reason)
    for finding in report.findings:
        settings.say(finding.title)
        if finding.trace:
            settings.say(render(finding.trace))
            document = {"version": 1, "title": finding.title, "trace": finding.trace.to_json()}
            name = f"graph/{report.explored.model.name}.{finding.name}.json"
            settings.write(name, json.dumps(document, ensure_ascii=False, indent=1) + "\n")


def _coverage(reports: "list[GraphReport]", settings: Settings) -> list[dict[str, str]]:
    """Return the actions that no model takes, after saying so."""
    from latchfree_cli.specs.questions import covered

    never = []
    for each in covered(reports, settings):
        settings.note(f"{each.action:<24}  {each.steps:>9,} steps  {each.place}")
        if each.steps == 0:
            never.append(each)
    for each in never:
        settings.say(f"{each.place}: the action {each.action} is never taken")
    return [{"action": each.action, "place": each.place} for each in never]


def _write(
    report: "GraphReport",
    settings: Settings,
    *,
    paths: Path | None,
    svg: Path | None,
    dot: Path | None,
    colour: str | None,
) -> None:
    """Write the files asked for."""
    from latchfree_cli.specs.questions import paths_document
    from latchfree_model.graph import READABLE, draw_dot, draw_svg, edge_cover

    if paths:
        cover = edge_cover(report.graph)
        text = json.dumps(paths_document(report, cover), ensure_ascii=False, separators=(",", ":")) + "\n"
        settings.save(paths, text)
        length = sum(len(path.steps) for path in cover)
        report.answers["paths"] = {"paths": len(cover), "steps": length}
        settings.note(f"wrote {paths}: {len(cover):,} paths of {length:,} steps together take every step")
    drawn, steps = report.drawn(READABLE)
    for file, draw in ((svg, draw_svg), (dot, draw_dot)):
        if file is None:
            continue
        if draw is draw_svg and len(drawn) > DRAWABLE:
            limit = f"the limit is {DRAWABLE:,}; fix: a smaller model, or --dot"
            raise exits.Stop(exits.USAGE, f"{file}: {len(drawn):,} states are too many to draw; {limit}")
        try:
            text = draw(drawn, colour=colour, highlight=steps)
        except KeyError as error:
            raise exits.Stop(exits.USAGE, f"--colour: {error.args[0]}") from None
        settings.save(file, text)
        part = "" if drawn is report.graph else f" of {len(report.graph):,}, those of what was found"
        hard = f"; more than {READABLE} are hard to read" if len(drawn) > READABLE else ""
        settings.note(f"wrote {file}: {len(drawn):,} states{part}{hard}")
