"""Replay a model: run TLC, read its state graph, and drive the compiled code along every step."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from latchfree_evidence.refinement.bridge.programs import placed, program_of
from latchfree_model.graph import explore
from latchfree_model.tlc import SpecModel

if TYPE_CHECKING:
    from latchfree_evidence.refinement.bridge.coverage import Coverage


def replay_model(
    model: SpecModel,
    *,
    mutant: str | None = None,
    timeout: float | None = None,
    on_progress: Callable[[str], None] | None = None,
    cancelled: threading.Event | None = None,
) -> Coverage:
    """Drive the Ctrie's compiled code along every step of a model's state graph.

    Parameters
    ----------
    model : SpecModel
        A bounded model of `Ctrie.tla`.
    mutant : str, optional
        Run a seeded bug; it must be the first use of the structure in the process. Most of them retire nothing
        (see `latchfree_evidence.mutants`), and then the fates of nodes are not compared.
    timeout : float, optional
        Seconds, TLC not included.
    on_progress : callable, optional
        Called now and then with what goes on.
    cancelled : threading.Event, optional
        Set by another thread to end it.

    Returns
    -------
    Coverage
        `divergence` says where code and specification differ, `untaken` what the code never does.

    Raises
    ------
    NoCounterpart
        If the model's keys have no counterpart in the code.
    ValueError
        If it is no model of the Ctrie, or for an unknown mutant.
    RuntimeError
        If a mutant is asked for in a process that has loaded the structure already.
    latchfree_model.graph.Unexplored
        If TLC does not come to an end.
    """
    say = on_progress or (lambda _: None)
    layout, keys = placed(model)
    frees = True
    if mutant is not None:
        from latchfree_evidence.mutants import MUTANTS, apply_mutant

        apply_mutant(mutant)
        frees = MUTANTS[mutant].frees
    say("TLC is running")
    graph = explore(model, cancelled=cancelled).graph
    program = program_of(layout, keys, graph)
    say("compiling")
    # Only now: a mutant must be applied before the structure is loaded.
    from latchfree_evidence.refinement.bridge.edge_replay import replay_edges
    from latchfree_evidence.refinement.bridge.fates import has_fates
    from latchfree_evidence.refinement.bridge.target import HELPING, RECLAIMING_HELPING

    begun = time.monotonic()

    def go_on(coverage: Coverage) -> bool:
        say(f"{coverage.replayed:,} of {coverage.edges:,} steps replayed in {coverage.runs:,} runs")
        over = timeout is not None and time.monotonic() - begun > timeout
        return not over and not (cancelled is not None and cancelled.is_set())

    heap: Any = graph.state(graph.initial[0])["mem"]
    target = RECLAIMING_HELPING if frees and has_fates(heap) else HELPING
    return replay_edges(target, program, graph, frees=frees, on_progress=go_on)
