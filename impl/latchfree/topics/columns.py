"""Arrow columns in, Arrow lists out, for matchers in plain Python."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterator, Sequence
from typing import Any

from latchfree.extras import optional

pa: Any = optional("pyarrow", "topics")


def text_column(texts: Any, what: str = "topics") -> Any:
    """Return an Arrow array of strings without nulls, from an array, a chunked array or a sequence of str.

    Raises
    ------
    TypeError
        If an element is no string.
    ValueError
        If an element is null; the error names the element.
    """
    if isinstance(texts, str | bytes):
        raise TypeError(f"{what} must be an Arrow array or a sequence of str, not one {type(texts).__name__}")
    if not isinstance(texts, pa.Array | pa.ChunkedArray):
        texts = pa.array(texts, pa.string())
    if isinstance(texts, pa.ChunkedArray):
        texts = texts.combine_chunks()
    kind = texts.type
    if pa.types.is_dictionary(kind):
        return text_column(texts.dictionary_decode(), what)
    if not (pa.types.is_string(kind) or pa.types.is_large_string(kind)):
        if len(texts):
            raise TypeError(f"{what} must be strings, got an Arrow array of {kind}")
        texts = texts.cast(pa.string())
    if texts.null_count:
        raise ValueError(f"{what} must not be null, element {texts.is_null().index(True).as_py()} is")
    return texts


def rows_of(texts: Any) -> Iterator[tuple[int, bytes]]:
    """Return the rows of a text column, numbered, as bytes; a broken column may hold bytes that are no UTF-8."""
    column = text_column(texts)
    large = pa.types.is_large_string(column.type)
    return enumerate(column.cast(pa.large_binary() if large else pa.binary()).to_pylist())


def to_lists(rows: Sequence[Collection[Hashable]]) -> Any:
    """Return collections of subscribers as an Arrow list array: of int64 or strings, else of a type that Arrow infers.

    Raises
    ------
    TypeError
        If the subscribers do not fit one Arrow type.
    """
    flat = [item for row in rows for item in row]
    try:
        values = subscriber_column(flat)
    except pa.ArrowException as error:
        raise TypeError(f"the subscribers do not fit one Arrow array ({error}); use match for each topic") from None
    offsets = [0]
    for row in rows:
        offsets.append(offsets[-1] + len(row))
    return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), values)


def subscriber_column(subscribers: Sequence[Hashable]) -> Any:
    """Return subscribers as an Arrow array; int64 if there are none."""
    return pa.array(subscribers) if subscribers else pa.array([], pa.int64())
