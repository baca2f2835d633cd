"""A frontier of a map that is a product over its keys, for each choice of when operations on the whole map took effect.

Operations on different keys meet only in those on the whole map. So once it is chosen between which events those take
effect, what a history may have done is a product: any configuration of one key goes with any of another. A *branch* is
such a choice: which operations on the whole map in flight took effect, and for each key a set of configurations (see
`product_sets`). Where twenty keys are undecided between two values, a frontier of single configurations has a million,
and a branch has forty.

At the return of an operation on a key, every branch's set of that key is extended until it took effect; a branch whose
set becomes empty is dropped. Before that, operations on the whole map in flight may take effect, at that moment: a
moment before an invocation is no better than the one after it. Then of every key operations in flight may have taken
effect or not; a snapshot keeps what it saw of each key, a clear empties each, and a size is a branch for each choice of
the keys that are there, of those that may be or not. If the operation that returns took effect before the other one as
well, the moment of the next return does as well, so only configurations in which it had not are looked at.

Equal branches are one. The history is linearizable if and only if there is always a branch. Exact, but it tells no
order.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from latchfree.jit import kernel
from latchfree_lincheck.engine.frontier_state import SLOTS, lowest_bit
from latchfree_lincheck.engine.opcodes import CLEAR, SIZE, SNAPSHOT, UNKNOWN_RESULT
from latchfree_lincheck.engine.parts import NEVER_RETURNS
from latchfree_lincheck.engine.product_sets import EMPTY, FULL, Sets, crowded, extended, narrowed, pack, present
from latchfree_lincheck.engine.states import mix
from latchfree_lincheck.engine.timeline import Ints, int64
from latchfree_lincheck.engine.transition import Rows, is_read

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


@kernel
def _spawn(
    sets: Sets,
    nodes: Ints,
    shape: Ints,
    rows: Rows,
    contents: Ints,
    owner: Ints,
    on_key: Ints,
    ids: Ints,
    marks: Ints,
    branch: int,
    count: int,
    slot: int,
    without: int,
    key_of_it: int,
    alone: bool,
) -> int:
    """Append the branches in which the operation on the whole map in `slot` takes effect now; return their number.

    `without` is the operation that returns, on `key_of_it`, or 0; if no other one on the whole map can follow
    (`alone`), it must be able to. Returns FULL if there is no room.
    """
    keys = ids.shape[1]
    operation = owner[slot]
    code, result = rows[operation, 0], rows[operation, 4]
    if count == len(marks):
        return FULL
    sure, unsure = 0, 0
    open_keys = np.empty(keys, np.int64)
    for step in range(keys + 1):
        key = key_of_it if step == 0 else step - 1
        if step == 0 and without == 0:
            continue
        known = ids[branch, key]
        if on_key[key] != 0:
            known = extended(sets, nodes, shape, rows, owner, known, on_key[key], 0)
            if known == FULL:
                return FULL
        bit = without if key == key_of_it else 0
        if code != SIZE or bit != 0:
            wanted = contents[result, key] if code == SNAPSHOT and result != UNKNOWN_RESULT else 0
            rule = code if code != SIZE and (code == CLEAR or result != UNKNOWN_RESULT) else -1
            known = narrowed(sets, known, rule, wanted, bit)
        if known == FULL:
            return FULL
        if known == EMPTY:
            return count
        if step == 0:
            if alone and extended(sets, nodes, shape, rows, owner, known, on_key[key], without) == EMPTY:
                return count
            continue
        ids[count, key] = known
        if code == SIZE and result != UNKNOWN_RESULT:
            absent, there = present(sets, known)
            if absent and there:
                open_keys[unsure] = key
                unsure += 1
            else:
                sure += there
    marks[count] = marks[branch] | int64(1) << slot
    if code != SIZE or result == UNKNOWN_RESULT:
        return count + 1
    return _choose(sets, ids, marks, count, open_keys[:unsure], result - sure)


@kernel
def _choose(sets: Sets, ids: Ints, marks: Ints, count: int, open_keys: Ints, wanted: int) -> int:
    """Put in place of branch `count` one for each choice of so many of the open keys to be there."""
    many = len(open_keys)
    if wanted < 0 or wanted > many:
        return count
    if many > 20:
        return FULL
    model = ids[count].copy()
    mark = marks[count]
    for choice in range(1 << many):
        chosen = 0
        for i in range(many):
            chosen += choice >> i & 1
        if chosen != wanted:
            continue
        if count == len(marks):
            return FULL
        ids[count] = model
        marks[count] = mark
        for i in range(many):
            known = narrowed(sets, model[open_keys[i]], SIZE, choice >> i & 1, 0)
            if known == FULL:
                return FULL
            ids[count, open_keys[i]] = known
        count += 1
    return count


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
        h = mix(marks[branch], 0)
        for key in range(ids.shape[1]):
            h = mix(int64(h), ids[branch, key])
        slot = h & mask
        found = False
        while table[slot] != 0 and not found:
            other = table[slot] - 1
            found = marks[other] == marks[branch]
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
    events: Ints,
    return_: Ints,
    rows: Rows,
    contents: Ints,
    owner: Ints,
    place: Ints,
    on_key: Ints,
    sets: Sets,
    ids: Ints,
    marks: Ints,
    table: Ints,
    nodes: Ints,
    shape: Ints,
    steps: int,
) -> int:
    """Go on for about `steps` steps, of which each branch at each return is one; return why it stopped."""
    stop_at = control[STEPS] + steps
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
        while branch < count:
            waiting = control[WHOLE] & ~marks[branch]
            if whole and waiting & returning == 0:
                waiting = int64(0)
            while waiting != 0:
                slot = lowest_bit(waiting)
                waiting &= ~(int64(1) << slot)
                control[STEPS] += 1
                count = _spawn(
                    sets, nodes, shape, rows, contents, owner, on_key, ids, marks, branch, count, slot,
                    int64(0) if whole else returning, key, control[WHOLE] & ~marks[branch] == int64(1) << slot,
                )  # fmt: skip
                if count < 0:
                    return CROWDED
            branch += 1
        kept = 0
        for branch in range(count):
            if whole:
                if marks[branch] & returning == 0:
                    continue
            else:
                known = extended(sets, nodes, shape, rows, owner, ids[branch, key], on_key[key], returning)
                if known == FULL:
                    return CROWDED
                if known == EMPTY:
                    continue
                ids[branch, key] = known
            if kept != branch:
                ids[kept] = ids[branch]
            marks[kept] = marks[branch] & ~returning
            kept += 1
        if kept == 0:
            return BLOCKED
        control[STEPS] += kept
        control[BRANCHES] = _merge(ids, marks, kept, table) if kept > 1 else kept
        control[BUSY] &= ~returning
        control[WHOLE] &= ~returning
        if not whole:
            on_key[key] &= ~returning
        control[EVENT] += 1
    return DONE
