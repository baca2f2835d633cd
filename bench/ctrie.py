"""Benchmark of the Ctrie beside other maps, all in one run: ``python bench/ctrie.py``.

Prints CPU nanoseconds per operation, and for peers the ratio to latchfree in brackets: below 1 the peer is faster.
`measuring.timing` says exactly what is measured, `measuring.workload` what is done.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from measuring import report
from measuring.workload import CALLS, Row, Settings, rows
from peers import PEERS, Unavailable, load

_SIZES = (10_000, 300_000)
_ROUNDS = 24
_OPERATIONS = 1_200_000


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="bench/ctrie.py", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="10,000 keys only, a third of the rounds")
    parser.add_argument("--only", metavar="NAMES", help=f"comma-separated, of: {', '.join(PEERS)}")
    parser.add_argument("--keys", metavar="N[,N]", help="numbers of keys (default: 10000,300000)")
    parser.add_argument("--call", choices=CALLS, help="this kind of call only (default: both)")
    parser.add_argument("--seed", type=int, default=1, help="of the random keys (default: 1)")
    parser.add_argument("--cold", action="store_true", help="do not touch latchfree's memory before timing")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write every figure to FILE")
    given = parser.parse_args(argv)
    given.names = tuple(PEERS) if given.only is None else tuple(given.only.split(","))
    for name in given.names:
        if name not in PEERS:
            parser.error(f"--only: no peer called {name!r}; there are {', '.join(PEERS)}")
    sizes = _SIZES[:1] if given.quick else _SIZES
    try:
        given.sizes = sizes if given.keys is None else tuple(int(size) for size in given.keys.split(","))
    except ValueError:
        parser.error(f"--keys: expected numbers separated by commas, got {given.keys!r}")
    if not all(2 <= size <= 10_000_000 and size % 2 == 0 for size in given.sizes):
        parser.error("--keys: each must be even, from 2 to 10,000,000 (two threads get half each)")
    return given


def _settings(given: argparse.Namespace) -> Settings:
    most = _ROUNDS // 3 if given.quick else _ROUNDS
    rounds = {size: max(4, min(most, _OPERATIONS // size)) for size in given.sizes}
    calls = CALLS if given.call is None else (given.call,)
    return Settings(given.sizes, rounds, given.seed, given.cold, calls)


def _measure(name: str, settings: Settings) -> tuple[str, str, list[Row]]:
    """Title, version and rows of one peer."""
    peer = load(name)
    if hasattr(peer, "rows"):
        return peer.TITLE, peer.version(), list(peer.rows(settings))
    return peer.TITLE, peer.version(), list(rows(name, peer.subject, settings))


def main(argv: Sequence[str] | None = None) -> int:
    """Run the benchmark; returns the exit code."""
    given = _arguments(argv)
    settings = _settings(given)
    console, progress = Console(highlight=False), Console(stderr=True, highlight=False)
    where = report.machine()
    found: list[Row] = []
    titles: dict[str, str] = {}
    versions: dict[str, str] = {}
    skipped: dict[str, str] = {}
    for name in given.names:
        progress.print(f"measuring {name} ...")
        try:
            titles[name], versions[name], measured = _measure(name, settings)
        except Unavailable as reason:
            skipped[name] = str(reason)
            continue
        found += measured
    load = ", ".join(f"{load:.1f}" for load in where["load_before"])
    console.print(f"{where['processor']}, {where['processors']} processors, {where['system']}; load before: {load}")
    console.print(f"Python {where['python']}; seed {settings.seed}; rounds {settings.rounds}")
    console.print(", ".join(f"{titles[name]} {version}" for name, version in versions.items()))
    for name, why in skipped.items():
        console.print(f"skipped {name}: {why}", soft_wrap=True, markup=False)
    console.print()
    report.show(console, found, titles)
    if given.json is not None:
        options = {
            "sizes": settings.sizes,
            "rounds": settings.rounds,
            "seed": settings.seed,
            "cold": settings.cold,
        }
        report.write_json(given.json, report.document(found, options, where, versions, skipped))
    return 0 if found else 1


if __name__ == "__main__":
    sys.exit(main())
