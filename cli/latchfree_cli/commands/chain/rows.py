"""What a layer of `latchfree verify` is, and the row it adds to the table.

A layer is a function registered in `LAYERS`; `verify` runs them and prints one row for each result.
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Final, Literal

from latchfree_cli import exits
from latchfree_cli.settings import Report, Settings
from latchfree_cli.slots import Slots

Verdict = Literal["ok", "violation", "unknown", "not run", "failed"]


@dataclass(frozen=True, slots=True)
class LayerResult:
    """One row of the report.

    Parameters
    ----------
    layer, checked, amount : str
        The layer's name, what it checked and how much of it, in words.
    verdict : str
        ``not run`` if a tool is missing, ``failed`` if one broke: neither is a pass.
    seconds : float
        How long it took.
    reason : str
        Why the verdict is not ok.
    reproduce : str, optional
        The command that shows a violation again.
    details : list
        Everything, for the report.
    """

    layer: str
    checked: str
    amount: str
    verdict: Verdict
    seconds: float
    reason: str = ""
    reproduce: str | None = None
    details: list[dict[str, object]] = field(default_factory=list)

    def to_json(self) -> dict[str, object]:
        """Return the row for the report."""
        return {**asdict(self), "seconds": round(self.seconds, 3)}


class Profile(StrEnum):
    """How much `verify` does."""

    quick = "quick"
    smoke = "smoke"


@dataclass(frozen=True, slots=True)
class Plan:
    """How much `verify` does, and the places at which it is done."""

    operations: int
    threads: int
    slots: Slots
    profile: Profile = Profile.quick
    keys: int = 16


@dataclass(frozen=True, slots=True)
class Layer:
    """One layer, and where it runs: in Python, one layer after the other, or in processes of its own."""

    name: str
    lane: Literal["processes", "python"]
    run: Callable[[Settings, Plan, Report], list[LayerResult]]


LAYERS: Final[list[Layer]] = []


def layer(
    name: str, lane: Literal["processes", "python"]
) -> Callable[[Callable[[Settings, Plan, Report], list[LayerResult]]], Callable[..., list[LayerResult]]]:
    """Register a function as a layer."""

    def register(run: Callable[[Settings, Plan, Report], list[LayerResult]]) -> Callable[..., list[LayerResult]]:
        LAYERS.append(Layer(name, lane, run))
        return run

    return register


def exit_code(results: list[LayerResult]) -> int:
    """Return the exit code of a chain: a violation, else a failed tool, else anything left open, else ok."""
    verdicts = [result.verdict for result in results]
    if "violation" in verdicts:
        return exits.VIOLATION
    if "failed" in verdicts:
        return exits.TOOL
    if not verdicts:
        return exits.NOTHING
    return exits.OF_VERDICT[exits.worst(verdicts)]
