"""From the start of a process to its first put and get: ``python bench/cold_start.py``.

Fresh interpreters, one after the other. Each notes its processor time, and the time that passed since it was started,
when it has put a key into an empty map and got it back; only importing, or nothing at all, stands beside it. Files of
bytecode are there. latchfree is started with its library and with an empty folder of caches, and without the library:
then numba compiles, once with nothing in the cache and then with what the start before has put there.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from time import monotonic_ns
from typing import Final, NamedTuple

from measuring.options import number

_NOTED: Final = "\nimport time\nprint(time.monotonic_ns(), time.process_time_ns())\n"
_LATCHFREE: Final = "from latchfree import Ctrie\nm = Ctrie(keys=int, values=int)\nm[1] = 2\nassert m[1] == 2"
_FOLDER: Final = "import tempfile\nfolder = tempfile.TemporaryDirectory(dir='/dev/shm')\n"


class Case(NamedTuple):
    """What a fresh interpreter does; whether numba compiles, and whether it is started only once."""

    what: str
    program: str
    compiles: bool = False
    once: bool = False


CASES: Final = (
    Case("python -c pass", "pass"),
    Case("import numpy", "import numpy"),
    Case("dict", "m = {}\nm[1] = 2\nassert m[1] == 2"),
    Case("latchfree, its library", _LATCHFREE),
    Case("latchfree, no library, nothing cached", _LATCHFREE, compiles=True, once=True),
    Case("latchfree, no library, cached", _LATCHFREE, compiles=True),
    Case("cereggii", "from cereggii import AtomicDict\nm = AtomicDict()\nm[1] = 2\nassert m[1] == 2"),
    Case("immutables", "from immutables import Map\nm = Map()\nm = m.set(1, 2)\nassert m[1] == 2"),
    Case(
        "lmdb",
        f"{_FOLDER}import lmdb\nm = lmdb.open(folder.name)\nwith m.begin(write=True) as t: t.put(b'1', b'2')\n"
        "with m.begin() as t: assert t.get(b'1') == b'2'",
    ),
    Case("diskcache", f"{_FOLDER}from diskcache import Cache\nm = Cache(folder.name)\nm[1] = 2\nassert m[1] == 2"),
)


class Failed(Exception):
    """An interpreter ended with an error."""


def start(case: Case, cache: str) -> tuple[float, float]:
    """Start an interpreter; return milliseconds that passed and of processor time until it was done."""
    kept = {name: text for name, text in os.environ.items() if not name.startswith(("NUMBA_", "LATCHFREE_"))}
    settings = kept | {"XDG_CACHE_HOME": cache} | ({"LATCHFREE_COMPILED": "jit"} if case.compiles else {})
    command = [sys.executable, "-c", case.program + _NOTED]
    begin = monotonic_ns()
    done = subprocess.run(command, env=settings, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Failed(done.stderr.strip().rpartition("\n")[2])
    end, processor = map(int, done.stdout.split())
    return (end - begin) / 1e6, processor / 1e6


def measure(case: Case, rounds: int, cache: str) -> list[tuple[float, float]]:
    """Start interpreters; each has an empty folder of caches, or finds there what another has compiled."""
    if case.compiles:
        return [start(case, cache) for _ in range(1 if case.once else rounds)]
    found = []
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as empty:
            found.append(start(case, empty))
    return found


def show(measured: Callable[[Case], list[tuple[float, float]]], cases: Sequence[Case]) -> None:
    """Print a table: the smallest and the median of each figure."""
    print(f"{'until the first put and get, ms: minimum / median':<50}{'passed':>24}{'processor':>24}{'starts':>8}")
    for case in cases:
        print(f"measuring {case.what} ...", file=sys.stderr)
        try:
            found = measured(case)
        except Failed as reason:
            print(f"{case.what:<50} skipped: {reason}; pip install 'latchfree[bench]'")
            continue
        figures = [f"{min(column):,.1f} / {statistics.median(column):,.1f}" for column in zip(*found, strict=True)]
        print(f"{case.what:<50}{figures[0]:>24}{figures[1]:>24}{len(found):>8}")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the benchmark; returns the exit code."""
    parser = argparse.ArgumentParser(prog="bench/cold_start.py", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rounds", type=number(1, 1000), default=20, metavar="N", help="starts of each (default: 20)")
    parser.add_argument("--no-compiling", action="store_true", help="leave out what numba compiles, which takes longer")
    given = parser.parse_args(argv)
    cases = [case for case in CASES if not (given.no_compiling and case.compiles)]
    with tempfile.TemporaryDirectory() as cache:
        show(lambda case: measure(case, given.rounds, cache), cases)
    return 0


if __name__ == "__main__":
    sys.exit(main())
