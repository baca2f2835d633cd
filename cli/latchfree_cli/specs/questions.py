"""Answer the questions of ``latchfree graph`` about the state graph of one model."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path as FilePath

from latchfree_cli import exits
from latchfree_cli.settings import Report, Settings
from latchfree_model.graph import (
    ActionCoverage,
    Explored,
    Path,
    StateGraph,
    Step,
    action_coverage,
    check_invariant,
    explore,
    find_livelock,
    list_actions,
    locate,
)
from latchfree_model.graph.rows import name_of
from latchfree_model.tlc import SpecModel, Trace
from latchfree_model.tlc.run import library
from latchfree_model.tlc.values import to_json


@dataclass(slots=True)
class Finding:
    """A behaviour that should not exist, and the steps to draw boldly.

    Parameters
    ----------
    title : str
        One line for the reader.
    name : str
        The end of the file's name.
    trace : Trace
        The behaviour.
    highlight : sequence of Step
        The steps of the behaviour in the graph.
    """

    title: str
    name: str
    trace: Trace | None
    highlight: Sequence[Step] = ()


@dataclass(slots=True)
class GraphReport:
    """The graph of one model, and the answers to the questions about it."""

    explored: Explored
    verdict: str = "ok"
    findings: list[Finding] = field(default_factory=list)
    reasons: list[str] = field(default_factory=list)
    answers: dict[str, object] = field(default_factory=dict)

    @property
    def graph(self) -> StateGraph:
        """The graph."""
        return self.explored.graph

    def drawn(self, readable: int) -> tuple[StateGraph, Sequence[Step]]:
        """Return what to draw, and the steps to draw boldly: of a large graph only the states of what was found."""
        steps = self.findings[0].highlight if self.findings else ()
        if len(self.graph) <= readable or not steps:
            return self.graph, steps
        states = sorted({state for step in steps for state in (step.source, step.target)})
        number = {state: index for index, state in enumerate(states)}
        part = self.graph.part(states)
        return part, [Step(number[step.source], number[step.target], step.action) for step in steps]

    def line(self) -> str:
        """Return its size on one line."""
        graph, result = self.graph, self.explored.result
        cyclic = [component for component in graph.components if len(component) > 1]
        return "  ".join(
            [
                f"{self.explored.model.name:<32}",
                f"{len(graph):>9,} states",
                f"{graph.edges.number_of_edges():>9,} steps",
                f"depth {graph.depth:>4}",
                f"{len(graph.components):>7,} components, {len(cyclic):,} cyclic",
                f"{len(graph.deadlocks):>5,} deadlocks",
                f"{result.seconds:6.1f} s",
            ]
        )

    def to_json(self) -> dict[str, object]:
        """Return the report for ``--json``."""
        graph = self.graph
        return {
            "name": self.explored.model.name,
            "states": len(graph),
            "steps": graph.edges.number_of_edges(),
            "depth": graph.depth,
            "components": len(graph.components),
            "largest_component": max(map(len, graph.components), default=0),
            "deadlocks": len(graph.deadlocks),
            "seconds": round(self.explored.result.seconds, 3),
            **self.answers,
        }


def report_on(model: SpecModel, settings: Settings, progress: Report) -> GraphReport:
    """Explore a model.

    Raises
    ------
    Unexplored
        If TLC does not come to an end.
    """
    try:
        explored = explore(
            model,
            timeout=settings.timeout,
            cancelled=settings.cancelled,
            on_progress=lambda distinct, _generated, queue: progress(
                f"graph {model.name}: {distinct:,} distinct states, {queue:,} on the queue"
            ),
        )
    except ValueError as error:
        raise exits.Stop(exits.TOOL, str(error)) from None
    return GraphReport(explored)


def ask_livelock(report: GraphReport, returns: Sequence[str]) -> None:
    """Look for a cycle in which no operation completes; `returns` names the actions that complete one."""
    graph, model = report.graph, report.explored.model.name
    if not returns and not graph.rows.processes:
        fix = "name the actions that complete one with --returns"
        raise exits.Stop(exits.USAGE, f"{model}: no variable L or pc shows when an operation completes; {fix}")
    for action in returns:
        if action not in graph.actions:
            known = ", ".join(sorted(graph.actions))
            raise exits.Stop(exits.USAGE, f"{model}: no step is called {action!r}; the actions taken are {known}")
    found = find_livelock(graph, (lambda step: step.action in returns) if returns else None)
    if found is None:
        report.answers["livelock"] = None
        return
    report.verdict = "violation"
    title = (
        f"livelock: a cycle of length {len(found.cycle.steps)} in which no operation completes "
        f"(states on such cycles: {found.states:,}, in {found.components:,} components)"
    )
    steps = found.lead.steps + found.cycle.steps
    report.findings.append(Finding(title, "livelock", found.trace(graph), steps))
    report.answers["livelock"] = {
        "lead": len(found.lead.steps),
        "cycle": len(found.cycle.steps),
        "states": found.states,
        "components": found.components,
    }


def ask_invariant(report: GraphReport, name: str, settings: Settings) -> None:
    """Look for a shortest behaviour that violates an operator of the model's modules."""
    result = check_invariant(report.explored.model, name, timeout=settings.timeout, cancelled=settings.cancelled)
    report.answers["invariant"] = {"name": name, "verdict": result.verdict, "reason": result.reason}
    if result.verdict == "unknown":
        report.verdict = "unknown" if report.verdict == "ok" else report.verdict
        report.reasons += [result.reason, *result.errors]
    elif result.verdict == "violation":
        report.verdict = "violation"
        path = locate(report.graph, result.trace) if result.trace else None
        length = len(result.trace) if result.trace else 0
        title = f"{name} is violated: a shortest behaviour, of {length} states"
        report.findings.append(Finding(title, name, result.trace, path.steps if path else ()))


def covered(reports: Sequence[GraphReport], settings: Settings) -> list[ActionCoverage]:
    """Return how often each action of the models is taken in all of them together."""
    models = [report.explored.model for report in reports]
    actions = [item for model in models for item in list_actions(model, cancelled=settings.cancelled).items()]
    own = [(model.root / model.module).parent for model in models]
    shared = [FilePath(folder) for model in models for folder in library(model.root).split(os.pathsep)]
    return action_coverage(actions, [report.graph for report in reports], [*own, *shared])


def paths_document(report: GraphReport, paths: Sequence[Path]) -> dict[str, object]:
    """Return paths for a JSON file, each distinct value once.

    State ``s`` gives column ``c`` the value ``values[states[s][c]]``; a path is the number of its first state, and
    for each step the action, the process (null if unknown) and the number of the state that it leads to.
    """
    graph = report.graph
    texts: dict[str, int] = {}
    states = [[texts.setdefault(text, len(texts)) for text in graph.rows[state]] for state in range(len(graph))]
    return {
        "version": 1,
        "model": report.explored.model.name,
        "columns": [[column.variable, name_of(column.process)] for column in graph.rows.columns],
        "values": [to_json(graph.rows.value(text)) for text in texts],
        "states": states,
        "paths": [
            [path.start, [[step.action, name_of(graph.process(step)), step.target] for step in path.steps]]
            for path in paths
        ],
    }
