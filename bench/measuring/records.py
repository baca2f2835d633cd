"""Recorded runs, and the tables that pages show of them: what a page says is made from a file, never typed.

Example: ``python bench/record.py one_key`` runs ``bench/one_key.py`` and writes `bench/records/one_key.json`: what the
run printed, and of which commit, when, on which machine and beside how much other work it was. A page has two comments
around the place of a table, and `filled` puts there what the record says:

    <!-- record one_key: printed -->
    (a caption, and what was printed)
    <!-- end of record -->

A record keeps a digest of the code that it measured. If that code is another today, the caption says so.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import asdict, dataclass
from itertools import takewhile
from pathlib import Path
from typing import Any, Final

from latchfree_support.digests import blake2b
from latchfree_support.library_keys import digest

ROOT: Final = Path(__file__).parents[2]
PAGES: Final = ("README.md", "docs/benchmarks.md")

_MAP: Final = ("impl/latchfree/arena", "impl/latchfree/ctrie", "impl/latchfree/jit")

#: The command of each record, and the folders whose code it measures.
COMMANDS: Final[dict[str, tuple[tuple[str, ...], tuple[str, ...]]]] = {
    "ctrie": (("bench/ctrie.py",), _MAP),
    "in_step": (("bench/in_step.py",), _MAP),
    "one_key": (("bench/one_key.py",), _MAP),
}

_PLACE = re.compile(r"(<!-- record (\w+): ([\w ]+) -->\n).*?(<!-- end of record -->)", re.DOTALL)


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
        See `report.machine`.
    code : str
        The digest of the code that was measured.
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


def caption(name: str, record: Record, root: Path = ROOT) -> str:
    """Return a sentence on a run: what, where, when, of which commit, and whether the code has changed since."""
    where = record.machine
    machine = f"{where['processors']} processors ({where['processor']}), {where['system']}, CPython {where['python']}"
    changed = "" if record.code == code_of(name, root) else " **The code that it measures has changed since.**"
    load = f"load before the run {where['load_before'][0]:.1f}"
    return f"`python {record.command}` on {record.date}, at commit {record.commit}: {machine}, {load}.{changed}"


def printed(name: str, record: Record, root: Path = ROOT) -> str:
    """Return the caption and what the run printed."""
    lines = "\n".join(line.rstrip() for line in record.printed.strip("\n").split("\n"))
    return f"{caption(name, record, root)}\n\n<!-- not run: what a run has printed -->\n```text\n{lines}\n```\n"


def one_key_beside(name: str, record: Record, root: Path = ROOT) -> str:
    """Return a table of ratios: how many times a dict's time one call on one key takes."""
    kinds = _tables(record.printed)
    operations = list(next(iter(kinds.values())))
    head = f"| times a `dict`'s time | {' | '.join(operations)} |\n|---|{'---:|' * len(operations)}\n"
    rows = "".join(
        f"| {kind} keys | {' | '.join(cells[each] for each in operations)} |\n" for kind, cells in kinds.items()
    )
    return f"{head}{rows}\n{caption(name, record, root)}\n"


def map_beside_peers(name: str, record: Record, root: Path = ROOT) -> str:
    """Return a table of nanoseconds an operation at 10,000 keys and one thread, beside the peers."""
    single, bulk = (
        _columns(record.printed, f"{what}; 10,000 keys; 1 thread")
        for what in ("one key a call, from Python", "bulk: the loop is compiled")
    )
    peers = list(dict.fromkeys((*single, *bulk)))
    rows = [(each, "one key a call", single) for each in ("get", "put")]
    rows += [(each, "bulk", bulk) for each in ("get", "put", "remove", "snapshot")]
    lines = [f"| one thread | {' | '.join(peers)} |", f"|---|{'---:|' * len(peers)}"]
    for operation, call, columns in rows:
        cells = [columns.get(peer, {}).get(operation, "") for peer in peers]
        lines.append(f"| {operation}, {call} | {' | '.join(cells)} |")
    return "\n".join(lines) + f"\n\n{caption(name, record, root)}\n"


def _columns(text: str, title: str) -> dict[str, dict[str, str]]:
    """Return a table that `ctrie.py` printed: by peer, nanoseconds by operation."""
    _, head, _, *lines = filter(str.strip, text[text.index(title) :].splitlines())
    peers = [cell for cell in _cells(head)[1:] if cell != "target"]
    found: dict[str, dict[str, str]] = {peer: {} for peer in peers}
    for line in takewhile(lambda line: line.startswith(" "), lines):
        operation, *figures = (cell for cell in _cells(line) if not cell.startswith(("met ", "missed ")))
        for peer, figure in zip(peers, figures, strict=True):
            if figure != "-":
                found[peer][operation] = figure.partition(" ")[0]
    return found


def _cells(line: str) -> list[str]:
    """Return the cells of a line; one that has nothing, as many targets, is left out."""
    return re.split(r" {2,}", line.strip())


def _tables(text: str) -> dict[str, dict[str, str]]:
    """Return what `one_key.py` printed, the ratio to a dict by kind of key and operation."""
    found: dict[str, dict[str, str]] = {}
    for line in text.splitlines():
        if title := re.match(r"(.+) keys, [\d,]+: ns", line):
            kind = title[1]
            found[kind] = {}
        elif row := re.match(r"(\w+) +[\d.]+ +[\d.]+ \(([\d.]+)x\)", line):
            found[kind][row[1]] = row[2]
    return found


VIEWS: Final[dict[str, Callable[[str, Record, Path], str]]] = {
    "printed": printed,
    "beside dict": one_key_beside,
    "map": map_beside_peers,
}


def filled(page: str, root: Path = ROOT) -> str:
    """Return a page with each place of a record filled from the record."""
    return _PLACE.sub(lambda at: f"{at[1]}{VIEWS[at[3]](at[2], load(at[2], root), root)}{at[4]}", page)
