"""A key-value store of strings with append: a get returns all that was appended since the last put."""

from collections.abc import Hashable
from types import MappingProxyType

from latchfree_model.models.base import Call, SequentialModel

Strings = frozenset[tuple[Hashable, str]]


class AppendKvModel(SequentialModel[Strings]):
    """``get(key) -> str``, ``put(key, text)``, ``append(key, text)``; every key holds "" at the beginning."""

    name = "append-kv"
    operations = MappingProxyType({"get": 1, "put": 2, "append": 2})
    silent = frozenset({"put", "append"})
    readonly = frozenset({"get"})

    def init(self) -> Strings:
        """Return the initial contents: no key holds anything but the empty string."""
        return frozenset()

    def apply(self, state: Strings, call: Call) -> tuple[object, Strings]:
        """Return the result that `call` must have, and the next contents."""
        contents = dict(state)
        key = call.arguments[0]
        text = contents.get(key, "")
        if call.f == "get":
            return text, state
        written = call.arguments[1]
        if not isinstance(written, str):
            raise ValueError(f"{call}: {call.f!r} of {self.name!r} takes a string, not {written!r}")
        contents[key] = written if call.f == "put" else text + written
        if not contents[key]:
            del contents[key]
        return None, frozenset(contents.items())

    def reason(self, state: Strings, call: Call) -> str:
        """Return what the key held."""
        return f"key {call.arguments[0]!r} held {dict(state).get(call.arguments[0], '')!r}"

    def partition(self, call: Call) -> Hashable:
        """Return the key: keys are independent."""
        return call.arguments[0]
