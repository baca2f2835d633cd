"""A queue searched by its dequeues: an enqueue gets its place in the order when somebody takes its item.

Example: sixteen threads put 1s and 2s into a queue and take them out an hour later. A search over states branches at
each pair of enqueues that overlap, and carries the product of all these choices until the items come out. Here nothing
is chosen before an item comes out.

The queue is first in, first out, so the enqueues in the order of their dequeues are a beginning of the order of all
enqueues. An enqueue may be the next to be taken if no other one that is not taken returned before it was called. If
this holds whenever an item is taken, there are instants for all enqueues: each as early as the order allows. A dequeue
that found nothing may take effect while every enqueue that has returned is taken.

Of several enqueues of one value that may be next, the one that returns first is taken: whatever is possible when it is
left in the queue, where it holds up more enqueues and more of the dequeues that found nothing, is possible when another
one is left. Of several dequeues of one value in flight the one that returns first takes effect first. So the choices
are only how many dequeues of each value in flight took effect, in which order. The search is just in time, as the
frontier's: dequeues take effect when one of them returns. When an enqueue returns, dequeues that found nothing may have
to take effect before, which needs others to do so.

A dequeue may have returned with a result that nobody saw: it is *hidden*. It took whatever may be next, one item of
each value, or found nothing while every enqueue that has returned was taken. Both are tried. Hidden dequeues are all
alike, so of those in flight the one that returns first takes effect first.
"""

from __future__ import annotations

from latchfree.jit import kernel
from latchfree_lincheck.engine.compiled_models.opcodes import ABSENT, ENQUEUE, UNKNOWN_RESULT
from latchfree_lincheck.engine.dequeues.kernels.configurations import (
    ACTIVE,
    AT,
    BASE,
    CLOSING,
    COLUMNS,
    EMPTIES,
    EMPTY_BEFORE,
    EVENT,
    FILLED,
    FIRST,
    HIDDEN,
    KEPT,
    LIVE,
    LOGGED,
    LOST,
    PATH,
    ROOM,
    STEPS,
    WRITTEN,
    Calls,
    Frontier,
    add,
    write_path,
)
from latchfree_lincheck.engine.dequeues.kernels.taking import expand
from latchfree_lincheck.engine.frontier.kernels.configurations import (
    BLOCKED,
    CROWDED,
    DONE,
    MORE_CONFIGURATIONS,
    MORE_LOG,
    SLICE,
    SLOTS,
    lowest_bit,
)
from latchfree_lincheck.history.timeline import NEVER_RETURNS, Ints, int64


@kernel
def _arrive(control: Ints, calls: Calls, frontier: Frontier, operation: int) -> bool:
    """Put a dequeue that was called into a slot; return False if there is none."""
    lost = calls.return_[operation] == NEVER_RETURNS
    field = LOST if lost else ACTIVE
    if control[field] == (int64(1) << SLOTS) - 1:
        return False
    slot = lowest_bit(~control[field])
    control[field] |= int64(1) << slot
    if lost:
        frontier.lost_owner[slot] = operation
    else:
        frontier.owner[slot] = operation
        frontier.place[operation] = slot
        if calls.rows[operation, 4] == ABSENT:
            control[EMPTIES] |= int64(1) << slot
        elif calls.rows[operation, 4] == UNKNOWN_RESULT:
            control[HIDDEN] |= int64(1) << slot
    return True


@kernel
def _begin(control: Ints, calls: Calls, frontier: Frontier, now: int) -> None:
    """Begin to extend the configurations at a return: dequeues that find nothing take effect where they may."""
    control[CLOSING] = 1
    control[BASE] += len(frontier.configurations)
    control[AT] = control[KEPT] = 0
    old = control[FILLED]
    control[FILLED] = 0
    for at in range(old):  # never ahead of the configuration that is read
        for column in range(COLUMNS):
            frontier.configurations[control[FILLED], column] = frontier.configurations[at, column]
        add(control, calls, frontier, frontier.configurations[at, PATH], -1, -1, now)
    control[FIRST] = control[FILLED]


@kernel
def advance(control: Ints, calls: Calls, frontier: Frontier, order: Ints, steps: int) -> int:
    """Go on for about `steps` steps; return why it stopped.

    Parameters
    ----------
    control : int64[FIELDS]
        Where the search is.
    calls, frontier : Calls and Frontier
        What is searched, and the configurations.
    order : int64[n, 3]
        Receives (dequeue, enqueue or -1, rank) as it becomes certain.
    steps : int
        How many steps.
    """
    configurations, kept, log = frontier.configurations, frontier.kept, frontier.log
    stop_at = control[STEPS] + steps
    while control[EVENT] < len(calls.events):
        now = control[EVENT]
        operation = calls.events[now] >> 1
        enqueue = calls.rows[operation, 0] == ENQUEUE
        if calls.events[now] & 1 == 0:
            if not enqueue and not _arrive(control, calls, frontier, operation):
                return CROWDED
            control[STEPS] += 1
            control[EVENT] += 1
            continue
        bit = int64(0) if enqueue else int64(1) << frontier.place[operation]
        unseen = control[EMPTIES] | control[HIDDEN]
        wanted = unseen if enqueue else bit
        if control[CLOSING] == 0:
            if control[STEPS] >= stop_at:
                return SLICE
            missing = False
            for at in range(control[FILLED]):
                if wanted & ~configurations[at, LIVE] != 0:
                    missing = True
                    break
            if not missing:
                for at in range(control[FILLED]):
                    configurations[at, LIVE] &= ~bit
                control[ACTIVE] &= ~bit
                control[EMPTIES] &= ~bit
                control[HIDDEN] &= ~bit
                control[STEPS] += 1
                control[EVENT] += 1
                continue
            if control[LOGGED] + (SLOTS + 1) * control[FILLED] > len(log):
                return MORE_LOG
            _begin(control, calls, frontier, now)
        while control[AT] < control[FILLED]:
            if control[STEPS] >= stop_at:
                return SLICE
            if control[FILLED] + ROOM > len(configurations):
                return MORE_CONFIGURATIONS
            if control[LOGGED] + ROOM * (SLOTS + 1) > len(log):
                return MORE_LOG
            at = control[AT]
            control[AT] = at + 1
            live = configurations[at, LIVE]
            if enqueue:
                keep = at < control[FIRST] or live & unseen != configurations[at, EMPTY_BEFORE]
            else:
                keep = live & bit != 0
            if keep:
                for column in range(COLUMNS):
                    kept[control[KEPT], column] = configurations[at, column]
                kept[control[KEPT], LIVE] = live & ~bit
                control[KEPT] += 1
            if wanted & ~live != 0:
                control[STEPS] += 1
                if not expand(control, calls, frontier, at, now):
                    return CROWDED
        if control[KEPT] == 0:
            return BLOCKED
        for at in range(control[KEPT]):
            for column in range(COLUMNS):
                configurations[at, column] = kept[at, column]
        control[FILLED] = control[KEPT]
        if control[FILLED] == 1:
            control[WRITTEN] = write_path(log, configurations[0, PATH], order, control[WRITTEN])
            configurations[0, PATH] = -1
            control[LOGGED] = 0
        control[CLOSING] = 0
        control[ACTIVE] &= ~bit
        control[EMPTIES] &= ~bit
        control[HIDDEN] &= ~bit
        control[STEPS] += 1
        control[EVENT] += 1
    return DONE
