"""Record many small runs, of random schedules and of real threads, and check each against the specification."""

from __future__ import annotations

import contextlib
import random
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Final

from latchfree_evidence.refinement.traces.batch import ON_FORK, SKIPPED, Rejection, Trace, check_batch
from latchfree_evidence.refinement.traces.events import events_of
from latchfree_evidence.refinement.traces.explored import Log
from latchfree_evidence.refinement.traces.mains import TooLong
from latchfree_explore.scenario import Invocation, Scenario

if TYPE_CHECKING:
    from latchfree_evidence.refinement.traces.processes import TwoProcesses

LAYOUTS: Final = {"pairs": (0, 1, 2, 3), "lists": (0, 1, 2, 3), "tree": (0, 2, 4, 5), "list": (0, 1, 2)}
"""Layouts of keys, and the keys used: two slots at each level; in the lists, keys that collide wholly."""
SCHEDULES: Final = "random schedules"
THREADS: Final = "real threads"
PROCESSES: Final = "two processes"
_EACH: Final = 5
"""Schedules of one scenario."""
_BATCH: Final = {"pairs": 100, "tree": 100, "lists": 25, "list": 25}
"""The most traces that TLC takes at once; L-nodes are eleven levels down, so their traces are long."""
_LEAST: Final = 8
_SHORT: Final = ("lists", "list")
_TRIES: Final = 100
"""Scenarios drawn in a row, of which each is too long to be recorded."""
_MOST_VALUE: Final = 9
_CHANCES: Final = {
    "put": 6, "remove": 6, "get": 3, "put_if_absent": 1, "replace": 1, "replace_if": 2, "remove_if": 2,
    "snapshot": 2, "clear": 1,
}  # fmt: skip
_ON_FORK: Final = {"put": 5, "remove": 5, "get": 3, "replace_if": 2, "snapshot": 1, "clear": 1}
_WHOLE: Final = ("snapshot", "clear")


@dataclass
class Campaign:
    """The traces that were recorded, and the verdict of the specification.

    Attributes
    ----------
    traces : Counter
        Traces accepted, by where they come from.
    events, operations : int
        In those traces.
    batches : int
        Runs of TLC.
    actions : Counter
        How often each action was taken.
    seen : Counter
        How many traces have L-nodes, operations on a writable snapshot, four threads, a clear beside a snapshot.
    seconds : float
        Time that TLC took.
    rejected : Trace or None
        The first trace that is no behaviour of the specification.
    rejection : Rejection or None
        Where and why.
    complete : bool
        Whether as many traces were checked as were asked for.
    """

    traces: Counter[str] = field(default_factory=Counter)
    events: int = 0
    operations: int = 0
    batches: int = 0
    actions: Counter[str] = field(default_factory=Counter)
    seen: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0
    rejected: Trace | None = None
    rejection: Rejection | None = None
    complete: bool = False


