"""Values of a call for many: integers of any array or sequence, as an array of signed words.

Example: ``[4, 5]``, an Arrow array of two integers, and an array of ``int16`` become arrays of int64. ``[4, None]`` is
refused with the number of the element.
"""

from __future__ import annotations

from collections.abc import Set
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from latchfree.arguments import integer, many, shown
from latchfree.extras import is_arrow, optional

pa = optional("pyarrow", "check")

LEAST, MOST = -(1 << 63), (1 << 63) - 1
RANGE: Final = "integers from -2**63 to 2**63 - 1"
_INT64: Final = np.dtype(np.int64)


def checked(value: Any) -> int:
    """Return a value, if a ring can hold it.

    Raises
    ------
    TypeError, ValueError
        If `value` is no integer, or has more than 64 bits (signed).
    """
    if type(value) is not int:
        value = integer(value, f"a ring buffer holds {RANGE}, and MessageRing other values")
    if not LEAST <= value <= MOST:
        raise ValueError(f"a ring buffer holds {RANGE}, not {shown(value)}")
    return int(value)


def words_in(values: Any) -> NDArray[np.int64]:
    """Return values as an array of signed words.

    Raises
    ------
    TypeError, ValueError
        If they are no integers of 64 bits (signed) in one dimension; the text names the element.
    """
    if (
        type(values) is np.ndarray
        and values.dtype is _INT64
        and values.ndim == 1
        and values.flags.c_contiguous
        and values.flags.aligned
    ):
        return values  # as it should be; all looks below would take longer than the puts
    if type(values) is list:
        return _of_list(values)
    if np.ma.is_masked(values):
        at = int(np.argmax(np.ma.getmaskarray(values)))
        raise ValueError(f"values must be integers, and element {at} is masked; leave it out, or fill it")
    if is_arrow(values):
        return _of_array(_of_arrow(values))
    if isinstance(values, np.ndarray | memoryview) or hasattr(type(values), "__array__"):
        array = np.asarray(values)
        return _one_by_one(array.tolist()) if array.dtype == object and array.ndim == 1 else _of_array(array)
    if isinstance(values, Set):
        raise TypeError(f"values must be in an order, and a {type(values).__name__} has none; sort them, or use list")
    return _of_list(list(many(values, "values", "put")))


def _of_list(values: list[Any]) -> NDArray[np.int64]:
    if set(map(type, values)) == {int}:
        try:
            return np.array(values, np.int64)
        except OverflowError:
            pass
    return _one_by_one(values)


def _of_arrow(values: Any) -> NDArray[Any]:
    if not pa.types.is_integer(values.type) and len(values):
        raise TypeError(f"values must be {RANGE}, got an Arrow array of {values.type}")
    if values.null_count:
        at = values.is_null().index(pa.scalar(True)).as_py()
        raise ValueError(f"values must be {RANGE}, and element {at} is null; leave it out, or fill it")
    if not len(values):
        return np.empty(0, np.int64)
    try:
        values.validate(full=True)
    except pa.ArrowInvalid as error:
        raise ValueError(f"values must be a valid Arrow array: {error}") from None
    return np.asarray(values)


def _of_array(array: NDArray[Any]) -> NDArray[np.int64]:
    if array.ndim != 1:
        raise ValueError(f"values must have one dimension, got {array.ndim}; for one value use put")
    if array.size == 0:
        return np.empty(0, np.int64)
    if array.dtype.kind not in "iu":
        raise TypeError(f"values must be {RANGE}, got an array of {array.dtype}")
    if array.dtype.kind == "u" and array.dtype.itemsize == 8 and int(array.max()) > MOST:
        at = int(array.argmax())
        raise ValueError(f"values must be {RANGE}, element {at} is {array[at]}")
    return np.require(array, np.int64, ["C", "ALIGNED"])


def _one_by_one(values: list[Any]) -> NDArray[np.int64]:
    found = []
    for at, value in enumerate(values):
        try:
            found.append(checked(value))
        except (TypeError, ValueError) as error:
            raise type(error)(f"values, element {at}: {error}") from None
    return np.array(found, np.int64)
