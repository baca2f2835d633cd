"""The compiled functions that the Python of a rate limiter calls.

A word is an address, an offset, a participant, a number of a limiter, a time in ticks or a count; the first argument is
the address of the memory.
"""

from typing import Final

from latchfree.border import WORD, Border, Call
from latchfree.limiting.kernels import bucket

#: Address of the memory, participant, record and number of the limiter.
_HERE: Final = (WORD, WORD, WORD, WORD)

BUCKET: Final = Border(
    __name__,
    {
        "acquire": Call(bucket.acquire, (*_HERE, WORD, WORD, WORD), WORD),
        "refuse": Call(bucket.refuse, (*_HERE, WORD), WORD),
        "read": Call(bucket.read, (*_HERE, WORD), WORD),
        "set_back": Call(bucket.set_back, (*_HERE, WORD, WORD), WORD),
    },
)
