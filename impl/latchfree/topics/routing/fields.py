"""Matching on fields: a subscription asks for values or presence of fields, a message has fields.

Each criterion has a bitmap of the subscriptions that ask for it. A message selects some bitmaps, and the hits of each
subscription in those bitmaps are counted. A subscription that asks for any criterion matches with one hit; a
subscription that asks for every criterion needs as many hits as criteria.

Source: Hintjens and Sustrik, "Fast Topic Matching" of OpenAMQ, field matching.
"""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from latchfree.extras import optional, require
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
    """Subscriptions to fields."""

    def __init__(self) -> None:
        require("pyroaring", "topics")
        self._rows: dict[tuple[str, Hashable], BitMap] = {}
        self._slot: dict[FieldSubscription, int] = {}
        self._holder: list[FieldSubscription | None] = []
        self._free: list[int] = []

    def subscribe(
        self, criteria: Mapping[str, Hashable], subscriber: Hashable, *, every: bool = True
    ) -> FieldSubscription:
        """Add a subscription.

        Parameters
        ----------
        criteria : mapping
            Names of fields and the values they must have, or `PRESENT`; at least one.
        subscriber : hashable
        every : bool
            Whether all criteria must hold, or any.
        """
        _check_mapping(criteria, "criteria")
        if not criteria:
            raise ValueError("a subscription to fields needs at least one criterion")
        hash(subscriber)
        subscription = FieldSubscription(tuple(criteria.items()), every, subscriber)
        hash(subscription.criteria)
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
        if subscription not in self._slot:
            raise UnknownSubscription(f"{subscription!r} is not subscribed here, or is unsubscribed already")
        slot = self._slot.pop(subscription)
        self._holder[slot] = None
        self._free.append(slot)
        for criterion in subscription.criteria:
            self._rows[criterion].remove(slot)
            if not self._rows[criterion]:
                del self._rows[criterion]

    def hits(self, fields: Mapping[str, Hashable]) -> dict[FieldSubscription, int]:
        """Return how many criteria of each subscription hold; a subscription without any is left out."""
        _check_mapping(fields, "fields")
        asked = itertools.chain(fields.items(), ((name, PRESENT) for name in fields))
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

    def match(self, fields: Mapping[str, Hashable]) -> frozenset[Hashable]:
        """Return the subscribers of a message with these fields."""
        hits = self.hits(fields)
        return frozenset(each.subscriber for each, n in hits.items() if not each.every or n == len(each.criteria))

    def __len__(self) -> int:
        return len(self._slot)


def _check_mapping(value: object, what: str) -> None:
    if not isinstance(value, Mapping):
        raise TypeError(f"{what} must be a mapping of names of fields to values, not {type(value).__name__}")
