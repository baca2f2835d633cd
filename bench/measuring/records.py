"""Recorded runs: which commands are recorded, and the file of each.

Example: ``python bench/record.py one_key`` runs ``bench/one_key.py`` and writes `bench/records/one_key.json`: what the
run printed, and of which commit, when, on which machine and beside how much other work it was. `views` makes the tables
of pages from it. A record keeps a digest of the code that it measured, so that a caption can say that it has changed.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from latchfree_support.digests import blake2b
from latchfree_support.library_keys import digest

ROOT: Final = Path(__file__).parents[2]
PAGES: Final = ("README.md", "docs/benchmarks.md")

_MAP: Final = ("impl/latchfree/arena", "impl/latchfree/ctrie", "impl/latchfree/jit")
_LARGE: Final = ("--keys", "3000000", "--call", "bulk", "--only", "latchfree,dict,triemap")

#: The command of each record, and the folders whose code it measures.
COMMANDS: Final[dict[str, tuple[tuple[str, ...], tuple[str, ...]]]] = {
    "ctrie": (("bench/ctrie.py",), _MAP),
    "large": (("bench/ctrie.py", *_LARGE), _MAP),
    "in_step": (("bench/in_step.py",), _MAP),
    "one_key": (("bench/one_key.py",), _MAP),
    "mixes": (("bench/mixes.py",), _MAP),
    "held": (("bench/held.py",), _MAP),
    "cold_start": (("bench/cold_start.py",), (*_MAP, "impl/latchfree/border", "impl/latchfree/native")),
    "sketches": (("bench/sketches.py", "--rounds", "3"), (*_MAP[::2], "impl/latchfree/sketches")),
    "rings": (("bench/rings.py",), (*_MAP[::2], "impl/latchfree/streams")),
    "churn": (("bench/churn.py", "--seconds", "600"), _MAP),
    "kill": (("bench/kill.py", "--seconds", "300"), (*_MAP, "fsck/latchfree_fsck")),
    "reclamation": (("bench/reclamation.py",), _MAP),
    "processes": (("bench/processes.py",), _MAP),
}

#: In the place of a digest, where it is not known of which code a run was.
UNKNOWN: Final = "unknown"


@dataclass(frozen=True)
class Record:
    """A run.

    Attributes
    ----------
    command : str
        What was run, from the root of the repository.
    commit, date : str
        Of the repository; the day, as 2026-11-25. A commit ends with "+" if files had been changed since.
    machine : dict
        See `report.machine`; what was not noted is not there.
    code : str
        The digest of the code that was measured, or `UNKNOWN`.
    printed : str
        The standard output of the run.
    """

    command: str
    commit: str
    date: str
    machine: dict[str, Any]
    code: str
    printed: str


def code_of(name: str, root: Path = ROOT) -> str:
    """Return the digest of the code that a record measures."""
    found = blake2b(digest_size=16)
    for folder in COMMANDS[name][1]:
        found.update(digest(root / folder).encode())
    return found.hexdigest()


def load(name: str, root: Path = ROOT) -> Record:
    """Return a record.

    Raises
    ------
    FileNotFoundError
        If there is none of that name.
    """
    return Record(**json.loads((root / "bench/records" / f"{name}.json").read_text()))


def save(name: str, record: Record, root: Path = ROOT) -> Path:
    """Write a record; return its file."""
    file = root / "bench/records" / f"{name}.json"
    file.parent.mkdir(exist_ok=True)
    file.write_text(json.dumps(asdict(record), indent=1, ensure_ascii=False) + "\n")
    return file
