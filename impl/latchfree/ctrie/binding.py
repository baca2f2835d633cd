"""Builtin functions of the interpreter, made of compiled code and bound to a trie.

Example: ``find = builtin("find_ww", context)`` makes an object that the interpreter calls as it calls `len`;
``find(5)`` runs `latchfree.ctrie.kernels.methods` with no Python frame in between.

A *context* is a bytes object of words: where the trie is, and what compiled code needs to know of the interpreter.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from functools import cache
from typing import Any, Final

from latchfree import border
from latchfree.ctrie.border import TRIE
from latchfree.ctrie.interpreter import Strings, digits, known, small_integers
from latchfree.ctrie.kernels.context import FACTS

_PLACE: Final = struct.Struct("=4Q")


@cache
def _facts() -> bytes:
    things = [int, str, bytes, None, NotImplemented, KeyError]
    known_facts = *(known() or Strings(0, 0, 0)), *small_integers(), *digits()
    return struct.pack(f"={FACTS}Q", *map(id, things), *known_facts)


def new_context(base: int, trie: int, me: int, root: int, more: bytes = b"") -> bytes:
    """Return the context of calls on a trie.

    Parameters
    ----------
    base : int
        Address of the arena.
    trie : int
        Word offset of the trie's root word.
    me : int
        Address of the word that holds the participant.
    root : int
        Word offset of the frozen root I-node to read from; 0 for the live trie.
    more : bytes
        The words that only a map has.

    Returns
    -------
    bytes
        The words are named in `latchfree.ctrie.kernels.context`.
    """
    return _PLACE.pack(base, trie, me, root) + _facts() + more


def builtin(name: str, context: bytes) -> Callable[..., Any]:
    """Return a builtin bound to a context.

    ==============================================  ===============================================
    call                                            result
    ==============================================  ===============================================
    ``find(key)``                                   the value, None if absent
    ``insert(key, value, mode, expected)``          the value replaced, or None
    ``remove(key, mode, expected)``                 the value removed, or None
    ``take_now()``                                  the slot of a snapshot, new or idle until now
    ``clear()``, ``drop_slot(slot)``                None
    ``give_slot(slot)``                             None; the snapshot may be idle now; private arenas only
    ==============================================  ===============================================

    All return NotImplemented if they did nothing: the arena is full, or the process has no participant.

    Parameters
    ----------
    name : str
        The names ``find``, ``insert`` and ``remove`` end with the kinds of keys and values (``_ww`` to ``_bb``: word or
        bytes); these calls trust their arguments to be exactly int or bytes.
    context : bytes
        From `new_context`.

    Returns
    -------
    callable
    """
    return border.builtin(TRIE.definition(name), context)
