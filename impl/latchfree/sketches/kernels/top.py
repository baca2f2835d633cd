"""Top-K: the most frequent items, by the counters of a Count-Min sketch and a table of candidates.

Example: "tea" is added for the 40th time. Its bucket of the table has four slots, of which the least frequent was
counted 12 times. So "tea" takes that slot: its hash by a compare-and-swap, then its bytes, then a seal over all.

Invariant: what a sealed slot holds is an item that was added: the seal is made of the hash and the bytes, so bytes of
two items that were written at the same time, or not written to the end, are not sealed. Whoever adds the item next
finds that out, and writes it anew. So nobody waits for a writer, and one who was killed leaves nothing that stays so.

The count of a slot is a hint for evicting; answers are made of the counters, which lose nothing.
"""

import numpy as np

from latchfree.atomics import cas, fetch_add, fetch_max, high_product, load, peek, store
from latchfree.jit import entry, kernel
from latchfree.kinds import Array, Flag, Handle, Word
from latchfree.sketches.kernels import count_min
from latchfree.sketches.kernels.record import FIRST_CELL, GONE, SHAPE, enter, leave, note_added
from latchfree.sketches.kernels.rows import DEPTH, WIDTH
from latchfree.words import mix

_0 = np.uint64(0)
_1 = np.uint64(1)
_7 = np.uint64(7)
_3 = np.uint64(3)
#: What the seal adds to the length of an item.
STEP = np.uint64(0x9E3779B97F4A7C15)

# The shape: as that of a Count-Min sketch, then
BUCKETS = SHAPE + np.uint64(2)
ITEMS = SHAPE + np.uint64(3)  # that are asked for

# The words of a slot, which are two cache lines.
HASH = np.uint64(0)
SEAL = np.uint64(1)
COUNT = np.uint64(2)
LENGTH = np.uint64(3)  # bytes of the item, and TEXT if it is a string; or INTEGER
BYTES = np.uint64(4)
SLOT_WORDS = np.uint64(16)
SLOTS = np.uint64(4)  # of a bucket

#: In the place of the length of an integer's bytes; beside the length of a string's.
INTEGER = np.uint64(256)
TEXT = np.uint64(512)
#: The bytes of an item at most.
MOST_BYTES = 96


@kernel
def bucket_of(mem: Handle, record: Word, h: Word) -> Word:
    """Return the offset of the first slot of the bucket of a hash."""
    table = record + FIRST_CELL + peek(mem, record + WIDTH) * peek(mem, record + DEPTH)
    return table + high_product(mix(h), peek(mem, record + BUCKETS)) * SLOTS * SLOT_WORDS


@kernel
def words_of(length: Word) -> Word:
    """Return how many words the bytes of an item take."""
    return _1 if length == INTEGER else min(((length & ~TEXT) + _7) >> _3, SLOT_WORDS - BYTES)


@kernel
def seal_start(h: Word, length: Word) -> Word:
    """Return the beginning of a seal, of the hash and the length; the bytes follow."""
    return mix(h ^ (length * STEP))


@kernel
def seal_of(mem: Handle, slot: Word, h: Word) -> Word:
    """Return the seal that a slot must have whose bytes are those of the item of a hash."""
    # spec: TopK!ReadBytes -- acquire, one word at an instant: bytes that change meanwhile do not fit the seal.
    length = load(mem, slot + LENGTH)
    seal = seal_start(h, length)
    for k in range(words_of(length)):
        # spec: TopK!ReadBytes
        seal = mix(seal ^ load(mem, slot + BYTES + np.uint64(k)))
    return seal | _1


@kernel
def is_sealed(mem: Handle, slot: Word, h: Word) -> Flag:
    """Return whether a slot holds the bytes of the item of a hash."""
    # spec: TopK!ReadSeal -- acquire.
    return load(mem, slot + SEAL) == seal_of(mem, slot, h)


@kernel
def least_of(mem: Handle, bucket: Word) -> Word:
    """Return the offset of the slot that is free, or has the lowest count."""
    least, lowest = bucket, ~_0
    for k in range(SLOTS):
        slot = bucket + np.uint64(k) * SLOT_WORDS
        # spec: none -- acquire: which slot is chosen is a guess, and the claim compares its hash.
        if load(mem, slot + HASH) == _0:
            return slot
        # spec: none -- acquire: a hint.
        count = load(mem, slot + COUNT)
        if count < lowest:
            least, lowest = slot, count
    return least


@kernel
def held_at(mem: Handle, bucket: Word, h: Word) -> Word:
    """Return the offset of the slot of a hash, or 0."""
    for k in range(SLOTS):
        slot = bucket + np.uint64(k) * SLOT_WORDS
        # spec: TopK!Look -- acquire.
        if load(mem, slot + HASH) == h:
            return slot
    return _0


