"""Sorting in place, beside Python's."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from latchfree.sorting import sort


@given(
    st.lists(st.integers(-(2**63), 2**63 - 1) | st.integers(-3, 3), max_size=70),
    st.integers(0, 70),
    st.integers(0, 70),
)
def test_a_part_is_sorted_and_the_rest_untouched(items, start, stop):
    start, stop = sorted((min(start, len(items)), min(stop, len(items))))
    values = np.array(items, np.int64)
    sort(values, start, stop)
    assert values.tolist() == items[:start] + sorted(items[start:stop]) + items[stop:]
