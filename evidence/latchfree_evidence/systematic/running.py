"""The run over all mutants, some at a time; verdicts are written down now and then, so that a run can be resumed.

Example: ``run(chosen, into=Path("mutants.json"))`` was stopped after 400 mutants. Run again, it goes on with those that
have no verdict. A verdict that is there is kept, whatever has changed since: resume what was begun with the same code
and trials.

Invariant: how many are judged at a time changes no verdict. Each has a process of its own, and steps and schedules are
counted, not seconds.
"""

from __future__ import annotations

import json
import platform
import random
import select
import subprocess
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from latchfree_evidence.systematic.generating import mutants_of
from latchfree_evidence.systematic.judging import Begun, Verdict, begin
from latchfree_evidence.systematic.kernels import MODULES
from latchfree_evidence.systematic.mutant import Mutant

Record = dict[str, Any]
#: Mutants after which the record is written.
_EVERY: Final = 10


def chosen(only: str = "", sample: int | None = None, seed: int = 0) -> list[tuple[str, Mutant]]:
    """Return mutants with the groups that judge them.

    Parameters
    ----------
    only : str
        The end of a file's name without ".py", such as "gcas" or "arena/kernels/epochs", or a group; "" for all.
    sample : int, optional
        How many to draw; all by default.
    seed : int
        Of the draw.

    Raises
    ------
    ValueError
        If no file is called so.
    """
    wanted = only.removesuffix(".py")
    found = [
        (group, mutant)
        for group, modules in MODULES.items()
        for module in modules
        if wanted in ("", group) or f".{module}".endswith(f".{wanted.replace('/', '.')}")
        for mutant in mutants_of(module)
    ]
    if not found:
        raise ValueError(f"no kernels in {only!r}; groups are {', '.join(MODULES)}, or give a file such as gcas.py")
    return found if sample is None else random.Random(seed).sample(found, min(sample, len(found)))


def run(
    mutants: Iterable[tuple[str, Mutant]],
    layers: Mapping[str, Callable[[str, Any], None]],
    *,
    into: Path | None = None,
    resume: bool = False,
    seed: int = 0,
    argued: Collection[str] = (),
    jobs: int = 1,
    on_progress: Callable[[int, str], None] = lambda done, name: None,
) -> Record:
    """Judge mutants, some at a time; return the record.

    Parameters
    ----------
    mutants : iterable
        Pairs of a group and a mutant of it.
    layers : mapping
        By name, cheapest first.
    into : Path, optional
        Where to write the record, now and then.
    resume : bool
        Keep the verdicts that are there.
    seed : int
        Of the sample, for the record.
    argued : collection of str
        Mutants argued equivalent: the costly layer, `deeper`, is spared them.
    jobs : int
        How many at a time.
    on_progress : callable
        Called with the mutants begun before and the name of the next.
    """
    record: Record = {"commit": _commit(), "python": platform.python_version(), "seed": seed, "mutants": {}}
    if resume and into is not None and into.exists():
        record = json.loads(into.read_text())
    verdicts = record["mutants"]
    left = ((number, *each) for number, each in enumerate(mutants) if each[1].name not in verdicts)
    under_way: dict[Begun, Mutant] = {}
    try:
        for number, group, mutant in left:
            on_progress(number, mutant.name)
            some = {name: layer for name, layer in layers.items() if name != "deeper" or mutant.name not in argued}
            under_way[begin(some, group, {(mutant.module, mutant.function): mutant.make()})] = mutant
            if len(under_way) >= jobs:
                _note(under_way, verdicts)
            if into is not None and number % _EVERY == 0:
                write(record, into)
        while under_way:
            _note(under_way, verdicts)
    finally:
        for begun in under_way:
            begun.end()
    if into is not None:
        write(record, into)
    return record


def _note(under_way: dict[Begun, Mutant], verdicts: Record) -> None:
    """Wait until one or more have a verdict, and note those."""
    ready, _, _ = select.select([*under_way], [], [])
    for begun in ready:
        mutant = under_way.pop(begun)
        verdicts[mutant.name] = entry_of(mutant, begun.verdict())


def entry_of(mutant: Mutant, verdict: Verdict) -> Record:
    """Return what a record says of a mutant."""
    return {"operator": mutant.operator, "line": mutant.line, **asdict(verdict)}


def write(record: Record, into: Path) -> None:
    """Write a record; a reader finds the old or the new one."""
    fresh = into.with_suffix(".new")
    fresh.write_text(json.dumps(record, indent=0, sort_keys=True) + "\n")
    fresh.replace(into)


def _commit() -> str:
    found = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False)
    return found.stdout.strip() or "unknown"


RECORD: Final = Path(__file__).parent / "record.json"
"""The record of the last run over all of them, from which the tables of the docs are made."""
