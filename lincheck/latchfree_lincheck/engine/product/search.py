"""The search key by key from the outside: when it begins, its tables, its turns; see `kernels.advance`."""

from __future__ import annotations

from typing import Final

import numpy as np

from latchfree_lincheck.engine.border import ENGINE
from latchfree_lincheck.engine.bounds import Deadline
from latchfree_lincheck.engine.compiled_models.opcodes import ABSENT, CLEAR, SNAPSHOT
from latchfree_lincheck.engine.encoding.problem import Problem
from latchfree_lincheck.engine.frontier.kernels.configurations import SLOTS
from latchfree_lincheck.engine.outcome import Outcome, Slices
from latchfree_lincheck.engine.product.kernels import advance as k
from latchfree_lincheck.engine.product.kernels.sets import new_sets

_SLICE: Final = 200
_TURN: Final = 100
"""Steps between looks at the clock, and such slices in a turn: a step may take long."""
_HEAD_START: Final = 16
"""Turns of the other searches before it begins: they decide most histories, and its kernels take long to compile."""
_BRANCHES: Final = 1 << 12
_MEMORY: Final = 64 << 20
"""Bytes that its tables take at most."""


def _serves(problem: Problem, memory: int) -> bool:
    """Return whether the part is a map with operations on the whole of it."""
    codes = problem.parts.rows[:, 0]
    several = problem.kind == "value" and len(problem.initial) > 1
    room = _MEMORY + 8 * _BRANCHES * len(problem.initial)
    return bool(several and memory >= room and ((codes >= SNAPSHOT) & (codes <= CLEAR)).any())


def _run(problem: Problem, deadline: Deadline) -> Slices:
    """Search one part that it serves; yield now and then; return the outcome, which has no order."""
    for _ in range(_HEAD_START):
        yield
    parts, keys = problem.parts, len(problem.initial)
    sets = new_sets()
    branches = k.Branches(
        np.empty((_BRANCHES, keys), np.int64),
        np.zeros((_BRANCHES, k.COLUMNS), np.int64),
        np.zeros(4 * _BRANCHES, np.int64),
    )
    for key, value in enumerate(problem.initial.tolist()):
        sets.buffer[0] = 0, value
        branches.ids[0, key] = ENGINE.number(sets, 1)
    control = np.zeros(k.FIELDS, np.int64)
    control[k.BRANCHES] = 1
    in_flight = k.InFlight(np.zeros(SLOTS + 1, np.int64), np.zeros(len(parts.rows), np.int64), np.zeros(keys, np.int64))
    nodes, shape, part = np.zeros((1, 2), np.int64), np.array([0, 1, ABSENT]), problem.arrays(parts.rows)
    why = k.SLICE
    while True:
        for _ in range(_TURN):
            before = int(control[k.STEPS])
            why = ENGINE.advance_keys(
                control, part, in_flight, branches, sets, nodes, shape, deadline.slice(_SLICE),
            )  # fmt: skip
            deadline.spend(int(control[k.STEPS]) - before)
            if why != k.SLICE or deadline.passed() or deadline.spent():
                break
        if why == k.DONE:
            return Outcome(ordered=False)
        if why == k.BLOCKED:
            return Outcome(blocked=int(parts.index[parts.events[control[k.EVENT]] >> 1]))
        if why == k.CROWDED:
            return Outcome(gave_up="crowded")
        yield


class KeyByKey:
    """The searcher that keeps the keys of a map apart. It tells no order."""

    name = "product"
    tells_order = False
    calls = ("advance_keys",)

    def accepts(self, problem: Problem, memory: int) -> bool:
        """Return whether the part is a map with operations on the whole of it, and its tables fit the memory."""
        return _serves(problem, memory)

    def start(self, problem: Problem, memory: int, deadline: Deadline) -> Slices:
        """Search one part."""
        return _run(problem, deadline)
