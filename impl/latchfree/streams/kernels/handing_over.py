"""Puts and gets that write down whose a block of a message is, whatever happens in Python meanwhile.

Example: a call puts three blocks, whose offsets are in an array of the caller. The ring has room for two. The call
writes 0 over these two, so the array has exactly the blocks that are still the caller's. A signal handler that raises
before the caller sees what the call returned changes nothing of that: the caller frees the third block, and no other.

Invariant: while no compiled call runs, a block is in the array of its caller, or it is the ring's, or it is of who got
it; never two of them. Python cannot stop a compiled call. Specified in `spec/Messages.tla`.
"""

import numpy as np

from latchfree.jit import entry, kernel
from latchfree.kinds import Array, Handle, Word
from latchfree.streams.kernels import entry_points as calls
from latchfree.streams.kernels import ring as r


@entry
def put_block(mem: Handle, me: Word, ring: Word, number: Word, patience: Word, own: Array) -> Word:
    """Put the block in `own[0]`, see `entry_points.put`, and write 0 there if the ring has got it."""
    outcome = calls.put(mem, me, ring, number, own[0], patience)
    if outcome & ~calls.TELL == r.DONE:
        own[0] = 0
    return outcome


@entry
def get_block(mem: Handle, me: Word, ring: Word, number: Word, patience: Word, own: Array) -> Word:
    """Get the oldest block into `own[0]`, see `entry_points.get`."""
    outcome, block = calls.get(mem, me, ring, number, patience)
    if outcome & ~calls.TELL == r.DONE:
        own[0] = block
    return outcome


@kernel
def put_blocks(
    mem: Handle, me: Word, ring: Word, number: Word, first: Word, patience: Word, own: Array
) -> tuple[Word, Word]:
    """Put the blocks in `own[first:]`, see `entry_points.put_many`, and write 0 over those that the ring has got."""
    done, outcome = calls.put_many(mem, me, ring, number, first, patience, own)
    for k in range(first, done):
        own[np.int64(k)] = 0
    return done, outcome
