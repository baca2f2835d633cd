"""Columns: keys and values of bulk calls, from Arrow arrays, NumPy arrays or lists, and results back in kind.

A column is what the compiled loops take: an int64 array for word codecs, a pair (address of the bytes, int64
offsets) for the others.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from latchfree.ctrie.codecs import BytesCodec, Codec, StrCodec, shown


@dataclass(frozen=True, slots=True)
class Column:
    """`data` is what the kernels take; `owner` keeps its memory alive; `source` says what the caller passed."""

    data: Any
    length: int
    owner: Any
    source: str  # "arrow", "numpy" or "list"


def _source_of(items: Any) -> str:
    if isinstance(items, pa.Array | pa.ChunkedArray):
        return "arrow"
    return "numpy" if isinstance(items, np.ndarray) else "list"


def _native(codec: Codec) -> Any:
    """The Arrow type whose bytes are the codec's encoding, None if there is none."""
    if type(codec) is StrCodec:
        return pa.large_string()
    return pa.large_binary() if type(codec) is BytesCodec else None


def _arrow(items: Any, what: str) -> Any:
    array = items.combine_chunks() if isinstance(items, pa.ChunkedArray) else items
    if array.null_count:
        at = array.is_null().index(True).as_py()
        raise ValueError(f"{what} must not be null, element {at} is")
    return array


def _encoded(items: Any, codec: Codec, what: str) -> Iterator[Any]:
    for at, item in enumerate(items):
        try:
            yield codec.encode(item)
        except (TypeError, ValueError) as error:
            kind = TypeError if isinstance(error, TypeError) else ValueError
            raise kind(f"{what}, element {at}: {error}") from None


def _words(items: Any, codec: Codec, what: str) -> NDArray[np.int64]:
    if len(items) == 0:
        return np.empty(0, np.int64)
    if isinstance(items, pa.Array | pa.ChunkedArray):
        array = _arrow(items, what)
        if not pa.types.is_integer(array.type):
            raise TypeError(f"{what} must be integers, got an Arrow array of {array.type}")
        items = array.to_numpy(zero_copy_only=False)
    if isinstance(items, np.ndarray) and items.dtype != object:
        if items.dtype.kind not in "iu":
            raise TypeError(f"{what} must be integers, got a NumPy array of {items.dtype}")
        if items.dtype == np.uint64 and len(items) and int(items.max()) > np.iinfo(np.int64).max:
            at = int(items.argmax())
            raise ValueError(f"{what} must be at most 2**63 - 1, element {at} is {items[at]}")
        return np.ascontiguousarray(items, dtype=np.int64)
    return np.fromiter(_encoded(items, codec, what), dtype=np.int64)


def _blobs(items: Any, codec: Codec, what: str) -> Any:
    native = _native(codec) if len(items) else None
    if isinstance(items, pa.Array | pa.ChunkedArray) and native is not None:
        array = _arrow(items, what)
        text = pa.types.is_string(array.type) or pa.types.is_large_string(array.type)
        binary = pa.types.is_binary(array.type) or pa.types.is_large_binary(array.type)
        if not (text if native == pa.large_string() else binary):
            raise TypeError(f"{what} must be {codec.name}, got an Arrow array of {array.type}")
        return array.cast(native).cast(pa.large_binary())
    if isinstance(items, pa.Array | pa.ChunkedArray):
        items = items.to_pylist()
    elif isinstance(items, np.ndarray):
        items = items.tolist()
    return pa.array(list(_encoded(items, codec, what)), pa.large_binary())


def to_column(items: Any, codec: Codec, what: str, limit: int) -> Column:
    """The column of a sequence.

    Parameters
    ----------
    items : pyarrow.Array, pyarrow.ChunkedArray, ndarray or sequence
    codec : Codec
    what : str
        "keys" or "values", for messages.
    limit : int
        Largest number of encoded bytes.

    Raises
    ------
    TypeError, ValueError
        As the codec does for one object, naming the element.
    """
    if isinstance(items, str | bytes) or not isinstance(items, Iterable):
        raise TypeError(f"{what} must be an Arrow or NumPy array or a sequence, got {type(items).__name__}")
    if not hasattr(items, "__len__"):
        items = list(items)
    if np.ma.is_masked(items):
        raise ValueError(f"{what} must not be masked, element {int(np.argmax(np.ma.getmaskarray(items)))} is")
    if isinstance(items, np.ndarray) and items.ndim != 1:
        raise ValueError(f"{what} must be a one-dimensional array, got shape {items.shape}")
    source = _source_of(items)
    if codec.word:
        words = _words(items, codec, what)
        return Column(words, len(words), words, source)
    array = _blobs(items, codec, what)
    _, offsets_buffer, data = array.buffers()
    offsets = np.frombuffer(offsets_buffer, dtype=np.int64, count=array.offset + len(array) + 1)[array.offset :]
    lengths = np.diff(offsets)
    if len(lengths) and int(lengths.max()) > limit:
        at = int(lengths.argmax())
        raise ValueError(
            f"{what} may have at most {limit} encoded bytes, element {at} has {lengths[at]}: "
            f"{shown(codec.decode(array[at].as_py()))}"
        )
    address = data.address if data is not None else 0
    return Column((np.uint64(address), offsets), len(array), array, source)


def from_words(values: NDArray[np.int64], found: NDArray[np.uint8], source: str) -> Any:
    """Integers, missing where `found` is 0: Arrow with nulls, a masked array, or a list with None."""
    if source == "numpy":
        return np.ma.MaskedArray(values, mask=found == 0)
    array = pa.array(values, mask=found == 0)
    return array if source == "arrow" else array.to_pylist()


def from_blobs(
    data: NDArray[np.uint8], offsets: NDArray[np.int64], found: NDArray[np.bool_], codec: Codec, source: str
) -> Any:
    """Decoded blobs, missing where `found` is False: Arrow with nulls, an object array, or a list with None."""
    validity = np.packbits(found, bitorder="little")
    buffers = [pa.py_buffer(validity), pa.py_buffer(offsets), pa.py_buffer(data)]
    array = pa.Array.from_buffers(pa.large_binary(), len(found), buffers)
    native = _native(codec)
    if source == "arrow" and native is not None:
        return array.cast(native)
    decoded = [None if item is None else codec.decode(item) for item in array.to_pylist()]
    if source == "numpy":
        out = np.empty(len(decoded), dtype=object)
        out[:] = decoded
        return out
    if source == "list":
        return decoded
    try:
        return pa.array(decoded)
    except pa.ArrowException as error:
        raise TypeError(f"these values do not fit one Arrow array ({error}); pass the keys as a list") from None


def from_flags(found: NDArray[np.uint8], source: str) -> Any:
    """Booleans: Arrow, NumPy or a list."""
    flags = found.astype(bool)
    if source == "numpy":
        return flags
    return pa.array(flags) if source == "arrow" else flags.tolist()
