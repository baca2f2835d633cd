"""Call the Python function of an operation: for whatever compiled code does not do itself.

Example: ``trie["x"]`` on a map of integers. The compiled code sees a string, and calls the Python function
`__getitem__` with the map and the key; the error that this raises goes to the caller.

Invariant: nothing is pinned, and nothing of the trie has changed, when a Python function is called. Python code that
ran before (a finalizer, while an error was made) may have given the map another context: the one it has now is taken.
"""

from __future__ import annotations

import numpy as np

from latchfree.atomics import peek, poke
from latchfree.border.objects import room
from latchfree.ctrie.kernels.context import CONTEXT, DELETE_ITEM, SET_ITEM, words_in
from latchfree.jit import external, kernel
from latchfree.kinds import Word

#: -1: the operation has failed, and an exception is set.
ERROR = np.uint64((1 << 64) - 1)

_0 = np.uint64(0)
_1 = np.uint64(1)
_2 = np.uint64(2)
_3 = np.uint64(3)
#: More arguments than any method takes: a call with as many fails whatever else there is.
_MOST = np.uint64(6)

_vectorcall = external("PyObject_Vectorcall", "uint64(uint64, uint64, uint64, uint64)")
_is_true = external("PyObject_IsTrue", "int32(uint64)")
_length = external("PyTuple_Size", "int64(uint64)")
_decref = external("Py_DecRef", "void(uint64)")


@kernel
def _python(operation: Word, this: Word) -> Word:
    """Return the Python function of an operation of a map."""
    return peek(words_in(peek(this, CONTEXT)), operation)


@kernel
def asked(operation: Word, this: Word, key: Word) -> Word:
    """Return what the Python function of an operation says of a key, a new reference; 0 if it raised."""
    given = room(2)
    poke(given, _0, this)
    poke(given, _1, key)
    return _vectorcall(_python(operation, this), given, _2, _0)


@kernel
def answered(answer: Word) -> Word:
    """Return 1 for a true object, 0 for a false one, ERROR for none; drops the reference."""
    if answer == _0:
        return ERROR
    truth = np.int64(_is_true(answer))
    _decref(answer)
    return np.uint64(truth)


@kernel
def done(this: Word, key: Word, value: Word) -> Word:
    """Have the Python function write a value, or delete the key if there is no value; return 0, or ERROR."""
    given = room(3)
    poke(given, _0, this)
    poke(given, _1, key)
    poke(given, _2, value)
    if value == _0:
        answer = _vectorcall(_python(DELETE_ITEM, this), given, _2, _0)
    else:
        answer = _vectorcall(_python(SET_ITEM, this), given, _3, _0)
    if answer == _0:
        return ERROR
    _decref(answer)
    return _0


@kernel
def again(operation: Word, this: Word, given: Word, count: Word, names: Word) -> Word:
    """Call the Python function of a method as the compiled one was called; return a new reference, 0 if it raised.

    Parameters
    ----------
    operation, this : Word
        The number of the operation, and the address of the map.
    given : Word
        Address of the arguments: those without a name, then those with one.
    count : Word
        How many have no name.
    names : Word
        A tuple with the names of the others, 0 if there are none.
    """
    every = count
    if names != _0:
        every += np.uint64(_length(names))
    if every > _MOST:
        every = count = _MOST
        names = _0
    copied = room(7)
    poke(copied, _0, this)
    for at in range(every):
        poke(copied, np.uint64(at) + _1, peek(given, np.uint64(at)))
    return _vectorcall(_python(operation, this), copied, count + _1, names)
