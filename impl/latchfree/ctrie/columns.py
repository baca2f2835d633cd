"""Columns: the keys and values of a call for many keys, and its results in kind.

Example: ``["tea", "oat"]`` becomes one buffer ``b"teaoat"`` and the offsets ``[0, 3, 6]``; ``np.arange(3)`` is a column
as it stands. A call with an Arrow array returns an Arrow array, a call with a list a list.

A column is an int64 array for word codecs, and a pair (address of the bytes, int64 offsets) for all others. Lists and
NumPy arrays need no Arrow.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from latchfree.arguments import shown
from latchfree.ctrie.codecs import BytesCodec, Codec, StrCodec, as_bytes
from latchfree.extras import is_arrow, optional

pa = optional("pyarrow", "check")


@dataclass(frozen=True, slots=True)
class Column:
    """Keys or values as the kernels take them.

    Attributes
    ----------
    data : ndarray or tuple
        Argument of the kernels.
    length : int
    owner : object
        Keeps the memory of `data` alive.
    source : str
        What the caller passed: ``"arrow"``, ``"numpy"`` or ``"list"``.
    """

    data: Any
    length: int
    owner: Any
    source: str


def _source_of(items: Any) -> str:
    if is_arrow(items):
        return "arrow"
    return "numpy" if isinstance(items, np.ndarray) else "list"


def _native(codec: Codec[Any]) -> Any:
    """Return the Arrow type whose bytes are the codec's encoding, None if there is none."""
    if type(codec) is StrCodec:
        return pa.large_string()
    return pa.large_binary() if type(codec) is BytesCodec else None


def _arrow(items: Any, what: str) -> Any:
    """Return an Arrow array in one piece, without nulls."""
    array = items.combine_chunks() if isinstance(items, pa.ChunkedArray) else items
    if array.null_count:
        at = array.is_null().index(True).as_py()
        raise ValueError(f"{what} must not be null, element {at} is")
    return array


def _encoded(items: Any, codec: Codec[Any], what: str) -> Iterator[Any]:
    """Yield each item encoded; an error names the element."""
    for at, item in enumerate(items):
        try:
            yield codec.encode(item) if codec.word else as_bytes(codec, codec.encode(item))
        except (TypeError, ValueError) as error:
            kind = TypeError if isinstance(error, TypeError) else ValueError
            raise kind(f"{what}, element {at}: {error}") from None


def _words(items: Any, codec: Codec[Any], what: str) -> NDArray[np.int64]:
    if len(items) == 0:
        return np.empty(0, np.int64)
    if is_arrow(items):
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


def _arrow_blobs(items: Any, codec: Codec[Any], what: str) -> tuple[int, NDArray[np.int64], Any]:
    """Return address, offsets and owner of the bytes of an Arrow array that needs no encoding."""
    array = _arrow(items, what)
    text = pa.types.is_string(array.type) or pa.types.is_large_string(array.type)
    binary = pa.types.is_binary(array.type) or pa.types.is_large_binary(array.type)
    native = _native(codec)
    if not (text if native == pa.large_string() else binary):
        raise TypeError(f"{what} must be {codec.name}, got an Arrow array of {array.type}")
    array = array.cast(native)
    _, offsets, data = array.buffers()
    ends = np.frombuffer(offsets, dtype=np.int64, count=array.offset + len(array) + 1)[array.offset :]
    return (data.address if data is not None else 0), ends, array


def _blobs(items: Any, codec: Codec[Any], what: str) -> tuple[int, NDArray[np.int64], Any]:
    """Return address, offsets and owner of the encoded bytes of a sequence."""
    if is_arrow(items):
        if len(items) and _native(codec) is not None:
            return _arrow_blobs(items, codec, what)
        items = items.to_pylist()
    elif isinstance(items, np.ndarray):
        items = items.tolist()
    encoded = list(_encoded(items, codec, what))
    offsets = np.zeros(len(encoded) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, encoded), np.int64, len(encoded)), out=offsets[1:])
    data = np.frombuffer(b"".join(encoded), np.uint8)
    return int(data.ctypes.data), offsets, data


def to_column(items: Any, codec: Codec[Any], what: str, limit: int) -> Column:
    """Return the column of a sequence.

    Parameters
    ----------
    items : pyarrow.Array, pyarrow.ChunkedArray, ndarray or sequence
        The keys or values.
    codec : Codec
        How one element is stored.
    what : str
        ``"keys"`` or ``"values"``, for messages.
    limit : int
        Largest number of encoded bytes of one element.

    Returns
    -------
    Column

    Raises
    ------
    TypeError, ValueError
        As the codec does for one object; the message names the element.
    """
    items, source = _checked(items, what)
    if codec.word:
        words = _words(items, codec, what)
        return Column(words, len(words), words, source)
    address, offsets, owner = _blobs(items, codec, what)
    lengths = np.diff(offsets)
    if len(lengths) and int(lengths.max()) > limit:
        at = int(lengths.argmax())
        value = codec.decode(ctypes.string_at(address + int(offsets[at]), int(lengths[at])))
        raise ValueError(
            f"{what} may have at most {limit} encoded bytes, element {at} has {lengths[at]}: {shown(value)}"
        )
    return Column((address, offsets), len(lengths), owner, source)


