"""Arguments of public calls: what is refused, with which words, and that nothing has changed then."""

import math
from decimal import Decimal
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from latchfree import (
    CachedMatcher,
    CountMin,
    LimitedMatcher,
    LockedTrie,
    MessageRing,
    RateLimiter,
    RetainedTopics,
    RingBuffer,
    arguments,
    overlapping,
    reasons,
)

CASES = [
    (lambda: RetainedTopics(most=True), TypeError, "most must be an integer, 1 or more, got bool True"),
    (lambda: RetainedTopics(most=0), ValueError, "most must be 1 or more, got 0"),
    (lambda: MessageRing(8, expected=True), TypeError, "expected must be an integer, from 1 to 268,435,456, got bool"),
    (lambda: MessageRing(True), TypeError, "capacity must be a power of two from 2 to 33,554,432, got bool True"),
    (lambda: RingBuffer(3), ValueError, "capacity must be a power of two from 2 to 33,554,432, got 3; use 4"),
    (lambda: RingBuffer(8, weak="no"), TypeError, "weak must be True or False, got str 'no'"),
    (lambda: RingBuffer(8, when_full=1), TypeError, "when_full must be a string, not int; use 'block', 'reject'"),
    (lambda: RingBuffer(8).shutdown(immediate="no"), TypeError, "immediate must be True or False"),
    (lambda: RateLimiter(1.0, when_empty="wait"), ValueError, "when_empty must be one of 'block', 'reject', 'shed'"),
    (lambda: RateLimiter(True), TypeError, "rate must be a number from 1e-06 to 1e\\+08, got bool True"),
    (lambda: RateLimiter(Decimal("Infinity")), ValueError, "rate must be from 1e-06 to 1e\\+08, got inf"),
    (lambda: LimitedMatcher(LockedTrie(), each=math.nan), TypeError, "each must be an integer, 0 or more, got float"),
    (lambda: LimitedMatcher(LockedTrie(), in_all=True), TypeError, "in_all must be an integer"),
    (lambda: LimitedMatcher(LockedTrie(), fan_out=-1), ValueError, "fan_out must be 0 or more, got -1"),
    (lambda: LimitedMatcher(LockedTrie()).subscribe_many("a.b", 1), TypeError, "patterns must be .* not one str"),
    (lambda: CachedMatcher(LockedTrie(), entries=0), ValueError, "entries must be 1 or more, got 0"),
    (lambda: CachedMatcher(LockedTrie(), 4, 5), ValueError, "sweep must be from 1 to 4, got 5"),
    (lambda: CachedMatcher(LockedTrie(), most_bytes=1.5), TypeError, "most_bytes must be an integer, 0 or more"),
    (lambda: overlapping(None, "a"), TypeError, "matcher must be a matcher of topics, such as .*, not NoneType"),
    (lambda: overlapping(RetainedTopics(), "a"), TypeError, "matcher must be a matcher of topics"),
    (lambda: reasons("x", "a"), TypeError, "matcher must be a matcher of topics, such as .*, not str"),
    (lambda: CountMin().add_many(["a"], counts=[1.0]), TypeError, "counts, element 0: expected int, got float 1.0"),
    (lambda: CountMin().add_many(["a"], counts=[True]), TypeError, "counts, element 0: expected int, got bool True"),
    (lambda: CountMin().add_many(["a"], counts=["1"]), TypeError, "counts, element 0: expected int, got str '1'"),
    (lambda: CountMin().add_many(["a"], counts=7), TypeError, "counts must be an Arrow or NumPy array or a sequence"),
    (
        lambda: CountMin().add_many(["a"], counts=pa.array([1.5])),
        TypeError,
        "counts must be .*an Arrow array of double",
    ),
    (lambda: CountMin().add_many(["a"], counts=[0]), ValueError, "counts must be from 1 to 4,294,967,295, element 0"),
    (lambda: CountMin().add_many(["a"], counts=[1, 2]), ValueError, "there are 1 items and 2 counts"),
    (lambda: CountMin().add("a\ud800"), ValueError, "item: string 'a.ud800' cannot be stored as UTF-8"),
]


@pytest.mark.parametrize(("call", "error", "text"), CASES, ids=[text[:40] for _, _, text in CASES])
def test_what_is_wrong_is_named(call, error, text):
    with pytest.raises(error, match=text) as raised:
        call()
    assert type(raised.value) is error


def test_a_small_cache_needs_no_sweep():
    for entries in (1, 3, 16):
        cached = CachedMatcher(LockedTrie(), entries=entries)
        for number in range(40):
            cached.match(f"a.{number}")
        assert 1 <= cached.stats().details["cache entries"] <= entries


def test_a_number_of_more_digits_than_python_prints_is_shown():
    with pytest.raises(ValueError, match="most must be 1 or more, got -0x"):
        arguments.whole(-(10**6000), "most", 1)


def test_paths():
    assert arguments.path_of(Path("a") / "b") == arguments.path_of("a/b") == "a/b"
    for path, error in (
        (5, TypeError),
        (None, TypeError),
        (b"a", TypeError),
        ("a\0b", ValueError),
        ("\ud83d", ValueError),
    ):
        with pytest.raises(error, match="path "):
            arguments.path_of(path)


def test_what_is_right_comes_back():
    assert arguments.whole(np.int8(5), "most", 1) == 5
    assert arguments.fraction(np.float32(0.5), "rate", 0, 1) == 0.5
    assert arguments.seconds(10**400, "timeout") == math.inf
    assert arguments.flag(np.bool_(True), "weak") is True
    assert arguments.choice("b", "when", ("a", "b")) == 1
    assert arguments.many(pa.array([1, None]), "values", "put") == [1, None]
    assert arguments.hashable((1, 2), "subscriber") == (1, 2)
