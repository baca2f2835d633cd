"""The checks of the systems, each a piece of work of its own: what a process of ``latchfree prove --any`` does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from latchfree_evidence.inductive.theorems import Theorem
    from latchfree_evidence.inductive.tie import Tie


class Check(NamedTuple):
    """A check of a system.

    Attributes
    ----------
    kind : str
        "prove", "run", "tie" or "refute".
    system : str
        The name of the system.
    variant : str
        The wrong variant to refute.
    seed : int
        The seed of Z3.
    timeout : float
        Seconds for one obligation.
    limit : float, optional
        Seconds for TLC.
    """

    kind: str
    system: str
    variant: str
    seed: int
    timeout: float
    limit: float | None

    def __str__(self) -> str:
        """Return the check in words."""
        return f"{self.kind} {self.system}" + (f": {self.variant}" if self.variant else "")


def checks_of(theorem: Theorem, seed: int, timeout: float, limit: float | None) -> list[Check]:
    """Return the checks of a theorem: the proof, the small instance, the tie, and one for each wrong variant."""
    kinds = [("prove", ""), ("run", ""), ("tie", ""), *(("refute", name) for name in theorem.system("").variants)]
    return [Check(kind, theorem.name, variant, seed, timeout, limit) for kind, variant in kinds]


def perform(check: Check) -> Any:
    """Do a check; return what came of it. A tie that could not be made is a text that says why."""
    from latchfree_evidence.inductive.theorems import THEOREMS, prove_theorem, refute, run_small

    theorem = THEOREMS[check.system]
    if check.kind == "prove":
        return prove_theorem(theorem, seed=check.seed, timeout=check.timeout)
    if check.kind == "run":
        return run_small(theorem)
    if check.kind == "tie":
        return _tie(theorem, check.limit)
    return refute(theorem, check.variant, seed=check.seed, timeout=check.timeout)


def clean() -> None:
    """Stop the TLC that this process runs."""
    from latchfree_model.tlc import kill_running

    kill_running()


def _tie(theorem: Theorem, limit: float | None) -> Tie | str:
    """Compare a system with TLC's graph of its model."""
    from latchfree_cli.specs.runs import read_manifest
    from latchfree_evidence.inductive.tie import compare
    from latchfree_model.graph.explore import Unexplored, explore
    from latchfree_model.tlc.tools import ToolMissing

    try:
        (model,) = (each for each in read_manifest() if each.name == theorem.bond.model)
        graph = explore(model, timeout=limit).graph
    except (ToolMissing, Unexplored) as error:
        return str(error)
    return compare(theorem.system(""), theorem.bond, graph)
