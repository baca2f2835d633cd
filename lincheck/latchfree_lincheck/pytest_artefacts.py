"""Files about a failure in a run of pytest: the history as a page, and as JSON Lines; the page of a schedule."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from latchfree_lincheck.formats import write_history
from latchfree_lincheck.show import judge_parts, page, save
from latchfree_model import MODELS

if TYPE_CHECKING:
    from latchfree_lincheck.failures import NotLinearizable

_LONGEST: Final = 100


def saved(folder: Path, test: str, error: NotLinearizable) -> list[str]:
    """Save the page of a history, and the history, and return lines that say where they are.

    Nothing here may hide the failure of the test: what cannot be written is said in a line.

    Parameters
    ----------
    folder : Path
        Where to.
    test : str
        The test's name, of which the names of the files are made.
    error : NotLinearizable
        The failure.
    """
    lines = []
    try:
        path = folder.absolute() / f"{_file_name(test)}.html"
        path.parent.mkdir(parents=True, exist_ok=True)
        save(path, page([judge_parts(error.history, error.model)]))
        lines.append(f"page: {path}")
    except Exception as problem:
        return [f"no page: {problem}"]
    try:
        write_history(path.with_suffix(".jsonl"), [error.history])
    except (OSError, ValueError) as problem:
        return [*lines, f"no file of the history: {problem}"]
    chosen = f" --model {error.model.name}" if error.model.name.partition(":")[0] in MODELS else ""
    return [*lines, f"again: latchfree check {path.with_suffix('.jsonl')}{chosen}"]


def drawn(folder: Path, test: str, error: Any) -> list[str]:
    """Save the page of an explored schedule, and return a line that says where it is; see `saved`."""
    try:
        path = folder.absolute() / f"{_file_name(test)}.html"
        path.parent.mkdir(parents=True, exist_ok=True)
        save(path, error.result.page())
    except Exception as problem:
        return [f"no page: {problem}"]
    return [f"page: {path}"]


def _file_name(test: str) -> str:
    name = re.sub(r"[^\w.-]+", "_", test).strip("_")
    return name if len(name) <= _LONGEST else f"{name[:_LONGEST]}-{hashlib.sha256(test.encode()).hexdigest()[:8]}"
