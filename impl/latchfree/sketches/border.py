"""The compiled functions that the Python of sketches calls.

A word is an address, an offset, a participant, a number of a sketch, a hash or a count; the first argument is the
address of the memory, unless memory is not touched.
"""

from typing import Final

from latchfree.arena.kernels.freelists import round_up
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
from latchfree.sketches.kernels import (
    bloom,
    count_min,
    counting,
    hashing,
    hyperloglog,
    inverse,
    kll,
    minhash,
    partitioned,
    record,
    scalable,
    stable,
    top,
)
from latchfree.sketches.kernels.foreign import bits, bits_spark, counters, coupons, rows_datasketches, rows_spark

#: Address of the memory, participant, record and number of the sketch.
_HERE: Final = (WORD, WORD, WORD, WORD)
_HASHES: Final = (*_HERE, GIVEN_WORDS)
#: What the hash of another library is given, integers or bytes, and what it writes.
_INTS: Final = (GIVEN_WORDS, GIVEN_INTS, WORDS)
_BLOBS: Final = (GIVEN_WORDS, WORD, GIVEN_INTS, WORDS)

SKETCH: Final = Border(
    __name__,
    {
        "round_up": Call(round_up, (WORD,), WORD),
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
        "partitioned_add": Call(partitioned.add_one, (*_HERE, WORD), WORD),
        "partitioned_contains": Call(partitioned.contains_one, (*_HERE, WORD), WORD),
        "partitioned_add_many": Call(partitioned.add_many, _HASHES, WORD, nogil=True),
        "partitioned_contains_many": Call(partitioned.contains_many, (*_HASHES, BYTES), WORD, nogil=True),
        "counting_add": Call(counting.add_one, (*_HERE, WORD), WORD),
        "counting_count": Call(counting.count_one, (*_HERE, WORD), WORD),
        "counting_remove": Call(counting.remove_one, (*_HERE, WORD), WORD),
        "counting_add_many": Call(counting.add_many, _HASHES, WORD, nogil=True),
        "counting_contains_many": Call(counting.contains_many, (*_HASHES, BYTES), WORD, nogil=True),
        "counting_remove_many": Call(counting.remove_many, (*_HASHES, BYTES), WORD, nogil=True),
        "counting_merge": Call(counting.merge, (*_HASHES, WORD), WORD, nogil=True),
        "scalable_add": Call(scalable.add_one, (*_HERE, WORD), WORD),
        "scalable_contains": Call(scalable.contains_one, (*_HERE, WORD), WORD),
        "scalable_last": Call(scalable.last_one, _HERE, WORD),
        "scalable_add_many": Call(scalable.add_many, _HASHES, WORD, nogil=True),
        "scalable_contains_many": Call(scalable.contains_many, (*_HASHES, BYTES), WORD, nogil=True),
        "stable_add": Call(stable.add_one, (*_HERE, WORD), WORD),
        "stable_contains": Call(stable.contains_one, (*_HERE, WORD), WORD),
        "stable_add_many": Call(stable.add_many, (*_HASHES, BYTES), WORD, nogil=True),
        "stable_contains_many": Call(stable.contains_many, (*_HASHES, BYTES), WORD, nogil=True),
        "minhash_add": Call(minhash.add_one, (*_HERE, WORD), WORD),
        "minhash_add_many": Call(minhash.add_many, _HASHES, WORD, nogil=True),
        "minhash_merge": Call(minhash.merge, (*_HASHES, WORD), WORD, nogil=True),
        "kll_add": Call(kll.add_one, (*_HERE, WORD, WORD), WORD),
        "kll_add_many": Call(kll.add_many, (*_HERE, WORD, GIVEN_WORDS), WORD, nogil=True),
        "kll_absorb": Call(kll.absorb_many, (*_HERE, WORD, WORD, GIVEN_WORDS, GIVEN_WORDS), WORD, nogil=True),
        "kll_read": Call(kll.read, (*_HERE, WORDS), WORD, nogil=True),
        "kll_count": Call(kll.count_added, (*_HERE, WORD), WORD),
        "top_add": Call(top.add_one, (*_HERE, WORD, WORD), WORD),
        "top_add_many": Call(top.add_many, (*_HASHES, BYTES), WORD, nogil=True),
        "top_put": Call(top.put, (*_HERE, WORD, WORD, GIVEN_WORDS), WORD),
        "top_read": Call(top.read_sealed, (*_HERE, WORDS), WORD, nogil=True),
        "top_merge": Call(top.merge, (*_HASHES, WORD), WORD, nogil=True),
        "coupon_ints": Call(coupons.hash_ints, _INTS, NONE, nogil=True),
        "coupon_blobs": Call(coupons.hash_blobs, _BLOBS, NONE, nogil=True),
        "coupon_add_many": Call(coupons.add_many, _HASHES, WORD, nogil=True),
        "row_ints": Call(rows_datasketches.hash_ints, _INTS, NONE, nogil=True),
        "row_blobs": Call(rows_datasketches.hash_blobs, _BLOBS, NONE, nogil=True),
        "spark_row_ints": Call(rows_spark.hash_ints, _INTS, NONE, nogil=True),
        "spark_row_blobs": Call(rows_spark.hash_blobs, _BLOBS, NONE, nogil=True),
        "counter_add_counts": Call(counters.add_counts, (*_HASHES, GIVEN_INTS), WORD, nogil=True),
        "counter_estimate_many": Call(counters.estimate_many, (*_HASHES, INTS), WORD, nogil=True),
        "spark_bit_ints": Call(bits_spark.hash_ints, _INTS, NONE, nogil=True),
        "spark_bit_blobs": Call(bits_spark.hash_blobs, _BLOBS, NONE, nogil=True),
        "bit_add_many": Call(bits.add_many, _HASHES, WORD, nogil=True),
        "bit_contains_many": Call(bits.contains_many, (*_HASHES, BYTES), WORD, nogil=True),
    },
)
