"""Free memory: a chunk and free lists of each participant, and lists shared by all.

Example: a thread that only removes frees its 128th node of 5 words. The 64 nodes that were freed first move, as one
batch, to the shared list of that size. A thread that only inserts finds its own list empty and takes the batch.

Invariant: a word belongs to at most one of: the unused tail of the arena, the unused tail of one participant's
chunk, one node in use, one node on one free list.

Sizes are rounded to **size classes**: exact up to 8 words, multiples of four up to 72 (a full C-node has 67), powers of
two above. A free node links to the next through word 0. A participant whose list of a class grows long moves the older
part to the class's shared list as a *batch*, and a participant that runs out takes a batch from there: so memory
travels from threads that remove to threads that insert. Where to cut is known without a walk: the *edge* is the node
that was pushed when the list held exactly one batch. It is in the list as long as the length says more than a batch,
since both count every push and pop. A shared list is a Treiber stack of batches; a batch links to the next through word
1 of its first node. The head carries a version in its upper 24 bits: a popper that was delayed between reading the head
and its CAS fails even if the same batch has come back to the top (ABA).

A participant may be killed between any two instructions. Its private words are written in such an order, kept
by compiler barriers, that a node in its hands is then lost but never in two places.
"""

import sys

import numpy as np

from latchfree.arena.kernels.node import size_of
from latchfree.arena.layout import (
    H_BUMP,
    H_CAPACITY,
    H_CHUNK,
    H_IDENTITY,
    P_ADDRESS,
    P_BUMP,
    P_EDGE,
    P_FD,
    P_FREE,
    P_LENGTH,
    P_LIMIT,
    P_LIVE,
    SHARED_LISTS,
)
from latchfree.atomics import barrier, cas, in_line, load, load_unsure, out_of_line, peek, poke, prefetch
from latchfree.border.objects import room
from latchfree.jit import external, kernel
from latchfree.kinds import Flag, Handle, Word

_0 = np.uint64(0)
_1 = np.uint64(1)
_EXACT = np.uint64(72)
_SMALLEST_POWER = np.uint64(7)
CLASSES = np.uint64(92)
_OFFSET = np.uint64((1 << 40) - 1)
_VERSION = np.uint64(1 << 40)
_BYTES = np.uint64(8)
_SMALL = np.uint64(8)
_STEP = np.uint64(4)
_LARGEST = np.uint64(1 << 20)
_RESERVE_SHARE = np.uint64(64)
_RESERVE_MOST = np.uint64(1 << 16)

# Reserve disk or shared memory for a range of a file now, so that running out is an error and not a signal.
if sys.platform == "linux":
    _madvise = external("madvise", "int32(uint64, uint64, int32)")
    _posix_fallocate = external("posix_fallocate", "int32(int32, int64, int64)")
    _pread = external("pread", "int64(int32, uint64, uint64, int64)")
else:  # only private arenas, which reserve nothing

    @kernel
    def _madvise(address: Word, length: Word, advice: int) -> int:
        return 0

    @kernel
    def _posix_fallocate(descriptor: int, offset: int, length: int) -> int:
        return 0

    @kernel
    def _pread(descriptor: int, address: Word, length: Word, offset: int) -> int:
        return 0


_POPULATE_WRITE = np.int32(23)
_PAGES = ~np.uint64(4095)


@kernel
def round_up(words: Word) -> Word:
    """Return the size of the class that holds `words` words."""
    if words <= _SMALL:
        return words
    if words <= _EXACT:
        return (words + _STEP - _1) & ~(_STEP - _1)
    return _power_for(words)


@kernel
def _power_for(words: Word) -> Word:
    """Return the size of a large class that holds `words` words."""
    out_of_line()
    size = np.uint64(128)
    while size < words:
        size <<= _1
    return size


@kernel
def size_class(size: Word) -> Word:
    """Return the index of the free list of a size: 0 .. 71 for 1 .. 72 words, 72 + k for 2**(7 + k) words."""
    return size - _1 if size <= _EXACT else _large_class(size)


@kernel
def _large_class(size: Word) -> Word:
    """Return the index of the free list of a power of two."""
    out_of_line()
    k = _0
    while (_1 << (_SMALLEST_POWER + k)) < size:
        k += _1
    return _EXACT + k


@kernel
def class_size(kind: Word) -> Word:
    """Return the words of the nodes on free list `kind`."""
    return kind + _1 if kind < _EXACT else _1 << (_SMALLEST_POWER + kind - _EXACT)


@kernel
def piece_of(gap: Word) -> Word:
    """Return the words of the first free node to make of a gap: the largest class that leaves no single word."""
    if gap <= _SMALL:
        return gap
    size = np.uint64(128)
    if gap < size:
        size = min(gap, _EXACT) & ~(_STEP - _1)
    else:
        while size < _LARGEST and size << _1 <= gap:
            size <<= _1
    if gap - size != _1:
        return size
    return _EXACT if size > _EXACT else size - _STEP


