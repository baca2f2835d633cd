"""The axioms of four memory models, compiled; `latchfree_explore.weak.axioms` and `derived` explain each line.

An event is a row of numbers: its thread (-1 for an initial write), kind, word (-1 for a fence), order, the event that
it reads from (-1 for none), and its place among the writes of its word. Initial writes come first, events of one thread
in program order.
"""

from __future__ import annotations

from typing import Final

from latchfree.jit import kernel
from latchfree.kinds import Array, Flag, Word
from latchfree_explore.judging.bits import (
    add,
    add_between,
    add_composed,
    add_same,
    clear,
    close,
    has,
    is_acyclic,
    is_irreflexive,
    put_in,
)

# Columns of an event.
THREAD: Final = 0
KIND: Final = 1
WORD: Final = 2
ORDER: Final = 3
SOURCE: Final = 4
PLACE: Final = 5
COLUMNS: Final = 6

# Kinds, in the order of `latchfree_explore.weak.graph.KINDS`, and orders.
READ: Final = 0
WRITE: Final = 1
UPDATE: Final = 2
FAILED: Final = 3
FENCE: Final = 4
PLAIN: Final = 0
RELAXED: Final = 1
ACQUIRE: Final = 2
RELEASE: Final = 3
BOTH: Final = 4
SEQ: Final = 5

# Relations, as numbers of the scratch memory.
PO: Final = 0
RF: Final = 1
MO: Final = 2
RB: Final = 3
HB: Final = 4
ECO: Final = 5
SAME: Final = 6
NEAR: Final = 7  # hb, or none
PSC_FENCES: Final = 8
PSC: Final = 9
_A: Final = 10
_B: Final = 11
_C: Final = 12
ANSWER: Final = _A
RELATIONS: Final = 13

# Masks.
ALL: Final = 0
STORES: Final = 1
READS: Final = 2
UPDATES: Final = 3
FENCES: Final = 4
ATOMIC_STORES: Final = 5
NOT_PLAIN: Final = 6
RELEASING_STORES: Final = 7
RELEASING_FENCES: Final = 8
ACQUIRING_READS: Final = 9
ACQUIRING_FENCES: Final = 10
STRONG: Final = 11
STRONG_FENCES: Final = 12
DELAYED: Final = 13  # on x86: stores that may wait in a buffer
EARLY: Final = 14  # on x86: loads that may pass them
KEPT: Final = 15  # on x86: all but fences that are no instruction
MASKS: Final = 16

# Models, as bits of the answer.
SC: Final = 1
TSO: Final = 2
SRA: Final = 4
RC11: Final = 8


@kernel
def _writes(kind: Word) -> Flag:
    return WRITE <= kind <= UPDATE


@kernel
def _sort(events: Array, i: Word, masks: Array) -> None:
    """Put an event into the masks."""
    thread, kind, order = events[i, THREAD], events[i, KIND], events[i, ORDER]
    own = thread >= 0
    writes, reads, fence = _writes(kind), kind != WRITE and kind != FENCE, kind == FENCE
    plain, seq = own and order == PLAIN, own and order == SEQ
    releases, acquires = own and order >= RELEASE, own and (order == ACQUIRE or order >= BOTH)
    for mask, holds in (
        (ALL, True),
        (STORES, writes),
        (READS, reads),
        (UPDATES, kind == UPDATE),
        (FENCES, fence),
        (ATOMIC_STORES, writes and not plain),
        (NOT_PLAIN, not plain),
        (RELEASING_STORES, writes and releases),
        (RELEASING_FENCES, fence and releases),
        (ACQUIRING_READS, reads and acquires),
        (ACQUIRING_FENCES, fence and acquires),
        (STRONG, seq),
        (STRONG_FENCES, seq and fence),
        (DELAYED, own and kind == WRITE and not seq),
        (EARLY, kind == READ),
        (KEPT, not fence or seq),
    ):
        if holds:
            put_in(masks[mask], i)


