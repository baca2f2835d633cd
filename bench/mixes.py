"""Mixes of reads and writes, beside other maps: ``python bench/mixes.py``.

Of a hundred operations 90 or 50 are reads, the others put a value over a key that is there; keys are drawn uniformly or
by Zipf's law. Prints processor time an operation, with two threads also the time that passed; in brackets the ratio of
a peer's figure to latchfree's. `measuring.mixing` says what is done, and what each map must hold in the end.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from rich.console import Console

from measuring import report
from measuring.mixing import OPERATIONS, Settings, rows
from measuring.options import names_of, number, numbers_of
from measuring.workload import Row
from peers import PEERS, Unavailable, load

_TRIEMAP = "triemap"


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="bench/mixes.py", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--keys", type=numbers_of(2, 1_000_000), default=(10_000, 300_000), metavar="N[,N]")
    parser.add_argument("--operations", type=number(1000, 10_000_000), default=100_000, metavar="N", help="of a thread")
    parser.add_argument("--rounds", type=number(1, 1000), default=5, metavar="N", help="the best counts (default: 5)")
    parser.add_argument("--only", type=names_of(PEERS), default=tuple(PEERS), metavar="NAMES", help=", ".join(PEERS))
    parser.add_argument("--seed", type=number(0, 1 << 32), default=1, metavar="N", help="of the keys (default: 1)")
    return parser.parse_args(argv)


def measure(name: str, settings: Settings) -> list[Row]:
    """Return the rows of one peer."""
    if name == _TRIEMAP:
        from peers import scala_mixes

        return list(scala_mixes.rows(settings))
    return list(rows(name, load(name).subject, settings))


def main(argv: Sequence[str] | None = None) -> int:
    """Run the benchmark; returns the exit code."""
    given = _arguments(argv)
    settings = Settings(given.keys, given.operations, given.rounds, given.seed)
    console, found, titles, skipped = Console(highlight=False), [], {}, {}
    for name in given.only:
        print(f"measuring {name} ...", file=sys.stderr)
        try:
            found += measure(name, settings)
            titles[name] = load(name).TITLE
        except Unavailable as reason:
            skipped[name] = reason
    console.print(f"{settings.operations:,} operations of each thread, {settings.rounds} rounds, seed {settings.seed}")
    for name, why in skipped.items():
        console.print(f"skipped {name}: {why}", soft_wrap=True, markup=False)
    console.print()
    report.show(console, found, titles, OPERATIONS)
    return 0 if found else 1


if __name__ == "__main__":
    sys.exit(main())
