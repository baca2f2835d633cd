"""Summarize a job for people: counts, failing and undecided histories, and the slowest histories."""

from __future__ import annotations

import json
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from latchfree_spark.check.files import publish
from latchfree_spark.check.inputs import Inputs
from latchfree_spark.check.options import LINEARIZABILITY, Options
from latchfree_spark.check.page import page
from latchfree_spark.check.places import first_problems

SLOWEST: Final = 20
LISTED: Final = 1000
"""Rows of a list in the summary, at most; the tables have all."""


@dataclass(frozen=True, slots=True)
class Summary:
    """The result of a job.

    Parameters
    ----------
    out : Path
        The folder with the tables and the files.
    verdicts : dict of str to int
        Histories by verdict: ok, violation, unknown; error if there is no history or the model cannot read it.
    operations : int
        Of all histories.
    problems : tuple of str
        What could not be read, each once: those that come first, and how many there are besides.
    failing, unknown, slowest : tuple of dict
        Rows about histories, at most `LISTED`; ``replay`` in the row of a failing history is a command.
    seconds : float
        How long this start of the job took.
    warnings : tuple of str
        What is no problem and yet may not be as it was meant.
    """

    out: Path
    verdicts: dict[str, int]
    operations: int
    problems: tuple[str, ...]
    failing: tuple[dict[str, Any], ...]
    unknown: tuple[dict[str, Any], ...]
    slowest: tuple[dict[str, Any], ...]
    seconds: float
    warnings: tuple[str, ...] = ()

    @property
    def histories(self) -> int:
        """How many histories there are."""
        return sum(self.verdicts.values())


def summarize(folder: Path, out: Path, options: Options, inputs: Inputs, seconds: float) -> Summary:
    """Read the tables in `folder`, which is about to be called `out`; write ``summary.json`` and ``summary.html``."""
    verdicts, times = _read(folder, "verdicts"), _read(folder, "seconds")
    named = verdicts.filter(pc.is_valid(verdicts["history"]))
    counts = {each["values"]: each["counts"] for each in pc.value_counts(named["verdict"]).to_pylist()}
    failing = [{**row, **_files(folder, out, row["saved"], options)} for row in _listed(named, "violation")]
    reasons = verdicts.filter(pc.equal(verdicts["verdict"], "error"))["reason"].unique().to_pylist()
    problems, known = first_problems([*inputs.problems, *reasons], inputs.cut)
    problems += [f"and {known - len(problems):,} more"] if known > len(problems) else []
    summary = Summary(
        out,
        {name: counts.get(name, 0) for name in ("ok", "violation", "unknown", "error")},
        pc.sum(named["operations"]).as_py() or 0,
        tuple(problems),
        tuple(failing),
        tuple(_listed(named, "unknown")),
        tuple(_slowest(named, times)),
        seconds,
        (*inputs.warnings, *_repeated(named)),
    )
    document = {
        "histories": summary.histories,
        "operations": summary.operations,
        "verdicts": summary.verdicts,
        "problems": list(summary.problems[:LISTED]),
        "warnings": list(summary.warnings),
        "failing": failing,
        "unknown": list(summary.unknown),
        "slowest": list(summary.slowest),
        "seconds": round(seconds, 3),
    }
    text = json.dumps(document, ensure_ascii=False, indent=1) + "\n"
    publish(folder / "summary.json", text.encode())
    publish(folder / "summary.html", page(document, out.name).encode())
    return summary


def _files(folder: Path, out: Path, saved: str | None, options: Options) -> dict[str, str | None]:
    """Return the file of the shrunk history, if there is one, and the command that judges the whole history again."""
    if saved is None:
        return {"small": None, "replay": None}
    small = saved.rsplit(".", 1)[0] + "-small.jsonl"
    return {"small": small if (folder / small).exists() else None, "replay": replay(out, saved, options)}


def replay(out: Path, saved: str, options: Options) -> str:
    """Return the command that judges a saved history again."""
    chosen = ["--model", options.model] if options.model else []
    if options.criterion != LINEARIZABILITY:
        chosen += ["--criterion", options.criterion]
    if options.py_files:
        chosen += ["--py-files", ",".join(path for path, _ in options.py_files)]
    return shlex.join(["latchfree", "check", str(out / saved), *chosen])


def _read(folder: Path, kind: str) -> Any:
    return pa.concat_tables(pq.read_table(file) for file in sorted((folder / kind).glob("*.parquet")))


def _listed(table: Any, verdict: str) -> list[dict[str, Any]]:
    columns = ["history", "source", "reason", "engine", "operations", "failing", "saved"]
    chosen = table.filter(pc.equal(table["verdict"], verdict)).select(columns)
    # Those that were saved come first: they can be looked at.
    order = pc.sort_indices(chosen, [("saved", "ascending"), ("history", "ascending")])
    rows: list[dict[str, Any]] = chosen.take(order.slice(0, LISTED)).to_pylist()
    return rows


def _slowest(verdicts: Any, times: Any) -> list[dict[str, Any]]:
    order = pc.select_k_unstable(times, SLOWEST, [("seconds", "descending")])
    seconds = {
        (row["source"], row["history"]): row["seconds"]
        for row in times.take(order).to_pylist()
        if row["history"] is not None
    }
    names = pa.array([name for _, name in seconds], pa.string())
    columns = ["history", "source", "verdict", "engine", "operations", "states"]
    rows = [
        {**row, "seconds": round(seconds[row["source"], row["history"]], 6)}
        for row in verdicts.filter(pc.is_in(verdicts["history"], names)).select(columns).to_pylist()
        if (row["source"], row["history"]) in seconds
    ]
    return sorted(rows, key=lambda row: -row["seconds"])


def _repeated(verdicts: Any) -> list[str]:
    """Return a warning if histories of different sources have one name."""
    counts = pc.value_counts(verdicts["history"])
    more = counts.filter(pc.greater(counts.field("counts"), 1))
    if not len(more):
        return []
    name = more[0]["values"].as_py()
    return [
        f"{len(more):,} names, such as {name!r}, are in several sources, and were taken for a history in each; "
        "if a name is one history in all files, say --join"
    ]
