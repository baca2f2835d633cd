"""Matching on fields: a subscription asks for values or presence of fields, a message has fields.

Each criterion has a bitmap of the subscriptions that ask for it. A message selects some bitmaps, and the hits of each
subscription in those bitmaps are counted. A subscription that asks for any criterion matches with one hit; a
subscription that asks for every criterion needs as many hits as criteria.

A field that holds several values at once is a list or a set of them. In a message one of them is enough for a
criterion; in a subscription each is a criterion of its own. A tuple is one value.

Source: Hintjens and Sustrik, "Fast Topic Matching" of OpenAMQ, field matching.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from latchfree.arena.forking import new_lock
from latchfree.arguments import flag, hashable, listed, many, shown
from latchfree.extras import optional, require
from latchfree.topics.columns import to_lists
from latchfree.topics.errors import UnknownSubscription

if TYPE_CHECKING:
    from pyroaring import BitMap

roaring: Any = optional("pyroaring", "topics")


class _Present(Enum):
    PRESENT = "present"

    def __repr__(self) -> str:
        return "PRESENT"


PRESENT: Final = _Present.PRESENT
"""The criterion that a message has a field, whatever its value."""


@dataclass(frozen=True, slots=True, eq=False)
class FieldSubscription:
    """The handle of one subscription to fields."""

    criteria: tuple[tuple[str, Hashable], ...]
    every: bool
    subscriber: Hashable


class FieldMatcher:
    """Subscriptions to fields; any number of threads may use it."""

    def __init__(self) -> None:
        require("pyroaring", "topics")
        self._lock = new_lock()
        self._rows: dict[tuple[str, Hashable], BitMap] = {}
        self._slot: dict[FieldSubscription, int] = {}
        self._holder: list[FieldSubscription | None] = []
        self._free: list[int] = []

    def subscribe(
        self, criteria: Mapping[str, object], subscriber: Hashable, *, every: bool = True
    ) -> FieldSubscription:
        """Add a subscription.

        Parameters
        ----------
        criteria : mapping
            Names of fields and the values they must have, or `PRESENT`; at least one. A list or set of values is
            a criterion for each.
        subscriber : hashable
            What a match returns.
        every : bool
            Whether all criteria must hold, or any.

        Raises
        ------
        TypeError
            If a value is not hashable, naming the field; nothing changes.
        ValueError
            If there is no criterion.
        """
        every = flag(every, "every")
        wanted = tuple(dict.fromkeys(_criteria(criteria, "criteria")))
        if not wanted:
            raise ValueError("a subscription to fields needs at least one criterion")
        hashable(subscriber, "subscriber")
        subscription = FieldSubscription(wanted, every, subscriber)
        with self._lock:
            slot = self._free.pop() if self._free else len(self._holder)
            self._holder[slot : slot + 1] = [subscription]
            self._slot[subscription] = slot
            for criterion in subscription.criteria:
                self._rows.setdefault(criterion, roaring.BitMap()).add(slot)
        return subscription

    def unsubscribe(self, subscription: FieldSubscription) -> None:
        """Take a subscription away.

        Raises
        ------
        UnknownSubscription
            If the matcher does not have the subscription, or no longer.
        """
        with self._lock:
            if not isinstance(subscription, FieldSubscription) or subscription not in self._slot:
                raise UnknownSubscription(f"{subscription!r} is not subscribed here, or is unsubscribed already")
            slot = self._slot.pop(subscription)
            self._holder[slot] = None
            self._free.append(slot)
            for criterion in subscription.criteria:
                self._rows[criterion].remove(slot)
                if not self._rows[criterion]:
                    del self._rows[criterion]

    def hits(self, fields: Mapping[str, object]) -> dict[FieldSubscription, int]:
        """Return how many criteria of each subscription hold; a subscription without any is left out."""
        asked = dict.fromkeys([*_criteria(fields, "fields"), *((name, PRESENT) for name in fields)])
        with self._lock:
            rows = [self._rows[criterion] for criterion in asked if criterion in self._rows]
            if not rows:
                return {}
            counts = np.bincount(np.concatenate([row.to_array() for row in rows]))
            found = {}
            for slot in np.flatnonzero(counts).tolist():
                holder = self._holder[slot]
                assert holder is not None
                found[holder] = int(counts[slot])
            return found

    def match(self, fields: Mapping[str, object]) -> frozenset[Hashable]:
        """Return the subscribers of a message with these fields."""
        hits = self.hits(fields)
        return frozenset(each.subscriber for each, n in hits.items() if not each.every or n == len(each.criteria))

    def match_many(self, messages: Any) -> Any:
        """Return the subscribers of each message.

        Parameters
        ----------
        messages : pyarrow.Table, pyarrow.StructArray or iterable of mapping
            A null in a column is a field that the message does not have.

        Returns
        -------
        pyarrow.ListArray
            One list for each message, each subscriber once, in any order.

        Raises
        ------
        TypeError
            If a message is no mapping, or has a value that is not hashable; the error names the row.
        """
        arrow = hasattr(messages, "to_pylist")
        rows: Iterable[Any] = listed(messages, "messages") if arrow else many(messages, "messages", "match")
        found = []
        for row, message in enumerate(rows):
            if arrow and not isinstance(message, dict | None):
                raise TypeError(f"messages must be a table or an array of structs, row {row} is {shown(message)}")
            fields = {name: each for name, each in (message or {}).items() if each is not None} if arrow else message
            try:
                found.append(self.match(fields))
            except TypeError as error:
                raise TypeError(f"row {row}: {error}") from None
        return to_lists(found)

    def __len__(self) -> int:
        return len(self._slot)


def _criteria(fields: Mapping[str, object], what: str) -> Iterator[tuple[str, Hashable]]:
    """Yield each field with each value that it holds."""
    if not isinstance(fields, Mapping):
        raise TypeError(f"{what} must be a mapping of names of fields to values, not {type(fields).__name__}")
    for name, value in fields.items():
        for each in value if isinstance(value, list | set) else (value,):
            try:
                hash(each)
            except TypeError:
                raise TypeError(
                    f"the field {name!r} has a value that is not hashable, a {type(each).__name__}; pass a tuple, or a "
                    "list of values"
                ) from None
            yield name, each
