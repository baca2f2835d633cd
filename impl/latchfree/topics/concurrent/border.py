"""The compiled functions that the Python of a `ConcurrentTrie` calls.

A word is an address, an offset, a participant, a number of a subscription, or an outcome; the first argument is the
address of the arena.
"""

from typing import Final

from latchfree.border import GIVEN_INTS, INT, INTS, WORD, WORDS, Border, Call, Fields
from latchfree.topics.concurrent.kernels import near, rows, single, whole
from latchfree.topics.concurrent.kernels.collect import Buffers
from latchfree.topics.concurrent.kernels.digits import Grammar
from latchfree.topics.concurrent.kernels.rows import Descent

_GRAMMAR: Final = Fields((WORD,) * len(Grammar._fields), Grammar)
_BUFFERS: Final = Fields((WORDS,) * len(Buffers._fields), Buffers)
_DESCENT: Final = Fields((WORDS,) * len(Descent._fields), Descent)
#: Address of the arena, trie, participant or the word that has it, rules, and texts.
_CHANGE: Final = (WORD, WORD, WORD, WORD, WORD, GIVEN_INTS)

TOPICS: Final = Border(
    __name__,
    {
        "create": Call(whole.create, (WORD,) * 4, WORD),
        "scan": Call(whole.scan, (WORD, WORD, WORD, WORDS, WORDS), INT, nogil=True),
        "near": Call(near.near, (*(WORD,) * 6, WORD, WORDS, WORDS, WORDS, WORDS), INT, nogil=True),
        "match_rows": Call(
            rows.match_rows,
            (WORD, WORD, WORD, WORD, _GRAMMAR, WORD, WORD, GIVEN_INTS, INT, INTS, INTS, _BUFFERS),
            INT,
            nogil=True,
        ),
        "add_rows": Call(rows.add_rows, (*_CHANGE, WORD, WORD, WORD, INT, WORDS, _DESCENT), INT, nogil=True),
        "drop_rows": Call(rows.drop_rows, (*_CHANGE, WORDS, INTS, INT, _DESCENT), INT, nogil=True),
        "match_text": Call(
            single.match_text, (WORD, WORD, WORD, WORD, _GRAMMAR, WORD, GIVEN_INTS, INTS, INTS, _BUFFERS), WORD
        ),
        "add_text": Call(single.add_text, (*_CHANGE, WORD, WORD, WORDS, _DESCENT), WORD),
        "drop_text": Call(single.drop_text, (*_CHANGE, WORDS, INTS, _DESCENT), WORD),
    },
)
