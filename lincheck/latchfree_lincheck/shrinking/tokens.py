"""Leave some values out of a history, with the calls that write or observe them.

Example: without the item 7, a queue's history has no ``enqueue(7)`` and no ``dequeue()`` that returned 7.

A *token* is a value that calls write and observe. Leaving out a token leaves out the calls that write the token. A call
that observed the token is left out if the call had no effect; else its result is forgotten. This is sound: take a
linearization of the whole history, and the rest of it is a linearization of the smaller history:

`Items` (queue, bounded queue, stack, priority queue; a token is an item)
    The order of the other items does not depend on those left out, and an empty queue stays empty. That a bounded
    queue was full does depend on them, so such calls go.
`Members` (a set, a map or a topic index seen whole; a token is an element, a key or a subscriber)
    Members are independent; snapshots are left without them, sizes go.
`Subscriptions` (topic index; a token is a pattern with a subscriber)
    A match that found the subscriber, for a topic that the pattern matches, may have found it because of the token: it
    goes. Any other match saw the same without it.
`Values` (register, cas-register, map; a token is a key with a value)
    While a token was there, the value before it is now. So whoever saw the token goes, and whoever saw that some other
    value was *not* there, or only that some value was. A conditional write that saw the token goes with what it wrote.
    A removal that saw the token goes if all values since the key was last absent go, so that it is absent now; else it
    stays, its result forgotten. Absence is no token: an absent key stays absent.

A call whose result nobody saw may have done one thing then and do another now. If it is pending, the linearization may
do without it; if not, the tokens are not left out.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, Protocol

from latchfree_lincheck.history import Operation
from latchfree_model import (
    UNKNOWN,
    BoundedQueueModel,
    CasRegisterModel,
    MapModel,
    Model,
    PriorityQueueModel,
    QueueModel,
    RegisterModel,
    SetModel,
    StackModel,
    TopicIndexModel,
)

Gone = Collection[Hashable]


class Refused(Exception):
    """These tokens cannot be left out soundly."""


class Needs(Exception):
    """Another token has to be left out with them."""

    def __init__(self, token: Hashable) -> None:
        super().__init__(token)
        self.token = token


class Knowledge(Protocol):
    """The rules of one model for its tokens."""

    def token(self, operation: Operation) -> Hashable | None:
        """Return the token that an operation brings or takes, or None."""
        ...

    def without(self, operation: Operation, gone: Gone) -> Operation | None:
        """Return what becomes of an operation, None if it goes; or raise Refused or Needs."""
        ...


def knowledge_of(model: Model[Any], operations: Sequence[Operation]) -> list[Knowledge]:
    """Return what is known of the tokens of calls on one object, the coarsest first."""
    kind = type(model)
    whole = any(model.partition(operation.call) is None for operation in operations)
    if kind in (QueueModel, StackModel, PriorityQueueModel, BoundedQueueModel):
        return [Items(bounded=kind is BoundedQueueModel)]
    if kind in (RegisterModel, CasRegisterModel):
        return [Values(operations)]
    if kind is MapModel:
        return [*([Members(0, lambda pair: pair[0])] if whole else []), Values(operations)]
    if kind is SetModel and whole:
        return [Members(0, _itself)]
    if isinstance(model, TopicIndexModel) and kind is TopicIndexModel and whole:
        return [Members(1, lambda pair: pair[1]), Subscriptions(model)]
    return []


def leave_out(knowledge: Knowledge, operations: Iterable[Operation], gone: Gone) -> list[Operation] | None:
    """Return the operations without the tokens, and what must go with them; None if that would not be sound."""
    if not gone:
        return list(operations)
    gone = set(gone)
    while True:
        try:
            left = [knowledge.without(operation, gone) for operation in operations]
        except Refused:
            return None
        except Needs as more:
            gone.add(more.token)
        else:
            return [operation for operation in left if operation is not None]


class Items:
    """Tokens of queues and stacks."""

    _TAKES: Final = ("dequeue", "pop", "pop_min")

    def __init__(self, *, bounded: bool) -> None:
        self._bounded = bounded

    def token(self, operation: Operation) -> Hashable | None:
        """Return the item."""
        return _known(operation.result if operation.f in self._TAKES else operation.arguments[0])

    def without(self, operation: Operation, gone: Gone) -> Operation | None:
        """Return the operation, or None if it is about an item that goes or was refused because the queue was full."""
        if self.token(operation) in gone or (self._bounded and operation.result is False):
            return None
        chooses = self._bounded or operation.f in self._TAKES
        if chooses and operation.result is UNKNOWN and operation.return_ is not None:
            raise Refused
        return operation


class Members:
    """Tokens of sets, maps and topic indices that are seen whole.

    Parameters
    ----------
    argument : int
        Which argument is the member.
    member : callable
        The member that an element of a snapshot belongs to.
    """

    def __init__(self, argument: int, member: Callable[[Any], Hashable]) -> None:
        self._argument = argument
        self._member = member

    def token(self, operation: Operation) -> Hashable | None:
        """Return the member."""
        if operation.f in ("match", "snapshot", "size", "clear"):
            return None
        return operation.arguments[self._argument]

    def without(self, operation: Operation, gone: Gone) -> Operation | None:
        """Return the operation, with what goes taken out of a snapshot; None if it goes."""
        if operation.f == "size" or self.token(operation) in gone:
            return None
        if operation.f not in ("match", "snapshot") or operation.result is UNKNOWN:
            return operation
        seen: Any = operation.result
        elements = _pairs(seen)
        member = self._member if operation.f == "snapshot" else _itself
        return replace(operation, result=tuple(each for each in elements if member(each) not in gone))


class Subscriptions:
    """Tokens of one topic index, finer than its members."""

    def __init__(self, model: TopicIndexModel) -> None:
        self._dialect = model.dialect

    def token(self, operation: Operation) -> Hashable | None:
        """Return the pattern and the subscriber."""
        return operation.arguments if len(operation.arguments) == 2 else None

    def without(self, operation: Operation, gone: Gone) -> Operation | None:
        """Return the operation, with what goes taken out of a snapshot; None if it goes."""
        if self.token(operation) in gone:
            return None
        if operation.f not in ("match", "snapshot") or operation.result is UNKNOWN:
            return operation
        seen: Any = operation.result
        if operation.f == "snapshot":
            return replace(operation, result=tuple(pair for pair in seen if tuple(pair) not in gone))
        found, topic = set(seen), str(operation.arguments[0])
        pairs: Any = gone
        if any(who in found and self._dialect.matches(pattern, topic) for pattern, who in pairs):
            return None
        return operation


class Values:
    """Tokens of a register or a map: pairs of key and value, where a register has one key."""

    _NAMES: Final = {"read": "get", "write": "put", "cas": "replace_if"}

    def __init__(self, operations: Sequence[Operation]) -> None:
        self._before: dict[Hashable, object] = {}
        for operation in operations:
            token = self.token(operation)
            if token is not None:
                f, _, values, result = self._read(operation)
                replaced = values[0] if f == "replace_if" and result is True else result
                self._before[token] = UNKNOWN if token in self._before else replaced

    def token(self, operation: Operation) -> Hashable | None:
        """Return the key and the value that the operation wrote, or may have written."""
        f, key, values, result = self._read(operation)
        if f == "put" or (f in ("replace", "replace_if") and result is not None and result is not False):
            return _pair(key, values[-1])
        if f == "put_if_absent" and (result is None or result is UNKNOWN):
            return _pair(key, values[0])
        return None

    def without(self, operation: Operation, gone: Gone) -> Operation | None:
        """Return the operation, perhaps with its result forgotten, or None if it goes."""
        f, key, values, result = self._read(operation)
        if self.token(operation) in gone:
            return None
        unseen, pending = result is UNKNOWN, operation.return_ is None
        saw = _pair(key, values[0] if f in ("replace_if", "remove_if") else result) in gone
        match f:
            case "clear":
                return operation
            case "size" | "contains":
                return operation if result is False else None
            case "snapshot":
                return None if unseen or any(_pair(*each) in gone for each in _pairs(result)) else operation
            case "get":
                return None if saw or unseen else operation
            case "put":
                return replace(operation, result=UNKNOWN) if saw else operation
            case "remove" if saw:
                return None if self._absent_before(key, result, gone) else replace(operation, result=UNKNOWN)
            case "remove":
                return operation
            case "put_if_absent":
                _refuse(unseen and not pending)
                return None if saw else operation
            case "replace":
                _refuse(unseen)
                return _unless(saw, operation, _pair(key, values[-1]))
            case _ if result is False:  # replace_if, remove_if
                return None
            case "replace_if":
                return _unless(saw, operation, _pair(key, values[-1]))
            case _:  # remove_if
                _refuse(saw and not self._absent_before(key, values[0], gone))
                return None if saw else operation

    def _read(self, operation: Operation) -> tuple[str, Hashable, tuple[Hashable, ...], object]:
        """Return the operation as one of a map: its name, its key, its values, its result."""
        if operation.f in self._NAMES:
            return self._NAMES[operation.f], None, operation.arguments, operation.result
        key = operation.arguments[0] if operation.arguments else None
        return operation.f, key, operation.arguments[1:], operation.result

    def _absent_before(self, key: Hashable, value: object, gone: Gone) -> bool:
        """Return whether the value, and all since the key was absent, go: each was written once, over a known one."""
        for _ in range(len(self._before) + 1):
            token = _pair(key, value)
            if token is None or token not in gone:
                return False
            value = self._before.get(token, UNKNOWN)
            if value is None:
                return True
        return False


def _pair(key: Hashable, value: object) -> Hashable | None:
    """Return the token of a key and a value; None if the value cannot be one."""
    known = _known(value)
    return None if known is None else (key, known)


def _pairs(snapshot: Any) -> Iterable[tuple[Hashable, object]]:
    return snapshot.items() if isinstance(snapshot, Mapping) else snapshot


def _unless(saw: bool, operation: Operation, written: Hashable | None) -> Operation:
    """Return a conditional write, unless it saw what goes: then what it wrote has to go too."""
    if saw:
        raise Refused if written is None else Needs(written)
    return operation


def _refuse(condition: bool) -> None:
    if condition:
        raise Refused


def _known(value: object) -> Hashable | None:
    """Return a value that can be a token, or None."""
    try:
        hash(value)
    except TypeError:
        return None
    return None if value is UNKNOWN else value


def _itself(value: Hashable) -> Hashable:
    return value
