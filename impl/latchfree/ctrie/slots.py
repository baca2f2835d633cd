"""`Slots`: the type below `Ctrie`, whose slots and methods are compiled code.

Example: ``trie[5]``. The interpreter finds the slot of `Slots` in the type of the map and calls the compiled function,
`latchfree.ctrie.kernels.slots`, with the map and the key. The function finds the map's context at a fixed place in the
map. A subclass with a ``__getitem__`` of its own has a slot of its own, and ``super().__getitem__(5)`` comes here.

Where compiled code cannot read objects (`latchfree.ctrie.interpreter`), where a process patches kernels, and where
there is neither a library nor a compiler, `Slots` has nothing but a place for the context: the methods of `OneKey`
serve.

A function that has to be compiled first stands in the context as a Python function, which has it compiled, gives the
map another context, and does what was asked for.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from latchfree.border import WITH_NAMES
from latchfree.border.builtins import define
from latchfree.border.types import ASSIGN, CLEAR, CONTAINS, OBJECT, SUBSCRIPT, TRAVERSE, keep_for_ever, new_type
from latchfree.ctrie.border import TRIE
from latchfree.ctrie.codecs import MAX_KEY_BYTES, MAX_VALUE_BYTES, BytesCodec, IntCodec, StrCodec
from latchfree.ctrie.holds import Hold, ObjectsOwner, Owner
from latchfree.ctrie.interpreter import known
from latchfree.ctrie.kernels.context import ENTRY_POINTS, OPERATIONS
from latchfree.ctrie.one_key import OneKey
from latchfree.ctrie.store import Store
from latchfree.ctrie.view import Snapshot
from latchfree.errors import MissingExtra
from latchfree.jit import is_varied

#: Which compiled function does an operation.
_ENTRY_OF: Final = {
    "__getitem__": "subscript",
    "__contains__": "contains",
    "__setitem__": "assign",
    "__delitem__": "delete",
    "get": "get",
    "pop": "take",
    "remove": "take",
    "put": "write",
    "put_if_absent": "write",
    "put_if_present": "write",
    "get_or_insert": "write",
    "setdefault": "write",
    "replace": "replace",
}
_CLASSES: Final[dict[type[Any], type[Any]]] = {IntCodec: int, StrCodec: str, BytesCodec: bytes}
_SLOTS: Final = {
    SUBSCRIPT: "slot_subscript",
    ASSIGN: "slot_assign",
    CONTAINS: "slot_contains",
    TRAVERSE: "slot_traverse",
    CLEAR: "slot_clear",
}
_SIGNATURES: Final = {
    "get": "key, /, default=None",
    "pop": "key, /, default=...",
    "remove": "key, expected=...",
    "put": "key, value",
    "put_if_absent": "key, value",
    "put_if_present": "key, value",
    "get_or_insert": "key, value",
    "setdefault": "key, default=None, /",
    "replace": "key, old, new",
}
_WORDS: Final = struct.Struct(f"={8 + len(ENTRY_POINTS) + len(OPERATIONS)}Q")

#: The Python functions; compiled code holds their addresses, for ever.
_PLAIN: Final[dict[str, Callable[..., Any]]] = {name: vars(OneKey)[name] for name in OPERATIONS}
for _name, _function in _PLAIN.items():
    _function.__qualname__ = f"Ctrie.{_name}"  # as errors about arguments name it
    keep_for_ever(_function)

for _thing in (Snapshot, Hold, Owner, ObjectsOwner, Owner.end):  # as well
    keep_for_ever(_thing)

_first: Final[dict[str, Callable[..., Any]]] = {}
_not_to_be_had: Final[set[str]] = set()
_ends: Final[dict[tuple[type[Any], type[Any], bool], bytes]] = {}


def _symbol(entry: str, store: Store) -> str:
    if store.references:
        return f"{entry}_o"
    return f"{entry}{store.kinds[:2] if entry == 'contains' else store.kinds}"


def _compile_first(name: str) -> Callable[..., Any]:
    """Return the function that stands for an operation until its compiled function is there."""
    if name not in _first:
        plain = _PLAIN[name]

        def first(this: Any, *arguments: Any, **named: Any) -> Any:
            symbol = _symbol(_ENTRY_OF[name], this._store)
            try:
                TRIE.address_of(symbol)
            except MissingExtra:
                _not_to_be_had.add(symbol)
            _ends.clear()
            give_context(this, this._store)
            return plain(this, *arguments, **named)

        keep_for_ever(first)
        _first[name] = first
    return _first[name]


def _new_end(store: Store) -> bytes:
    """Return the words that only the context of a map has."""
    keys, values = _CLASSES.get(type(store.keys)), _CLASSES.get(type(store.values))
    made = _classes(store)
    if not store.references and (keys is None or values is None):
        return _WORDS.pack(0, 0, 0, 0, *made, *[0] * len(ENTRY_POINTS), *map(id, _PLAIN.values()))
    symbols = {entry: _symbol(entry, store) for entry in ENTRY_POINTS}
    found = {entry: (symbol in TRIE.calls and TRIE.ready(symbol)) or 0 for entry, symbol in symbols.items()}
    if store.references:
        found["traverse"] = _to_show(symbols["traverse"])

    def python(name: str) -> Callable[..., Any]:
        entry = _ENTRY_OF[name]
        done = found[entry] or symbols[entry] in _not_to_be_had or symbols[entry] not in TRIE.calls
        return _PLAIN[name] if done else _compile_first(name)

    functions = (id(python(name)) for name in OPERATIONS)
    return _WORDS.pack(id(keys), id(values), MAX_KEY_BYTES, MAX_VALUE_BYTES, *made, *found.values(), *functions)


def _classes(store: Store) -> tuple[int, int, int, int]:
    """Return the classes of what compiled code makes of a store, and the function that ends an owner; or zeros."""
    if store.shared:
        return 0, 0, 0, 0
    TRIE.prepare("destroy")  # compiled now, not while an owner ends
    return id(Snapshot), id(Hold), id(ObjectsOwner if store.references else Owner), id(Owner.end)


def _to_show(symbol: str) -> int:
    """Return the function that shows the garbage collector what a map holds; 0 where it is not to be had."""
    try:
        return TRIE.address_of(symbol) if vars(Slots).get("get") is not None else 0
    except MissingExtra:
        return 0


def context_of(store: Store) -> bytes:
    """Return the context of a map; `latchfree.ctrie.kernels.context` names the words."""
    kinds = type(store.keys), type(store.values), store.shared
    end = _ends.get(kinds)
    if end is None:
        end = _ends[kinds] = _new_end(store)
    return store.context(more=end)


def give_context(this: Any, store: Store) -> None:
    """Give a map a store, and both the context of functions that are there by now.

    The store first: another thread may take a snapshot of the map between two lines, for which the store needs it.
    """
    context = store._context = context_of(store)
    this._store = store
    this._context = context


def keep_calls(cls: type[Any]) -> None:
    """Have ``setdefault`` of a subclass call a ``get_or_insert`` that the subclass has changed."""
    if cls.setdefault is Slots.__dict__.get("setdefault") and cls.get_or_insert is not Slots.__dict__["get_or_insert"]:
        cls.setdefault = _PLAIN["setdefault"]


def _method(name: str, signature: str) -> Any:
    doc = f"{name}($self, {signature})\n--\n\n{_PLAIN[name].__doc__}"
    return define(name, TRIE.address_of(f"method_{name}"), WITH_NAMES, doc)


def _made() -> Any:
    """Return the type, None where Python functions serve."""
    if known() is None or is_varied("latchfree"):
        return None
    try:
        slots = {number: TRIE.address_of(name) for number, name in _SLOTS.items()}
        methods = [_method(name, signature) for name, signature in _SIGNATURES.items()]
    except MissingExtra:
        return None
    return new_type("latchfree.ctrie.slots.Slots", slots, methods, {"_context": OBJECT})


if TYPE_CHECKING:

    class Slots:
        """The type below `Ctrie`."""

        _context: bytes
else:
    Slots = _made()
    if Slots is None:

        class Slots:
            """The type below `Ctrie`, without compiled code."""

            __slots__ = ("_context",)
