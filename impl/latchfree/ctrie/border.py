"""The compiled functions that the Python of a Ctrie calls.

A word is an address, an offset, a participant or a slot of a snapshot; the first argument is the address of the arena.
The names of calls on columns end with the kinds of keys and values, those of the bodies of builtins, too: ``w`` for a
word, ``b`` for a blob, ``o`` for objects by reference. The names of what the interpreter calls for a map begin with
``slot_`` and ``method_``.
"""

from collections.abc import Callable
from typing import Final

from latchfree.border import (
    BYTES,
    FLAG,
    GIVEN_INTS,
    INT,
    INTS,
    NO_ARGUMENT,
    NONE,
    ONE_ARGUMENT,
    SEVERAL,
    WORD,
    WORDS,
    Bare,
    Body,
    Border,
    Call,
    Fields,
)
from latchfree.ctrie.kernels import (
    by_reference,
    entry_points,
    loops,
    methods,
    references,
    single,
    slots,
    taking,
    trees,
    visiting,
)

#: A column by its kind.
_COLUMN: Final = {"w": GIVEN_INTS, "b": Fields((WORD, GIVEN_INTS))}
#: Address of the arena, trie and participant.
_HERE: Final = (WORD, WORD, WORD)

_WHOLE: Final = {
    "create": Call(entry_points.create, (WORD, WORD, WORD), WORD),
    "destroy": Call(entry_points.destroy, (*_HERE, WORD), NONE),
    "drop": Call(entry_points.drop, (*_HERE, WORD), NONE),
    "unpark": Call(entry_points.unpark, _HERE, NONE),
    "sweep": Call(entry_points.sweep, _HERE, NONE),
    "fork": Call(entry_points.fork, (WORD, WORD, WORD, WORD), WORD),
    "is_empty": Call(entry_points.is_empty, _HERE, FLAG),
    "adopt": Call(entry_points.adopt, (WORD, WORD, WORD, WORD), FLAG),
    "discard": Call(entry_points.discard, (WORD, WORD), NONE),
    "reclaim": Call(trees.reclaim, (WORD, WORD), NONE),
    "drop_due": Call(references.drop_all_due, (WORD, WORD), NONE),
    "scan_start": Call(loops.scan_start, (WORD, WORD, WORD, WORDS), NONE, nogil=True),
    "scan_next": Call(loops.scan_next, (WORD, WORD, WORDS, WORDS), INT, nogil=True),
    "scan_count": Call(loops.scan_count, (WORD, WORD, WORD, WORDS, WORDS), INT, nogil=True),
}
_COLUMNS: Final = {
    f"{name}_{key}": Call(function, (*_HERE, _COLUMN[key], INT, INT, *more), result, nogil=True)
    for key in "wb"
    for name, function, more, result in (
        ("get_words", loops.get_words, (INTS, BYTES), NONE),
        ("get_blobs", loops.get_blobs, (INTS, BYTES, BYTES), INT),
        ("remove_all", loops.remove_all, (BYTES,), INT),
    )
}
_PUTS: Final = {
    f"put_all_{key}{value}": Call(loops.put_all, (*_HERE, _COLUMN[key], _COLUMN[value], INT, INT), INT, nogil=True)
    for key in "wb"
    for value in "wb"
}
_BODIES: Final = {
    name: Body(function, passed)
    for passed, functions in (
        (NO_ARGUMENT, methods.NO_ARGUMENT),
        (ONE_ARGUMENT, methods.ONE_ARGUMENT | references.ONE_ARGUMENT),
        (SEVERAL, methods.SEVERAL | references.SEVERAL),
    )
    for name, function in functions.items()
}
_SLOTS: Final = {
    f"{prefix}{name}": Bare(function, words)
    for prefix, words, functions in (
        ("slot_", 1, slots.NO_ARGUMENT),
        ("slot_", 2, slots.ONE_ARGUMENT),
        ("slot_", 3, slots.TWO_ARGUMENTS),
        ("slot_", 1, taking.FINALIZERS),
        ("slot_", 3, taking.SHOWN),
        ("method_", 4, slots.METHODS),
        ("method_", 2, taking.METHODS),
        ("", 2, single.OF_KEY | by_reference.OF_KEY),
        ("", 3, single.OF_TWO | by_reference.OF_TWO | {"traverse_o": visiting.traverse}),
        ("", 5, single.OF_METHOD | by_reference.OF_METHOD),
    )
    for name, function in functions.items()
}

TRIE: Final = Border(__name__, {**_WHOLE, **_COLUMNS, **_PUTS, **_BODIES, **_SLOTS})


def reclaim(base: int, participant: Callable[[], int]) -> None:
    """Free everything on the list `P_DEFERRED` of a participant, and let go of what the list `P_HOLDERS` holds.

    `participant` is asked for each call: a signal handler that forks in between leaves the child with another one.
    """
    TRIE.reclaim(base, participant())
    TRIE.drop_due(base, participant())
