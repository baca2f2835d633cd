"""The types below `Store`, `Hold`, `Owner` and `Snapshot`: compiled code reads, makes and ends objects of them.

Example: ``store.view_now()`` is compiled code. It makes a `Hold` and a `Snapshot`, whose first words are where
`latchfree.ctrie.kernels.taking` says, and takes the snapshot that they are about.

Where maps have no compiled slots (`latchfree.ctrie.slots`), these types are plain: ``view_now`` and ``fork_now`` return
NotImplemented, and the classes above have finalizers in Python.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from latchfree.border import NO_ARGUMENT
from latchfree.border.builtins import define
from latchfree.border.types import FINALIZE, NUMBER, OBJECT, TRAVERSE, new_type
from latchfree.ctrie.border import TRIE
from latchfree.ctrie.interpreter import known
from latchfree.errors import MissingExtra
from latchfree.jit import is_varied

# Names of the words, in the order of `latchfree.ctrie.kernels.taking`.
_STORE: Final = {"_context": OBJECT}
_HOLD: Final = {"_context": OBJECT, "trie": OBJECT, "slot": NUMBER, "taker": NUMBER}
_OWNER: Final = {"_context": OBJECT, "_parent": OBJECT, "_arena": OBJECT, "trie": NUMBER, "maker": NUMBER}
_SNAPSHOT: Final = {"_store": OBJECT, "_hold": OBJECT}

_METHODS: Final = {
    "view_now": "Return a snapshot of the trie; NotImplemented if nothing was done.",
    "fork_now": "Return the owner of a trie that goes on from a snapshot; NotImplemented if nothing was done.",
}


def _types() -> tuple[Any, ...] | None:
    """Return the four types, None where Python functions serve."""
    if known() is None or is_varied("latchfree"):
        return None
    try:
        methods = [
            define(name, TRIE.address_of(f"method_{name}"), NO_ARGUMENT, f"{name}($self, /)\n--\n\n{doc}")
            for name, doc in _METHODS.items()
        ]
        shown = [TRIE.address_of(f"slot_show_{name}") for name in ("store", "hold", "owner", "snapshot")]
        ends = [TRIE.address_of(f"slot_end_{name}") for name in ("hold", "owner")]
    except MissingExtra:
        return None
    prefix = f"{__name__}."
    return (
        new_type(prefix + "StoreBase", {TRAVERSE: shown[0]}, methods, _STORE),
        new_type(prefix + "HoldBase", {TRAVERSE: shown[1], FINALIZE: ends[0]}, [], _HOLD),
        new_type(prefix + "OwnerBase", {TRAVERSE: shown[2], FINALIZE: ends[1]}, [], _OWNER),
        new_type(prefix + "SnapshotBase", {TRAVERSE: shown[3]}, [], _SNAPSHOT),
    )


if TYPE_CHECKING:
    from latchfree.arena import Arena

    COMPILED: bool
    """Whether compiled code makes and ends the objects of private arenas."""

    class StoreBase:
        """The type below `Store`."""

        _context: bytes

        def view_now(self) -> Any:
            """Return a snapshot of the trie; NotImplemented if nothing was done."""

        def fork_now(self) -> Any:
            """Return the owner of a trie that goes on from a snapshot; NotImplemented if nothing was done."""

    class HoldBase:
        """The type below `Hold`."""

        _context: bytes
        trie: Any
        slot: int
        taker: int

    class OwnerBase:
        """The type below `Owner`."""

        _context: bytes
        _parent: Any
        _arena: Arena
        trie: int
        maker: int

    class SnapshotBase:
        """The type below `Snapshot`."""

        _store: Any
        _hold: Any
else:
    _made = _types()
    COMPILED = _made is not None
    if COMPILED:
        StoreBase, HoldBase, OwnerBase, SnapshotBase = _made
    else:

        class StoreBase:
            """The type below `Store`, without compiled code."""

            __slots__ = tuple(_STORE)

            def view_now(self) -> Any:
                """Return NotImplemented."""
                return NotImplemented

            fork_now = view_now

        class HoldBase:
            """The type below `Hold`, without compiled code."""

            __slots__ = tuple(_HOLD)

        class OwnerBase:
            """The type below `Owner`, without compiled code."""

            __slots__ = tuple(_OWNER)

        class SnapshotBase:
            """The type below `Snapshot`, without compiled code."""

            __slots__ = tuple(_SNAPSHOT)
