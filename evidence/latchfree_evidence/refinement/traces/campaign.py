"""Record many small runs, of random schedules and of real threads, and check each against the specification."""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Final

from latchfree_evidence.refinement.traces.batch import Rejection, Trace, check_batch
from latchfree_evidence.refinement.traces.events import events_of
from latchfree_evidence.refinement.traces.explored import Log
from latchfree_explore.scenario import Invocation, Scenario

LAYOUTS: Final = {"pairs": (0, 1, 2, 3), "tree": (0, 2, 4, 5)}
"""Layouts of keys, and the keys used: two slots at each level."""
SCHEDULES: Final = "random schedules"
THREADS: Final = "real threads"
_EACH: Final = 5
"""Schedules of one scenario."""
_BATCH: Final = 100
_MOST_VALUE: Final = 9
_CHANCES: Final = {
    "put": 6, "remove": 6, "get": 3, "put_if_absent": 1, "replace": 1, "replace_if": 2, "remove_if": 2,
}  # fmt: skip


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
        How many traces; half of random schedules, half of real threads.
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
    campaign = Campaign()
    deadline = None if timeout is None else time.monotonic() + timeout
    rng = random.Random(f"traces/{seed}")
    layouts = list(LAYOUTS)
    while (done := campaign.traces.total()) < count:
        if deadline is not None and time.monotonic() > deadline:
            return campaign
        layout = layouts[campaign.batches % len(layouts)]
        say(f"{done:,} of {count:,} traces accepted; recording")
        batch = list(_record(rng, layout, min(_BATCH, count - done)))
        say(f"{done:,} of {count:,} traces accepted; TLC is running on {len(batch)}")
        begun = time.monotonic()
        rejection = check_batch(batch)
        campaign.seconds += time.monotonic() - begun
        campaign.batches += 1
        if rejection is not None:
            campaign.rejected, campaign.rejection = batch[rejection.trace], rejection
            return campaign
        for trace in batch:
            campaign.traces[trace.source] += 1
            campaign.events += len(trace.events)
            campaign.operations += sum(map(len, trace.scenario.threads))
            campaign.actions.update(event.action for event in trace.events)
    campaign.complete = True
    return campaign


def _record(rng: random.Random, layout: str, count: int) -> Iterator[Trace]:
    """Record so many traces: half with real threads, the others with random schedules, five of each scenario."""
    from latchfree_evidence.refinement.traces.explored import log_schedules
    from latchfree_evidence.refinement.traces.logger import log_threads
    from latchfree_evidence.targets.ctrie import CTRIE

    threaded = count // 2
    for _ in range(threaded):
        scenario = random_scenario(rng, layout)
        yield trace_of(scenario, log_threads(CTRIE, scenario, rng.getrandbits(30)), THREADS)
    left = count - threaded
    while left:
        scenario = random_scenario(rng, layout)
        each = min(_EACH, left)
        left -= each
        for log in log_schedules(CTRIE, scenario, rng.getrandbits(30), each):
            yield trace_of(scenario, log, SCHEDULES)


def trace_of(scenario: Scenario, log: Log, source: str) -> Trace:
    """Return a run as a trace."""
    return Trace(scenario, tuple(log.results), tuple(events_of(log.steps, log.mains)), source)


def random_scenario(rng: random.Random, layout: str) -> Scenario:
    """Two or three threads of one to three operations, conditional ones too, on a trie that holds some of four keys.

    Snapshots or clears, not both: a clear reads what a snapshot may still see, and the specification's does not.
    """
    keys = LAYOUTS[layout]
    whole = rng.choice(("snapshot", "clear"))

    def operation() -> Invocation:
        name = rng.choices([*_CHANCES, whole], [*_CHANCES.values(), 2 if whole == "snapshot" else 1])[0]
        if name == whole:
            return Invocation(name)
        key, expected, value = rng.choice(keys), rng.choice((1, 1, 2)), rng.randint(1, _MOST_VALUE)
        values = {"replace_if": (expected, value), "remove_if": (expected,), "remove": (), "get": ()}
        return Invocation(name, (key, *values.get(name, (value,))))

    threads = tuple(tuple(operation() for _ in range(rng.randint(1, 3))) for _ in range(rng.randint(2, 3)))
    before = tuple(Invocation("put", (key, 1)) for key in keys if rng.random() < 0.6)
    return Scenario(threads, before, (), layout)
