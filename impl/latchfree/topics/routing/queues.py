"""Queue groups: of the members of a group that match, one gets the message.

Example: three workers subscribe to ``jobs.*`` with the queue ``render``. Each job goes to one of the three.

NATS (and here AMQP) knows a group by its name, so members with different patterns are one group. MQTT knows a group by
name and filter, so a client in two groups of one name may get a message twice.

Source: NATS, "Queue Groups" and SubList; MQTT 5.0, 4.8.2.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Container, Hashable, Sequence
from itertools import count
from typing import Any, Final, Generic, TypeAlias

from latchfree.arena.forking import new_lock
from latchfree.arguments import integer
from latchfree.topics.matcher import Matcher, checked_matcher
from latchfree.topics.subscription import S, Subscription

#: So many members may be known to `RoundRobin` before those that have gone are looked for.
_MEMBERS: Final = 64

Pick: TypeAlias = Callable[[Hashable, Sequence[Subscription[Any]], str | bytes], Subscription[Any]]
"""Chooses one of the members of a group (in the order they subscribed) for a topic."""


class RoundRobin:
    """Of the members that match, the one that has waited longest.

    Example: A asks for ``jobs.*`` and B for ``jobs.new``. Each ``jobs.new`` goes to B if A got the message before.

    In a group of m members, each gets at least one of any m messages in a row that match its pattern, whatever
    else is published in between: a member that got a message stands behind all that have waited since.
    """

    def __init__(self) -> None:
        self._clock = count()
        self._served: dict[tuple[Hashable, int], int] = {}
        self._lock = new_lock()

    def __call__(self, group: Hashable, members: Sequence[Subscription[S]], topic: str | bytes) -> Subscription[S]:
        """Return the member of a group that gets a message."""
        served = self._served
        with self._lock:
            chosen = min(members, key=lambda member: served.get((group, member.number), -1))
            served[group, chosen.number] = next(self._clock)
        return chosen

    def __len__(self) -> int:
        """Return the number of members whose last turn is known."""
        return len(self._served)

    def keep(self, members: Container[tuple[Hashable, int]]) -> None:
        """Forget the turns of all other members; a member is a group and the number of a subscription."""
        for member in list(self._served):
            if member not in members:
                self._served.pop(member, None)


class Random:
    """Any member, each equally likely; the same seed makes the same choices."""

    def __init__(self, seed: int | None = None) -> None:
        self._random = random.Random(None if seed is None else integer(seed, "seed must be an integer or None"))

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
        self._matcher: Matcher[S] = checked_matcher(matcher)
        if pick is not None and not callable(pick):
            raise TypeError(f"pick must be a function of group, members and topic, not {type(pick).__name__}")
        self._pick = RoundRobin() if pick is None else pick
        self._most_members = _MEMBERS

    def group_of(self, subscription: Subscription[S]) -> Hashable | None:
        """Return the key of the group a subscription is in, None if in none."""
        if not isinstance(subscription, Subscription):
            raise TypeError(f"subscription must be what subscribe returned, not {type(subscription).__name__}")
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
        if isinstance(self._pick, RoundRobin) and len(self._pick) > self._most_members:
            self._forget_members(self._pick)
        return sorted(chosen, key=lambda each: each.number)

    def _forget_members(self, turns: RoundRobin) -> None:
        """Forget the turns of members that have gone; rare, as reading all subscriptions takes long."""
        held = list(self._matcher.subscriptions())
        members = {(self.group_of(each), each.number) for each in held if each.queue is not None}
        self._most_members = max(_MEMBERS, 2 * len(members), len(held) // 8)
        turns.keep(members)