def validate_traces(
    count: int,
    *,
    seed: int = 0,
    mutant: str | None = None,
    timeout: float | None = None,
    on_progress: Callable[[str], None] | None = None,
) -> Campaign:
    """Record runs of the Ctrie and check that each is a behaviour of its specification.

    Parameters
    ----------
    count : int
        How many traces; half of random schedules, half of real threads, of which every third in two processes.
    seed : int
        Of scenarios and schedules. What real threads do is not repeated by it.
    mutant : str, optional
        Record a seeded bug; it must be the first use of the structure in the process.
    timeout : float, optional
        Seconds after which no further batch is begun.
    on_progress : callable, optional
        Called now and then with what goes on.

    Returns
    -------
    Campaign

    Raises
    ------
    ValueError
        For an unknown mutant.
    RuntimeError
        If TLC fails, a schedule does not end, or a mutant comes too late.
    """
    say = on_progress or (lambda _: None)
    if mutant is not None:
        from latchfree_evidence.mutants import apply_mutant

        apply_mutant(mutant)
    from latchfree_evidence.refinement.traces.forked import TRACED
    from latchfree_evidence.refinement.traces.processes import TwoProcesses

    campaign = Campaign()
    deadline = None if timeout is None else time.monotonic() + timeout
    rng = random.Random(f"traces/{seed}")
    layouts = list(LAYOUTS)
    with TwoProcesses(TRACED, mutant) as processes:
        while (done := campaign.traces.total()) < count:
            if deadline is not None and time.monotonic() > deadline:
                return campaign
            layout = layouts[campaign.batches % len(layouts)]
            size = min(_BATCH[layout], max(_LEAST, count // len(layouts)), count - done)
            say(f"{done:,} of {count:,} traces accepted; recording")
            batch = list(_record(rng, layout, size, processes))
            say(f"{done:,} of {count:,} traces accepted; TLC is running on {len(batch)}")
            if not _accept(campaign, batch):
                return campaign
    campaign.complete = True
    return campaign


def _accept(campaign: Campaign, batch: list[Trace]) -> bool:
    begun = time.monotonic()
    rejection = check_batch(batch)
    campaign.seconds += time.monotonic() - begun
    campaign.batches += 1
    if rejection is not None:
        campaign.rejected, campaign.rejection = batch[rejection.trace], rejection
        return False
    for trace in batch:
        campaign.traces[trace.source] += 1
        campaign.events += len(trace.events)
        campaign.operations += sum(map(len, trace.scenario.threads))
        campaign.actions.update(event.action for event in trace.events)
        campaign.seen.update(_kinds(trace))
    return True


def _kinds(trace: Trace) -> set[str]:
    """Return what is special about a trace."""
    names = {each.f for thread in trace.scenario.threads for each in thread}
    found = {"four threads"} if len(trace.scenario.threads) > 3 else set()
    if any(event.seen.startswith("L ") for event in trace.events):
        found.add("L-nodes")
    if names & {"snapshot"} and names & {"clear"}:
        found.add("snapshot and clear")
    on_fork = [k for k, each in enumerate(trace.scenario.operations) if each.f.startswith(ON_FORK)]
    if any(trace.results[k] != SKIPPED for k in on_fork):
        found.add("writable snapshot")
    return found


def _record(rng: random.Random, layout: str, count: int, processes: TwoProcesses) -> Iterator[Trace]:
    """Record so many traces: half with real threads, the others with random schedules, five of each scenario."""
    from latchfree_evidence.refinement.traces.explored import log_schedules
    from latchfree_evidence.refinement.traces.forked import TRACED
    from latchfree_evidence.refinement.traces.logger import log_threads

    def in_processes(scenario: Scenario, seed: int) -> list[Log]:
        return [processes.log(scenario, seed)]

    def in_threads(scenario: Scenario, seed: int) -> list[Log]:
        return [log_threads(TRACED, scenario, seed)]

    threaded = count // 2
    for number in range(threaded):
        in_two = number % 3 == 1
        yield from _recorded(rng, layout, PROCESSES if in_two else THREADS, in_processes if in_two else in_threads)
    left = count - threaded
    while left:
        each = min(_EACH, left)
        left -= each
        yield from _recorded(rng, layout, SCHEDULES, partial(log_schedules, TRACED, count=each))


def _recorded(rng: random.Random, layout: str, source: str, log: Callable[..., Iterable[Log]]) -> list[Trace]:
    """Record a scenario; another one, if a run of it is too long to be recorded."""
    for _ in range(_TRIES):
        scenario = random_scenario(rng, layout)
        with contextlib.suppress(TooLong):
            return [trace_of(scenario, run, source) for run in log(scenario, seed=rng.getrandbits(30))]
    raise RuntimeError(f"{_TRIES} scenarios in a row are too long to be recorded")


def trace_of(scenario: Scenario, log: Log, source: str) -> Trace:
    """Return a run as a trace."""
    return Trace(scenario, tuple(log.results), tuple(events_of(log.steps, log.mains)), source)


def random_scenario(rng: random.Random, layout: str) -> Scenario:
    """Two to four threads of one to three operations, conditional ones too, on a trie that holds some of its keys.

    In every third scenario the first thread takes a writable snapshot, and half of the operations are on that. In the
    lists a thread has at most two operations.
    """
    keys = LAYOUTS[layout]
    forked = rng.random() < 1 / 3

    def operation() -> Invocation:
        on_fork = forked and rng.random() < 1 / 2
        names = _ON_FORK if on_fork else _CHANCES
        name = rng.choices([*names], [*names.values()])[0]
        key, expected, value = rng.choice(keys), rng.choice((1, 1, 2)), rng.randint(1, _MOST_VALUE)
        values = {"replace_if": (expected, value), "remove_if": (expected,), "remove": (), "get": ()}
        arguments = () if name in _WHOLE else (key, *values.get(name, (value,)))
        return Invocation(ON_FORK + name if on_fork else name, arguments)

    most = 2 if layout in _SHORT else 3
    threads = [[operation() for _ in range(rng.randint(1, most))] for _ in range(rng.randint(2, 4))]
    if forked:
        threads[0].insert(0, Invocation("fork"))
    before = tuple(Invocation("put", (key, 1)) for key in keys if rng.random() < 0.6)
    return Scenario(tuple(map(tuple, threads)), before, (), layout)
