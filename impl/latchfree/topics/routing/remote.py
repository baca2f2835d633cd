"""Interest of other servers: the subscriptions behind each route, by account, apart from local subscriptions.

A key names a route, an account, a pattern and a queue; its weight is the number of subscribers behind the key.
Matching is by account and returns weights. When a route closes, all its keys go.

Source: routed subscriptions of SubList, NATS.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from latchfree.arena.forking import new_lock
from latchfree.arguments import hashable, whole
from latchfree.topics.dialects import Dialect, get_dialect
from latchfree.topics.engines.locked_trie import LockedTrie
from latchfree.topics.subscription import Subscription


@dataclass(frozen=True, slots=True)
class RoutedSubKey:
    """A route, an account, a pattern and a queue: the key of some subscribers of another server."""

    route: str
    account: str
    pattern: str
    queue: str | None = None


class RemoteInterest:
    """The interest of other servers.

    Parameters
    ----------
    dialect : str or Dialect
    """

    def __init__(self, dialect: str | Dialect = "nats") -> None:
        self._dialect = get_dialect(dialect)
        self._lock = new_lock()  # a signal handler may ask in the midst of a change
        self._tries: defaultdict[str, LockedTrie[RoutedSubKey]] = defaultdict(lambda: LockedTrie(self._dialect))
        self._held: dict[RoutedSubKey, tuple[Subscription[RoutedSubKey], int]] = {}
        self._of_route: defaultdict[tuple[str, str], set[RoutedSubKey]] = defaultdict(set)

    def apply(self, key: RoutedSubKey, weight: int = 1) -> None:
        """Set the weight of a key; 0 takes the key away, and does nothing if the key is not there.

        Raises
        ------
        InvalidPattern
            If the pattern breaks a rule of the dialect; nothing changes.
        TypeError, ValueError
            If the weight is no integer, or negative; nothing changes.
        """
        if not isinstance(key, RoutedSubKey):
            raise TypeError(f"key must be a RoutedSubKey, not {type(key).__name__}")
        weight = whole(weight, "weight", 0)
        self._dialect.pattern(key.pattern)
        with self._lock:
            if weight == 0:
                self._remove([key] if key in self._held else [])
            elif key in self._held:
                self._held[key] = self._held[key][0], weight
            else:
                self._held[key] = self._tries[key.account].subscribe(key.pattern, key), weight
                self._of_route[key.route, key.account].add(key)

    def update_weight(self, key: RoutedSubKey, weight: int) -> None:
        """Change the weight of a key that is there.

        Raises
        ------
        KeyError
            If the key is not there.
        """
        if hashable(key, "key") not in self._held:
            raise KeyError(f"{key} is not applied; apply it first")
        self.apply(key, weight)

    def remove_route(self, route: str, account: str | None = None) -> int:
        """Take all keys of a route away, or those of one of its accounts; return how many there were."""
        hashable(route, "route"), hashable(account, "account")
        with self._lock:
            slices = [each for each in self._of_route if each[0] == route and account in (None, each[1])]
            return self._remove([key for each in slices for key in self._of_route[each]])

    def has_interest(self, account: str, topic: str | bytes) -> bool:
        """Return whether a subscriber behind any route is interested."""
        hashable(account, "account")
        with self._lock:
            trie = self._tries.get(account)
        self._dialect.topic(topic)
        return trie is not None and trie.has_interest(topic)

    def match(self, account: str, topic: str | bytes) -> dict[RoutedSubKey, int]:
        """Return the keys whose patterns match, with their weights."""
        hashable(account, "account")
        self._dialect.topic(topic)
        with self._lock:
            trie = self._tries.get(account)
            if trie is None:
                return {}
            keys = [each.subscriber for each in trie.matching(topic)]
            return {key: self._held[key][1] for key in keys if key in self._held}

    def __len__(self) -> int:
        return len(self._held)

    def _remove(self, keys: list[RoutedSubKey]) -> int:
        for key in keys:
            subscription, _ = self._held.pop(key)
            trie = self._tries[key.account]
            trie.unsubscribe(subscription)
            if not len(trie):
                del self._tries[key.account]
            held = self._of_route[key.route, key.account]
            held.remove(key)
            if not held:
                del self._of_route[key.route, key.account]
        return len(keys)
