"""The page ``ID-spec.html``: the failing schedule of the code in step with a behaviour of the specification.

Each bug is in the specification, too, as a model that TLC finds a violation in. The left half of the page is the
shortest way on the play page, an access a row. The right half is the behaviour that goes with it best
(`latchfree_teach.gallery.following`), a step a row, with what the step changes. What stands side by side is the same
action, made by the same thread.
"""

from __future__ import annotations

import html
from itertools import groupby
from typing import Final

from latchfree_evidence.refinement.labels import NONE, labels_at, topic_actions
from latchfree_explore.sources import function_of, text_of
from latchfree_explore.steps import Step
from latchfree_model.graph import explore
from latchfree_model.tlc import SpecModel, load_manifest, spec_dir
from latchfree_model.tlc.config import temporal_properties
from latchfree_model.tlc.render import Told, told
from latchfree_teach.gallery.following import CodeStep, Followed, Row, follow
from latchfree_teach.play.models import violated_states

_HEAD: Final = "<tr><th>thread</th><th>access of the code</th><th>action</th><th>what it changes in the model</th></tr>"


def model_of(mutant: str) -> SpecModel | None:
    """Return the first model of a bug that violates what can be seen in one state, None if there is none."""
    for model in load_manifest(spec_dir() / "manifest.toml"):
        wanted = model.mutant == mutant and model.expect == "violation"
        if wanted and model.property not in temporal_properties(model.root / model.config):
            return model
    return None


def in_step(model: SpecModel, accesses: list[Step], after: int) -> str:
    """Return the body of the page, in HTML.

    Parameters
    ----------
    model : SpecModel
        Of the same bug.
    accesses : list of Step
        The failing schedule.
    after : int
        The first operation that follows all threads; any process may stand for it.

    Raises
    ------
    latchfree_model.graph.Unexplored
        If TLC cannot explore the model.
    ToolMissing
        If there is no Java or no TLC.
    """
    graph = explore(model).graph
    steps = [CodeStep(each.thread if each.call < after else None, _actions(each.site)) for each in accesses]
    found = follow(graph, violated_states(model, graph), steps)
    assert found is not None, "the manifest's models of bugs are violated"
    behaviour = told(graph.trace(found.path))
    start = "\n".join(html.escape(line) for line in behaviour[0].changes)
    rows = []
    for thread, part in groupby(found.rows, key=lambda row: _alone(row, accesses)):
        if thread is None:
            rows += [_row(_access(accesses, row), _step(behaviour, row)) for row in part]
        else:
            rows.append(_folded(thread, [accesses[row.access or 0] for row in part]))
    return (
        f"{_introduction(model, found, steps)}<h2>The model begins with</h2><pre>{start}</pre>"
        f'<h2>Step by step</h2><div class="scroll"><table class="steps">{_HEAD}{"".join(rows)}</table></div>'
        f"<p>Here {html.escape(str(model.property))} is violated.</p>"
    )


def _actions(site: str) -> frozenset[str]:
    names = frozenset(label.partition("!")[2] for label in labels_at(site) if label != NONE)
    return names.union(*(topic_actions().get(name, ()) for name in names))


def _alone(row: Row, accesses: list[Step]) -> int | None:
    """Return the thread of an access that no step of the model is, None for any other row."""
    return accesses[row.access].thread if row.step is None and row.access is not None else None


def _access(accesses: list[Step], row: Row) -> Step | None:
    return None if row.access is None else accesses[row.access]


def _step(behaviour: list[Told], row: Row) -> Told | None:
    return None if row.step is None else behaviour[row.step + 1]


def _introduction(model: SpecModel, found: Followed, steps: list[CodeStep]) -> str:
    both = sum(row.access is not None and row.step is not None for row in found.rows)
    stands = "; ".join(f"process {name} is thread {thread}" for thread, name in sorted(found.processes.items()))
    return (
        "<p>On the left is the shortest failing schedule of the machine code, an access a row. On the right is a "
        f"behaviour of the specification with the same mistake, <code>{html.escape(model.module)}</code> with "
        f"<code>{html.escape(model.config)}</code>: of all behaviours that end in a violation, the one that goes with "
        f"the schedule best. What stands side by side is the same action: {both} of {len(steps)} accesses. A model is "
        "smaller than the code: it leaves out the memory that is given back, one of its steps may be several accesses, "
        f"and its keys are letters. {html.escape(stands[0].upper() + stands[1:])}.</p>"
    )


def _folded(thread: int, accesses: list[Step]) -> str:
    """Return one row for accesses of a thread that no step of the model is, with a name for each kind."""
    named = dict.fromkeys(label for each in accesses for label in labels_at(each.site) if label != NONE)
    what = ", ".join(named) or "to what no specification has"
    many = f"{len(accesses)} access{'es' if len(accesses) > 1 else ''}"
    return (
        f'<tr class="t{thread}"><td>{thread}</td><td colspan="3"><small>{many}: {html.escape(what)}</small></td></tr>'
    )


def _row(access: Step | None, step: Told | None) -> str:
    tone = who = code = action = changes = ""
    if access is not None:
        tone, who = f' class="t{access.thread}"', str(access.thread)
        place = f"{function_of(access.site)}, {access.site.rpartition('/')[2]}"
        failed = "" if access.succeeded else ", which fails"
        code = (
            f"{html.escape(access.kind)}{failed} <small>{html.escape(place)}</small>"
            f"<br><code>{html.escape(text_of(access.site))}</code>"
        )
    if step is not None:
        action = f"<b>{html.escape(step.action)}</b>" + ("" if step.process is None else f" of {step.process}")
        changes = "<br>".join(f"<code>{html.escape(line)}</code>" for line in step.changes)
    return f"<tr{tone}><td>{who}</td><td>{code}</td><td>{action}</td><td>{changes}</td></tr>"
