"""The possible states of one key of a map: sets of configurations, each set with a number of its own.

A configuration of a key is a pair of (slots of operations on it in flight that took effect, value); the slots may have
a tag besides, which says that a size counted the key. Equal sets have
equal numbers, so a frontier of many keys is a row of numbers. Sets are never changed; `Sets` are packed anew when many
are not used any more.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from latchfree.jit import kernel
from latchfree_lincheck.engine.compiled_models.opcodes import ABSENT, CLEAR, SNAPSHOT
from latchfree_lincheck.engine.compiled_models.states import mix
from latchfree_lincheck.engine.compiled_models.transition import Rows, is_read, judge
from latchfree_lincheck.engine.frontier.kernels.configurations import SLOTS, lowest_bit
from latchfree_lincheck.history.timeline import Ints, int64

EMPTY: Final = -1
FULL: Final = -2
"""In place of a set's number: it has no configuration; there is no room."""

TAG: Final = 1 << SLOTS

# The fields of `used`.
SETS: Final = 0
PAIRS: Final = 1

_PAIRS: Final = 1 << 19
_SETS: Final = 1 << 17
_BUFFER: Final = 1 << 9


class Sets(NamedTuple):
    """Sets of pairs: `first` and `many` say which rows of `pairs` are in a set, `table` finds its number."""

    pairs: Ints
    first: Ints
    many: Ints
    table: Ints
    used: Ints
    buffer: Ints


def new_sets() -> Sets:
    """Return room for sets."""
    return Sets(
        np.empty((_PAIRS, 2), np.int64),
        np.empty(_SETS, np.int64),
        np.empty(_SETS, np.int64),
        np.zeros(4 * _SETS, np.int64),
        np.zeros(2, np.int64),
        np.empty((_BUFFER, 2), np.int64),
    )


@kernel
def crowded(sets: Sets) -> bool:
    """Return whether the sets should be packed."""
    return bool(2 * sets.used[SETS] > len(sets.first) or 2 * sets.used[PAIRS] > len(sets.pairs))


@kernel
def number(sets: Sets, count: int) -> int:
    """Return the number of the set of the first `count` pairs of the buffer."""
    buffer = sets.buffer
    if count == 0:
        return EMPTY
    distinct = 1
    for i in range(1, count):
        slots, value = buffer[i, 0], buffer[i, 1]
        at = distinct
        while at > 0 and (buffer[at - 1, 0] > slots or (buffer[at - 1, 0] == slots and buffer[at - 1, 1] > value)):
            at -= 1
        if at > 0 and buffer[at - 1, 0] == slots and buffer[at - 1, 1] == value:
            continue
        for k in range(distinct, at, -1):
            buffer[k, 0], buffer[k, 1] = buffer[k - 1, 0], buffer[k - 1, 1]
        buffer[at, 0], buffer[at, 1] = slots, value
        distinct += 1
    h = np.uint64(distinct)
    for i in range(distinct):
        h = mix(int64(h ^ mix(buffer[i, 0], buffer[i, 1])), i)
    mask = np.uint64(len(sets.table) - 1)
    slot = h & mask
    while sets.table[slot] != 0:
        known = sets.table[slot] - 1
        same = sets.many[known] == distinct
        for i in range(distinct):
            if not same:
                break
            at = sets.first[known] + i
            same = sets.pairs[at, 0] == buffer[i, 0] and sets.pairs[at, 1] == buffer[i, 1]
        if same:
            return int(known)
        slot = (slot + np.uint64(1)) & mask
    if sets.used[SETS] == len(sets.first) or sets.used[PAIRS] + distinct > len(sets.pairs):
        return FULL
    new, at = sets.used[SETS], sets.used[PAIRS]
    for i in range(distinct):
        sets.pairs[at + i, 0], sets.pairs[at + i, 1] = buffer[i, 0], buffer[i, 1]
    sets.first[new], sets.many[new] = at, distinct
    sets.used[SETS], sets.used[PAIRS] = new + 1, at + distinct
    sets.table[slot] = new + 1
    return int(new)


@kernel
def _put(
    sets: Sets, nodes: Ints, shape: Ints, rows: Rows, owner: Ints, mine: int, count: int, slots: int, value: int
) -> int:
    """Add a pair to the buffer once all reads that are legal took effect; return how many there are."""
    waiting = mine & ~slots
    while waiting != 0:
        lowest = lowest_bit(waiting)
        bit = int64(1) << lowest
        waiting &= ~bit
        if is_read(rows, owner[lowest]):
            legal, _ = judge(nodes, shape, rows, owner[lowest], value)
            if legal:
                slots |= bit
    for i in range(count):
        if sets.buffer[i, 0] == slots and sets.buffer[i, 1] == value:
            return count
    sets.buffer[count, 0], sets.buffer[count, 1] = slots, value
    return count + 1


