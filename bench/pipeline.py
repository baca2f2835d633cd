"""Jobs on Spark: ``python bench/pipeline.py``.

Part ``match``: nanoseconds a message to match messages of W0 with an index, beside handing the same rows to Python and
back unchanged (the floor), reading them only, and the library in one process on the same files; the time that passed,
and the processor time of all processes together, which other work on the machine changes less. The steps take turns
in one session for each number of cores; the smallest figure of each stands. Nothing is written.

Part ``check``: seconds to check histories of 20 operations, the whole command from its start to its end, beside the
library in one process on some of the same files.

Part ``growth``, only if asked for: the check of each of ``--sizes`` histories, what grows with them, and one giant;
see `jobs.growth`.

``--kill N`` kills the driver of the check N times at random moments, starts it again each time, and compares the
verdicts with those of a run that nobody disturbed.
"""

from __future__ import annotations

import argparse
import functools
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from jobs.data import OPERATIONS, write_histories, write_messages
from jobs.growth import growth_part
from measuring.soak import Figure, show
from measuring.tree_time import tree_time

PARTS = ("match", "check", "growth")
_USUAL = "match,check"
_TIMEOUT = 1800
_FILES = 4
_MATCH_LIMITS = {"wall": 1.3, "cpu": 1.5}
"""At most this many times the identity."""
_CHECK_LIMIT = 90.8
"""Seconds for a million histories."""
_SAMPLE = 2000
"""Histories checked in one process."""
_BATCH = 1 << 16


class Taken(NamedTuple):
    """Seconds of a step: those that passed, and those of processors."""

    wall: float
    cpu: float

    def least(self, other: Taken) -> Taken:
        """The smaller of each figure."""
        return Taken(min(self.wall, other.wall), min(self.cpu, other.cpu))

    def line(self, name: str, rows: int) -> str:
        """A line of the table."""
        wall, cpu = (seconds / rows * 1e9 for seconds in self)
        return f"{name:<32}{wall:>10,.0f}{cpu:>10,.0f} {1e9 / wall:>14,.0f}"


def taken(step: Callable[[], Any]) -> Taken:
    """Time a step of this process and its descendants."""
    cpu, wall = tree_time(), time.perf_counter()
    step()
    return Taken(time.perf_counter() - wall, tree_time() - cpu)


def matching(folder: Path, cores: int, rounds: int) -> dict[str, Taken]:
    """The time of each step in a session of its own, in this process."""
    from latchfree.topics import MaskIndex
    from latchfree_spark import spark_session
    from latchfree_spark.match.messages import find
    from latchfree_spark.match.ship import ship
    from latchfree_spark.match.worker import with_subscribers

    index = MaskIndex.open(folder / "subscriptions.index")
    best: dict[str, Taken] = {}
    with spark_session("benchmark", master=f"local[{cores},4]") as spark:
        frame = find(str(folder / "messages")).read(spark)
        shipped = ship(spark, index, folder / "shipped")
        steps = {
            "read only": frame,
            "identity": frame.mapInArrow(lambda batches: batches, frame.schema),
            "match": with_subscribers(frame, shipped, "bigint"),
        }
        for _ in range(rounds):
            for name, made in steps.items():
                once = taken(made.write.format("noop").mode("overwrite").save)
                best[name] = once.least(best.get(name, once))
    return best


def alone(folder: Path, rounds: int) -> Taken:
    """The time of the library on the same files in this process, one thread."""
    import pyarrow.parquet as pq

    from latchfree.topics import MaskIndex

    index = MaskIndex.open(folder / "subscriptions.index")

    def run() -> None:
        for file in sorted((folder / "messages").iterdir()):
            for batch in pq.ParquetFile(file).iter_batches(_BATCH, use_threads=False):
                index.match_many(batch.column("topic"))

    run()
    return functools.reduce(Taken.least, [taken(run) for _ in range(rounds)])


def match_part(given: argparse.Namespace, folder: Path) -> list[Figure]:
    """Measure matching, print a table, and return the figures."""
    from latchfree.topics import MaskIndex

    patterns = write_messages(folder / "messages", given.messages, given.subscriptions, _FILES, given.seed)
    MaskIndex.build(patterns, list(range(len(patterns))), "mqtt").save(folder / "subscriptions.index")
    print(f"{given.messages:,} messages, {given.subscriptions:,} subscriptions")
    print(f"{'ns a message':<32}{'wall':>10}{'cpu':>10} {'a second':>14}")
    print(alone(folder, given.rounds).line("library, one process", given.messages))
    figures = []
    for cores in given.cores:
        options = ["--measure", str(folder), "--cores", str(cores), "--rounds", str(given.rounds)]
        measured = json.loads(python([str(Path(__file__).resolve()), *options]))
        found = {name: Taken(*each) for name, each in measured.items()}
        for name, each in found.items():
            print(each.line(f"Spark, {cores} cores: {name}", given.messages))
        for kind, match, floor in zip(Taken._fields, found["match"], found["identity"], strict=True):
            figures.append(
                Figure(f"{cores} cores: matching / identity, {kind}", match / floor, _MATCH_LIMITS[kind], "x")
            )
    return figures


def python(arguments: Sequence[str]) -> str:
    """Run this Python and return its standard output."""
    done = subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, timeout=_TIMEOUT, check=False
    )  # fmt: skip
    if done.returncode not in (0, 1):
        raise RuntimeError(f"{' '.join(arguments)} ended with {done.returncode}: {done.stderr[-2000:]}")
    return done.stdout


