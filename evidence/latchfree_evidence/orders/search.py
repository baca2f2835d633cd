"""Weaken one access at a time, and look for a schedule that goes wrong.

Example: the load of the root in `complete` is sequentially consistent. As an acquire it may read the root that a
snapshot has replaced; then an update goes into the snapshot's part and is lost. The search finds a schedule of that in
a program of a put and a snapshot.

A schedule that goes wrong is a data race, a wrong result, or what else the explorer reports. It shows that the order is
needed. None found shows nothing but that these programs do not need the order.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

from latchfree_evidence.orders.accesses import WAYS, OrderedAccess, access_at
from latchfree_evidence.orders.programs import Weakly, programs
from latchfree_evidence.targets.finding import find_target
from latchfree_explore import search
from latchfree_explore.failure import Failure
from latchfree_explore.graphs import searching
from latchfree_explore.machine.machine import Machine
from latchfree_explore.scenario import Scenario
from latchfree_explore.strategies.dpor import DPOR
from latchfree_explore.strategies.pct import PCT
from latchfree_explore.strategies.random_choice import RANDOM

#: Schedules run to see which accesses a program makes, and with one weakened.
_LOOKS: Final = 200
_TRIES: Final = ((RANDOM, 1_500), (PCT, 500), (DPOR, 3_000))
_SEED: Final = 1
#: Targets so small that each graph is run, too: under rc11 graphs have runs that schedules with choices do not come to.
_GRAPHED: Final = {"pins": 1_000}
#: Programs tried for one access, those that make the fewest others first.
MOST_PROGRAMS: Final = 16
MEMORY: Final = "rc11"

Sites = dict[OrderedAccess, set[int]]


@dataclass(frozen=True)
class Finding:
    """What weakening an access in one way came to.

    Attributes
    ----------
    access : OrderedAccess
    way : str
        One of `WAYS`.
    program : Weakly or None
        The program that goes wrong, None if none was found.
    failure : Failure or None
        How it goes wrong.
    programs, schedules : int
        How many were run without a failure.
    """

    access: OrderedAccess
    way: str
    program: Weakly | None = None
    failure: Failure | None = field(default=None, repr=False)
    programs: int = 0
    schedules: int = 0


def machine_for(program: Weakly) -> Machine:
    """Return a machine for a program, under the weakest memory model."""
    return Machine(find_target(program.target), Scenario.parse(program.scenario), memory=MEMORY, races=True)


def sites_of(machine: Machine) -> Sites:
    """Return the package's accesses that a program makes, each with the addresses of its sites."""
    found: Sites = defaultdict(set)
    machine.start(RANDOM, seed=_SEED)
    for _ in range(_LOOKS):
        machine.drive(1)
        for (line, kind), sites in machine.sites().items():
            access = access_at(line, kind)
            if access is not None:
                found[access] |= sites
    return found


def goes_wrong(machine: Machine, sites: set[int], way: str) -> tuple[Failure | None, int]:
    """Return how a program goes wrong with an access weakened, None if it does not; and how many schedules ran."""
    machine.weaken(dict.fromkeys(sites, WAYS[way]))
    ran = 0
    for strategy, most in _TRIES:
        done = search.run(machine, strategy, seed=_SEED, schedules=most)
        ran += done.schedules
        if done.failure is not None or done.complete:
            break
    if done.failure is None and machine.target.name in _GRAPHED:
        done = searching.run(machine, schedules=_GRAPHED[machine.target.name])
        ran += done.schedules
    return done.failure, ran


def survey(target: str, on_progress: Callable[[str], None]) -> list[Finding]:
    """Weaken each access that the programs of a target make; return what came of it.

    Raises
    ------
    RuntimeError
        If a program goes wrong with nothing weakened.
    """
    prepared: list[tuple[Weakly, Machine, Sites]] = []
    for program in dict.fromkeys(programs(target)):
        on_progress(f"{target}: {program.scenario}")
        machine = machine_for(program)
        machine.run([])
        prepared.append((program, machine, sites_of(machine)))
        failure, _ = goes_wrong(machine, set(), "relaxed")
        if failure is not None:
            raise RuntimeError(f"{target}: {program.scenario} goes wrong as it is: {failure.kind}: {failure.message}")
    findings = []
    for access in sorted({access for _, _, sites in prepared for access in sites}):
        making = [each for each in prepared if access in each[2]][:MOST_PROGRAMS]
        for way in access.ways:
            on_progress(f"{target}: {access}: {way}")
            findings.append(_weakened(access, way, making))
    return findings


def _weakened(access: OrderedAccess, way: str, making: Sequence[tuple[Weakly, Machine, Sites]]) -> Finding:
    schedules = 0
    for program, machine, sites in making:
        failure, ran = goes_wrong(machine, sites[access], way)
        schedules += ran
        if failure is not None:
            return Finding(access, way, program, failure, schedules=schedules)
    return Finding(access, way, programs=len(making), schedules=schedules)
