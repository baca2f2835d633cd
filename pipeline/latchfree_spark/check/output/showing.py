"""Draw failing histories: a page each, as ``latchfree show`` makes it, with lanes, states and the violation."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from latchfree_lincheck import read_history
from latchfree_lincheck.show import judge_parts, page, save
from latchfree_model.models.loading import load_model
from latchfree_spark.check.options import LINEARIZABILITY, Options

PAGES: Final = 20
"""Histories that are drawn, at most."""

DRAWN: Final = 2_000
"""Operations of a history that is drawn, at most: a page of more shows nothing to the eye."""

SECONDS: Final = 5.0
"""Seconds for the judging of a history that is drawn."""


def add_pages(folder: Path, failing: list[dict[str, Any]], options: Options) -> None:
    """Draw the first failing histories, shrunk where they are, and put the names of the pages into the rows."""
    drawn = 0
    for row in failing:
        row["page"] = None
        file = row["small"] or row["saved"]
        if file is None or not file.endswith(".jsonl") or (not row["small"] and row["operations"] > DRAWN):
            continue
        if drawn < PAGES and options.criterion == LINEARIZABILITY:
            drawn += 1
            row["page"] = f"{file.removesuffix('.jsonl')}.html"
            _draw(folder / file, folder / row["page"], options.model)


def _draw(file: Path, to: Path, model: str | None) -> None:
    (history,) = read_history(file)
    chosen = load_model(model or str(history.model_hint))
    save(to, page([judge_parts(history, chosen, timeout=SECONDS, source=file.name)]))