def to_objects(items: Any, what: str) -> tuple[list[Any], str]:
    """Return the elements of a sequence as objects, and what the caller passed: see `to_column` and `Column`."""
    items, source = _checked(items, what)
    if source == "arrow":
        return items.to_pylist(), source
    return (items.tolist() if source == "numpy" else list(items)), source


def _checked(items: Any, what: str) -> tuple[Any, str]:
    """Return a sequence that can be taken, and what it is; raise as `to_column` does."""
    if isinstance(items, str | bytes) or not isinstance(items, Iterable):
        raise TypeError(f"{what} must be an Arrow or NumPy array or a sequence, got {type(items).__name__}")
    if not hasattr(items, "__len__"):
        items = list(items)
    if np.ma.is_masked(items):
        raise ValueError(f"{what} must not be masked, element {int(np.argmax(np.ma.getmaskarray(items)))} is")
    if isinstance(items, np.ndarray) and items.ndim != 1:
        raise ValueError(f"{what} must be a one-dimensional array, got shape {items.shape}")
    source = _source_of(items)
    if source == "arrow":
        try:
            items.validate(full=True)  # of an array made of somebody's buffers: offsets may lead anywhere
        except pa.ArrowInvalid as error:
            raise ValueError(f"{what} must be a valid Arrow array: {error}") from None
    return items, source


def from_words(values: NDArray[np.int64], found: NDArray[np.uint8], source: str) -> Any:
    """Return integers in kind.

    Parameters
    ----------
    values : ndarray of int64, shape (n,)
        The integers; those that are missing may be anything.
    found : ndarray of uint8, shape (n,)
        0 where a value is missing.
    source : str
        See `Column`.

    Returns
    -------
    pyarrow.Array, numpy.ma.MaskedArray or list
        A missing value is null, masked or None.
    """
    if source == "numpy":
        return np.ma.MaskedArray(values, mask=found == 0)
    if source == "arrow":
        return pa.array(values, mask=found == 0)
    return [value if there else None for value, there in zip(values.tolist(), found.tolist(), strict=True)]


def from_blobs(
    data: NDArray[np.uint8], offsets: NDArray[np.int64], found: NDArray[np.bool_], codec: Codec[Any], source: str
) -> Any:
    """Return decoded bytes in kind.

    Parameters
    ----------
    data : ndarray of uint8
        Encoded values, one after the other.
    offsets : ndarray of int64, shape (n + 1,)
        Where each value starts in `data`, and where the last ends.
    found : ndarray of bool, shape (n,)
        False where a value is missing.
    codec : Codec
        Decodes one element.
    source : str
        See `Column`.

    Returns
    -------
    pyarrow.Array, ndarray of object or list
        A missing value is null or None.
    """
    if source == "arrow" and _native(codec) is not None:
        validity = np.packbits(found, bitorder="little")
        buffers = [pa.py_buffer(validity), pa.py_buffer(offsets), pa.py_buffer(data)]
        return pa.Array.from_buffers(pa.large_binary(), len(found), buffers).cast(_native(codec))
    text, ends = data.tobytes(), offsets.tolist()
    decoded = [
        codec.decode(text[start:end]) if there else None
        for start, end, there in zip(ends, ends[1:], found.tolist(), strict=False)
    ]
    return from_objects(decoded, source)


def from_objects(items: list[Any], source: str) -> Any:
    """Return objects in kind: an Arrow array, a NumPy array of objects or a list."""
    if source == "list":
        return items
    if source == "numpy":
        out = np.empty(len(items), dtype=object)
        for at, item in enumerate(items):  # one by one: a list of sequences would become a table
            out[at] = item
        return out
    try:
        return pa.array(items)
    except pa.ArrowException as error:
        raise TypeError(f"these values do not fit one Arrow array ({error}); pass the keys as a list") from None


def from_flags(found: Any, source: str) -> Any:
    """Return booleans in kind: an Arrow array, a NumPy array or a list."""
    flags = np.asarray(found, dtype=bool)
    if source == "numpy":
        return flags
    return pa.array(flags) if source == "arrow" else flags.tolist()
