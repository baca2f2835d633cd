"""Run the mutants of the compiled code, each in a process of its own.

A mutant replaces compiled functions before their first use, so each run needs a fresh process.
"""

import json
import os
import shlex
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Literal, TypeAlias

from latchfree_cli import exits
from latchfree_cli.settings import Settings

TIMEOUT: Final = 300.0
"""Seconds for one mutant, compiling it included, unless ``--timeout`` says otherwise."""

GRACE: Final = 60.0
"""Seconds added before the process is killed: compiling and writing take time after the run's own limit."""

_TICK: Final = 0.2
"""Seconds between two looks at whether the run has been cancelled."""

Status: TypeAlias = Literal["caught", "MISSED", "unknown", "failed", "not applicable", "-"]


class LayerName(StrEnum):
    """The layers that mutants are shown to."""

    spec = "spec"
    explore = "explore"
    stress = "stress"


@dataclass(frozen=True, slots=True)
class Cell:
    """Whether a layer caught a mutant.

    Parameters
    ----------
    mutant, layer : str
        Which.
    status : str
        ``not applicable`` if the layer cannot show such a bug, ``-`` if it has no such mutant.
    seconds : float
        How long it took, compiling included.
    detail : str
        What was found, or why nothing was looked for.
    reproduce : str
        The command that shows it again.
    """

    mutant: str
    layer: LayerName
    status: Status
    seconds: float = 0.0
    detail: str = ""
    reproduce: str = ""

    @property
    def ran(self) -> bool:
        """Whether the mutant was shown to the layer."""
        return self.status not in ("not applicable", "-")

    @property
    def verdict(self) -> Literal["ok", "violation", "unknown", "failed"]:
        """Ok if caught, or not to be caught; a missed mutant is a violation of what the layer promises."""
        if self.status == "MISSED":
            return "violation"
        return self.status if self.status in ("unknown", "failed") else "ok"

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


def run_mutant(name: str, layer: LayerName, options: Mapping[str, object], settings: Settings) -> Cell:
    """Stress or explore one mutant with the options that expose it."""
    from latchfree_evidence.mutants import MUTANTS

    limit = settings.timeout or TIMEOUT
    arguments = [str(layer), getattr(MUTANTS[name], "target", "ctrie"), "--mutant", name]
    for option, value in options.items():
        arguments += [f"--{option.replace('_', '-')}", str(value)]
    arguments += ["--seed", str(settings.chosen_seed)]
    extra = ["--json", "--timeout", f"{limit:g}", "--out", str(settings.out / "mutants" / layer / name)]
    begun = time.monotonic()
    code, stdout, stderr = run_command([*arguments, *extra], limit + GRACE, settings)
    status, detail = _judge(code, stdout, stderr)
    reproduce = shlex.join(["latchfree", *arguments])
    return Cell(name, layer, status, time.monotonic() - begun, detail, reproduce)


def run_command(arguments: list[str], limit: float, settings: Settings) -> tuple[int, str, str]:
    """Run the command in a process; return its exit code and output. A killed run is inconclusive."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    command = [sys.executable, "-m", "latchfree_cli", *arguments]
    end = time.monotonic() + limit
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    ) as process:
        while True:
            try:
                stdout, stderr = process.communicate(timeout=_TICK)
                return process.returncode, stdout, stderr
            except subprocess.TimeoutExpired:
                if settings.cancelled.is_set() or time.monotonic() > end:
                    process.kill()
                    process.communicate()
                    return exits.INCONCLUSIVE, "", f"stopped after {limit:g} s"


def _judge(code: int, stdout: str, stderr: str) -> tuple[Status, str]:
    """Return whether the layer caught the mutant, and one line about the run."""
    try:
        document = json.loads(stdout)
    except ValueError:
        document = {}
    verdict = document.get("verdict")
    if verdict is None:
        detail = str(document.get("error") or " ".join(stderr.split())[-300:] or "no output")
    else:
        detail = f"{verdict}: {document.get('reason') or document.get('operations')}"
        if failure := document.get("failure"):
            detail += f" ({failure['context_switches']} context switches)"
    statuses: dict[int, Status] = {exits.OK: "MISSED", exits.INCONCLUSIVE: "unknown"}
    if code == exits.VIOLATION and verdict == "violation":
        return "caught", detail
    return statuses.get(code, "failed"), detail
