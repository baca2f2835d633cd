"""Queue groups: of the members of a group that match, one gets the message.

Example: three workers subscribe to ``jobs.*`` with the queue ``render``. Each job goes to one of the three.

NATS (and here AMQP) knows a group by its name, so members with different patterns are one group. MQTT knows a group by
name and filter, so a client in two groups of one name may get a message twice.

Source: NATS, "Queue Groups" and SubList; MQTT 5.0, 4.8.2.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Container, Hashable, Iterator, Sequence
from itertools import count
from typing import Any, Final, Generic, TypeAlias

from latchfree.topics.dialects import Dialect
from latchfree.topics.matcher import Matcher
from latchfree.topics.subscription import S, Subscription

#: So many groups may be known to `RoundRobin` before those without members are looked for.
_GROUPS: Final = 64

Pick: TypeAlias = Callable[[Hashable, Sequence[Subscription[Any]], str | bytes], Subscription[Any]]
"""Chooses one of the members of a group (in the order they subscribed) for a topic."""


class RoundRobin:
    """Each member of a group in turn."""

    def __init__(self) -> None:
        self._turns: dict[Hashable, Iterator[int]] = {}

    def __call__(self, group: Hashable, members: Sequence[Subscription[S]], topic: str | bytes) -> Subscription[S]:
        """Return the member of a group that gets a message."""
        # Two single steps of the interpreter: no turn is lost, and no lock is held.
        turn = next(self._turns.setdefault(group, count()))
        return members[turn % len(members)]

    def __len__(self) -> int:
        """Return the number of groups whose turn is known."""
        return len(self._turns)

    def keep(self, groups: Container[Hashable]) -> None:
        """Forget the turns of all other groups."""
        for group in list(self._turns):
            if group not in groups:
                self._turns.pop(group, None)


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
        if not isinstance(getattr(matcher, "dialect", None), Dialect):
            raise TypeError(f"matcher must be a matcher of topics, not {type(matcher).__name__}")
        self._matcher = matcher
        self._pick = RoundRobin() if pick is None else pick
        self._most_groups = _GROUPS

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
        if isinstance(self._pick, RoundRobin) and len(self._pick) > self._most_groups:
            self._forget_groups(self._pick)
        return sorted(chosen, key=lambda each: each.number)

    def _forget_groups(self, turns: RoundRobin) -> None:
        """Forget the turns of groups that have no member any more; rare, as reading all subscriptions takes long."""
        found = [self.group_of(subscription) for subscription in self._matcher.subscriptions()]
        groups = set(found)
        self._most_groups = max(_GROUPS, 2 * len(groups), len(found) // 8)
        turns.keep(groups)
