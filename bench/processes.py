"""Two processes on one map, each on keys of its own: ``python bench/processes.py``.

Each process is timed alone (the other one's keys are in the map, it itself sleeps) and together with the other, in
turns; the smallest of each figure stands. Asked of latchfree: a process does not take more than 1.3 times as long
because of the other. Beside it, in the same run, other maps that processes can share, in memory and in files.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from measuring.options import names_of, number, numbers_of
from measuring.side_by_side import KINDS, PROCESSES, Result, Speed, measure
from measuring.soak import Figure, show
from measuring.timing import Time
from peers import Unavailable
from peers.on_disk import ON_DISK
from peers.shared import SHARED

ASKED = 1.3
_LATCHFREE = "latchfree"
_LATCHFREE_FILE = "latchfree-file"


def _mean(speeds: Sequence[Speed], figure: str) -> float:
    times: list[Time] = [getattr(speed, figure) for speed in speeds]
    return sum(time.wall for time in times) / len(times)


def own(sizes: Sequence[int], rounds: int, seed: int) -> tuple[list[Figure], dict[int, Result]]:
    """latchfree against itself: prints, and returns the figures asked for and the single calls by size."""
    figures = []
    singles = {}
    print(f"{'ns an operation, wall':<34}{'alone':>10}{'together':>10}{'ratio':>8}")
    for bulk in (True, False):
        for size in sizes:
            result = measure(_LATCHFREE, bulk=bulk, size=size, rounds=rounds, seed=seed)
            what = f"{'bulk' if bulk else 'single'}, {size:,} keys"
            for step, speeds in result.speeds.items():
                alone, together = _mean(speeds, "alone"), _mean(speeds, "together")
                worst = max(speed.ratio for speed in speeds)
                print(f"{what + ': ' + step:<34}{alone:>10.1f}{together:>10.1f}{worst:>8.2f}")
                if step != "update":
                    figures.append(Figure(f"{what}: {step} beside another process", worst, ASKED, "times"))
            print(f"{what + ': both at work':<34}{result.overlap:>20.0%}")
            if not bulk:
                singles[size] = result
    return figures, singles


def beside(names: Sequence[str], known: dict[str, Result], what: str, **options: object) -> None:
    """Print peers, with their ratio to the first; `known` has the results that need not be measured again."""
    print(f"{what}, ns an operation (ratio to latchfree)")
    print(f"{'':<16}" + "".join(f"{f'{step}, {how}':>22}" for step in ("put", "get") for how in ("alone", "together")))
    ours: Result | None = None
    for name in names:
        print(f"measuring {name} ...", file=sys.stderr)
        try:
            result = known[name] if name in known else measure(name, **options)  # type: ignore[arg-type]
        except (ImportError, Unavailable) as reason:
            print(f"{KINDS[name].title:<16}skipped: {reason}; pip install 'latchfree[bench]'")
            continue
        ours = ours or result
        cells = []
        for step in ("put", "get"):
            for how in ("alone", "together"):
                mine, theirs = _mean(ours.speeds[step], how), _mean(result.speeds[step], how)
                cells.append(f"{theirs:,.0f} ({theirs / mine:,.2f}x)")
        print(f"{KINDS[name].title:<16}" + "".join(f"{cell:>22}" for cell in cells))


def kind_of(folder: str) -> str:
    """Return the kind of file system that a folder is on."""
    mounts = [line.split()[1:3] for line in Path("/proc/mounts").read_text().splitlines()]
    real = Path(folder).resolve()
    above = [(len(Path(place).parts), kind) for place, kind in mounts if real.is_relative_to(place)]
    return max(above)[1] if above else "an unknown file system"


def main(argv: Sequence[str] | None = None) -> int:
    """Run and print; 1 if something asked for was missed."""
    parser = argparse.ArgumentParser(prog="bench/processes.py", description=(__doc__ or "").partition("\n")[0])
    sizes = numbers_of(PROCESSES, 1_000_000)
    parser.add_argument("--keys", type=sizes, default=(10_000, 300_000), metavar="N[,N]", help="peers get the first")
    parser.add_argument("--rounds", type=number(1, 1000), default=20, metavar="N", help="default: 20")
    parser.add_argument("--peer-rounds", type=number(1, 1000), default=3, metavar="N", help="default: 3")
    for option, known in (("--peers", SHARED), ("--files", ON_DISK)):
        names = ",".join(name for name in known if not name.startswith(_LATCHFREE))
        parser.add_argument(option, type=names_of(known), default=names, metavar="NAMES", help=f"default: {names}")
    parser.add_argument("--folder", default=tempfile.gettempdir(), help="where the files are (default: %(default)s)")
    parser.add_argument("--seed", type=number(0, 1 << 32), default=1, metavar="N", help="of the keys (default: 1)")
    given = parser.parse_args(argv)
    if not Path(given.folder).is_dir():
        parser.error(f"--folder: there is no folder {given.folder!r}")
    if len(os.sched_getaffinity(0)) < PROCESSES:
        raise SystemExit("processes.py needs two processors")
    size, options = given.keys[0], {"size": given.keys[0], "rounds": given.peer_rounds, "seed": given.seed}
    figures, singles = own(given.keys, given.rounds, given.seed)
    what = f"single calls, {size:,} keys"
    beside([_LATCHFREE, *given.peers], {_LATCHFREE: singles[size]}, what, bulk=False, **options)
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        for bulk, calls in ((False, "single calls"), (True, "bulk")):
            what = f"files on {kind_of(folder)}, {calls}, {size:,} keys"
            beside([_LATCHFREE_FILE, *given.files], {}, what, bulk=bulk, folder=folder, **options)
    return show(figures)


if __name__ == "__main__":
    sys.exit(main())
