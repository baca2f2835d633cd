"""A topic index: who subscribed to patterns that a topic matches."""

from collections.abc import Hashable
from types import MappingProxyType

from latchfree_model.models.base import UNKNOWN, Call, SequentialModel, elements, listed
from latchfree_model.models.dialects import DIALECTS

Subscriptions = frozenset[tuple[str, Hashable]]


class TopicIndexModel(SequentialModel[Subscriptions]):
    """Subscriptions are pairs of pattern and subscriber, each there once; none at the beginning.

    =========================================  ======================================================
    ``subscribe(pattern, subscriber)``         None
    ``unsubscribe(pattern, subscriber)``       whether it was subscribed
    ``match(topic)``                           the subscribers of patterns that match: any collection,
                                               each once
    ``snapshot()``                             the (pattern, subscriber) pairs, each once
    =========================================  ======================================================

    All members of a shared MQTT subscription match: which one gets a message is not the index's business.

    Parameters
    ----------
    dialect : str
        ``"amqp"``, ``"nats"`` or ``"mqtt"``.
    """

    operations = MappingProxyType({"subscribe": 2, "unsubscribe": 2, "match": 1, "snapshot": 0})
    silent = frozenset({"subscribe"})
    overwriting = frozenset({"subscribe", "unsubscribe"})
    readonly = frozenset({"match", "snapshot"})
    default = "amqp"

    def __init__(self, dialect: str = default) -> None:
        if dialect not in DIALECTS:
            raise ValueError(f"no topic dialect is called {dialect!r}; there are {', '.join(DIALECTS)}")
        self.dialect = DIALECTS[dialect]
        suffix = "" if dialect == self.default else f":{dialect}"
        self.name = f"topic-index{suffix}"

    def init(self) -> Subscriptions:
        """Return no subscriptions."""
        return frozenset()

    def apply(self, state: Subscriptions, call: Call) -> tuple[object, Subscriptions]:
        """Return the result that `call` must have, and the next subscriptions."""
        if call.f == "snapshot":
            return state, state
        if call.f == "match":
            topic = str(call.arguments[0])
            return frozenset(who for pattern, who in state if self.dialect.matches(pattern, topic)), state
        pair = (str(call.arguments[0]), call.arguments[1])
        if call.f == "subscribe":
            return None, state | {pair}
        return pair in state, state - {pair}

    def matches(self, call: Call, expected: object) -> bool:
        """Return whether the result seen is the one expected; collections in any order."""
        return (call.result if call.f == "unsubscribe" else elements(call)) == expected

    def reason(self, state: Subscriptions, call: Call) -> str:
        """Return who subscribed to what the topic matches, or whether the pair was there."""
        if call.f == "snapshot":
            return f"the subscriptions were {listed(sorted(state, key=repr))}"
        if call.f == "match":
            topic = str(call.arguments[0])
            found = [pair for pair in state if self.dialect.matches(pair[0], topic)]
            return f"of the subscriptions {listed(sorted(found, key=repr))} matched"
        there = (call.arguments[0], call.arguments[1]) in state
        return f"{call.arguments[1]!r} was {'subscribed' if there else 'not subscribed'} to {call.arguments[0]!r}"

    def effectless(self, call: Call) -> bool:
        """Return whether the call cannot have changed anything, as its result shows."""
        return call.f in self.readonly or (call.f == "unsubscribe" and call.result is False)

    def partition(self, call: Call) -> Hashable | None:
        """Return the subscription, or None for a call that looks at several."""
        return call.arguments if len(call.arguments) == 2 else None

    def validate(self, call: Call) -> None:
        """Raise ValueError for an unknown operation, a wrong number of arguments, an invalid pattern or topic."""
        super().validate(call)
        try:
            if call.f == "match":
                self.dialect.check_topic(call.arguments[0])
            elif call.f != "snapshot":
                self.dialect.check_pattern(call.arguments[0])
        except ValueError as error:
            raise ValueError(f"{call}: {error}") from None
        if call.f in ("match", "snapshot") and call.result is not UNKNOWN:
            elements(call)
