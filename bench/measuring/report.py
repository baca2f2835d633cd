"""Tables on the terminal and a versioned JSON file."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from statistics import median
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from measuring.workload import ITERATE, OPERATIONS, PUT_AFTER, SNAPSHOT, SNAPSHOT_AND_PUT, WRITABLE, Row

FORMAT = "latchfree-bench"
FORMAT_VERSION = 1

BASELINE = "latchfree"

#: What latchfree aims at, in CPU nanoseconds: (call, keys, threads, operation) -> at most.
TARGETS: dict[tuple[str, int, int, str], float] = {
    ("bulk", 10_000, 2, "get"): 25,
    ("bulk", 10_000, 2, "put"): 70,
    ("bulk", 10_000, 2, "remove"): 110,
    ("bulk", 300_000, 2, "get"): 160,
    ("bulk", 300_000, 2, "put"): 350,
    ("single", 10_000, 1, "get"): 180,
    ("single", 10_000, 1, "put"): 300,
    ("single", 10_000, 1, SNAPSHOT): 400,
    ("bulk", 10_000, 1, SNAPSHOT): 150,
    ("bulk", 10_000, 1, PUT_AFTER): 2000,
}

_ORDER = (*OPERATIONS, ITERATE, SNAPSHOT, WRITABLE, SNAPSHOT_AND_PUT, PUT_AFTER)
_WIDTH = 130


def machine() -> dict[str, Any]:
    """Where the run took place."""
    model = platform.processor()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.is_file():
        for line in cpuinfo.read_text().splitlines():
            if line.startswith("model name"):
                model = line.partition(":")[2].strip()
                break
    return {
        "processor": model,
        "processors": os.cpu_count(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "load_before": list(os.getloadavg()),
    }


def document(
    rows: Iterable[Row],
    settings: dict[str, Any],
    where: dict[str, Any],
    peers: dict[str, str],
    skipped: dict[str, str],
) -> dict[str, Any]:
    """The run as JSON: `peers` gives versions, `skipped` reasons."""
    return {
        "format": FORMAT,
        "version": FORMAT_VERSION,
        "unit": "nanoseconds per operation",
        "machine": where,
        "settings": settings,
        "peers": peers,
        "skipped": skipped,
        "targets": [
            {"call": call, "keys": keys, "threads": threads, "operation": operation, "cpu_at_most": limit}
            for (call, keys, threads, operation), limit in TARGETS.items()
        ],
        "rows": [asdict(row) for row in rows],
    }


def write_json(path: Path, content: dict[str, Any]) -> None:
    """Write the document."""
    path.write_text(json.dumps(content, indent=1) + "\n")


def show(console: Console, rows: Sequence[Row], titles: dict[str, str], operations: Sequence[str] = _ORDER) -> None:
    """Print one table for each kind of call, number of keys and number of threads; `operations` in their order."""
    if not console.is_terminal:
        console.width = _WIDTH
    for call, keys, threads in dict.fromkeys((row.call, row.keys, row.threads) for row in _sorted(rows)):
        some = [row for row in rows if (row.call, row.keys, row.threads) == (call, keys, threads)]
        console.print(_title(call, keys, threads))
        console.print(_table(call, keys, threads, some, titles, operations))
        console.print()


def _sorted(rows: Sequence[Row]) -> list[Row]:
    return sorted(rows, key=lambda row: (row.call != "single", row.keys, row.threads))


def _title(call: str, keys: int, threads: int) -> str:
    what = "one key a call, from Python" if call == "single" else "bulk: the loop is compiled"
    return f"{what}; {keys:,} keys; {threads} thread{'s' if threads > 1 else ''}"


def _table(
    call: str, keys: int, threads: int, rows: Sequence[Row], titles: dict[str, str], operations: Sequence[str]
) -> Table:
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("ns per operation", no_wrap=True)
    present = [peer for peer in titles if any(row.peer == peer for row in rows)]
    asked = any((call, keys, threads, operation) in TARGETS for operation in operations)
    for peer in present:
        table.add_column(titles[peer], justify="right", no_wrap=True)
        if peer == BASELINE and asked:
            table.add_column("target", justify="right", no_wrap=True)
    found = {(row.operation, row.peer): row for row in rows}
    for operation in operations:
        if any((operation, peer) in found for peer in present):
            figures = ("cpu", "wall") if threads > 1 else ("cpu",)
            for figure in figures:
                target = TARGETS.get((call, keys, threads, operation)) if figure == "cpu" else None
                of = {peer: getattr(found[operation, peer], figure) for peer in present if (operation, peer) in found}
                label = operation if threads == 1 else f"{operation}, {figure}"
                table.add_row(label, *_cells(present, of, target, asked))
    if threads > 1:
        table.add_row("threads together", *_overlaps(present, rows, asked))
    return table


def _overlaps(present: Sequence[str], rows: Sequence[Row], asked: bool) -> list[str]:
    cells = []
    for peer in present:
        cells.append(f"{median(row.overlap for row in rows if row.peer == peer):.0%}")
        if peer == BASELINE and asked:
            cells.append("")
    return cells


def _cells(present: Sequence[str], figures: dict[str, float], target: float | None, asked: bool) -> list[str]:
    own = figures.get(BASELINE)
    cells = []
    for peer in present:
        figure = figures.get(peer)
        if figure is None:
            cells.append("-")
        elif peer == BASELINE or not own:
            cells.append(f"{figure:,.0f}")
        else:
            cells.append(f"{figure:,.0f} ({_ratio(figure / own)})")
        if peer == BASELINE and asked:
            cells.append(_verdict(own, target))
    return cells


def _verdict(own: float | None, target: float | None) -> str:
    if own is None or target is None:
        return ""
    return f"{'met' if own <= target else 'missed'} <= {target:,.0f}"


def _ratio(ratio: float) -> str:
    return f"{ratio:.2f}x" if ratio < 9.95 else f"{ratio:,.0f}x"
