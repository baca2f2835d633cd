"""Summarize a job for people: counts, failing and undecided histories, and the slowest histories."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow.compute as pc
import pyarrow.parquet as pq

from latchfree_spark.check.files import publish
from latchfree_spark.check.input.inputs import Inputs
from latchfree_spark.check.input.places import earliest, first_problems
from latchfree_spark.check.judge.saving import command
from latchfree_spark.check.options import Options
from latchfree_spark.check.output.page import page
from latchfree_spark.check.output.showing import add_pages
from latchfree_spark.errors import RowsLost

_COLUMNS: Final = ["history", "source", "reason", "engine", "operations", "failing", "object", "key", "saved"]
_SLOW: Final = ["history", "source", "verdict", "engine", "operations", "states"]
_DISTINCT: Final = 100_000
"""Problems that are kept to find those that come first; twice as many are held before the others are only counted."""

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
    found = _Found()
    for file in sorted((folder / "verdicts").glob("*.parquet")):
        found.add(pq.read_table(file), pq.read_table(folder / "seconds" / file.name))
    failing = [{**row, **_files(folder, out, row["saved"], options)} for row in found.listed["violation"]]
    add_pages(folder, failing, options)
    problems, known = first_problems([*inputs.problems, *found.problems], inputs.cut)
    unnamed = known + found.unnamed - len(problems)
    problems += [f"and {unnamed:,} more"] if unnamed else []
    summary = Summary(
        out,
        {name: found.counts[name] for name in ("ok", "violation", "unknown", "error")},
        found.operations,
        tuple(problems),
        tuple(failing),
        tuple(found.listed["unknown"]),
        tuple({**row, "seconds": round(row["seconds"], 6)} for row in found.slowest),
        seconds,
        (*inputs.warnings, *found.warnings()),
    )
    document = {
        "histories": summary.histories,
        "operations": summary.operations,
        "verdicts": summary.verdicts,
        "problems": list(summary.problems),
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


class _Found:
    """What is gathered from the chunks, one at a time: a summary needs no more memory for more histories."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.operations = 0
        self.problems: dict[str, None] = {}
        self.unnamed = 0
        self.listed: dict[str, list[dict[str, Any]]] = {"violation": [], "unknown": []}
        self.slowest: list[dict[str, Any]] = []
        self.repeated = 0
        self.example = ""

    def add(self, verdicts: Any, times: Any) -> None:
        """Take in the two tables of a chunk, which have their rows in the same order."""
        wrong = verdicts.filter(pc.equal(verdicts["verdict"], "error"))["reason"].unique().to_pylist()
        self.problems.update(dict.fromkeys(wrong))
        if len(self.problems) > 2 * _DISTINCT:  # not at each chunk: finding the first takes a look at all
            self.unnamed += len(self.problems) - _DISTINCT
            self.problems = dict.fromkeys(earliest(self.problems, _DISTINCT))
        named = np.flatnonzero(np.asarray(verdicts["history"].is_valid()))
        verdicts, seconds = verdicts.take(named), times["seconds"].to_numpy()[named]
        for each in pc.value_counts(verdicts["verdict"]).to_pylist():
            self.counts[each["values"]] += each["counts"]
        self.operations += pc.sum(verdicts["operations"]).as_py() or 0
        names = pc.value_counts(verdicts["history"])  # a name is in one chunk, whatever its source
        more = names.filter(pc.greater(names.field("counts"), 1))
        self.repeated += len(more)
        self.example = more[0]["values"].as_py() if len(more) else self.example
        for verdict, rows in self.listed.items():
            chosen = verdicts.filter(pc.equal(verdicts["verdict"], verdict)).select(_COLUMNS)
            rows += chosen.slice(0, LISTED).to_pylist()
            # Those that were saved come first: they can be looked at.
            rows.sort(key=lambda row: (row["saved"] is None, row["history"].encode()))
            del rows[LISTED:]
        for at in np.argsort(-seconds, kind="stable")[:SLOWEST].tolist():
            self.slowest.append({**verdicts.slice(at, 1).select(_SLOW).to_pylist()[0], "seconds": float(seconds[at])})
        self.slowest.sort(key=lambda row: (-row["seconds"], row["history"]))
        del self.slowest[SLOWEST:]

    def warnings(self) -> list[str]:
        """Return what to warn of: a name in several sources."""
        if not self.repeated:
            return []
        return [
            f"{self.repeated:,} names, such as {self.example!r}, are in several sources, and were taken for a history "
            "in each; if a name is one history in all files, say --join"
        ]


def _files(folder: Path, out: Path, saved: str | None, options: Options) -> dict[str, str | None]:
    """Return the file of the shrunk history, if there is one, and the command that judges the whole history again."""
    if saved is None:
        return {"small": None, "replay": None}
    small = saved.rsplit(".", 1)[0] + "-small.jsonl"
    if not (folder / saved).exists():
        raise RowsLost(f"a worker reported {saved}, which is not in {folder} as this program sees it")
    return {"small": small if (folder / small).exists() else None, "replay": command(str(out / saved), options)}