@kernel
def extended(
    sets: Sets, nodes: Ints, shape: Ints, rows: Rows, owner: Ints, known: int, mine: int, returning: int
) -> int:
    """Let operations of a key (`mine`) take effect until the one that returns has, or, if that is 0, as may be."""
    count = 0
    for i in range(sets.first[known], sets.first[known] + sets.many[known]):
        count = _put(sets, nodes, shape, rows, owner, mine, count, sets.pairs[i, 0], sets.pairs[i, 1])
    at = 0
    while at < count:
        slots, value = sets.buffer[at, 0], sets.buffer[at, 1]
        at += 1
        if slots & returning != 0:
            continue
        waiting = mine & ~slots
        while waiting != 0:
            lowest = lowest_bit(waiting)
            bit = int64(1) << lowest
            waiting &= ~bit
            legal, after = judge(nodes, shape, rows, owner[lowest], value)
            if legal:
                if count == len(sets.buffer):
                    return FULL
                count = _put(sets, nodes, shape, rows, owner, mine, count, slots | bit, after)
    if returning != 0:
        kept = 0
        for i in range(count):
            if sets.buffer[i, 0] & returning != 0:
                sets.buffer[kept, 0], sets.buffer[kept, 1] = sets.buffer[i, 0] & ~returning, sets.buffer[i, 1]
                kept += 1
        count = kept
    return number(sets, count)


@kernel
def narrowed(sets: Sets, known: int, code: int, wanted: int, without: int) -> int:
    """Let an operation on the whole map take effect, on pairs in which `without` did not.

    `wanted` is the value that a snapshot saw; a size lets all pass, and `tagged` says what it counted.
    """
    count = 0
    for i in range(sets.first[known], sets.first[known] + sets.many[known]):
        slots, value = sets.pairs[i, 0], sets.pairs[i, 1]
        if slots & without != 0 or (code == SNAPSHOT and value != wanted):
            continue
        sets.buffer[count, 0], sets.buffer[count, 1] = slots, ABSENT if code == CLEAR else value
        count += 1
    return number(sets, count)


@kernel
def tagged(sets: Sets, known: int) -> int:
    """Tag the configurations in which the key is there."""
    count = sets.many[known]
    for i in range(count):
        slots, value = sets.pairs[sets.first[known] + i, 0], sets.pairs[sets.first[known] + i, 1]
        sets.buffer[i, 0], sets.buffer[i, 1] = slots | TAG if value != ABSENT else slots, value
    return number(sets, count)


@kernel
def chosen(sets: Sets, known: int, tag: int) -> int:
    """Keep the configurations with this tag (TAG or 0), and take it off."""
    count = 0
    for i in range(sets.first[known], sets.first[known] + sets.many[known]):
        if sets.pairs[i, 0] & TAG == tag:
            sets.buffer[count, 0], sets.buffer[count, 1] = sets.pairs[i, 0] & ~TAG, sets.pairs[i, 1]
            count += 1
    return number(sets, count)


@kernel
def tags(sets: Sets, known: int) -> tuple[bool, bool]:
    """Return whether there is a configuration without a tag, and whether there is one with it."""
    without, with_it = False, False
    for i in range(sets.first[known], sets.first[known] + sets.many[known]):
        with_it |= sets.pairs[i, 0] & TAG != 0
        without |= sets.pairs[i, 0] & TAG == 0
    return without, with_it


@kernel
def pack(sets: Sets, ids: Ints, branches: int) -> None:
    """Forget all sets but those in the first rows of `ids`, which get their new numbers."""
    pairs, first, many = sets.pairs.copy(), sets.first.copy(), sets.many.copy()
    renumbered = np.full(sets.used[SETS], EMPTY)
    sets.table[:] = 0
    sets.used[:] = 0
    for branch in range(branches):
        for key in range(ids.shape[1]):
            old = ids[branch, key]
            if renumbered[old] == EMPTY:
                for i in range(many[old]):
                    sets.buffer[i, 0], sets.buffer[i, 1] = pairs[first[old] + i, 0], pairs[first[old] + i, 1]
                renumbered[old] = number(sets, many[old])
            ids[branch, key] = renumbered[old]
