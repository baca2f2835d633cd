"""One thread of a stress run, compiled: random operations on a Ctrie, each recorded between two tickets.

Keys are 0 .. keys-1, values are never written twice.
"""

from typing import Any, NamedTuple

import numpy as np

from latchfree.arena.kernels.epochs import pin, unpin
from latchfree.atomics import load, peek, store
from latchfree.ctrie.kernels.insert import ALWAYS, FULL, IF_ABSENT, IF_EQUAL, IF_PRESENT, insert
from latchfree.ctrie.kernels.lookup import lookup
from latchfree.ctrie.kernels.nodes import NIL
from latchfree.ctrie.kernels.registry import FROZEN, drop
from latchfree.ctrie.kernels.remove import remove
from latchfree.ctrie.kernels.scan import CURSOR_WORDS, advance, count, start
from latchfree.ctrie.kernels.snapshot import clear, freeze
from latchfree.ctrie.kernels.snode import KEY, VALUE
from latchfree.jit import kernel
from latchfree.kinds import Array, Handle, Word
from latchfree_evidence.jitter import random_word
from latchfree_evidence.tickets import ONE, STOP, invoked, returned, wait_for_all
from latchfree_lincheck.engine.compiled_models import opcodes as op

ABSENT = -1
#: In a row of contents: a value nobody ever writes.
SPOILT = -2

#: Chances in 1000 of each operation, in the order of the opcodes; GET takes the rest.
MIX = {
    op.PUT: 250,
    op.REMOVE: 200,
    op.PUT_IF_ABSENT: 50,
    op.REPLACE_IF: 60,
    op.REMOVE_IF: 50,
    op.REPLACE: 50,
    op.CONTAINS: 30,
    op.SNAPSHOT: 20,
    op.SIZE: 15,
    op.CLEAR: 5,
}


def thresholds() -> Any:
    """Return, for each opcode, the random number below which the opcode is chosen."""
    bounds = np.zeros(11, np.int64)
    total = 0
    for code, chance in MIX.items():
        total += chance
        bounds[code] = total
    return bounds


@kernel
def _choose(bounds: Array, draw: Word) -> Word:
    for code in range(1, 11):
        if draw < bounds[code]:
            return code
    return op.GET


@kernel
def _value(mem: Handle, node: Word) -> Word:
    return np.int64(peek(mem, node + VALUE)) if node != NIL else ABSENT


@kernel
def read(mem: Handle, me: Word, root: Word, cursor: Array, nodes: Array, contents: Array) -> None:
    """Write the contents below a registered frozen root into one row of `contents`, pinned only while in the trie."""
    contents[:] = ABSENT
    pin(mem, me)
    start(mem, root, cursor)
    while True:
        unpin(mem, me)
        pin(mem, me)
        found = advance(mem, cursor, nodes)
        for k in range(found):
            contents[np.int64(peek(mem, nodes[k] + KEY))] = np.int64(peek(mem, nodes[k] + VALUE))
        if found < len(nodes):
            unpin(mem, me)
            return


@kernel
def give_up(mem: Handle, trie: Word, me: Word, slot: Word) -> None:
    """Drop a snapshot."""
    pin(mem, me)
    drop(mem, trie, me, slot)
    unpin(mem, me)


class CtrieRun(NamedTuple):
    """What all threads of a run have in common.

    Attributes
    ----------
    trie : offset
    shared : address
        Of the words of `latchfree_evidence.tickets`.
    threads, rounds, keys : int
    bounds : int64[11]
        See `thresholds`.
    """

    trie: Word
    shared: Word
    threads: Word
    rounds: Word
    keys: Word
    bounds: Array


