"""The tables of the docs, made from the record of the last run and the reasons of survivors.

``python -m latchfree_evidence.systematic.figures docs/mutants.md`` puts them into the page.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any, Final

from latchfree_evidence.systematic.equivalents import KINDS, kinds
from latchfree_evidence.systematic.running import RECORD

_LAYERS: Final = ("sequential", "interleaved", "deeper")
_BEGIN, _END = "<!-- figures of the systematic run -->", "<!-- end of the figures -->"


def figures(record: dict[str, Any] | None = None, argued: dict[str, str] | None = None) -> str:
    """Return the tables in Markdown.

    Parameters
    ----------
    record : mapping, optional
        By default that of the last run over all mutants.
    argued : mapping, optional
        Mutant -> what a survivor is, one of `KINDS`; by default the entries of ``equivalents.toml``.
    """
    record = json.loads(RECORD.read_text()) if record is None else record
    argued = kinds() if argued is None else argued
    mutants = record["mutants"]
    left = [name for name, verdict in mutants.items() if verdict["layer"] is None]
    parts = [
        _summary(len(mutants), left, argued),
        _table("change", {name: verdict["operator"] for name, verdict in mutants.items()}, mutants, argued),
        _table("kernels of", {name: name.partition(" ")[0] for name in mutants}, mutants, argued),
        _endings(mutants),
        _open([name for name in left if name not in argued]),
    ]
    return "\n\n".join(parts)


def _summary(count: int, left: list[str], argued: dict[str, str]) -> str:
    found = Counter(argued.get(name, "") for name in left)
    killed, other = count - len(left), count - found["same"]
    return (
        f"Of {count:,} mutants {killed:,} are killed: {100 * killed / max(1, other):.1f} % of the {other:,} that are "
        f"not the same as the code. Of the {len(left):,} survivors {found['same']:,} are the same as the code, "
        f"{found['slower']:,} are slower, {found['allowed']:,} are allowed, and {found['']:,} have no reason."
    )


def _table(what: str, key: dict[str, str], mutants: dict[str, Any], argued: dict[str, str]) -> str:
    counts: Counter[tuple[str, str]] = Counter()
    for name, verdict in mutants.items():
        layer = verdict["layer"] or argued.get(name, "survive")
        counts[key[name], layer] += 1
    columns = (*_LAYERS, *KINDS, "survive")
    rows = [
        f"| {row} | {sum(counts[row, each] for each in columns)} | "
        + " | ".join(str(counts[row, each] or "") for each in columns)
        + " |"
        for row in sorted(set(key.values()))
    ]
    return "\n".join([f"| {what} | mutants | {' | '.join(columns)} |", "|---" * (len(columns) + 2) + "|", *rows])


def _endings(mutants: dict[str, Any]) -> str:
    killed = [verdict for verdict in mutants.values() if verdict["layer"] is not None]
    how = Counter(verdict["detail"] if verdict["how"] == "hang" else verdict["how"] for verdict in killed)
    return (
        f"{how['wrong']:,} were killed by a check that failed, {how['error']:,} by an error such as a use after free, "
        f"{how['steps']:,} by a limit of steps, {how['processor time']:,} by a limit of processor time "
        f"and {how['crash']:,} by the end of their process."
    )


def _open(left: list[str]) -> str:
    """List the survivors without a reason."""
    lines = [f"- `{name}`" for name in sorted(left)]
    return "\n".join(["These survive without a reason:", "", *lines]) if left else "No survivor is without a reason."


def put_into(page: Path) -> None:
    """Replace the tables of a page."""
    text = page.read_text()
    before, _, rest = text.partition(_BEGIN)
    _, _, after = rest.partition(_END)
    page.write_text(f"{before}{_BEGIN}\n\n{figures()}\n\n{_END}{after}")


if __name__ == "__main__":
    put_into(Path(sys.argv[1]))
