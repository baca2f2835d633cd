"""Builtin functions of the interpreter, made of compiled code and bound to a trie.

Example: ``get = builtin("get", context)`` makes an object that the interpreter calls as it calls `len`; ``get(5)`` runs
`latchfree.ctrie.kernels.methods` with no Python frame in between.

A *context* is an array of words: where the trie is, and the addresses of the objects that a call may return. A builtin
keeps its context alive.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from latchfree import border
from latchfree.ctrie.border import TRIE


def new_context(base: int, trie: int, me: int, root: int) -> NDArray[np.uint64]:
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

    Returns
    -------
    ndarray of uint64, shape (8,)
        The fields are named in `latchfree.ctrie.kernels.methods`.
    """
    constants = [id(int), id(None), id(NotImplemented)]
    return np.array([base, trie, me, root, 0, *constants], dtype=np.uint64)


def builtin(name: str, context: NDArray[np.uint64]) -> Callable[..., Any]:
    """Return a builtin bound to a context.

    ==============================================  ===============================================
    call                                            result
    ==============================================  ===============================================
    ``get(key)``, ``find(key)``                     the value, None if absent
    ``put(key, value)``                             None
    ``pop(key)``                                    the value removed, None if there was none
    ``insert(key, value, mode, expected)``          the value replaced, or None
    ``remove(key, mode, expected)``                 the value removed, or None
    ``freeze_now()``                                the slot of a new snapshot
    ``clear()``, ``drop_slot(slot)``                None
    ==============================================  ===============================================

    All return NotImplemented if they did nothing: an argument is not a plain integer in range, the arena is full, or
    the process has no participant.

    Parameters
    ----------
    name : str
        ``get``, ``put`` and ``pop`` take integers and check their arguments. The names ``find``, ``insert`` and
        ``remove`` end with the kinds of keys and values (``_ww`` to ``_bb``: word or bytes); these calls trust their
        arguments to be exactly int or bytes.
    context : ndarray
        From `new_context`.

    Returns
    -------
    callable
    """
    bound = context.__array_interface__["data"][0].to_bytes(8, "little")
    # The interpreter keeps a reference to the last argument, which it takes for the module of the builtin.
    return border.builtin(TRIE.definition(name), bound, context)


def not_plain(*arguments: Any) -> Any:
    """Stand for a builtin where keys or values are not integers: return NotImplemented."""
    return NotImplemented
