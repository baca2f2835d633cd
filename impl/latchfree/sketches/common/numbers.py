"""Numbers as items: 64-bit floats, and the words that are in the same order.

Example: -1.5, 0.0 and 2.0 become three words, each greater than the one before. The sign bit of a float is turned, and
of a negative one all other bits, too, for of two negative floats the one with the greater bits is less.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from latchfree.arguments import shown
from latchfree.extras import is_arrow, optional

pa = optional("pyarrow", "check")

_SIGN: Final = 1 << 63
_ALL: Final = (1 << 64) - 1
#: Integers up to this are floats, each of them.
WHOLE: Final = 1 << 53


def words_of(numbers: NDArray[np.float64]) -> NDArray[np.uint64]:
    """Return words in the order of numbers; of -0.0 the word of 0.0."""
    bits = (numbers + 0.0).view(np.uint64)
    return np.where(bits >> np.uint64(63), ~bits, bits | np.uint64(_SIGN))


def numbers_of(words: NDArray[np.uint64]) -> NDArray[np.float64]:
    """Return the numbers of words."""
    return np.where(words >> np.uint64(63), words & np.uint64(_ALL >> 1), ~words).view(np.float64)


def word_of(number: float) -> int:
    """Return the word of a number."""
    (bits,) = struct.unpack("<Q", struct.pack("<d", number + 0.0))
    return _ALL - int(bits) if bits >= _SIGN else int(bits) | _SIGN


def number_of(item: Any) -> float:
    """Return an item that is a number.

    Raises
    ------
    TypeError, ValueError
        If it is none, or not a number (NaN), or an integer that no 64-bit float is.
    """
    if isinstance(item, float):
        found = float(item)
    elif hasattr(type(item), "__index__") and not isinstance(item, bool | np.bool_ | np.ndarray):
        whole = int(item)
        if not -WHOLE <= whole <= WHOLE:
            raise ValueError(f"integers must be from -2**53 to 2**53, to be 64-bit floats, got {shown(whole)}")
        found = float(whole)
    elif isinstance(item, np.floating):
        found = float(item)
    else:
        raise TypeError(f"items must be float or int, got {type(item).__name__} {shown(item)}")
    if found != found:
        raise ValueError("items must be numbers, got NaN, which has no rank")
    return found


def numbers_in(items: Any) -> NDArray[np.float64]:
    """Return many items as an array of 64-bit floats.

    Raises
    ------
    TypeError, ValueError
        If they are no sequence of one dimension, or one of them is no number as `number_of` takes; the text names it.
    """
    if isinstance(items, str | bytes | bytearray | memoryview) or not isinstance(items, Iterable):
        raise TypeError(
            f"items must be an Arrow or NumPy array or a sequence, got {type(items).__name__}; for one item use add"
        )
    if is_arrow(items):
        items = _from_arrow(items)
    elif not isinstance(items, np.ndarray) or items.dtype == object:
        return _one_by_one(items)
    if items.ndim != 1:
        raise ValueError(f"items must have one dimension, got {items.ndim}")
    if items.dtype.kind not in "iuf" or items.dtype.itemsize > 8:
        raise TypeError(f"items must be float or int, got an array of {items.dtype}")
    if items.dtype.kind in "iu" and items.dtype.itemsize == 8:
        wrong = np.flatnonzero((items > WHOLE) | (items < (-WHOLE if items.dtype.kind == "i" else 0)))
        if len(wrong):
            raise ValueError(
                f"items: element {wrong[0]}: integers must be from -2**53 to 2**53, to be 64-bit floats, "
                f"got {items[wrong[0]]}"
            )
    found: NDArray[np.float64] = np.ascontiguousarray(items, np.float64)
    missing = np.flatnonzero(np.isnan(found))
    if len(missing):
        raise ValueError(f"items: element {missing[0]}: items must be numbers, got NaN, which has no rank")
    return found


def _from_arrow(items: Any) -> NDArray[Any]:
    kind = items.type
    if not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or (pa.types.is_null(kind) and len(items) == 0)):
        raise TypeError(f"items must be float or int, got an Arrow array of {kind}")
    if items.null_count:
        first = items.is_null().index(pa.scalar(True)).as_py()
        raise ValueError(f"items: element {first} is null")
    if pa.types.is_null(kind):
        return np.empty(0)
    found: NDArray[Any] = np.asarray(items.to_numpy(zero_copy_only=False) if isinstance(items, pa.Array) else items)
    return found


def _one_by_one(items: Iterable[Any]) -> NDArray[np.float64]:
    found = []
    for number, item in enumerate(items):
        try:
            found.append(number_of(item))
        except (TypeError, ValueError) as error:
            raise type(error)(f"items: element {number}: {error}") from None
    return np.array(found, np.float64)
