"""Sort integers in place, in compiled code, without any memory beside: heapsort.

Numba's own sort keeps a list of ranges, and lists need numba's runtime.

Invariant of the first loop: the part from `k` on is a heap, in which no element is greater than its parent. Of the
second: the part up to `end` is a heap, and what follows is sorted and not less.
"""

from latchfree.jit import kernel
from latchfree.kinds import Array


@kernel
def sink(values: Array, start: int, at: int, end: int) -> None:
    """Move element `at` of the heap ``values[start:start + end]`` down to where it belongs."""
    value = values[start + at]
    while True:
        child = 2 * at + 1
        if child >= end:
            break
        if child + 1 < end and values[start + child + 1] > values[start + child]:
            child += 1
        if values[start + child] <= value:
            break
        values[start + at] = values[start + child]
        at = child
    values[start + at] = value


@kernel
def sort(values: Array, start: int, stop: int) -> None:
    """Sort ``values[start:stop]``, an array of integers."""
    length = stop - start
    for k in range(length // 2 - 1, -1, -1):
        sink(values, start, k, length)
    for end in range(length - 1, 0, -1):
        values[start], values[start + end] = values[start + end], values[start]
        sink(values, start, 0, end)
