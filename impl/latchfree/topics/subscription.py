"""The handle of a subscription, and the counts of a matcher."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Subscription:
    """The handle of one subscription.

    Parameters
    ----------
    number : int
        Its number in its matcher, which no later subscription gets.
    pattern : str
    subscriber : hashable
    queue : str or None
        The queue group it takes part in: NATS gives it apart from the pattern, MQTT in it.
    """

    number: int
    pattern: str
    subscriber: Hashable
    queue: str | None = None


@dataclass(frozen=True, slots=True)
class Stats:
    """What a matcher holds and did.

    Parameters
    ----------
    engine, dialect : str
    subscriptions, patterns, subscribers : int
        How many it holds; different ones, of the latter two.
    subscribes, unsubscribes, matches, matched : int
        Calls so far (a bulk call counts its rows), and subscribers they returned.
    details : mapping
        What only this engine counts.
    """

    engine: str
    dialect: str
    subscriptions: int
    patterns: int
    subscribers: int
    subscribes: int = 0
    unsubscribes: int = 0
    matches: int = 0
    matched: int = 0
    details: Mapping[str, float] = field(default_factory=dict)

    @property
    def fan_out(self) -> float:
        """Subscribers a topic matched on average; 0 before the first match."""
        return self.matched / self.matches if self.matches else 0.0

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values."""
        return {**asdict(self), "fan_out": self.fan_out}
