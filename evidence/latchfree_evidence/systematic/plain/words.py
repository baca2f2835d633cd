"""What compiled code calls and plain Python has not: instructions on words of 64 bits, and raw memory.

Example: numbers are ints here. ``popcount(7)`` is 3, and ``signed(2**64 - 1)`` is -1.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any, Final

WORD: Final = (1 << 64) - 1
_SIGN: Final = 1 << 63


def signed(value: int) -> int:
    """Return a word as a signed number."""
    value &= WORD
    return value - (1 << 64) if value & _SIGN else value


def signed_32(value: int) -> int:
    """Return the lower half of a word as a signed number."""
    value &= 0xFFFFFFFF
    return value - (1 << 32) if value >> 31 else value


def bits(count: int) -> int:
    """Return by how many bits a word is shifted; machine code has no result for 64 or more."""
    if not 0 <= count < 64:
        raise AssertionError(f"a word is shifted by {count} bits")
    return count


def high_product(a: int, b: int) -> int:
    """Return the upper word of a product."""
    return a * b >> 64


def trailing_zeros(word: int) -> int:
    """Return the index of the lowest one bit; 64 when there is none."""
    return (word & -word).bit_length() - 1 if word else 64


def read_word(address: int) -> int:
    """Return the 8 bytes at an address."""
    return ctypes.c_uint64.from_address(address).value


def read_int32(address: int) -> int:
    """Return the 4 bytes at an address."""
    return ctypes.c_uint32.from_address(address).value


def read_byte(address: int) -> int:
    """Return the byte at an address."""
    return ctypes.c_uint8.from_address(address).value


def nothing(*arguments: Any) -> None:
    """Do nothing: a hint to the processor or the compiler."""


def fine(*arguments: Any) -> int:
    """Return 0: a call of the system that succeeds."""
    return 0


_ROOMS: Final[list[Any]] = []
_NONSENSE: Final = 0xF5EE_F5EE_F5EE_F5EE


def room(words: int) -> int:
    """Return the address of some words of this process, full of nonsense; the last hundred that were asked for stay."""
    _ROOMS.append((ctypes.c_uint64 * words)(*[_NONSENSE] * words))
    del _ROOMS[:-100]
    return ctypes.addressof(_ROOMS[-1])


#: By name: the instructions that touch no memory of the structure.
INSTRUCTIONS: Final[dict[str, Callable[..., Any]]] = {
    "barrier": nothing,
    "prefetch": nothing,
    "prefetch_read": nothing,
    "in_line": nothing,
    "out_of_line": nothing,
    "popcount": int.bit_count,
    "trailing_zeros": trailing_zeros,
    "high_product": high_product,
    "read_word": read_word,
    "read_int32": read_int32,
    "read_byte": read_byte,
}
#: Other functions that only compiled code can call; one that is not here succeeds and does nothing.
OTHERS: Final[dict[str, Callable[..., Any]]] = {"room": room}


class Raw:
    """All memory of the process, addressed by words: for kernels that take an address of 0 words as their handle.

    Parameters
    ----------
    base : int
        The address of word 0.
    """

    def __init__(self, base: int) -> None:
        self._base = base

    def __getitem__(self, at: int) -> int:
        return read_word(self._base + 8 * at)

    def __setitem__(self, at: int, value: int) -> None:
        ctypes.c_uint64.from_address(self._base + 8 * at).value = value


def handle_of(mem: Any) -> Any:
    """Return what a memory handle is subscripted through: an address becomes `Raw`."""
    return Raw(mem) if isinstance(mem, int) else mem


# accesses, for handles that can be subscripted ------------------------------------------------------------------------


def _load(mem: Any, at: int) -> int:
    return handle_of(mem)[at]  # type: ignore[no-any-return]


def _store(mem: Any, at: int, value: int) -> None:
    handle_of(mem)[at] = value & WORD


def _cas(mem: Any, at: int, old: int, new: int) -> bool:
    mem = handle_of(mem)
    if mem[at] != old:
        return False
    mem[at] = new
    return True


def _update(change: Callable[[int, int], int]) -> Callable[[Any, int, int], int]:
    def access(mem: Any, at: int, value: int) -> int:
        mem = handle_of(mem)
        old: int = mem[at]
        mem[at] = change(old, value) & WORD
        return old

    return access


#: By name: what each access does to memory at once.
ACCESSES: Final[dict[str, Callable[..., Any]]] = {
    "load": _load,
    "load_seq": _load,
    "load_unsure": _load,
    "peek": _load,
    "store": _store,
    "poke": _store,
    "cas": _cas,
    "exchange": _update(lambda old, value: value),
    "fetch_add": _update(lambda old, value: old + value),
    "fetch_or": _update(lambda old, value: old | value),
    "fetch_and": _update(lambda old, value: old & value),
    "fetch_max": _update(max),
    "fetch_min": _update(min),
    "fence": nothing,
    "pause": nothing,
}

#: The accesses that are steps of a schedule; the others are of memory that nobody else changes meanwhile.
STEPS: Final = frozenset(ACCESSES) - {"peek", "poke"}