@kernel
def wants(mem: Handle, record: Word, h: Word, estimate: Word) -> Flag:
    """Return whether an item is to be written into the table: frequent enough and not there, or not sealed."""
    bucket = bucket_of(mem, record, h)
    slot = held_at(mem, bucket, h)
    if slot != _0:
        # spec: none -- seq_cst (relaxed suffices): a hint.
        fetch_max(mem, slot + COUNT, estimate)
        return not is_sealed(mem, slot, h)
    slot = least_of(mem, bucket)
    # spec: none -- acquire: a guess, which the writing looks at again.
    return load(mem, slot + HASH) == _0 or load(mem, slot + COUNT) < estimate


@kernel
def install(mem: Handle, record: Word, h: Word, length: Word, given: Array) -> None:
    """Write an item into its bucket; nothing if somebody else has changed the slot meanwhile."""
    bucket = bucket_of(mem, record, h)
    slot = held_at(mem, bucket, h)
    if slot == _0:
        slot = least_of(mem, bucket)
        # spec: TopK!Look -- acquire.
        old = load(mem, slot + HASH)
        # spec: TopK!Claim -- seq_cst: of several that evict one item, one gets the slot.
        if not cas(mem, slot + HASH, old, h):
            return
    # spec: none -- release: a hint.
    store(mem, slot + COUNT, count_min.estimate(mem, record, h))
    # spec: TopK!WriteBytes -- release, one word at a time; somebody else may be writing another item.
    store(mem, slot + LENGTH, length)
    seal = seal_start(h, length)
    for k in range(words_of(length)):
        # spec: TopK!WriteBytes
        store(mem, slot + BYTES + np.uint64(k), given[k])
        seal = mix(seal ^ given[k])
    # spec: TopK!WriteSeal -- of the hash and the bytes that were meant, not of those that are there (mutants X8, X9).
    store(mem, slot + SEAL, seal | _1)


@entry
def add_one(mem: Handle, me: Word, record: Word, number: Word, h: Word, count: Word) -> Word:
    """Add to the count of an item; 1 if it is to be written into the table, else 0; or GONE."""
    if not enter(mem, me, record, number):
        return GONE
    wanted = wants(mem, record, h, count_min.add_plainly(mem, record, h, count))
    note_added(mem, record, count)
    leave(mem, me)
    return _1 if wanted else _0


@kernel
def add_many(mem: Handle, me: Word, record: Word, number: Word, hashes: Array, wanted: Array) -> Word:
    """Add one of each item, and write 1 for each that is to be written into the table, else 0; return 1, or GONE."""
    if not enter(mem, me, record, number):
        return GONE
    for k in range(len(hashes)):
        if k + count_min.AHEAD < len(hashes):
            count_min.ask_for(mem, record, hashes[k + count_min.AHEAD])
        wanted[k] = 1 if wants(mem, record, hashes[k], count_min.add_plainly(mem, record, hashes[k], _1)) else 0
    note_added(mem, record, np.uint64(len(hashes)))
    leave(mem, me)
    return _1


@kernel
def merge(mem: Handle, me: Word, record: Word, number: Word, theirs: Array, count: Word) -> Word:
    """Add all counters of another sketch of the same shape; the table is merged item by item. 1, or GONE."""
    if not enter(mem, me, record, number):
        return GONE
    for k in range(peek(mem, record + WIDTH) * peek(mem, record + DEPTH)):
        if theirs[k] != _0:
            # spec: none -- seq_cst, as in `count_min.add_plainly`.
            fetch_add(mem, record + FIRST_CELL + np.uint64(k), theirs[k])
    note_added(mem, record, count)
    leave(mem, me)
    return _1


@kernel
def put(mem: Handle, me: Word, record: Word, number: Word, h: Word, length: Word, given: Array) -> Word:
    """Write an item into the table if it belongs there; 1, or GONE."""
    if not enter(mem, me, record, number):
        return GONE
    if wants(mem, record, h, count_min.estimate(mem, record, h)):
        install(mem, record, h, length, given)
    leave(mem, me)
    return _1


@kernel
def read_sealed(mem: Handle, me: Word, record: Word, number: Word, out: Array) -> Word:
    """Copy the slots that are sealed, one after the other; return how many words were written, or GONE."""
    if not enter(mem, me, record, number):
        return GONE
    table = record + FIRST_CELL + peek(mem, record + WIDTH) * peek(mem, record + DEPTH)
    done = _0
    for k in range(peek(mem, record + BUCKETS) * SLOTS):
        slot = table + np.uint64(k) * SLOT_WORDS
        for j in range(SLOT_WORDS):
            # spec: TopK!ReadHash, TopK!ReadSeal, TopK!ReadBytes -- acquire, one word at an instant.
            out[done + np.uint64(j)] = load(mem, slot + np.uint64(j))
        h, length = out[done + HASH], out[done + LENGTH]
        seal = seal_start(h, length)
        for j in range(words_of(length)):
            seal = mix(seal ^ out[done + BYTES + np.uint64(j)])
        if h != _0 and out[done + SEAL] == seal | _1:
            # The count is that of the counters, as they are now.
            out[done + COUNT] = count_min.estimate(mem, record, h)
            done += SLOT_WORDS
    leave(mem, me)
    return done
