"""Benchmark of the linearizability checker: ``python bench/lincheck.py``.

Prints each figure beside what is asked of it and, where it is feasible, beside the plain search in Python; exits 1 if
one is missed. With ``--porcupine DIR``, the folder of its source, Porcupine judges the same histories. Histories are
simulated (see `judging.recorded`); making them is not timed, judging them is, from columns to verdict. Memory and
compilation are measured in fresh processes. The group ``shell`` measures whole commands on log files, start and reading
included: the processor time (user and system) of ``latchfree check FILE...`` beside a program made of Porcupine.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from rich.console import Console

from judging.figure import PORCUPINE, Figure
from judging.fresh import TASKS, bounds, compiled
from judging.hard import crashes, deadlines
from judging.long import append, many_keys, monitors, one_key, own_model, repeats
from judging.many import many_at_once, many_small
from judging.shell import shell
from measuring import report
from peers import Unavailable
from peers.porcupine import Porcupine

GROUPS: dict[str, Callable[[], Figure | list[Figure]]] = {
    "small": many_small,
    "many": many_at_once,
    "key": one_key,
    "own": own_model,
    "repeats": repeats,
    "keys": many_keys,
    "append": append,
    "shell": shell,
    "monitors": monitors,
    "crashes": crashes,
    "deadline": deadlines,
    "memory": bounds,
    "compile": compiled,
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run the benchmark; returns the exit code."""
    parser = argparse.ArgumentParser(prog="bench/lincheck.py", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--only", metavar="NAMES", help=f"comma-separated, of: {', '.join(GROUPS)}")
    parser.add_argument("--porcupine", metavar="DIR", type=Path, help="the source of Porcupine, to run it beside")
    parser.add_argument("--task", nargs="+", help=argparse.SUPPRESS)
    given = parser.parse_args(argv)
    if given.task:
        print(TASKS[given.task[0]](*given.task[1:]))
        return 0
    names = list(GROUPS) if given.only is None else given.only.split(",")
    for name in names:
        if name not in GROUPS:
            parser.error(f"--only: no group called {name!r}; there are {', '.join(GROUPS)}")
    console, progress = Console(highlight=False), Console(stderr=True, highlight=False)
    where = report.machine()
    load = ", ".join(f"{load:.1f}" for load in where["load_before"])
    console.print(f"{where['processor']}, {where['processors']} processors, {where['system']}; load before: {load}")
    if given.porcupine is None:
        console.print("skipped Porcupine: --porcupine DIR says where its source is")
    else:
        try:
            PORCUPINE.append(Porcupine(given.porcupine))
        except Unavailable as reason:
            parser.error(f"--porcupine: {reason}")
    missed = 0
    for name in names:
        progress.print(f"measuring {name} ...")
        found = GROUPS[name]()
        for figure in found if isinstance(found, list) else [found]:
            missed += figure.missed
            mark = "MISSED" if figure.missed else "ok"
            sign = ">=" if figure.least else "<="
            text = f"{figure.reached:.3g} {figure.unit} (asked {sign} {figure.asked:g})"
            console.print(f"{figure.name:<55} {text:<42} {mark:<7} {figure.note}", soft_wrap=True)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
