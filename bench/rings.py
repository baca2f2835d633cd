"""Rings beside the queues of the standard library and faster-fifo, in one run: ``python bench/rings.py``.

Prints nanoseconds a value (an integer) for one thread that puts and gets, for two threads, and for two processes; one
value a call, and 256 a call. Then how long a getter that sleeps takes to wake, and how much processor time it uses
while it waits; "own" is without the time that it was ready and another program had the processor. `measuring.passing`
says exactly what is measured. The best of some rounds stands. A queue that is not installed is left out, and said; "-"
means that the queue has no such call, or is not for processes.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence

from rich.console import Console
from rich.table import Table

from measuring.options import names_of, number
from measuring.passing import BATCH, Wake, alone, handed, woken
from measuring.soak import Figure, show
from peers.queues import KINDS, Kind

#: How many values go through in a round: one a call, and many a call.
SINGLE, MANY = 50_000, 1_024_000

ROWS: dict[str, Callable[[Kind, bool], float]] = {
    "one thread": lambda kind, batched: alone(kind, MANY if batched else SINGLE, batched=batched),
    "two threads": lambda kind, batched: handed(kind, MANY if batched else SINGLE, batched=batched, processes=False),
    "two processes": lambda kind, batched: handed(kind, MANY if batched else SINGLE, batched=batched, processes=True),
}
#: What is asked of the ring, of arrays of many values: nanoseconds a value.
ASKED = {"one thread": 25.0, "two processes": 120.0}
#: Microseconds until a sleeping getter is back, and the share of a processor that it uses asleep.
WAKE, BUSY = 50.0, 0.01


def _measured(kind: Kind, row: str, rounds: int, *, batched: bool) -> float | None:
    if (batched and kind.put_many is None) or (row == "two processes" and not kind.processes):
        return None
    if not batched and kind.title.endswith("arrays"):
        return None
    return min(ROWS[row](kind, batched) for _ in range(rounds))


def _passing(kinds: dict[str, Kind], rounds: int) -> tuple[Table, dict[str, float]]:
    table = Table("", *(kind.title for kind in kinds.values()), title="nanoseconds a value")
    ours = {}
    for batched in (False, True):
        for row in ROWS:
            cells = []
            for name, kind in kinds.items():
                print(f"measuring {name}, {row} ...", file=sys.stderr)
                found = _measured(kind, row, rounds, batched=batched)
                cells.append("-" if found is None else f"{found:,.0f}")
                if name == "ring-arrays" and batched and found is not None:
                    ours[row] = found
            table.add_row(f"{row}, {f'{BATCH} a call' if batched else 'one a call'}", *cells)
    return table, ours


def _waking(kinds: dict[str, Kind], times: int) -> tuple[Table, list[Wake]]:
    table = Table("a getter that sleeps", *(kind.title for kind in kinds.values()))
    ours = []
    for where in ("thread", "process"):
        found: list[Wake | None] = []
        for name, kind in kinds.items():
            print(f"measuring {name}, waking a {where} ...", file=sys.stderr)
            fits = kind.processes or where == "thread"
            found.append(woken(kind, times, 0.005, processes=where == "process") if fits else None)
            if name == "ring" and (wake := found[-1]) is not None:
                ours.append(wake)
        for what, cell in (
            ("median, us", lambda wake: f"{wake.middle:,.0f}"),
            ("99 of 100, us", lambda wake: f"{wake.late:,.0f}"),
            ("99 of 100, own", lambda wake: f"{wake.own:,.0f}"),
            ("busy while it waits", lambda wake: f"{wake.busy:.1%}"),
        ):
            table.add_row(f"{where}: {what}", *("-" if each is None else cell(each) for each in found))
    return table, ours


def main(argv: Sequence[str] | None = None) -> int:
    """Measure and print; 1 if something asked for was missed."""
    parser = argparse.ArgumentParser(prog="bench/rings.py", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rounds", type=number(1, 100), default=5, metavar="N", help="of which the best counts")
    parser.add_argument("--wakes", type=number(10, 10_000), default=300, metavar="N", help="default: 300")
    parser.add_argument("--only", type=names_of(KINDS), default=",".join(KINDS), metavar="NAMES")
    given = parser.parse_args(argv)
    console, kinds = Console(), {}
    if not console.is_terminal:
        console.width = 130  # of a recorded table
    for name in given.only:
        try:
            with KINDS[name].opened(False):
                kinds[name] = KINDS[name]
        except ImportError as error:
            print(f"{name}: left out: {error}; pip install 'latchfree[bench]'")
    table, ours = _passing(kinds, given.rounds)
    console.print(table)
    singles = {name: kind for name, kind in kinds.items() if name != "ring-arrays"}
    table, wakes = _waking(singles, given.wakes)
    console.print(table)
    figures = [Figure(f"ring: {row}, {BATCH} a call", ours[row], ASKED[row], "ns") for row in ASKED if row in ours]
    for where, wake in zip(("thread", "process"), wakes, strict=False):
        figures.append(Figure(f"ring: a sleeping {where} is back", wake.middle, WAKE, "us"))
        figures.append(Figure(f"ring: busy while a {where} sleeps", wake.busy, BUSY))
    return show(figures)


if __name__ == "__main__":
    sys.exit(main())
