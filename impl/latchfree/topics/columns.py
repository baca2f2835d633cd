"""Arrow columns in, Arrow lists out, for matchers in plain Python."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from latchfree.arguments import listed, many, shown
from latchfree.extras import optional
from latchfree.topics.dialects import Dialect
from latchfree.topics.errors import InvalidText

pa: Any = optional("pyarrow", "topics")


def text_column(texts: Any, what: str = "topics") -> Any:
    """Return an Arrow array of strings without nulls, from an array, a chunked array or a sequence of str.

    Strings and binary values come in any layout that Arrow has. Binary values are taken for UTF-8, and may be none.

    Raises
    ------
    TypeError
        If an element is no string.
    ValueError
        If an element is null; the error names the element.
    """
    if not isinstance(texts, pa.Array | pa.ChunkedArray):
        texts = _array_of(texts, what)
    if isinstance(texts, pa.ChunkedArray):
        texts = texts.combine_chunks()
    kind = texts.type
    if pa.types.is_dictionary(kind):
        return text_column(texts.dictionary_decode(), what)
    try:
        if pa.types.is_string_view(kind) or pa.types.is_binary_view(kind):
            views = texts.view(pa.binary_view())
            views.validate(full=True)
            texts = views.cast(pa.large_binary())
        elif pa.types.is_fixed_size_binary(kind):
            texts = texts.cast(pa.binary())
        if pa.types.is_binary(texts.type) or pa.types.is_large_binary(texts.type):
            texts = texts.view(pa.large_string() if pa.types.is_large_binary(texts.type) else pa.string())
        if not (pa.types.is_string(texts.type) or pa.types.is_large_string(texts.type)):
            if len(texts):
                raise TypeError(f"{what} must be strings, got an Arrow array of {kind}")
            texts = texts.cast(pa.string())
        texts.cast(pa.large_binary() if pa.types.is_large_string(texts.type) else pa.binary()).validate(full=True)
    except pa.ArrowInvalid as error:
        raise ValueError(f"{what} are a broken Arrow array: {error}") from None
    if texts.null_count:
        raise ValueError(f"{what} must not be null, element {texts.is_null().index(True).as_py()} is")
    return texts


def _array_of(texts: Any, what: str) -> Any:
    """Return a sequence of str, or an array that is none of Arrow, as an Arrow array."""
    wanted = f"{what} must be an Arrow array or a sequence of str"
    if np.ma.is_masked(texts):
        raise ValueError(f"{wanted}, and some of these are masked; leave them out, or fill them")
    array = texts if hasattr(type(texts), "__array__") and np.ndim(texts) else list(many(texts, what, f"one of {what}"))
    try:
        return pa.array(array, pa.string())
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, UnicodeEncodeError) as error:
        for row, each in enumerate(array if isinstance(array, list) else ()):
            if each is not None and not isinstance(each, str | bytes):
                raise TypeError(f"{wanted}, element {row} is {type(each).__name__} {shown(each)}") from None
            if isinstance(each, str) and not _has_encoding(each):
                raise ValueError(f"{wanted}, element {row} has no encoding in UTF-8: {shown(each)}") from None
        kind = f"an array of {array.dtype}" if hasattr(array, "dtype") else type(texts).__name__
        raise TypeError(f"{wanted} in one dimension, not {kind}: {error}") from None


def _has_encoding(text: str) -> bool:
    try:
        str.encode(text)
    except UnicodeEncodeError:
        return False
    return True


def check_texts(dialect: Dialect, column: Any, *, patterns: bool = False) -> None:
    """Refuse texts that are not UTF-8, and, in a dialect of your own, texts that break a rule.

    Raises
    ------
    InvalidTopic, InvalidPattern
        Naming the row.
    """
    try:
        column.validate(full=True)
    except pa.ArrowInvalid:
        pass
    else:
        if not dialect.own:
            return
    check: Callable[[bytes], object] = dialect.pattern if patterns else dialect.topic
    for row, text in rows_of(column):
        try:
            check(text)
        except InvalidText as error:
            raise error.at_row(row) from None


def number_column(numbers: Any, rows: int, what: str, low: int, high: int) -> NDArray[Any]:
    """Return a new array of integers from `low` up to, but not including, `high`: int64, or uint64 if `low` is 0.

    Parameters
    ----------
    numbers : pyarrow.Array, pyarrow.ChunkedArray, ndarray or sequence of int
        The integers, one a row.
    rows : int
        How many there must be.
    what : str
        What errors call them.
    low, high : int
        The least number that is allowed, and the first above it that is not.

    Raises
    ------
    TypeError
        If an element is no integer; the error names the row.
    ValueError
        If an element is null or out of range, which the error names, or there are more or fewer.
    """
    kind = np.uint64 if low == 0 else np.int64
    array = _integers(numbers, what)
    if array.ndim != 1 or len(array) != rows:
        raise ValueError(f"there must be one of {what} for each of {rows:,} patterns, got shape {array.shape}")
    if array.dtype == object:
        bad = [row for row, each in enumerate(array.tolist()) if not low <= each < high][:1]
    else:
        limits = np.iinfo(array.dtype)
        wrong = np.zeros(rows, np.bool_)
        wrong |= (array < low) if low > limits.min else False
        wrong |= (array > high - 1) if high - 1 < limits.max else False
        bad = np.flatnonzero(wrong)[:1].tolist()
    if bad:
        raise ValueError(f"row {bad[0]}: {what} are from {low} to {high - 1}, got {array[bad[0]]}")
    return array.astype(kind)


def _integers(numbers: Any, what: str) -> NDArray[Any]:
    """Return integers as an array, of objects if they came as any sequence."""
    if isinstance(numbers, np.ndarray) and numbers.dtype.kind in "iu":
        return numbers
    if isinstance(numbers, pa.Array | pa.ChunkedArray):
        if pa.types.is_integer(numbers.type) and not numbers.null_count:
            found: NDArray[Any] = np.asarray(numbers)
            return found
        numbers = listed(numbers, what)
    values = numbers.tolist() if isinstance(numbers, np.ndarray) and numbers.ndim else numbers
    values = list(many(values, what, f"one of {what}"))
    for row, each in enumerate(values):
        if each is None:
            raise ValueError(f"row {row}: {what} must not be null")
        if isinstance(each, bool | np.bool_) or not isinstance(each, int | np.integer):
            raise TypeError(f"row {row}: {what} must be integers, not {type(each).__name__}")
    array = np.empty(len(values), object)
    array[:] = [int(each) for each in values]
    return array


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
