"""Queue groups: of the members of a group that match, one gets the message.

Example: three workers subscribe to ``jobs.*`` with the queue ``render``. Each job goes to one of the three.

NATS (and here AMQP) knows a group by its name, so members with different patterns are one group. MQTT knows a group by
name and filter, so a client in two groups of one name may get a message twice.

Source: NATS, "Queue Groups" and SubList; MQTT 5.0, 4.8.2.
"""

from __future__ import annotations

import random
import threading
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from typing import Any, Generic, TypeAlias

from latchfree.topics.matcher import Matcher
from latchfree.topics.subscription import S, Subscription

Pick: TypeAlias = Callable[[Hashable, Sequence[Subscription[Any]], str | bytes], Subscription[Any]]
"""Chooses one of the members of a group (in the order they subscribed) for a topic."""


class RoundRobin:
    """Each member of a group in turn."""

    def __init__(self) -> None:
        self._turns: Counter[Hashable] = Counter()
        self._lock = threading.Lock()

    def __call__(self, group: Hashable, members: Sequence[Subscription[S]], topic: str | bytes) -> Subscription[S]:
        """Return the member of a group that gets a message."""
        with self._lock:
            turn = self._turns[group]
            self._turns[group] += 1
        return members[turn % len(members)]


class Random:
    """Any member, each equally likely; the same seed makes the same choices."""

    def __init__(self, seed: int | None = None) -> None:
        self._random = random.Random(seed)

    def __call__(self, group: Hashable, members: Sequence[Subscription[S]], topic: str | bytes) -> Subscription[S]:
        """Return the member of a group that gets a message."""
        return self._random.choice(members)


class Sticky:
    """The same member for the same topic, as long as the member matches; members that come or go move few topics.

    Rendezvous hashing (Thaler and Ravishankar 1998), in one process: the hash of strings differs between processes.
    """

    def __call__(self, group: Hashable, members: Sequence[Subscription[S]], topic: str | bytes) -> Subscription[S]:
        """Return the member of a group that gets a message."""
        return max(members, key=lambda member: hash((topic, group, member.number)))


class QueueGroups(Generic[S]):
    """Route topics by a matcher: to all subscriptions without a queue, and to one member of each queue group.

    Parameters
    ----------
    matcher : Matcher
        One that keeps queues: any but a mask index.
    pick : callable, optional
        `RoundRobin` unless given; `Random`, `Sticky` or a function of group, members and topic.
    """

    def __init__(self, matcher: Matcher[S], pick: Pick | None = None) -> None:
        self._matcher = matcher
        self._pick = pick or RoundRobin()

    def group_of(self, subscription: Subscription[S]) -> Hashable | None:
        """Return the key of the group a subscription is in, None if in none."""
        if subscription.queue is None:
            return None
        if self._matcher.dialect.shares:
            return subscription.queue, self._matcher.dialect.pattern(subscription.pattern).words
        return subscription.queue

    def route(self, topic: str | bytes) -> list[Subscription[S]]:
        """Return the subscriptions that get a message, in the order they subscribed."""
        chosen: list[Subscription[S]] = []
        groups: dict[Hashable, list[Subscription[S]]] = {}
        for subscription in sorted(self._matcher.matching(topic), key=lambda each: each.number):
            group = self.group_of(subscription)
            if group is None:
                chosen.append(subscription)
            else:
                groups.setdefault(group, []).append(subscription)
        chosen += [self._pick(group, members, topic) for group, members in groups.items()]
        return sorted(chosen, key=lambda each: each.number)
