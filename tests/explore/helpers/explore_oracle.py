"""The oracle of partial-order reduction: every interleaving, and which of them are equivalent, in plain Python."""

from latchfree_explore.board import layout as b
from latchfree_explore.machine import loop
from latchfree_explore.machine.machine import Machine
from latchfree_explore.strategies.bounded import BOUNDED
from latchfree_explore.strategies.dpor import DPOR

EVERY = 1 << 20
"""More preemptions than any schedule has."""


def schedules(machine, strategy, tamper=lambda machine: None):
    """Every schedule the strategy runs to its end, as (rows of its trace, outcome); `tamper` runs after each."""
    machine.start(strategy, bound=EVERY)
    found = []
    while machine.drive(1) != loop.COMPLETE:
        if machine.status != b.SLEEPING:
            calls = machine.call_rows
            outcome = (machine.status, *calls[:, b.C_RESULT].tolist())
            if machine.status == b.DONE:
                outcome += (*calls[:, b.C_BEFORE].tolist(),)
            found.append((machine.trace[: machine.board[b.STEPS]].tolist(), outcome))
        tamper(machine)
    return found


def every_interleaving(target, scenario):
    return schedules(Machine(target, scenario), BOUNDED)


def reduced(target, scenario, tamper=lambda machine: None):
    """What partial-order reduction runs, and how many interleavings it says that stands for."""
    machine = Machine(target, scenario)
    return schedules(machine, DPOR, tamper), float(machine.count.total[0])


def equivalence_class(rows):
    """The partial order of a schedule: its events, and which dependent ones come before which."""
    counts = {}
    names = []
    for row in rows:
        thread = row[b.S_THREAD]
        counts[thread] = counts.get(thread, 0) + 1
        names.append((thread, counts[thread]))
    order = {
        (names[i], names[j])
        for j in range(len(rows))
        for i in range(j)
        if rows[i][b.S_THREAD] != rows[j][b.S_THREAD] and _dependent(rows, i, j)
    }
    events = frozenset((name, row[b.S_KIND], row[b.S_AT], row[b.S_NEW]) for name, row in zip(names, rows, strict=True))
    return events, frozenset(order)


def _dependent(rows, i, j):
    one, other = rows[i], rows[j]
    if one[b.S_FLAGS] & b.RETURNS and other[b.S_FLAGS] & b.INVOKES:
        return True
    if one[b.S_FLAGS] & b.INVOKES and other[b.S_FLAGS] & b.RETURNS:
        return True
    writes = [row[b.S_OLD] != row[b.S_NEW] for row in (one, other)]
    if one[b.S_AT] == other[b.S_AT] != b.NOWHERE and any(writes):
        return True
    return (writes[1] and other[b.S_AT] in _awaited(rows, i)) or (writes[0] and one[b.S_AT] in _awaited(rows, j))


def _awaited(rows, k):
    """Words that a pause waits for: those its thread has read since it last paused."""
    words = set()
    if rows[k][b.S_KIND] == b.PAUSE:
        for row in reversed(rows[:k]):
            if row[b.S_THREAD] == rows[k][b.S_THREAD]:
                if row[b.S_KIND] == b.PAUSE:
                    break
                words.add(row[b.S_AT])
    return words
