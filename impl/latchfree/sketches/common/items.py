"""Items: strings, bytes and integers, one or many, and their hashes.

Example: ``["tea", "oat"]`` becomes an array of two hashes. A string is hashed as its UTF-8 bytes, so ``"tea"`` and
``b"tea"`` are one item; ``4`` and ``"4"`` are two.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from latchfree.arguments import shown, whole
from latchfree.ctrie.codecs import Codec, as_bytes, codec_for
from latchfree.ctrie.columns import Column, to_column
from latchfree.extras import is_arrow, optional
from latchfree.sketches.border import SKETCH

pa = optional("pyarrow", "check")

#: Items of one call of compiled code.
CHUNK: Final = 1 << 14

#: Where the bytes of a bytes object are.
_DATA: Final = bytes.__basicsize__ - 1
#: More bytes than an item can have.
ANY_LENGTH: Final = 1 << 62


def _codec_for_item(item: Any, what: str = "items") -> Codec[Any]:
    """Return the codec of an item."""
    if isinstance(item, str):
        return codec_for(str)
    if isinstance(item, bytes | bytearray | memoryview):
        return codec_for(bytes)
    if type(item) is int:
        return codec_for(int)
    if isinstance(item, bool | np.bool_ | np.ndarray) or not hasattr(type(item), "__index__"):
        raise TypeError(f"{what} must be str, bytes or int, got {type(item).__name__} {shown(item)}")
    return codec_for(int)


def _encoded(codec: Codec[Any], item: Any) -> Any:
    try:
        return codec.encode(item)
    except (TypeError, ValueError) as error:
        raise _of_item(error) from None


def _of_item(error: Exception) -> Exception:
    """Return the error of a codec, as one that says that it is the item."""
    return type(error)(f"item: {error}")


def hash_of(item: Any, seed: int) -> int:
    """Return the hash of an item.

    Raises
    ------
    TypeError, ValueError
        If it is no str, bytes or int of 64 bits.
    """
    codec = _codec_for_item(item)
    try:
        encoded = codec.encode(item)
    except (TypeError, ValueError) as error:
        raise _of_item(error) from None
    if codec.word:
        number: int = SKETCH.hash_int(seed, encoded)
        return number
    data = as_bytes(codec, encoded)
    found: int = SKETCH.hash_blob(seed, id(data) + _DATA, len(data))
    return found


def _plain(array: Any, what: str) -> tuple[Any, Codec[Any]]:
    """Return an Arrow array as columns take it, and the codec of its items."""
    kind = array.type
    if pa.types.is_dictionary(kind):
        array = array.cast(kind.value_type)
        kind = array.type
    if pa.types.is_integer(kind):
        return array, codec_for(int)
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return array, codec_for(str)
    if pa.types.is_string_view(kind):
        return array.cast(pa.large_string()), codec_for(str)
    if pa.types.is_binary_view(kind) or pa.types.is_fixed_size_binary(kind):
        return array.cast(pa.large_binary()), codec_for(bytes)
    if pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
        return array, codec_for(bytes)
    if pa.types.is_null(kind) and len(array) == 0:
        return array.cast(pa.int64()), codec_for(int)
    raise TypeError(f"{what} must be strings, bytes or integers, got an Arrow array of {kind}")


def column_of(items: Any, what: str = "items") -> Column:
    """Return many items as a column of one kind.

    Parameters
    ----------
    items : Arrow array, NumPy array or sequence
        The items.
    what : str
        What errors call them.

    Raises
    ------
    TypeError, ValueError
        If they are no sequence of one dimension, or an item is missing or of another kind than the first; the text
        names the item.
    """
    if isinstance(items, Encoded):
        return items.column
    if isinstance(items, str | bytes | bytearray | memoryview) or not isinstance(items, Iterable):
        raise TypeError(
            f"{what} must be an Arrow or NumPy array or a sequence, got {type(items).__name__}; for one item use add"
        )
    if is_arrow(items):
        items, codec = _plain(items, what)
    else:
        if not isinstance(items, np.ndarray | list | tuple):
            items = list(items)
        if isinstance(items, np.ndarray) and items.ndim == 0:
            raise TypeError(
                f"{what} must be an array of one dimension, got a NumPy array of none; for one item use add"
            )
        codec = codec_for(int)
        if isinstance(items, np.ndarray) and items.dtype.kind in "US":
            codec = codec_for(str if items.dtype.kind == "U" else bytes)
        elif len(items) and (not isinstance(items, np.ndarray) or (items.dtype == object and items.ndim == 1)):
            codec = _codec_for_item(items[0], what)
    return to_column(items, codec, what, ANY_LENGTH)


class Encoded(NamedTuple):
    """Many strings or bytes that were checked before.

    Attributes
    ----------
    column : Column
    text : bool
        Whether they are strings.
    """

    column: Column
    text: bool


def to_encoded(items: list[Any], *, text: bool) -> Encoded:
    """Return strings that have an encoding, or bytes, as `column_of` takes them without a look at each."""
    blobs = list(map(str.encode, items)) if text else items
    ends = np.zeros(len(blobs) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, blobs), np.int64, len(blobs)), out=ends[1:])
    data = np.frombuffer(b"".join(blobs), np.uint8)
    return Encoded(Column((int(data.ctypes.data), ends), len(blobs), data, "list"), text)


def plain_item(item: Any, limit: int) -> str | bytes | int:
    """Return an item as an object of str, bytes or int itself, which no flush will refuse.

    Raises
    ------
    TypeError, ValueError
        If it is no item, or has more bytes than the limit.
    """
    codec = _codec_for_item(item)
    encoded = _encoded(codec, item)
    if codec.word:
        return int(encoded)
    data = bytes(as_bytes(codec, encoded))
    check_size(len(data), limit)
    return data.decode() if isinstance(item, str) else data


def check_size(size: int, limit: int) -> None:
    """Make sure that an item fits where it is remembered whole."""
    if size > limit:
        raise ValueError(f"an item of a TopK is remembered whole and has at most {limit} bytes, got {size:,}")


def one_item(item: Any) -> bytes | int:
    """Return an item as it is hashed: bytes, or an integer; it was checked before."""
    codec = _codec_for_item(item)
    encoded = _encoded(codec, item)
    return int(encoded) if codec.word else bytes(as_bytes(codec, encoded))


def kept(items: Any) -> Any:
    """Return many items in a form that can be looked at twice."""
    alone = np.ndarray | str | bytes | bytearray | memoryview | Encoded  # refused, or looked at twice as they are
    return items if is_arrow(items) or isinstance(items, alone) else _listed(items)


def _listed(items: Any) -> Any:
    return list(items) if isinstance(items, Iterable) and not isinstance(items, list | tuple) else items


def is_text(items: Any) -> bool:
    """Return whether many items, which `column_of` takes, are strings."""
    if isinstance(items, Encoded):
        return items.text
    if is_arrow(items):
        kind = items.type
        kind = kind.value_type if pa.types.is_dictionary(kind) else kind
        return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))
    if isinstance(items, np.ndarray) and items.dtype != object:
        return bool(items.dtype.kind == "U")
    return len(items) > 0 and isinstance(items[0], str)


def chunks(column: Column, seed: int) -> Iterator[tuple[int, NDArray[np.uint64]]]:
    """Yield the hashes of a column, some at a time: the number of the first, and an array that is used again."""
    out: NDArray[np.uint64] = np.empty(min(CHUNK, column.length), np.uint64)
    for first in range(0, column.length, CHUNK):
        part = out[: min(CHUNK, column.length - first)]
        if isinstance(column.data, tuple):
            address, ends = column.data
            SKETCH.hash_blobs(seed, address, ends[first : first + len(part) + 1], part)
        else:
            SKETCH.hash_ints(seed, column.data[first : first + len(part)], part)
        yield first, part


def counts_of(counts: Any, length: int, most: int) -> NDArray[np.int64]:
    """Return the counts of a call for many items.

    Raises
    ------
    TypeError, ValueError
        If they are not as many integers from 1 to `most` as there are items.
    """
    found = to_column(counts, codec_for(int), "counts", ANY_LENGTH)
    if found.length != length:
        raise ValueError(f"there are {length:,} items and {found.length:,} counts; give one for each item")
    wrong = np.flatnonzero((found.data < 1) | (found.data > most))
    if len(wrong):
        raise ValueError(f"counts must be from 1 to {most:,}, element {wrong[0]} is {found.data[wrong[0]]}")
    counts_found: NDArray[np.int64] = found.data
    return counts_found


def seed_of(seed: Any) -> int:
    """Return an argument that is the seed of a hash."""
    return whole(seed, "seed", 0, (1 << 64) - 1)
