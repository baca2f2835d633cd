"""A frontier of a map that is a product over its keys, for each choice of when operations on the whole map took effect.

Operations on different keys meet only in those on the whole map. So once it is chosen between which events those take
effect, what a history may have done is a product: any configuration of one key goes with any of another. A *branch* is
such a choice: which operations on the whole map in flight took effect, and for each key a set of configurations (see
`sets`). Where twenty keys are undecided between two values, a frontier of single configurations has a million,
and a branch has forty.

At the return of an operation on a key, every branch's set of that key is extended until it took effect; a branch whose
set becomes empty is dropped. Before that, operations on the whole map in flight may take effect, at that moment: a
moment before an invocation is no better than the one after it. Then of every key operations in flight may have taken
effect or not; a snapshot keeps what it saw of each key, and a clear empties each. A size tags the configurations in
which a key is there; while it is *open*, of some keys both kinds are left, any of which can be chosen apart from the
others, so a branch stands while what is needed is neither below 0 nor above their number. When another size comes,
there is a branch for each choice. If the operation that returns took effect before one on the whole map, the moment of
the next return does as well, so only configurations in which it had not are looked at.

Equal branches are one. The history is linearizable if and only if there is always a branch. Exact, but it tells no
order.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from latchfree.jit import kernel
from latchfree_lincheck.engine.compiled_models.opcodes import CLEAR, SIZE, SNAPSHOT, UNKNOWN_RESULT
from latchfree_lincheck.engine.compiled_models.states import mix
from latchfree_lincheck.engine.compiled_models.transition import PartArrays, is_read
from latchfree_lincheck.engine.frontier.kernels.configurations import SLOTS, lowest_bit
from latchfree_lincheck.engine.product.kernels.sets import (
    EMPTY,
    FULL,
    TAG,
    Sets,
    chosen,
    crowded,
    extended,
    narrowed,
    pack,
    tagged,
    tags,
)
from latchfree_lincheck.history.timeline import NEVER_RETURNS, Ints, int64

# Why it stopped.
DONE: Final = 0
SLICE: Final = 1
BLOCKED: Final = 2
CROWDED: Final = 3

# The fields of `control`.
EVENT: Final = 0
BRANCHES: Final = 1
STEPS: Final = 2
BUSY: Final = 3
WHOLE: Final = 4
FIELDS: Final = 5

# The columns of `marks`.
DONE_WHOLE: Final = 0
"""Which operations on the whole map in flight took effect."""
NEED: Final = 1
OPEN: Final = 2
"""How many keys the open size counted, of so many of which it is undecided."""
COLUMNS: Final = 3

REPLACED: Final = -1
"""As NEED: other branches stand for this one."""
MOST_UNDECIDED: Final = 16
MOST_AT_ONCE: Final = 1 << 14
"""How many keys that are undecided are split over, and steps at one event: beyond that it gives up."""


class InFlight(NamedTuple):
    """Operations in flight.

    Attributes
    ----------
    owner : int64[SLOTS + 1]
        The operation in each slot.
    place : int64[n]
        The slot of each operation.
    on_key : int64[keys]
        Which slots hold operations on each key.
    """

    owner: Ints
    place: Ints
    on_key: Ints


class Branches(NamedTuple):
    """The branches.

    Attributes
    ----------
    ids : int64[room, keys]
        The number of each key's set.
    marks : int64[room, COLUMNS]
        What is chosen of operations on the whole map.
    table : int64[4 * room]
        Finds equal branches.
    """

    ids: Ints
    marks: Ints
    table: Ints


@kernel
def _replace(sets: Sets, ids: Ints, marks: Ints, branch: int, key: int, known: int) -> None:
    """Give a key another set; if that decides whether the open size counted it, say so."""
    if marks[branch, OPEN] > 0:
        without, with_it = tags(sets, ids[branch, key])
        if without and with_it:
            without, with_it = tags(sets, known)
            if not (without and with_it):
                marks[branch, OPEN] -= 1
                if with_it:
                    marks[branch, NEED] -= 1
                    known = chosen(sets, known, TAG)
    ids[branch, key] = known


@kernel
def _stands(sets: Sets, ids: Ints, marks: Ints, branch: int) -> bool:
    """Return whether the open size can have counted as many as it says; if only one choice is left, make it."""
    need, undecided = marks[branch, NEED], marks[branch, OPEN]
    if need < 0 or need > undecided:
        return False
    if undecided > 0 and need in (0, undecided):
        for key in range(ids.shape[1]):
            without, with_it = tags(sets, ids[branch, key])
            if without and with_it:
                ids[branch, key] = chosen(sets, ids[branch, key], 0 if need == 0 else TAG)
        marks[branch, NEED], marks[branch, OPEN] = 0, 0
    return True


@kernel
def _split(sets: Sets, ids: Ints, marks: Ints, branch: int, count: int) -> int:
    """Append a branch for each choice of what the open size counted; return their number, or FULL."""
    many = marks[branch, OPEN]
    undecided = np.empty(many, np.int64)
    found = 0
    for key in range(ids.shape[1]):
        without, with_it = tags(sets, ids[branch, key])
        if without and with_it:
            undecided[found] = key
            found += 1
    if many > MOST_UNDECIDED:
        return FULL
    for choice in range(1 << many):
        counted = 0
        for i in range(many):
            counted += choice >> i & 1
        if counted != marks[branch, NEED]:
            continue
        if count == len(marks):
            return FULL
        ids[count] = ids[branch]
        marks[count, DONE_WHOLE], marks[count, NEED], marks[count, OPEN] = marks[branch, DONE_WHOLE], 0, 0
        for i in range(many):
            key = undecided[i]
            ids[count, key] = chosen(sets, ids[branch, key], TAG if choice >> i & 1 else 0)
        count += 1
    return count


@kernel
def _spawn(
    sets: Sets,
    nodes: Ints,
    shape: Ints,
    part: PartArrays,
    in_flight: InFlight,
    branches: Branches,
    branch: int,
    count: int,
    slot: int,
    without: int,
    key_of_it: int,
    alone: bool,
) -> int:
    """Append the branch in which the operation on the whole map in `slot` takes effect now, if it can.

    `without` is the operation that returns, on `key_of_it`, or 0; if no other one on the whole map can follow
    (`alone`), it must be able to. Returns how many branches there are, or FULL.
    """
    rows, contents = part.rows, part.contents
    owner, on_key = in_flight.owner, in_flight.on_key
    ids, marks = branches.ids, branches.marks
    keys = ids.shape[1]
    code, result = rows[owner[slot], 0], rows[owner[slot], 4]
    if count == len(marks):
        return FULL
    sizes = code == SIZE and result != UNKNOWN_RESULT
    ids[count], marks[count] = ids[branch], marks[branch]
    marks[count, DONE_WHOLE] |= int64(1) << slot
    if sizes:
        marks[count, NEED] = result
    for step in range(keys + 1):
        key = key_of_it if step == 0 else step - 1
        if step == 0 and without == 0:
            continue
        known = ids[branch, key]
        if on_key[key] != 0:
            known = extended(sets, nodes, shape, rows, owner, known, on_key[key], 0)
            if known == FULL:
                return FULL
        if code != SIZE or key == key_of_it:
            sees = code == SNAPSHOT and result != UNKNOWN_RESULT
            wanted = contents[result, key] if sees else 0
            rule = code if code != SNAPSHOT or sees else SIZE
            known = narrowed(sets, known, rule, wanted, without if key == key_of_it else 0)
        if known == FULL:
            return FULL
        if known == EMPTY:
            return count
        if step == 0:
            if alone and extended(sets, nodes, shape, rows, owner, known, on_key[key], without) == EMPTY:
                return count
        elif sizes:
            counts = tagged(sets, known)
            if counts == FULL:
                return FULL
            absent, there = tags(sets, counts)
            if absent and there:
                marks[count, OPEN] += 1
                known = counts
            elif there:
                marks[count, NEED] -= 1
            ids[count, key] = known
        else:
            _replace(sets, ids, marks, count, key, known)
    return count + 1 if _stands(sets, ids, marks, count) else count


@kernel
def _merge(ids: Ints, marks: Ints, count: int, table: Ints) -> int:
    """Make equal branches one; return how many there are."""
    size = 4
    while size < 2 * count:
        size *= 2
    table[:size] = 0
    mask = np.uint64(size - 1)
    kept = 0
    for branch in range(count):
        h = mix(marks[branch, DONE_WHOLE], marks[branch, NEED])
        for key in range(ids.shape[1]):
            h = mix(int64(h), ids[branch, key])
        slot = h & mask
        found = False
        while table[slot] != 0 and not found:
            other = table[slot] - 1
            found = marks[other, DONE_WHOLE] == marks[branch, DONE_WHOLE] and marks[other, NEED] == marks[branch, NEED]
            for key in range(ids.shape[1]):
                if not found:
                    break
                found = ids[other, key] == ids[branch, key]
            slot = (slot + np.uint64(1)) & mask
        if not found:
            ids[kept] = ids[branch]
            marks[kept] = marks[branch]
            kept += 1
            table[slot] = kept
    return kept


@kernel
def advance(
    control: Ints,
    part: PartArrays,
    in_flight: InFlight,
    branches: Branches,
    sets: Sets,
    nodes: Ints,
    shape: Ints,
    steps: int,
) -> int:
    """Go on for about `steps` steps, of which each branch at each return is one or more; return why it stopped."""
    events, return_, rows = part.events, part.return_, part.rows
    owner, place, on_key = in_flight
    ids, marks, table = branches
    stop_at = control[STEPS] + steps
    weight = 1 + (len(on_key) >> 6)
    while control[EVENT] < len(events):
        event = events[control[EVENT]]
        operation = event >> 1
        whole = SNAPSHOT <= rows[operation, 0] <= CLEAR
        key = rows[operation, 1]
        if event & 1 == 0:
            control[EVENT] += 1
            if return_[operation] == NEVER_RETURNS and is_read(rows, operation):
                continue
            slot = lowest_bit(~control[BUSY])
            if slot >= SLOTS:
                return CROWDED
            bit = int64(1) << slot
            control[BUSY] |= bit
            owner[slot], place[operation] = operation, slot
            if whole:
                control[WHOLE] |= bit
            else:
                on_key[key] |= bit
            continue
        if control[STEPS] >= stop_at:
            return SLICE
        if crowded(sets):
            pack(sets, ids, control[BRANCHES])
            if crowded(sets):
                return CROWDED
        returning = int64(1) << place[operation]
        count, branch = control[BRANCHES], 0
        most = control[STEPS] + MOST_AT_ONCE
        while branch < count:
            waiting = control[WHOLE] & ~marks[branch, DONE_WHOLE]
            if whole and waiting & returning == 0:
                waiting = int64(0)
            while waiting != 0:
                slot = lowest_bit(waiting)
                waiting &= ~(int64(1) << slot)
                if marks[branch, OPEN] > 0 and rows[owner[slot], 0] == SIZE:
                    count = _split(sets, ids, marks, branch, count)
                    control[STEPS] += weight << marks[branch, OPEN] >> 4
                    marks[branch, NEED] = REPLACED
                    waiting = int64(0)
                else:
                    alone = control[WHOLE] & ~marks[branch, DONE_WHOLE] == int64(1) << slot
                    count = _spawn(
                        sets, nodes, shape, part, in_flight, branches, branch, count, slot,
                        int64(0) if whole else returning, key, alone,
                    )  # fmt: skip
                control[STEPS] += weight
                if count < 0 or control[STEPS] > most:
                    return CROWDED
            branch += 1
        kept = 0
        for branch in range(count):
            if marks[branch, NEED] == REPLACED:
                continue
            if whole:
                if marks[branch, DONE_WHOLE] & returning == 0:
                    continue
                marks[branch, DONE_WHOLE] &= ~returning
            else:
                known = extended(sets, nodes, shape, rows, owner, ids[branch, key], on_key[key], returning)
                if known == FULL:
                    return CROWDED
                if known == EMPTY:
                    continue
                _replace(sets, ids, marks, branch, key, known)
                if not _stands(sets, ids, marks, branch):
                    continue
            if kept != branch:
                ids[kept], marks[kept] = ids[branch], marks[branch]
            kept += 1
        if kept == 0:
            return BLOCKED
        control[STEPS] += weight * kept
        control[BRANCHES] = _merge(ids, marks, kept, table) if kept > 1 else kept
        control[BUSY] &= ~returning
        control[WHOLE] &= ~returning
        if not whole:
            on_key[key] &= ~returning
        control[EVENT] += 1
    return DONE
