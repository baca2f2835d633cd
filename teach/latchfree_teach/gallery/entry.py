"""The pages of one bug: ``ID.html`` with its story, ``ID-play.html``, ``ID-spec.html``, and ``ID-history.html``.

It is run as ``python -m latchfree_teach.gallery.entry ID FOLDER``, since a mutant is applied for the rest of a process,
and prints what the index needs, as JSON.
"""

from __future__ import annotations

import html
import json
import sys
from dataclasses import replace
from pathlib import Path

from latchfree_evidence import MUTANTS, Mutant
from latchfree_explore.machine.machine import Machine
from latchfree_explore.page import steps_of
from latchfree_explore.search import failure_of
from latchfree_lincheck.show import judge_parts, page, save
from latchfree_model.tlc import ToolMissing
from latchfree_teach.gallery.differences import difference, story_of
from latchfree_teach.gallery.frame import framed
from latchfree_teach.gallery.in_step import in_step, model_of
from latchfree_teach.play.making import Play, mutant_page
from latchfree_teach.play.par import changes, shortest


def make_entry(name: str, folder: Path) -> dict[str, object]:
    """Write the pages of a mutant; it must be the first use of its structure in this process.

    Returns
    -------
    dict
        What the index says: states, par, bound, and bytes of the play page.
    """
    mutant = MUTANTS[name]
    made = mutant_page(name)
    best = shortest(made.graph.states[0])
    link, beside, missing = "", "", ""
    save(folder / f"{name}-play.html", made.text)
    if best is not None:
        link = "#" + "".join(map(str, best[1]))
        accesses, problem = _run(made, best[1])
        save(folder / f"{name}-history.html", _history(made, problem))
        beside, missing = _beside(made, name, accesses)
    if beside:
        save(folder / f"{name}-spec.html", framed(f"Mutant {name}, in step with the specification", beside))
    links = _links(name, made, link, spec=bool(beside), missing=missing)
    save(folder / f"{name}.html", framed(f"Mutant {name}", _story(mutant, made, links)))
    return {"id": name, "states": made.states, "par": made.par, "bound": made.graph.bound, "bytes": len(made.text)}


def _run(made: Play, way: list[int]) -> tuple[int, str]:
    """Have the machine run some moves; return how many accesses they are, and what goes wrong."""
    state, schedule = made.graph.states[0], list[int]()
    for thread in way:
        move, state = state.moves[thread]
        schedule += [thread] * move.steps
    made.graph.walker.machine.run(schedule)
    return len(schedule), "not linearizable" if not state.held else state.status


def _history(made: Play, problem: str) -> str:
    """Return the page of lincheck that draws what was run; how long the judging took would differ each time."""
    machine: Machine = made.graph.walker.machine
    failure = failure_of(machine, problem, "")
    judged = judge_parts(failure.history, machine.target.model, steps=steps_of(failure))
    return page([replace(judged, verdict=replace(judged.verdict, seconds=0.0))])


def _beside(made: Play, name: str, accesses: int) -> tuple[str, str]:
    """Return so many accesses of what was run in step with the specification, or why there is no such page."""
    model = model_of(name)
    if model is None:
        return "", "the specification has no model of this bug"
    walker = made.graph.walker
    try:
        return in_step(model, walker.machine.steps[:accesses], walker.after), ""
    except ToolMissing as error:
        return "", f"no page in step with the specification: {error}"


def _links(name: str, made: Play, link: str, *, spec: bool, missing: str) -> str:
    if made.par is None:
        return "<p>No schedule on its play page fails.</p>"
    beside = f', <a href="{name}-spec.html">in step with the specification</a>' if spec else ""
    return (
        f"<p>Par: {changes(made.par)} of threads. "
        f'<a href="{name}-play.html">Play it</a>, see <a href="{name}-play.html{link}">the shortest way</a>{beside}, '
        f'or <a href="{name}-history.html">the history drawn</a>.{html.escape(missing and f" ({missing}.)")}</p>'
    )


def _story(mutant: Mutant, made: Play, links: str) -> str:
    paragraphs = "".join(f"<p>{html.escape(text)}</p>" for text in story_of(mutant).split("\n\n"))
    ends = f"<p>The play page has the states {made.graph.bound}, and says where they end.</p>"
    bound = ends if made.graph.bound else ""
    parts = "".join(f"<h2>{html.escape(title)}</h2>{_lines(lines)}" for title, lines in difference(mutant))
    again = html.escape(f'latchfree explore {mutant.target} --mutant {mutant.id} --scenario "{mutant.scenario}"')
    return (
        f'<p><a href="index.html">All known bugs</a></p>{paragraphs}'
        f"<p>Scenario: <code>{html.escape(str(mutant.scenario))}</code></p>{links}{bound}"
        f"<h1>What it changes</h1><p>Removed lines are right, added lines are wrong.</p>{parts}"
        f"<h1>Find it</h1><pre>{again}</pre>"
    )


def _lines(lines: list[str]) -> str:
    tags = {"-": "del", "+": "ins"}
    shown = "\n".join(
        f"<{tags[line[0]]}>{html.escape(line)}</{tags[line[0]]}>" if line[0] in tags else html.escape(line)
        for line in lines
    )
    return f"<pre>{shown}</pre>"


if __name__ == "__main__":
    sys.stdout.write(json.dumps(make_entry(sys.argv[1], Path(sys.argv[2]))))
