"""The columns of inverted bitmaps: subscriptions get small numbers, and free numbers are used again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Generic

from latchfree.topics.pattern import Pattern
from latchfree.topics.subscription import S, Subscription


class Slots(Generic[S]):
    """Numbers for subscriptions, as low as possible; before a number is freed, its bit must be cleared in every row."""

    def __init__(self) -> None:
        self._holder: list[tuple[Subscription[S], Pattern] | None] = []
        self._slot: dict[int, int] = {}
        self._free: list[int] = []

    def take(self, subscription: Subscription[S], pattern: Pattern) -> int:
        """Return the number that a subscription gets."""
        if self._free:
            slot = self._free.pop()
            self._holder[slot] = subscription, pattern
        else:
            slot = len(self._holder)
            self._holder.append((subscription, pattern))
        self._slot[subscription.number] = slot
        return slot

    def free(self, subscription: Subscription[S]) -> int:
        """Return the number that a subscription had; the next one may get it."""
        slot = self._slot.pop(subscription.number)
        self._holder[slot] = None
        self._free.append(slot)
        return slot

    def pattern(self, slot: int) -> Pattern:
        """Return the pattern of a slot in use."""
        held = self._holder[slot]
        assert held is not None
        return held[1]

    def patterns(self) -> Iterator[tuple[int, Pattern]]:
        """Return the slots in use with their patterns."""
        return ((slot, held[1]) for slot, held in enumerate(self._holder) if held is not None)

    def holders(self, slots: Iterable[int]) -> Iterator[Subscription[S]]:
        """Return the subscriptions of slots in use."""
        for slot in slots:
            held = self._holder[slot]
            assert held is not None
            yield held[0]
