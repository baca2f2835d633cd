"""The compiled functions that the Python of a ring calls.

A word is an address, an offset, a participant, a number of a ring, or an outcome; the first argument is the address of
the arena.
"""

from typing import Final

from latchfree.border import FLAG, GIVEN_INTS, INT, INTS, NONE, PAIR, WORD, Border, Call
from latchfree.streams.kernels import entry_points as ring
from latchfree.streams.kernels import handing_over, payload

#: Address of the arena, participant, ring and its number.
_HERE: Final = (WORD, WORD, WORD, WORD)

RING: Final = Border(
    __name__,
    {
        "create": Call(ring.create, (WORD, WORD, WORD, WORD, WORD, WORD), PAIR),
        "free": Call(ring.free, (WORD, WORD, WORD), NONE),
        "drop": Call(ring.drop, (WORD, WORD, WORD), NONE),
        "adopt": Call(ring.adopt, (WORD, WORD, WORD, WORD), NONE),
        "sweep": Call(ring.sweep, (WORD, WORD, WORD), NONE),
        "put": Call(ring.put, (*_HERE, INT, WORD), WORD),
        "get": Call(ring.get, (*_HERE, WORD), PAIR),
        "count": Call(ring.count, _HERE, WORD),
        "arm": Call(ring.arm, (*_HERE, WORD), WORD),
        "note": Call(ring.note, (*_HERE, WORD), NONE),
        "shut": Call(ring.shut, _HERE, WORD),
        "take_block": Call(payload.take_block, (WORD, WORD, WORD, INTS), FLAG),
        "free_blocks": Call(payload.free_blocks, (WORD, WORD, INTS), NONE),
        "put_block": Call(handing_over.put_block, (*_HERE, WORD, INTS), WORD),
        "get_block": Call(handing_over.get_block, (*_HERE, WORD, INTS), WORD),
        "put_blocks": Call(handing_over.put_blocks, (*_HERE, WORD, WORD, INTS), PAIR, nogil=True),
        "mend": Call(ring.mend, (WORD, WORD, WORD), WORD),
        "put_many": Call(ring.put_many, (*_HERE, WORD, WORD, GIVEN_INTS), PAIR, nogil=True),
        "get_many": Call(ring.get_many, (*_HERE, WORD, WORD, INTS), PAIR, nogil=True),
    },
)