def checker(data: Path, out: Path, cores: int) -> list[str]:
    """Return the command that checks the histories."""
    command = ["-m", "latchfree_cli", "pipeline", "check", str(data), str(out), "--model", "map"]
    return [*command, "--master", f"local[{cores},4]"]


def verdicts(out: Path) -> dict[str, str]:
    """The verdict of each history in an output; fails if one has two."""
    import pyarrow.parquet as pq

    rows = pq.read_table(out / "verdicts", columns=["history", "verdict"]).to_pylist()
    found = {row["history"]: row["verdict"] for row in rows}
    if len(found) != len(rows):
        raise RuntimeError(f"{len(rows) - len(found):,} histories were judged twice")
    return found


def check_part(given: argparse.Namespace, folder: Path) -> list[Figure]:
    """Measure checking, print a table, and return the figures."""
    data = folder / "histories"
    write_histories(data, given.histories, _FILES, given.seed)
    print(
        f"{given.histories:,} histories of {OPERATIONS} operations: microseconds a history, wall (histories a second)"
    )
    each = library(data)
    print(f"{'library, one process':<32}{each * 1e6:>10,.0f} ({1 / each:,.0f})")
    figures = []
    for cores in given.cores:
        out = folder / f"verdicts-{cores}"
        seconds = taken(lambda out=out, cores=cores: python(checker(data, out, cores))).wall
        each = seconds / given.histories
        print(f"{f'Spark, {cores} cores: the command':<32}{each * 1e6:>10,.0f} ({1 / each:,.0f})")
        limit = _CHECK_LIMIT * given.histories / 1e6
        if cores == 2:
            figures.append(Figure(f"{cores} cores: {given.histories:,} histories", seconds, limit, "s"))
    if given.kill:
        figures.append(kill_part(given, data, folder, verdicts(folder / f"verdicts-{given.cores[0]}")))
    return figures


def grown_part(given: argparse.Namespace, folder: Path) -> list[Figure]:
    """Measure how checking grows, and print it; nothing is asked of it."""
    cores = given.cores[0]
    growth_part(given.sizes, given.giant, given.seed, folder, lambda data, out: checker(data, out, cores))
    return []


def library(data: Path) -> float:
    """Seconds for each of some histories, checked in this process."""
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    from latchfree_lincheck import check, read_history

    table = pq.read_table(next(iter(sorted(data.iterdir()))))
    some = pc.unique(table["history"])[:_SAMPLE]
    sample = data.parent / "sample.parquet"
    pq.write_table(table.filter(pc.is_in(table["history"], some)), sample)

    def judge() -> None:
        for history in read_history(sample, model="map"):
            check(history, "map")

    judge()  # compiles
    return taken(judge).wall / len(some)


def kill_part(given: argparse.Namespace, data: Path, folder: Path, expected: dict[str, str]) -> Figure:
    """Kill the driver at random moments; returns how many verdicts differ in the end."""
    out = folder / "verdicts-killed"
    command = [sys.executable, *checker(data, out, given.cores[0])]
    rng = random.Random(given.seed)
    whole = taken(lambda: python(checker(data, folder / "verdicts-timed", given.cores[0]))).wall
    kills = 0
    while kills < given.kill:
        running = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
        )  # fmt: skip
        try:
            running.wait(rng.uniform(0.1, 0.9) * whole)
            break
        except subprocess.TimeoutExpired:
            os.killpg(running.pid, signal.SIGKILL)
            running.wait()
            kills += 1
    if not out.exists():
        python(command[1:])
    found = verdicts(out)
    differ = sum(found.get(name) != verdict for name, verdict in expected.items()) + len(set(found) - set(expected))
    return Figure(f"verdicts that differ after {kills} kills", differ, 0)


def main(argv: Sequence[str] | None = None) -> int:
    """Run and print; 1 if something asked for was missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--parts", default=_USUAL, help=f"comma-separated, of {', '.join(PARTS)}; default: {_USUAL}")
    parser.add_argument("--cores", default="2,1", metavar="N[,N]", help="default: 2,1")
    parser.add_argument("--messages", type=int, default=2_000_000, help="default: 2,000,000")
    parser.add_argument("--subscriptions", type=int, default=100_000, help="default: 100,000")
    parser.add_argument("--histories", type=int, default=1_000_000, help="default: 1,000,000")
    parser.add_argument("--sizes", default="1000000,2000000,4000000", help="of the growth; default: 1M, 2M and 4M")
    parser.add_argument("--giant", type=int, default=2_000_000, help="operations of the giant; default: 2,000,000")
    parser.add_argument("--kill", type=int, default=0, metavar="N", help="kill the driver of the check N times")
    parser.add_argument("--rounds", type=int, default=5, help="of the steps of matching (default: 5)")
    parser.add_argument("--seed", type=int, default=1, help="of the data (default: 1)")
    parser.add_argument("--measure", type=Path, metavar="FOLDER", help="measure matching of the data there; JSON")
    given = parser.parse_args(argv)
    given.sizes = [int(size) for size in given.sizes.split(",")]
    given.cores = [int(cores) for cores in given.cores.split(",")]
    if given.measure:
        print(json.dumps(matching(given.measure, given.cores[0], given.rounds)))
        return 0
    figures = []
    folder = Path(tempfile.mkdtemp(prefix="latchfree-pipeline-"))
    try:
        print(f"load before: {os.getloadavg()[0]:.1f}; seed {given.seed}")
        for part, run in zip(PARTS, (match_part, check_part, grown_part), strict=True):
            if part in given.parts.split(","):
                figures += run(given, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return show(figures)


if __name__ == "__main__":
    sys.exit(main())
