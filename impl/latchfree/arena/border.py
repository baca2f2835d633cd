"""The compiled functions that the Python of an arena calls.

A word is an address, an offset, a participant or a state; the first argument is the address of the arena.
"""

from typing import Final

from latchfree.arena.kernels import counting, directory, participants, pieces, state
from latchfree.border import FLAG, GIVEN_WORDS, NONE, WORD, WORDS, Border, Call

ARENA: Final = Border(
    __name__,
    {
        "claim": Call(participants.claim, (WORD, WORD), WORD),
        "release": Call(participants.release, (WORD, WORD, WORD), FLAG),
        "adopt": Call(participants.adopt, (WORD, WORD, WORD, WORD), FLAG),
        "collect": Call(participants.collect, (WORD, WORD), NONE),
        "read_state": Call(state.read, (WORD, WORD), WORD),
        "swap_state": Call(state.swap, (WORD, WORD, WORD, WORD), FLAG),
        "read_entries": Call(directory.read, (WORD, WORD, WORD, WORD), NONE),
        "take_entry": Call(directory.take, (WORD, WORD, WORD, WORD), FLAG),
        "change_entry": Call(directory.change, (WORD, WORD, WORD, WORD), FLAG),
        "fill_entry": Call(directory.fill, (WORD, WORD, WORD), NONE),
        "release_entry": Call(directory.release, (WORD, WORD, WORD), NONE),
        "count": Call(counting.count, (WORD, WORD, WORDS), WORD, nogil=True),
        "gather": Call(pieces.gather, (WORD, WORD, WORD, WORDS, WORDS), WORD),
        "scatter": Call(pieces.scatter, (WORD, WORD, GIVEN_WORDS, GIVEN_WORDS), NONE),
    },
)
