"""Runs of a real queue by many threads, with few different values."""

import random

from latchfree_lincheck import History, Operation
from latchfree_model import UNKNOWN


def queue_run(seed, threads, calls, values, *, lost=0.0, takes=0.5):
    """Simulate threads on a queue; a call takes effect at one instant, and takes its time before and after.

    Parameters
    ----------
    seed : hashable
        Of the simulation.
    threads, calls, values : int
        How many there are.
    lost : float
        The share of calls that never return; half of them take effect.
    takes : float
        The share of dequeues.
    """
    rng = random.Random(f"queue {seed}")
    queue, running, operations, time, begun = [], {}, [], 0, 0
    names = list(range(threads))
    while begun < calls or running:
        time += 1
        place = rng.randrange(threads)
        if place not in running:
            if begun < calls:
                begun += 1
                running[place] = [rng.random() < takes, rng.randrange(values), time, None]
        elif running[place][3] is None:
            call = running[place]
            never = rng.random() < lost
            if not never or rng.random() < 0.5:
                if call[0]:
                    call[1] = queue.pop(0) if queue else None
                else:
                    queue.append(call[1])
            call[3] = not never
        else:
            take, value, invoke, returns = running.pop(place)
            f, arguments = ("dequeue", ()) if take else ("enqueue", (value,))
            result = UNKNOWN if not returns else value if take else None
            operations.append(Operation(names[place], f, arguments, result, invoke, time if returns else None))
            if not returns:
                names[place] += threads
    return History(f"queue {seed}", operations)


def with_results_swapped(history, seed):
    """Return the history with the results of two dequeues exchanged."""
    rng = random.Random(f"swap {seed}")
    operations = list(history.operations)
    takes = [place for place, each in enumerate(operations) if each.f == "dequeue" and each.return_ is not None]
    if len(takes) < 2:
        return history
    one, other = rng.sample(takes, 2)
    first, second = operations[one], operations[other]
    operations[one] = Operation(first.process, first.f, first.arguments, second.result, first.invoke, first.return_)
    operations[other] = Operation(
        second.process, second.f, second.arguments, first.result, second.invoke, second.return_
    )
    return History(history.name, operations)
