"""Whether the source of a replay is what it was: digests of the files of its target and of its steps."""

from __future__ import annotations

import functools
import hashlib
import os
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from latchfree_explore.python.core.places import OUTSIDE
from latchfree_explore.python.core.steps import Step


def digests(make: Callable[[], Any], steps: Iterable[Step]) -> dict[str, Any]:
    """Return what a replay file says of the source of a schedule.

    Returns
    -------
    dict
        ``source``, the digest of the module of what makes the object; ``files``, those of the other files that steps
        are written in, by their path from the folder of that module.
    """
    home = _home(make)
    named = {file for step in steps for file, _, _ in step.texts if file not in ("", OUTSIDE)}
    others = sorted(file for file in named if home is None or Path(file) != home)
    found = {_from(home, file): _digest(Path(file)) for file in others if Path(file).is_file()}
    return {"source": "" if home is None else _digest(home), "files": found}


def has_changed(document: dict[str, Any], make: Callable[[], Any]) -> bool:
    """Return whether a file is another than when a replay file was written; one that is not there is not asked."""
    home = _home(make)
    if ("" if home is None else _digest(home)) != document["source"]:
        return True
    folder = Path.cwd() if home is None else home.parent
    known = {folder / name: digest for name, digest in document.get("files", {}).items()}
    return any(file.is_file() and _digest(file) != digest for file, digest in known.items())


def _home(make: Any) -> Path | None:
    """Return the file of the module in which a class or a function is written."""
    while isinstance(make, functools.partial):
        make = make.func
    file = getattr(sys.modules.get(getattr(make, "__module__", None) or ""), "__file__", None)
    return Path(file) if file is not None and Path(file).is_file() else None


def _from(home: Path | None, file: str) -> str:
    return os.path.relpath(file, Path.cwd() if home is None else home.parent)


def _digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()
