"""The compiled functions that the Python of a `MaskIndex` calls.

A word is an address, a byte, or eight bytes that are all the same.
"""

from typing import Final

from latchfree.border import (
    BYTES,
    FLAG,
    GIVEN_INTS,
    GIVEN_WORDS,
    INT,
    INTS,
    NONE,
    WORD,
    WORDS,
    Array,
    Border,
    Call,
    Fields,
)
from latchfree.topics.mask.kernels import records, search, shapes, table, trie

_TEXTS: Final = (WORD, GIVEN_INTS)
_FIELDS: Final = {"width": INT, "least": INT, "hides": FLAG, "most_words": INT, "distinct": FLAG}
_TABLES: Final = Fields(tuple(_FIELDS.get(name, WORD) for name in search.Tables._fields), search.Tables)
_ITEMS: Final = {"keys": "uint64", "word": "uint64", "loops": "uint8", "inner": "int64"}


def _trie(written: bool) -> Fields:
    return Fields(tuple(Array(_ITEMS.get(name, "uint32"), written) for name in trie.Trie._fields), trie.Trie)


MASK: Final = Border(
    __name__,
    {
        "search": Call(
            search.search,
            (_TABLES, _trie(written=False), *_TEXTS, INT, INT, FLAG, INTS, INTS, BYTES),
            INT,
            nogil=True,
        ),
        "scan_patterns": Call(
            shapes.scan_patterns, (*_TEXTS, WORD, WORD, WORD, WORD, WORDS, INTS, BYTES), NONE, nogil=True
        ),
        "write_records": Call(
            records.write_records,
            (*_TEXTS, GIVEN_INTS, GIVEN_INTS, GIVEN_INTS, INT, GIVEN_INTS, BYTES),
            NONE,
            nogil=True,
        ),
        "fill_table": Call(
            table.fill_table,
            (*_TEXTS, GIVEN_INTS, GIVEN_WORDS, GIVEN_INTS, GIVEN_INTS, WORD, WORD, WORDS, WORDS),
            NONE,
            nogil=True,
        ),
        "grow": Call(
            trie.grow,
            (_trie(written=True), WORD, WORD, GIVEN_INTS, GIVEN_INTS, GIVEN_INTS, WORD, WORD, WORD, WORD, INT),
            INT,
            nogil=True,
        ),
    },
)
