"""Run the mutants of the compiled code under stress, each in a process of its own.

A mutant replaces compiled functions before they are first used, which only a fresh process can do.
"""

import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from latchfree_cli import exits
from latchfree_cli.settings import Settings

TIMEOUT: Final = 300.0
"""Seconds for one mutant, compiling it included, unless ``--timeout`` says otherwise."""

GRACE: Final = 60.0
"""Seconds added before the process is killed: compiling and writing take time after the run's own limit."""

Status: TypeAlias = Literal["caught", "MISSED", "unknown", "failed"]


@dataclass(frozen=True, slots=True)
class Cell:
    """Whether a layer caught a mutant."""

    mutant: str
    layer: Literal["spec", "stress"]
    status: Status
    seconds: float
    detail: str
    reproduce: str

    @property
    def verdict(self) -> Literal["ok", "violation", "unknown", "failed"]:
        """Ok if caught; a missed mutant is a violation of what the layer promises."""
        if self.status == "caught":
            return "ok"
        return "violation" if self.status == "MISSED" else self.status

    def to_json(self) -> dict[str, object]:
        """Return the cell for ``--json`` and the report."""
        return {
            "mutant": self.mutant,
            "layer": self.layer,
            "status": self.status,
            "seconds": round(self.seconds, 3),
            "detail": self.detail,
            "reproduce": self.reproduce,
        }


def run_mutant(name: str, options: dict[str, object], settings: Settings) -> Cell:
    """Stress one mutant of the Ctrie with the options that expose it."""
    limit = settings.timeout or TIMEOUT
    arguments = ["stress", "ctrie", "--mutant", name]
    for option, value in options.items():
        arguments += [f"--{option.replace('_', '-')}", str(value)]
    arguments += ["--seed", str(settings.chosen_seed)]
    extra = ["--json", "--timeout", f"{limit:g}", "--out", str(settings.out / "mutants" / name)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    begun = time.monotonic()
    try:
        run = subprocess.run(
            [sys.executable, "-m", "latchfree_cli.main", *arguments, *extra],
            capture_output=True,
            text=True,
            timeout=limit + GRACE,
            env=environment,
            check=False,
        )
        code, detail = run.returncode, _detail(run.stdout, run.stderr)
    except subprocess.TimeoutExpired:
        code, detail = exits.INCONCLUSIVE, f"stopped after {limit + GRACE:g} s"
    statuses: dict[int, Status] = {
        exits.VIOLATION: "caught",
        exits.OK: "MISSED",
        exits.INCONCLUSIVE: "unknown",
    }
    status: Status = statuses.get(code, "failed")
    if status == "caught" and not detail.startswith("violation"):
        status = "failed"
    reproduce = " ".join(["latchfree", *arguments])
    return Cell(name, "stress", status, time.monotonic() - begun, detail, reproduce)


def _detail(stdout: str, stderr: str) -> str:
    """Return one line about the run: its verdict and reason, else the end of what it wrote to stderr."""
    try:
        document = json.loads(stdout)
    except ValueError:
        return " ".join(stderr.split())[-300:] or "no output"
    if document.get("verdict") is None:
        return str(document.get("error"))
    return f"{document['verdict']}: {document.get('reason') or document.get('operations')}"