@kernel
def _relate(events: Array, relations: Array) -> None:
    """Make po, rf, mo, rb, and the pairs of events of one word."""
    size = events.shape[0]
    for relation in (PO, RF, MO, RB, SAME):
        clear(relations[relation])
    for i in range(size):
        source = events[i, SOURCE]
        if source >= 0:
            put_in(relations[RF, source], i)
        for j in range(size):
            mine, its = events[i, THREAD], events[j, THREAD]
            if its >= 0 and (mine < 0 or (mine == its and i < j)):
                put_in(relations[PO, i], j)
            if events[i, WORD] < 0 or events[i, WORD] != events[j, WORD]:
                continue
            put_in(relations[SAME, i], j)
            writes = _writes(events[j, KIND])
            if not writes:
                continue
            if _writes(events[i, KIND]) and events[i, PLACE] < events[j, PLACE]:
                put_in(relations[MO, i], j)
            if source >= 0 and i != j and events[source, PLACE] < events[j, PLACE]:
                put_in(relations[RB, i], j)


@kernel
def _is_atomic(events: Array) -> Flag:
    """Return whether each update comes right after the write that it read."""
    for i in range(events.shape[0]):
        if events[i, KIND] == UPDATE:
            first, last = events[events[i, SOURCE], PLACE], events[i, PLACE]
            if first >= last:
                return False
            for j in range(events.shape[0]):
                writes = _writes(events[j, KIND])
                if writes and events[j, WORD] == events[i, WORD] and first < events[j, PLACE] < last:
                    return False
    return True


@kernel
def _happens_before(relations: Array, masks: Array) -> None:
    """Make hb and eco, with A, B and C as scratch."""
    po, rf, same, hb = relations[PO], relations[RF], relations[SAME], relations[HB]
    a, b, c = relations[_A], relations[_B], relations[_C]
    for each in (a, b, c):
        clear(each)
    # a: the writes of a release sequence that are of its thread; b: those that updates add, or none
    add_same(a, masks[ATOMIC_STORES])
    for i in range(po.shape[0]):
        if has(masks[STORES], i):
            for w in range(po.shape[1]):
                a[i, w] |= po[i, w] & same[i, w] & masks[ATOMIC_STORES, w]
    add_between(b, masks[STORES], rf, masks[UPDATES])
    close(b)
    add_same(b, masks[ALL])
    add_composed(c, a, b)
    # c: release sequences; a: what publishes, and for what
    clear(a)
    clear(b)
    add_same(a, masks[RELEASING_STORES])
    add_between(a, masks[RELEASING_FENCES], po, masks[STORES])
    add_composed(b, a, c)
    # b: from what releases to the release sequence; a: what is read from that
    clear(a)
    clear(c)
    add_between(c, masks[STORES], rf, masks[NOT_PLAIN])
    add_composed(a, b, c)
    clear(c)
    add_same(c, masks[ACQUIRING_READS])
    add_between(c, masks[READS], po, masks[ACQUIRING_FENCES])
    clear(hb)
    add(hb, po)
    add_composed(hb, a, c)
    close(hb)
    eco = relations[ECO]
    clear(eco)
    for each in (RF, MO, RB):
        add(eco, relations[each])
    close(eco)
    clear(relations[NEAR])
    add(relations[NEAR], hb)
    add_same(relations[NEAR], masks[ALL])


@kernel
def _order_of_strong(relations: Array, masks: Array) -> None:
    """Make psc, and psc of fences alone, with A, B and C as scratch."""
    po, same, hb, near = relations[PO], relations[SAME], relations[HB], relations[NEAR]
    a, b, c = relations[_A], relations[_B], relations[_C]
    fences, psc = relations[PSC_FENCES], relations[PSC]
    for each in (a, b, c, fences, psc):
        clear(each)
    add_composed(a, hb, relations[ECO])
    add_composed(b, a, hb)
    add(b, hb)
    add_between(fences, masks[STRONG_FENCES], b, masks[STRONG_FENCES])
    # a: po to another word; c: scb
    clear(a)
    clear(b)
    for i in range(po.shape[0]):
        for w in range(po.shape[1]):
            a[i, w] = po[i, w] & ~same[i, w]
            c[i, w] = po[i, w] | (hb[i, w] & same[i, w])
    add_composed(b, a, hb)
    add_composed(c, b, a)
    add(c, relations[MO])
    add(c, relations[RB])
    clear(a)
    clear(b)
    add_same(a, masks[STRONG])
    add_between(a, masks[STRONG_FENCES], near, masks[ALL])
    add_composed(b, a, c)
    clear(a)
    add_same(a, masks[STRONG])
    add_between(a, masks[ALL], near, masks[STRONG_FENCES])
    add_composed(psc, b, a)
    add(psc, fences)


