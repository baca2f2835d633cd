"""The compiled functions that the Python of sketches calls.

A word is an address, an offset, a participant, a number of a sketch, a hash or a count; the first argument is the
address of the memory.
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
    Border,
    Call,
)
from latchfree.sketches.kernels import bloom, count_min, hashing, hyperloglog, inverse, record

#: Address of the memory, participant, record and number of the sketch.
_HERE: Final = (WORD, WORD, WORD, WORD)
_HASHES: Final = (*_HERE, GIVEN_WORDS)

SKETCH: Final = Border(
    __name__,
    {
        "create": Call(record.create, (WORD, WORD, WORD), WORD),
        "free": Call(record.free, (WORD, WORD, WORD), NONE),
        "end": Call(record.end, (WORD, WORD), WORD),
        "is_quiet": Call(record.is_quiet, (WORD, WORD), FLAG),
        "added": Call(record.added, _HERE, WORD),
        "copy": Call(record.copy, (*_HERE, WORDS), WORD, nogil=True),
        "hash_int": Call(hashing.hash_int, (WORD, INT), WORD),
        "hash_blob": Call(hashing.hash_blob, (WORD, WORD, WORD), WORD),
        "hash_ints": Call(hashing.hash_ints, (WORD, GIVEN_INTS, WORDS), NONE, nogil=True),
        "hash_blobs": Call(hashing.hash_blobs, (WORD, WORD, GIVEN_INTS, WORDS), NONE, nogil=True),
        "bloom_add": Call(bloom.add_one, (*_HERE, WORD), WORD),
        "bloom_contains": Call(bloom.contains_one, (*_HERE, WORD), WORD),
        "bloom_add_many": Call(bloom.add_many, _HASHES, WORD, nogil=True),
        "bloom_contains_many": Call(bloom.contains_many, (*_HASHES, BYTES), WORD, nogil=True),
        "bloom_merge": Call(bloom.merge, (*_HASHES, WORD), WORD, nogil=True),
        "hll_add": Call(hyperloglog.add_one, (*_HERE, WORD), WORD),
        "hll_add_many": Call(hyperloglog.add_many, _HASHES, WORD, nogil=True),
        "hll_count_ranks": Call(hyperloglog.count_ranks, (*_HERE, INTS), WORD, nogil=True),
        "hll_merge": Call(hyperloglog.merge, (*_HASHES, WORD), WORD, nogil=True),
        "count_add": Call(count_min.add_one, (*_HERE, WORD, WORD), WORD),
        "count_estimate": Call(count_min.estimate_one, (*_HERE, WORD), WORD),
        "count_add_many": Call(count_min.add_many, _HASHES, WORD, nogil=True),
        "count_add_counts": Call(count_min.add_counts, (*_HASHES, GIVEN_INTS), WORD, nogil=True),
        "count_estimate_many": Call(count_min.estimate_many, (*_HASHES, INTS), WORD, nogil=True),
        "count_merge": Call(count_min.merge, (*_HASHES, WORD), WORD, nogil=True),
        "inverse_add": Call(inverse.add_one, (*_HERE, WORD), WORD),
        "inverse_contains": Call(inverse.contains_one, (*_HERE, WORD), WORD),
        "inverse_add_many": Call(inverse.add_many, (*_HASHES, BYTES), WORD, nogil=True),
        "inverse_contains_many": Call(inverse.contains_many, (*_HASHES, BYTES), WORD, nogil=True),
    },
)