@kernel
def batch_of(kind: Word) -> Word:
    """Return how many nodes travel together between a private and the shared list."""
    if kind < _SMALL:
        return np.uint64(64)
    return np.uint64(16) if kind < _EXACT else _1


@kernel
def reserve_of(capacity: Word) -> Word:
    """Return the words at the end of an arena that only urgent attempts may use: removals, snapshots, clear."""
    return min(capacity // _RESERVE_SHARE, _RESERVE_MOST)


@kernel
def _push(mem: Handle, me: Word, kind: Word, node: Word) -> Word:
    """Put a node on the private list; return how many are on it now."""
    head = me + P_FREE + kind
    poke(mem, node, peek(mem, head))
    barrier(mem)
    poke(mem, head, node)
    # Killed before the length is written it is too small, which is safe: then the edge is not used.
    barrier(mem)
    length = peek(mem, me + P_LENGTH + kind)
    if length == batch_of(kind):
        poke(mem, me + P_EDGE + kind, node)
        barrier(mem)
    poke(mem, me + P_LENGTH + kind, length + _1)
    return length + _1


@kernel
def _unlink(mem: Handle, me: Word, kind: Word, node: Word) -> None:
    """Take the first node off the private list."""
    length = peek(mem, me + P_LENGTH + kind)
    # Length first, as in `_push` last: it may be too small, so it stops at nothing.
    poke(mem, me + P_LENGTH + kind, length - min(length, _1))
    barrier(mem)
    below = peek(mem, node)
    poke(mem, me + P_FREE + kind, below)
    # It comes from a place that was not in use for a while, and is the next to be taken.
    prefetch(mem, below)
    prefetch(mem, below + kind)


@kernel
def spill(mem: Handle, me: Word, kind: Word) -> None:
    """Move the nodes below the edge from the private to the shared list."""
    out_of_line()
    edge = peek(mem, me + P_EDGE + kind)
    first = peek(mem, edge)
    poke(mem, edge, _0)
    barrier(mem)
    # The list may be longer still; then the rest of it travels next time.
    poke(mem, me + P_LENGTH + kind, batch_of(kind))
    while first != _0:
        # Acquire is enough: nothing is read through the old head.
        old = load(mem, SHARED_LISTS + kind)
        poke(mem, first + _1, old & _OFFSET)
        # spec: FreeList!Push -- seq_cst (release suffices): publishes the links of the batch.
        if cas(mem, SHARED_LISTS + kind, old, first | ((old & ~_OFFSET) + _VERSION)):
            return


@kernel
def refill(mem: Handle, me: Word, kind: Word) -> Word:
    """Take a batch from the shared list into the empty private one, and return its first node (NIL: none)."""
    while True:
        # spec: FreeList!PopRead -- acquire: pairs with the push that published the batch.
        old = load(mem, SHARED_LISTS + kind)
        first = old & _OFFSET
        if first == _0:
            return _0
        # The batch may be gone and in use by now; then what is read here is nonsense, and the CAS fails.
        below = load_unsure(mem, first + _1) & _OFFSET
        # spec: FreeList!PopCas -- the version in the head makes it fail if the head has ever changed.
        if cas(mem, SHARED_LISTS + kind, old, below | ((old & ~_OFFSET) + _VERSION)):
            poke(mem, me + P_FREE + kind, first)
            poke(mem, me + P_LENGTH + kind, batch_of(kind))
            return first


@kernel
def put_back(mem: Handle, me: Word, node: Word, kind: Word) -> None:
    """Put a free node of class `kind` on the private list, or with others on the shared one."""
    if _push(mem, me, kind, node) >= batch_of(kind) * np.uint64(2) and kind > _0:
        spill(mem, me, kind)


@kernel
def give(mem: Handle, me: Word, node: Word, size: Word) -> None:
    """Free a node of a rounded size that nobody can reach any more."""
    poke(mem, me + P_LIVE, peek(mem, me + P_LIVE) - size)
    put_back(mem, me, node, size_class(size))


@kernel
def free(mem: Handle, me: Word, node: Word) -> None:
    """Free a node, whatever its size, that nobody can reach any more."""
    give(mem, me, node, round_up(size_of(mem, node)))


@kernel
def carve(mem: Handle, me: Word, start: Word, end: Word) -> None:
    """Free the words from `start` to `end`, in pieces."""
    while start < end:
        size = piece_of(end - start)
        _push(mem, me, size_class(size), start)
        start += size


@kernel
def _use_chunk(mem: Handle, me: Word, start: Word, end: Word) -> None:
    """Go on with another chunk; the rest of the old one becomes free nodes."""
    bump, limit = peek(mem, me + P_BUMP), peek(mem, me + P_LIMIT)
    # In between the chunk is empty, so a successor never finds the start of one and the end of the other.
    poke(mem, me + P_LIMIT, _0)
    barrier(mem)
    poke(mem, me + P_BUMP, start)
    barrier(mem)
    poke(mem, me + P_LIMIT, end)
    barrier(mem)
    carve(mem, me, bump, limit)


@kernel
def _is_of_arena(mem: Handle, descriptor: Word) -> Flag:
    """Return whether a descriptor is one of the arena's file: the file has the arena's random number."""
    found = room(1)
    read = _pread(np.int32(descriptor), found, _BYTES, np.int64(H_IDENTITY * _BYTES))
    return read == np.int64(_BYTES) and peek(found, _0) == peek(mem, H_IDENTITY)


@kernel
def _is_reserved(mem: Handle, me: Word, start: Word, size: Word) -> Flag:
    """Have the system reserve memory for `size` words from `start`. False: there is none.

    Through a descriptor that somebody has closed, whose number may be another file's by now, nothing is reserved.
    """
    address, descriptor = peek(mem, me + P_ADDRESS), peek(mem, me + P_FD)
    if address != _0:
        # Through the mapping, for a descriptor may have been closed by somebody and be another file's by now.
        first = (address + start * _BYTES) & _PAGES
        return _madvise(first, address + (start + size) * _BYTES - first, _POPULATE_WRITE) == 0
    if descriptor != _0 and _is_of_arena(mem, descriptor - _1):
        return _posix_fallocate(np.int32(descriptor - _1), np.int64(start * _BYTES), np.int64(size * _BYTES)) == 0
    return True


@kernel
def _grow(mem: Handle, me: Word, size: Word, urgent: Word) -> Flag:
    """Take a new chunk that has room for `size` words. False: the arena has no room, nothing changed."""
    capacity = peek(mem, H_CAPACITY)
    ordinary = capacity - reserve_of(capacity)
    while True:
        # Acquire is enough: the words of a chunk hold nothing that anyone published.
        start = load(mem, H_BUMP)
        take = max(peek(mem, H_CHUNK), size)
        if start + take > ordinary:
            take = size
            if start + take > (ordinary if urgent == _0 else capacity):
                return False
        if not _is_reserved(mem, me, start, take):
            return False
        if cas(mem, H_BUMP, start, start + take):
            break
    if start == peek(mem, me + P_LIMIT):
        # It continues the old one, so a lone participant wastes nothing.
        poke(mem, me + P_LIMIT, start + take)
    else:
        _use_chunk(mem, me, start, start + take)
    return True


@kernel
def _pop(mem: Handle, me: Word, kind: Word) -> Word:
    """Take a free node of a class, NIL if there is none on the private or the shared list."""
    head = me + P_FREE + kind
    node = peek(mem, head)
    if node == _0:
        node = refill(mem, me, kind)
        if node == _0:
            return _0
    _unlink(mem, me, kind, node)
    barrier(mem)
    return node


@kernel
def _recycle(mem: Handle, me: Word, size: Word) -> Flag:
    """Make the largest free node a chunk, if it has room for `size` words. To cut small nodes up would leave crumbs."""
    for k in range(CLASSES - _EXACT):
        kind = CLASSES - _1 - np.uint64(k)
        if class_size(kind) < size:
            return False
        node = _pop(mem, me, kind)
        if node != _0:
            _use_chunk(mem, me, node, node + class_size(kind))
            return True
    return False


@kernel
def _split(mem: Handle, me: Word, size: Word) -> Word:
    """Cut `size` words off a larger free node, whose rest goes back to a list; NIL if there is none."""
    for kind in range(size_class(size) + _1, CLASSES):
        node = _pop(mem, me, np.uint64(kind))
        if node != _0:
            carve(mem, me, node + size, node + class_size(np.uint64(kind)))
            return node
    return _0


@kernel
def _take_elsewhere(mem: Handle, me: Word, kind: Word, size: Word, urgent: Word) -> Word:
    """Take a node where the private list is empty."""
    out_of_line()
    node = _pop(mem, me, kind)
    if node == _0:
        short = peek(mem, me + P_BUMP) + size > peek(mem, me + P_LIMIT)
        if short and not _grow(mem, me, size, urgent) and not _recycle(mem, me, size):
            node = _split(mem, me, size)
            if node == _0:
                return _0
        else:
            node = peek(mem, me + P_BUMP)
            poke(mem, me + P_BUMP, node + size)
    return _taken(mem, me, node, size)


@kernel
def _taken(mem: Handle, me: Word, node: Word, size: Word) -> Word:
    """Count a node as in use and return it."""
    poke(mem, me + P_LIVE, peek(mem, me + P_LIVE) + size)
    # The node must have left its place before anything is written into it.
    barrier(mem)
    return node


@kernel
def take(mem: Handle, me: Word, size: Word, urgent: Word) -> Word:
    """Take a node of a rounded size, its content arbitrary; NIL when the arena has none."""
    in_line()
    kind = size_class(size)
    node = peek(mem, me + P_FREE + kind)
    if node == _0:
        return _take_elsewhere(mem, me, kind, size, urgent)
    _unlink(mem, me, kind, node)
    return _taken(mem, me, node, size)
