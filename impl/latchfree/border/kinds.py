"""The kinds of arguments and results of compiled functions that Python calls.

=========  ====================================================  ================================
kind       Python                                                compiled code
=========  ====================================================  ================================
WORD       an int, of which the low 64 bits count                uint64
INT        an int from -2**63 to 2**63 - 1                       int64
FLAG       a bool                                                boolean
NONE       None (result only)                                    nothing
PAIR       a tuple of two ints (result only)                     a tuple of a word and an integer
Array      an object with a C-contiguous buffer                  an array of one or two dimensions
Fields     a tuple                                               a tuple, maybe a named one
=========  ====================================================  ================================
"""

from __future__ import annotations

from typing import Any, Final, Literal, NamedTuple, TypeAlias

Scalar: TypeAlias = Literal["word", "int", "flag", "none", "pair"]

WORD: Final = "word"
INT: Final = "int"
FLAG: Final = "flag"
NONE: Final = "none"
PAIR: Final = "pair"

#: Bytes of the elements of arrays.
SIZES: Final = {"uint64": 8, "int64": 8, "uint32": 4, "int32": 4, "uint8": 1, "bool_": 1}


class Array(NamedTuple):
    """An array: the type of its elements, one of `SIZES`; whether the kernel may write it; its dimensions, 1 or 2."""

    item: str
    written: bool = True
    dimensions: int = 1

    @property
    def size(self) -> int:
        """Bytes of an element."""
        return SIZES[self.item]


class Fields(NamedTuple):
    """A tuple; with a class, a named tuple of that class."""

    kinds: tuple[Any, ...]
    cls: type[Any] | None = None


WORDS: Final = Array("uint64")
INTS: Final = Array("int64")
BYTES: Final = Array("uint8")
#: Arrays that are only read, and may be read-only.
GIVEN_WORDS: Final = Array("uint64", written=False)
GIVEN_INTS: Final = Array("int64", written=False)
