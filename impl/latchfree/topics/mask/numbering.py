"""Subscribers as numbers: an integer stands for itself, any other subscriber gets a number from 0 on."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from latchfree.arguments import hashable, listed, many
from latchfree.extras import optional
from latchfree.topics.columns import subscriber_column, text_column

pa: Any = optional("pyarrow", "topics")


@dataclass(frozen=True)
class Numbering:
    """The subscribers that the numbers in an index stand for.

    Parameters
    ----------
    column : pyarrow.StringArray or None
        Subscribers that are strings, by number.
    objects : sequence of hashable or None
        Subscribers of any other or mixed types, by number.
    """

    column: Any = None
    objects: Sequence[Hashable] | None = None

    def object(self, number: int) -> Any:
        """Return the subscriber of a number."""
        if self.objects is not None:
            return self.objects[number]
        if self.column is not None:
            return self.column[number].as_py()
        return int(number)

    def values(self, numbers: NDArray[np.int64]) -> Any:
        """Return the subscribers of numbers as an Arrow array.

        Raises
        ------
        TypeError
            If the subscribers do not fit one Arrow type.
        """
        if self.column is not None:
            return self.column.take(pa.array(numbers))
        if self.objects is None:
            return pa.array(numbers)
        try:
            return subscriber_column([self.objects[number] for number in numbers])
        except pa.ArrowException as error:
            raise TypeError(f"the subscribers do not fit one Arrow array ({error}); use match for each topic") from None


def number(subscribers: Any) -> tuple[NDArray[np.int64], Numbering]:
    """Return the number of each subscriber, and the numbering.

    Parameters
    ----------
    subscribers : pyarrow.Array, ndarray or sequence of hashable
        The subscribers; equal ones get one number.
    """
    if isinstance(subscribers, pa.ChunkedArray):
        subscribers = subscribers.combine_chunks()
    if isinstance(subscribers, pa.Array) and subscribers.null_count:
        raise ValueError(f"subscribers must not be null, element {subscribers.is_null().index(True).as_py()} is")
    if isinstance(subscribers, pa.Array) and pa.types.is_integer(subscribers.type):
        try:
            return subscribers.cast(pa.int64()).to_numpy(zero_copy_only=False), Numbering()
        except pa.ArrowInvalid as error:
            raise ValueError(f"subscribers that are integers must be from -2**63 to 2**63 - 1: {error}") from None
    if isinstance(subscribers, pa.Array) and pa.types.is_dictionary(subscribers.type):
        subscribers = subscribers.dictionary_decode()
    if isinstance(subscribers, pa.Array) and pa.types.is_large_string(subscribers.type):
        subscribers = subscribers.cast(pa.string())
    if isinstance(subscribers, pa.Array) and not pa.types.is_string(subscribers.type):
        subscribers = listed(subscribers, "subscribers")
    if isinstance(subscribers, np.ndarray):
        subscribers = subscribers.tolist()
    if not isinstance(subscribers, pa.Array):
        subscribers = list(many(subscribers, "subscribers", "[subscriber]"))
        if all(type(each) is int and -(2**63) <= each < 2**63 for each in subscribers):
            return np.array(subscribers, np.int64), Numbering()
        if all(type(each) is str for each in subscribers):
            subscribers = text_column(subscribers, "subscribers")
    if isinstance(subscribers, pa.Array) and pa.types.is_string(subscribers.type):
        try:
            subscribers.validate(full=True)
        except pa.ArrowInvalid as error:
            raise ValueError(f"subscribers must be a valid Arrow array: {error}") from None
        encoded = subscribers.dictionary_encode()
        return encoded.indices.to_numpy().astype(np.int64), Numbering(column=encoded.dictionary)
    numbers: dict[Hashable, int] = {}
    found = [numbers.setdefault(hashable(each, "each of subscribers"), len(numbers)) for each in subscribers]
    return np.array(found, np.int64), Numbering(objects=list(numbers))
