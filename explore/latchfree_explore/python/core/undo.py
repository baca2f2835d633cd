"""State that is older than a run is put back after the run: the first change of each place saves what was there."""

from __future__ import annotations

import _thread
import copy
import types
from collections import OrderedDict, deque
from collections.abc import Callable
from functools import partial
from typing import Any, Final

_MISSING: Final = object()


class Undo:
    """What a run has changed that it did not make."""

    def __init__(self) -> None:
        self._seen: set[tuple[int, str | None]] = set()
        self._log: list[Callable[[], object]] = []
        self._kept: list[Any] = []
        self._made: dict[int, Any] = {}

    def attribute(self, owner: Any, name: str) -> None:
        """Save an attribute before it changes."""
        if (id(owner), name) in self._seen:
            return
        self._note(owner, name)
        held = next((vars(cls)[name] for cls in type(owner).__mro__ if name in vars(cls)), None)
        if isinstance(owner, type) and not is_slot(held):
            old = vars(owner).get(name, _MISSING)
        elif is_slot(held):
            old = _content(held, owner)
            self._log.append(lambda: _restore_slot(held, owner, old))
            return
        elif hasattr(type(held), "__set__"):
            return  # a property is code: what that code changes is saved where it is changed
        else:
            old = getattr(owner, "__dict__", {}).get(name, _MISSING)
        self._log.append(lambda: _restore_attribute(owner, name, old))

    def item(self, namespace: dict[str, Any], name: str) -> None:
        """Save an item of a namespace before it changes."""
        if (id(namespace), name) in self._seen:
            return
        self._note(namespace, name)
        old = namespace.get(name, _MISSING)

        def restore() -> None:
            if old is _MISSING:
                namespace.pop(name, None)
            else:
                namespace[name] = old

        self._log.append(restore)

    def cell(self, cell: Any) -> None:
        """Save a variable of a closure before it changes."""
        if (id(cell), None) in self._seen:
            return
        try:
            old = cell.cell_contents
        except ValueError:
            return
        self._note(cell, None)
        self._log.append(lambda: setattr(cell, "cell_contents", old))

    def container(self, value: Any) -> None:
        """Save the items of a container before they change."""
        if (id(value), None) in self._seen:
            return
        self._note(value, None)
        if isinstance(value, dict):
            kind: Any = OrderedDict if isinstance(value, OrderedDict) else dict
            items = list(kind.items(value))

            def refill() -> None:
                kind.clear(value)
                for key, each in items:
                    kind.__setitem__(value, key, each)

            self._log.append(refill)
        elif isinstance(value, set):
            self._log.append(partial(_refill, set.clear, set.update, value, set(value)))
        elif isinstance(value, deque):
            self._log.append(partial(_refill, deque.clear, deque.extend, value, list(deque.__iter__(value))))
        elif isinstance(value, list | bytearray):
            plain: Any = list if isinstance(value, list) else bytearray  # a subclass may have its own access to items
            content = plain.__getitem__(value, slice(None))
            self._log.append(lambda: plain.__setitem__(value, slice(None), content))

    def new_attribute(self, owner: Any, name: str) -> None:
        """Note that an attribute was not there."""
        self._log.append(lambda: _restore_attribute(owner, name, _MISSING))

    def array(self, value: Any) -> None:
        """Save the items of an array; of anything else from such a library, as a function of numpy, there are none."""
        if (id(value), None) not in self._seen and hasattr(type(value), "__setitem__"):
            self._note(value, None)
            items = copy.copy(value)
            everything = ... if hasattr(items, "shape") else slice(None)
            self._log.append(lambda: value.__setitem__(everything, items))

    def made(self, value: Any) -> None:
        """Note that a value was made while no schedule ran: it is nothing older."""
        self._made[id(value)] = value

    def is_made(self, value: Any) -> bool:
        """Return whether a value was made while no schedule ran."""
        return id(value) in self._made

    def restore(self, how: Callable[[], object]) -> None:
        """Call something when the run is over."""
        self._log.append(how)

    def _note(self, value: Any, name: str | None) -> None:
        self._seen.add((id(value), name))
        self._kept.append(value)

    def undo(self) -> None:
        """Put everything back, the last change first."""
        for restore in reversed(self._log):
            restore()
        self._log.clear()
        self._seen.clear()
        self._kept.clear()
        self._made.clear()


def _refill(clear: Callable[[Any], object], fill: Callable[[Any, Any], object], value: Any, content: Any) -> None:
    clear(value)
    fill(value, content)


def is_slot(held: Any) -> bool:
    """Return whether a class has a descriptor in C, which is no code of the program's."""
    kind = type(held)
    if issubclass(kind, types.MemberDescriptorType | types.GetSetDescriptorType):
        return True
    return not isinstance(held, property) and isinstance(getattr(kind, "__set__", None), types.WrapperDescriptorType)


def _content(slot: Any, owner: Any) -> Any:
    try:
        return slot.__get__(owner, type(owner))
    except AttributeError:
        return _MISSING


def _restore_slot(slot: Any, owner: Any, old: Any) -> None:
    try:
        if old is _MISSING:
            slot.__delete__(owner)
        else:
            slot.__set__(owner, old)
    except (AttributeError, TypeError, ValueError):
        pass  # gone already, or a place that cannot be written


def _restore_attribute(owner: Any, name: str, old: Any) -> None:
    change: Any = type if isinstance(owner, type) else object
    if change.__setattr__ is object.__setattr__ and isinstance(owner, _thread._local):
        change = _thread._local
    try:
        if old is _MISSING:
            change.__delattr__(owner, name)
        else:
            change.__setattr__(owner, name, old)
    except (AttributeError, TypeError):
        pass  # gone already, or a place that cannot be written: then nothing was changed there
