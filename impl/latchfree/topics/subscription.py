"""The handle of a subscription, and the counts of a matcher."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Generic

if TYPE_CHECKING:
    from typing_extensions import TypeVar  # the checkers know this module, and its defaults

    S = TypeVar("S", bound=Hashable, default=Hashable)
    S_co = TypeVar("S_co", bound=Hashable, default=Hashable, covariant=True)
else:
    from typing import TypeVar

    S = TypeVar("S", bound=Hashable)
    S_co = TypeVar("S_co", bound=Hashable, covariant=True)


@dataclass(frozen=True, slots=True)
class Subscription(Generic[S_co]):
    """The handle of one subscription.

    Parameters
    ----------
    number : int
        The number of the subscription in its matcher; no later subscription gets the same number.
    pattern : str
    subscriber : hashable
    queue : str or None
        The queue group: NATS names the group apart from the pattern, MQTT in the pattern.
    """

    number: int
    pattern: str
    subscriber: S_co
    queue: str | None = None


@dataclass(frozen=True, slots=True)
class Stats:
    """The size of a matcher, and counts of its calls.

    Parameters
    ----------
    engine, dialect : str
    subscriptions, patterns, subscribers : int
        How many the matcher holds; equal patterns and equal subscribers count once.
    subscribes, unsubscribes, matches, matched : int
        Calls so far (a bulk call counts its rows), and subscribers that matches returned.
    details : mapping
        Counts that only this engine has.
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
        """Subscribers of a topic on average; 0 before the first match."""
        return self.matched / self.matches if self.matches else 0.0

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values."""
        return {**asdict(self), "fan_out": self.fan_out}