@kernel
def _buffered(events: Array, relations: Array, masks: Array) -> None:
    """Make what the order of x86-TSO contains, in A."""
    po, rf, a = relations[PO], relations[RF], relations[_A]
    clear(a)
    for i in range(po.shape[0]):
        if has(masks[KEPT], i):
            delayed = has(masks[DELAYED], i)
            for w in range(po.shape[1]):
                row = po[i, w] & masks[KEPT, w]
                a[i, w] |= row & ~masks[EARLY, w] if delayed else row
        for j in range(po.shape[0]):
            if has(rf[i], j) and events[i, THREAD] != events[j, THREAD]:
                put_in(a[i], j)
    add(a, relations[MO])
    add(a, relations[RB])


@kernel
def _communication(relations: Array, with_all: Flag) -> None:
    """Make rf, mo, rb, and all of po or po on the same word, in A."""
    po, same, a = relations[PO], relations[SAME], relations[_A]
    for i in range(po.shape[0]):
        for w in range(po.shape[1]):
            a[i, w] = po[i, w] if with_all else po[i, w] & same[i, w]
    for each in (RF, MO, RB):
        add(a, relations[each])


@kernel
def _write_order(relations: Array) -> None:
    """Make hb, mo, and psc of fences, in A."""
    a = relations[_A]
    clear(a)
    for each in (HB, MO, PSC_FENCES):
        add(a, relations[each])


@kernel
def prepare(events: Array, relations: Array, masks: Array) -> None:
    """Make the relations that all models are about."""
    for mask in range(MASKS):
        for w in range(masks.shape[1]):
            masks[mask, w] = 0
    for i in range(events.shape[0]):
        _sort(events, i, masks)
    _relate(events, relations)
    _happens_before(relations, masks)


@kernel
def allowing(events: Array, relations: Array, masks: Array, asked: Word) -> Word:
    """Return those of the models asked for that allow a graph, as bits; the scratch memory keeps the relations."""
    prepare(events, relations, masks)
    if not _is_atomic(events):
        return 0
    found = 0
    if asked & SC:
        _communication(relations, True)
        found |= SC if is_acyclic(relations[_A]) else 0
    if asked & TSO:
        _communication(relations, False)
        if is_acyclic(relations[_A]):
            _buffered(events, relations, masks)
            found |= TSO if is_acyclic(relations[_A]) else 0
    if not asked & (SRA | RC11):
        return found
    a = relations[_A]
    clear(a)
    add(a, relations[HB])
    add_composed(a, relations[HB], relations[ECO])
    if not is_irreflexive(a):
        return found
    clear(a)
    add(a, relations[PO])
    add(a, relations[RF])
    if not is_acyclic(a):
        return found
    _order_of_strong(relations, masks)
    clear(a)
    add(a, relations[PSC])
    if not is_acyclic(a):
        return found
    if asked & SRA:
        _write_order(relations)
        found |= SRA if is_acyclic(a) else 0
    return found | (asked & RC11)


@kernel
def opposed(events: Array, relations: Array, masks: Array, model: Word) -> None:
    """Make the pairs of events, in A, of which a model does not let the first happen after the second.

    Under SC and x86-TSO that is the order in which accesses take effect. Else it is extended coherence between what
    happens before and after; and with SRA the order of all writes.
    """
    prepare(events, relations, masks)
    a = relations[_A]
    if model == SC:
        _communication(relations, True)
        close(a)
    elif model == TSO:
        _buffered(events, relations, masks)
        close(a)
    else:
        _order_of_strong(relations, masks)
        _write_order(relations)
        if model == SRA:
            close(a)
        else:
            clear(a)
        clear(relations[_B])
        add_composed(relations[_B], relations[NEAR], relations[ECO])
        add_composed(a, relations[_B], relations[NEAR])
