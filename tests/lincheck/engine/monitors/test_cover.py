"""The union of intervals against a set of numbers."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from latchfree_lincheck.engine.monitors.cover import clear, cover, next_uncovered

LIMIT = 300
number = st.integers(0, LIMIT)
edge = st.sampled_from([0, 1, 63, 64, 65, 127, 128, 191, 192, 256, LIMIT])


@given(st.lists(st.tuples(number | edge, number | edge), max_size=20), number | edge)
def test_the_next_uncovered_number_is_that_of_a_set(intervals, start):
    words, jump = np.full(LIMIT // 64 + 2, 7, np.uint64), np.full(LIMIT // 64 + 2, -1)
    clear(words, jump, LIMIT)
    covered = set()
    for begin, end in intervals:
        cover(words, jump, begin, end)
        covered |= set(range(begin, end))
        assert next_uncovered(words, jump, start) == next(n for n in range(start, LIMIT + 1) if n not in covered)
