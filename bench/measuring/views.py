"""The tables that pages show of recorded runs: what a page says is made from a file, never typed.

A page has two comments around the place of a table, and `filled` puts there what the record says:

    <!-- record one_key: printed -->
    (a caption, and what was printed)
    <!-- end of record -->

If the code that was measured is another today, the caption says so.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import takewhile
from pathlib import Path
from typing import Final

from measuring.mixing import DRAWS
from measuring.records import ROOT, UNKNOWN, Record, code_of, load

_PLACE = re.compile(r"(<!-- record (\w+): ([\w ]+) -->\n).*?(<!-- end of record -->)", re.DOTALL)


def caption(name: str, record: Record, root: Path = ROOT) -> str:
    """Return a sentence on a run: what, where, when, of which commit, and whether the code has changed since."""
    where = record.machine
    machine = f"{where['processors']} processors ({where['processor']}), {where['system']}, CPython {where['python']}"
    noted = where.get("load_before")
    beside = f"load before the run {noted[0]:.1f}" if noted else "the load was not noted"
    told = f"`python {record.command}` on {record.date}, at commit {record.commit}: {machine}, {beside}."
    return told + _age(name, record, root)


def _age(name: str, record: Record, root: Path) -> str:
    """Return what a caption says if the code is not what was measured, or if nobody can tell."""
    if record.code == UNKNOWN:
        return " **It is older than the records of code: the code that it measures may have changed since.**"
    return "" if record.code == code_of(name, root) else " **The code that it measures has changed since.**"


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


_SINGLE: Final = "one key a call, from Python"
_BULK: Final = "bulk: the loop is compiled"


def map_beside_peers(name: str, record: Record, root: Path = ROOT) -> str:
    """Return a table of nanoseconds an operation at 10,000 keys and one thread, beside the peers."""
    wanted = [(each, _SINGLE) for each in ("get", "put")]
    wanted += [(each, _BULK) for each in ("get", "put", "remove", "snapshot")]
    return _beside("one thread", record.printed, "10,000 keys; 1 thread", wanted) + caption(name, record, root) + "\n"


def mixes_beside_peers(name: str, record: Record, root: Path = ROOT) -> str:
    """Return a table of nanoseconds an operation of mixes at 300,000 keys and one thread, beside the peers."""
    wanted = [(f"{mix}, {draw}", call) for call in (_SINGLE, _BULK) for mix in ("90/10", "50/50") for draw in DRAWS]
    table = _beside("one thread", record.printed, "300,000 keys; 1 thread", wanted)
    return table + caption(name, record, root) + "\n"


def _beside(title: str, text: str, where: str, wanted: Sequence[tuple[str, str]]) -> str:
    """Return a table of printed figures: a row for each operation and kind of call, a column for each peer."""
    columns = {call: _columns(text, f"{call}; {where}") for call in dict.fromkeys(call for _, call in wanted)}
    peers = list(dict.fromkeys(peer for found in columns.values() for peer in found))
    lines = [f"| {title} | {' | '.join(peers)} |", f"|---|{'---:|' * len(peers)}"]
    for operation, call in wanted:
        cells = [columns[call].get(peer, {}).get(operation, "") for peer in peers]
        lines.append(f"| {operation}, {'bulk' if call == _BULK else 'one key a call'} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n\n"


def started(name: str, record: Record, root: Path = ROOT) -> str:
    """Return a table of milliseconds from the start of a process to its first put and get, the medians."""
    lines = ["| to the first put and get, ms | passed | of processor |", "|---|---:|---:|"]
    for line in record.printed.strip().splitlines()[1:]:
        what, *figures = _cells(line)
        if len(figures) == 3:
            lines.append(f"| {what} | {' | '.join(figure.partition(' / ')[2] for figure in figures[:2])} |")
    return "\n".join(lines) + f"\n\n{caption(name, record, root)}\n"


def files_beside(name: str, record: Record, root: Path = ROOT) -> str:
    """Return a table of maps in files, one key a call, both processes at work: nanoseconds an operation."""
    lines = record.printed.splitlines()
    begin = next(place for place, line in enumerate(lines) if line.startswith("files on ") and "single" in line)
    table = ["| in a file, two processes | put | get |", "|---|---:|---:|"]
    for line in takewhile(lambda line: "(" in line and "(ratio" not in line, lines[begin + 2 :]):
        peer, *cells = _cells(line)
        table.append(f"| {peer} | {' | '.join(cells[place].partition(' ')[0] for place in (1, 3))} |")
    return "\n".join(table) + f"\n\n{caption(name, record, root)}\n"


def _columns(text: str, title: str) -> dict[str, dict[str, str]]:
    """Return a table that `ctrie.py` or `mixes.py` printed: by peer, nanoseconds by operation."""
    _, head, _, *lines = filter(str.strip, _after(text, title).splitlines())
    peers = [cell for cell in _cells(head)[1:] if cell != "target"]
    found: dict[str, dict[str, str]] = {peer: {} for peer in peers}
    for line in takewhile(lambda line: line.startswith(" "), lines):
        operation, *figures = (cell for cell in _cells(line) if not cell.startswith(("met ", "missed ")))
        for peer, figure in zip(peers, figures, strict=True):
            if figure != "-":
                found[peer][operation] = figure.partition(" ")[0]
    return found


def _after(text: str, title: str) -> str:
    """Return a text from the line that is a title on."""
    return text[re.search(f"^{re.escape(title)}$", text, re.MULTILINE).start() :]  # type: ignore[union-attr]


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
    "mixes": mixes_beside_peers,
    "start": started,
    "files": files_beside,
}


def filled(page: str, root: Path = ROOT) -> str:
    """Return a page with each place of a record filled from the record."""
    return _PLACE.sub(lambda at: f"{at[1]}{VIEWS[at[3]](at[2], load(at[2], root), root)}{at[4]}", page)
