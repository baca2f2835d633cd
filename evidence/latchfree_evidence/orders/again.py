"""Run the findings of the record again: each schedule goes wrong with its access weakened, and not as coded."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from typing import NamedTuple

from latchfree_evidence.orders.accesses import WAYS, access_at
from latchfree_evidence.orders.programs import Weakly
from latchfree_evidence.orders.record import Row, row_of
from latchfree_evidence.orders.search import Finding, goes_wrong, machine_for, sites_of
from latchfree_explore.failure import Failure
from latchfree_explore.machine.machine import Machine
from latchfree_explore.minimise import failure_along
from latchfree_explore.written_schedules import unwritten


class Again(NamedTuple):
    """A row that was run again.

    Attributes
    ----------
    row : Row
    problem : str
        Why the row does not hold; empty if it does.
    failure : Failure or None
        How the schedule fails with the access weakened.
    """

    row: Row
    problem: str
    failure: Failure | None


def run_again(rows: Iterable[Row], on_progress: Callable[[str], None] = lambda _: None) -> Iterator[Again]:
    """Run the rows that go wrong once more.

    Parameters
    ----------
    rows : iterable of Row
        Others are passed over.
    on_progress : callable
        Called with each program.

    Yields
    ------
    Again
    """
    wrong = sorted((row for row in rows if row.needed), key=lambda row: (row.target, row.scenario))
    for (target, scenario), group in groupby(wrong, key=lambda row: (row.target, row.scenario)):
        on_progress(f"{target}: {scenario}")
        machine = machine_for(Weakly(target, scenario))
        machine.run([])
        sites = sites_of(machine)
        for row in group:
            yield _again(machine, row, sites.get(row.access, set()))


def renewed(rows: Iterable[Row], on_progress: Callable[[str], None] = lambda _: None) -> list[Row]:
    """Return the rows, with new schedules for those that do not go wrong any more, from the same programs.

    Parameters
    ----------
    rows : iterable of Row
        The record.
    on_progress : callable
        Called with each program.

    Returns
    -------
    list of Row
        A row of which nothing goes wrong any more in its program is left as it was.
    """
    rows = list(rows)
    stale = {(again.row.access, again.row.way) for again in run_again(rows, on_progress) if again.problem}
    found = []
    for row in rows:
        if (row.access, row.way) in stale:
            program = Weakly(row.target, row.scenario)
            on_progress(f"{row.target}: {row.scenario}: {row.access}, {row.way}")
            machine = machine_for(program)
            machine.run([])
            failure, schedules = goes_wrong(machine, sites_of(machine).get(row.access, set()), row.way)
            if failure is not None:
                row = row_of(Finding(row.access, row.way, program, failure, schedules=schedules))
        found.append(row)
    return found


def _again(machine: Machine, row: Row, sites: set[int]) -> Again:
    if not sites:
        return Again(row, "the program does not make this access any more", None)
    threads, choices = unwritten(row.threads, row.choices)
    machine.weaken({})
    as_coded = failure_along(machine, threads, choices)
    # A line may be compiled into several functions: those that this schedule runs are among its sites, too.
    made = {line: found for line, found in machine.sites().items() if access_at(*line) == row.access}
    sites = sites.union(*made.values())
    machine.weaken(dict.fromkeys(sites, WAYS[row.way]))
    failure = failure_along(machine, threads, choices)
    if as_coded is not None:
        return Again(row, f"the schedule fails as coded: {as_coded.kind}: {as_coded.message}", failure)
    if failure is None:
        return Again(row, "the schedule does not fail any more; search anew: latchfree orders --search", None)
    return Again(row, "", failure)
