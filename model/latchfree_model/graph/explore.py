"""Let TLC explore a model to the end and read its graph.

The run leaves out the invariants and properties of the configuration, so that TLC does not stop at the first violation:
the graph of a wrong model has all reachable states, too. Constants, overrides, constraints, view and symmetry stay. TLC
uses one worker, so that every run numbers the states in the same way.
"""

import re
import tempfile
import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from latchfree_model.graph.dump import read_dump
from latchfree_model.graph.state_graph import StateGraph
from latchfree_model.tlc.config import COMMENT
from latchfree_model.tlc.manifest import SpecModel
from latchfree_model.tlc.result import OnProgress, TlcResult
from latchfree_model.tlc.run import run_model

SECTIONS: Final = re.compile(
    r"\b(CONSTANTS?|(?:ACTION_)?CONSTRAINTS?|INIT|NEXT|VIEW|SYMMETRY|SPECIFICATION|INVARIANTS?|PROPERTY|PROPERTIES)\b"
)
CHECKS: Final = frozenset({"INVARIANT", "INVARIANTS", "PROPERTY", "PROPERTIES"})
NO_DEADLOCK: Final = "-deadlock"
"""TLC's option *not* to look for deadlocks: the graph shows them."""


class Unexplored(Exception):
    """TLC did not explore the model to the end.

    Parameters
    ----------
    model : SpecModel
        The model.
    result : TlcResult
        What TLC said; its verdict is unknown.
    """

    def __init__(self, model: SpecModel, result: TlcResult) -> None:
        super().__init__(f"{model.name}: {result.reason or result.errors[0]}")
        self.model = model
        self.result = result


@dataclass(frozen=True, slots=True)
class Explored:
    """A model, its graph, and the result of the run of TLC.

    Parameters
    ----------
    model : SpecModel
        The model.
    graph : StateGraph
        Its graph.
    result : TlcResult
        The outcome of the run, without any property checked.
    """

    model: SpecModel
    graph: StateGraph
    result: TlcResult


def explore(
    model: SpecModel,
    *,
    timeout: float | None = None,
    on_progress: OnProgress | None = None,
    cancelled: threading.Event | None = None,
) -> Explored:
    """Run TLC on a model and return its graph.

    The text of the graph needs some 3 kB of disk for each state, while it is read.

    Parameters
    ----------
    model : SpecModel
        The model.
    timeout : float, optional
        Seconds after which TLC is stopped.
    on_progress : callable, optional
        Called with (distinct, generated, queue) about once a minute and at the end.
    cancelled : threading.Event, optional
        Set by another thread, before it calls `kill_running`, to end the run.

    Raises
    ------
    Unexplored
        If TLC did not come to an end: the model does not parse, cannot be evaluated, or takes too long.
    ToolMissing
        If there is no Java or no TLC.
    ValueError
        If the graph cannot be read, or its size is not what TLC says.
    """
    with tempfile.TemporaryDirectory(prefix="latchfree-graph-") as folder:
        dump = Path(folder, "graph.dot")
        result = run_model(
            _bare(model, Path(folder)),
            workers=1,
            timeout=timeout,
            options=(NO_DEADLOCK, "-dump", "dot,actionlabels", str(dump)),
            on_progress=on_progress,
            cancelled=cancelled,
        )
        if result.verdict != "ok":
            raise Unexplored(model, result)
        with dump.open(encoding="utf-8") as lines:
            graph = read_dump(lines)
    if len(graph) != result.distinct:
        raise ValueError(f"{model.name}: TLC found {result.distinct} states, but its graph has {len(graph)}")
    return Explored(model, graph, result)


def list_actions(model: SpecModel, *, cancelled: threading.Event | None = None) -> dict[str, str]:
    """Return every action of a model's next-state relation with its place, taken or not.

    TLC lists them for a simulated run of one step.

    Raises
    ------
    Unexplored
        If TLC cannot evaluate the model.
    """
    with tempfile.TemporaryDirectory(prefix="latchfree-graph-") as folder:
        result = run_model(
            _bare(model, Path(folder)),
            workers=1,
            coverage=True,
            options=(NO_DEADLOCK, "-simulate", "num=1", "-depth", "1"),
            cancelled=cancelled,
        )
    if not result.places:
        raise Unexplored(model, result)
    return dict(result.places)


def check_invariant(
    model: SpecModel,
    invariant: str,
    *,
    timeout: float | None = None,
    cancelled: threading.Event | None = None,
) -> TlcResult:
    """Check one operator of the model's modules as an invariant, whether or not its configuration names it.

    TLC searches breadth first with one worker, so the counterexample is a shortest one.
    """
    with tempfile.TemporaryDirectory(prefix="latchfree-graph-") as folder:
        bare = _bare(model, Path(folder), (f"INVARIANT {invariant}",))
        return run_model(bare, workers=1, timeout=timeout, options=(NO_DEADLOCK,), cancelled=cancelled)


def _bare(model: SpecModel, folder: Path, lines: Sequence[str] = ()) -> SpecModel:
    """Return the model with a configuration, written to `folder`, that checks nothing but what `lines` say."""
    text = without_checks((model.root / model.config).read_text(encoding="utf-8"))
    config = folder / Path(model.config).name
    config.write_text("\n".join([text, *lines, ""]), encoding="utf-8")
    return replace(model, config=str(config), simulate=None, steps=None)


def without_checks(text: str) -> str:
    """Return a configuration without its invariants and properties.

    Examples
    --------
    >>> without_checks("SPECIFICATION Spec INVARIANTS A B CONSTANT N = 2")
    'SPECIFICATION Spec CONSTANT N = 2'
    """
    head, *parts = SECTIONS.split(COMMENT.sub(" ", text))
    kept = [head.strip()]
    for keyword, body in zip(parts[::2], parts[1::2], strict=True):
        if keyword not in CHECKS:
            kept.append(f"{keyword} {body.strip()}")
    return " ".join(part for part in kept if part)