@kernel
def work(mem: Handle, run: CtrieRun, me: Word, random: Word, process: Word, rows: Array, contents: Array) -> Word:
    """Run equal rounds of operations; all threads meet between rounds.

    A thread keeps its last snapshot open until it takes another, and then reads it once more: its contents must not
    have changed, though all that has been removed since could have been freed. Where they have, the row of the snapshot
    is spoilt, which no order of the operations explains.

    Parameters
    ----------
    mem : handle
        The base address of the arena.
    run : CtrieRun
        What all threads of the run have in common.
    me : address
        The thread's participant.
    random : address
        Its random state.
    process : int
        Its number, from 0.
    rows : int64[n, 8]
        Where it records its operations.
    contents : int64[m, keys]
        Where it records contents: a snapshot takes the next row; where none is left, a get takes the snapshot's place.

    Returns
    -------
    int
        The number of rows written, negative if the arena was full.
    """
    trie, shared, threads, rounds, keys = run.trie, run.shared, run.threads, run.rounds, run.keys
    cursor = np.zeros(CURSOR_WORDS, np.uint64)
    nodes = np.zeros(64, np.uint64)
    seen = np.zeros(keys, np.int64)
    each = len(rows) // rounds
    again = np.zeros(keys, np.int64)
    held = NIL
    snapshots = 0
    n = 0
    for r in range(rounds):
        wait_for_all(shared, np.uint64((r + 1) * threads))
        for _ in range(each):
            if load(shared, STOP) != NIL:
                return n
            code = _choose(run.bounds, np.int64(random_word(random) % np.uint64(1000)))
            if code == op.SNAPSHOT and snapshots == len(contents):
                code = op.GET
            if code == op.SNAPSHOT and held != NIL:
                read(mem, me, peek(mem, held + FROZEN), cursor, nodes, again)
                if (again != contents[snapshots - 1]).any():
                    contents[snapshots - 1, :] = SPOILT
                give_up(mem, trie, me, held)
                held = NIL
            key = np.int64(random_word(random) % np.uint64(keys))
            fresh = np.int64(process + threads * n)
            a: Word = fresh
            b = np.int64(0)
            result: Word = np.int64(0)
            full = False
            invoke = invoked(shared)
            pin(mem, me)
            if code == op.GET or code == op.CONTAINS:
                result = _value(mem, lookup(mem, trie, me, key))
                seen[key] = result if result != ABSENT else seen[key]
                if code == op.CONTAINS:
                    result = np.int64(result != ABSENT)
            elif code == op.REPLACE_IF:
                a = seen[key]
                b = fresh
                node = insert(mem, trie, me, key, fresh, IF_EQUAL, a)
                full = node == FULL
                result = np.int64(node != NIL)
            elif code == op.REMOVE_IF:
                a = seen[key]
                node = remove(mem, trie, me, key, IF_EQUAL, a)
                full = node == FULL
                result = np.int64(node != NIL)
            elif code == op.REMOVE:
                node = remove(mem, trie, me, key, ALWAYS, 0)
                full = node == FULL
                result = ABSENT if full else _value(mem, node)
            elif code == op.CLEAR:
                full = clear(mem, trie, me) == FULL
            elif code == op.SNAPSHOT or code == op.SIZE:
                slot = freeze(mem, trie, me)
                full = slot == FULL
                if full:
                    pass
                elif code == op.SNAPSHOT:
                    result = snapshots
                    held = slot
                    # Registered, it needs no pin between one read and the next.
                    unpin(mem, me)
                    read(mem, me, peek(mem, slot + FROZEN), cursor, nodes, contents[snapshots])
                    pin(mem, me)
                    snapshots += 1
                else:
                    result = count(mem, peek(mem, slot + FROZEN), cursor, nodes)
                    drop(mem, trie, me, slot)
            else:
                mode = ALWAYS
                if code == op.PUT_IF_ABSENT:
                    mode = IF_ABSENT
                elif code == op.REPLACE:
                    mode = IF_PRESENT
                node = insert(mem, trie, me, key, fresh, mode, np.int64(0))
                full = node == FULL
                result = ABSENT if full else _value(mem, node)
            unpin(mem, me)
            finish = returned(shared, invoke)
            if full:
                store(shared, STOP, ONE)
                return -n - 1
            row = rows[n]
            row[0] = process
            row[1] = code
            row[2] = key
            row[3] = a
            row[4] = b
            row[5] = result
            row[6] = np.int64(invoke)
            row[7] = np.int64(finish)
            n += 1
    if held != NIL:
        give_up(mem, trie, me, held)
    return n
