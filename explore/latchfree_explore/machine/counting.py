"""How many interleavings a schedule stands for: the linear extensions of its happens-before order.

Partial-order reduction runs one schedule of each equivalence class; the others are the orders of its steps that
respect happens-before. They are counted cut by cut: a cut is a number of steps for each thread, and each way to
reach it comes from a cut with one step less. That takes as many additions as there are cuts, so schedules that have
very many are left out, and once many have been counted, all but short ones: the sum is then a lower bound. (A sample
would not do: a few schedules stand for most interleavings.)
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from latchfree.jit import kernel
from latchfree.kinds import Array, Word
from latchfree_explore.board import layout as b
from latchfree_explore.board.layout import get

#: Cuts that a schedule may have, and all together; when those are used up, the cuts that it may have all the same.
_MANY = 1 << 18
_ALL = 1 << 26
_FEW = 1 << 9


class Count(NamedTuple):
    """Scratch and sum: `total` is the number, how many schedules were left out, and how many cuts were visited."""

    needs: Any  # (thread, step of it, other thread): steps of the other that come first
    ways: Any  # one a cut
    total: Any


def new_count(steps: int) -> Count:
    """Make room for schedules of so many steps."""
    return Count(
        np.zeros((b.MOST_THREADS, steps + 1, b.MOST_THREADS), np.int64), np.zeros(_MANY, np.float64), np.zeros(3)
    )


@kernel
def _fill_needs(board: Word, needs: Array, lengths: Array) -> None:
    """Find, for each step, how many steps of each thread happen before it."""
    threads = len(lengths)
    steps = get(board, b.STEPS)
    number = np.zeros((threads, steps + 1), np.int64)  # steps of a thread among the first so many
    for k in range(steps):
        thread = get(b.step(board, k), b.S_THREAD)
        for u in range(threads):
            number[u, k + 1] = number[u, k] + (u == thread)
    for k in range(steps):
        step = b.step(board, k)
        thread = get(step, b.S_THREAD)
        for u in range(threads):
            needs[thread, lengths[thread], u] = number[u, get(step, b.S_CLOCK + u)]
        needs[thread, lengths[thread], thread] = lengths[thread]
        lengths[thread] += 1


@kernel
def _extensions(needs: Array, lengths: Array, ways: Array) -> Word:
    """Return the number of orders in which all steps can be made, each after those it needs."""
    threads = len(lengths)
    cut = np.zeros(threads, np.int64)
    stride = np.ones(threads, np.int64)
    for t in range(1, threads):
        stride[t] = stride[t - 1] * (lengths[t - 1] + 1)
    ways[0] = 1.0
    for at in range(1, len(ways)):
        t = 0
        while cut[t] == lengths[t]:
            cut[t] = 0
            t += 1
        cut[t] += 1
        found = 0.0
        for u in range(threads):
            if cut[u] > 0:
                ready = True
                for v in range(threads):
                    if v != u and needs[u, cut[u] - 1, v] > cut[v]:
                        ready = False
                if ready:
                    found += ways[at - stride[u]]
        ways[at] = found
    return ways[len(ways) - 1]


@kernel
def add(board: Word, count: Any) -> None:
    """Count the last schedule, whose steps have clocks."""
    threads = get(board, b.THREADS)
    lengths = np.zeros(threads, np.int64)
    _fill_needs(board, count.needs, lengths)
    cuts = 1.0
    for t in range(threads):
        cuts *= lengths[t] + 1
    if cuts > (_MANY if count.total[2] + cuts <= _ALL else _FEW):
        count.total[1] += 1
    else:
        count.total[2] += cuts
        count.total[0] += _extensions(count.needs, lengths, count.ways[: np.int64(cuts)])
