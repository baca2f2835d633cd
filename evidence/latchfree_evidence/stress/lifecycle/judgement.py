"""What became of one program, and of many."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Judged:
    """What became of one program.

    Attributes
    ----------
    findings : list
        Of kind and text; none if all is well.
    stderr : str
        The end of what its processes have printed.
    """

    findings: list[tuple[str, str]]
    stderr: str
    seconds: float
    processes: int
    steps: int
    writes: int
    kills: int

    @classmethod
    def of(cls, result: dict[str, Any]) -> Judged:
        """Make one of the conductor's result."""
        findings = [(each["kind"], each["text"]) for each in result.pop("findings")]
        return cls(findings, **result)

    @property
    def kind(self) -> str:
        """The kind of the first finding, "" if there is none."""
        return self.findings[0][0] if self.findings else ""
