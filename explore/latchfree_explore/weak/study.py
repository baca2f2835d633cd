"""One weak outcome looked at closely: which models allow it, a run that has it, and what forbids the run elsewhere."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from latchfree_explore.weak.axioms import MODELS, Model
from latchfree_explore.weak.brute import candidate_count, candidates
from latchfree_explore.weak.exploring import explore
from latchfree_explore.weak.graph import Graph
from latchfree_explore.weak.outcomes import Condition, Outcome, outcome_of
from latchfree_explore.weak.programs import Program
from latchfree_explore.weak.reasons import Reason, reason

MOST_CANDIDATES: Final = 200_000
"""Among how many candidate executions a run is looked for that no model allows."""


@dataclass(frozen=True)
class Study:
    """What is found out about an outcome.

    Attributes
    ----------
    allowed : tuple of models
        Those that allow the outcome.
    graph : Graph or None
        A run with the outcome; None if no choice of writes and orders has it, or if the choices are too many to try.
    reasons : mapping of model to Reason
        Why the other models forbid this run.
    """

    allowed: tuple[Model, ...]
    graph: Graph | None
    reasons: Mapping[Model, Reason]


def study(program: Program, weak: Condition) -> Study:
    """Find out which models allow an outcome, and why the others do not.

    Parameters
    ----------
    program : Program
        What is run.
    weak : Condition
        The outcome.

    Returns
    -------
    Study
        If a model allows the outcome, `Study.graph` is a run that the last such model of the list allows.
    """
    threads = len(program.threads)
    witnesses: dict[Model, Graph] = {}
    for model in MODELS:
        for graph in explore(program, model):
            if weak.holds(outcome_of(graph, threads)):
                witnesses[model] = graph
                break
    allowed = tuple(witnesses)
    if allowed:
        found: Graph | None = witnesses[allowed[-1]]
    elif candidate_count(program) <= MOST_CANDIDATES:
        found = next((graph for graph in candidates(program) if weak.holds(outcome_of(graph, threads))), None)
    else:
        found = None
    reasons = {}
    if found is not None:
        reasons = {model: why for model in MODELS if model not in allowed and (why := reason(found, model))}
    return Study(allowed, found, reasons)


def outcomes(program: Program) -> dict[Outcome, dict[Model, int]]:
    """Return the outcomes of a program, and for each model how many graphs have the outcome.

    Parameters
    ----------
    program : Program
        What is run.

    Returns
    -------
    dict of Outcome to dict of model to int
        The outcomes in order; each is allowed by one model at least.
    """
    threads = len(program.threads)
    found: dict[Outcome, Counter[Model]] = {}
    for model in MODELS:
        for graph in explore(program, model):
            found.setdefault(outcome_of(graph, threads), Counter())[model] += 1
    return {outcome: {model: found[outcome][model] for model in MODELS} for outcome in sorted(found, key=str)}
