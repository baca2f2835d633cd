"""Names for what compiled functions take. Numba infers the machine types; these say what is meant."""

from typing import Any, TypeAlias

#: A memory handle: a base address, or an instrumented handle (see `latchfree.atomics`).
Handle: TypeAlias = Any

#: A 64-bit word: an offset, a tagged offset, a bitmap, a hash, a generation, a count.
Word: TypeAlias = Any

#: A truth value of compiled code.
Flag: TypeAlias = Any

#: A key or value as kernels take it: an integer, or a pair (address, length) of bytes.
Key: TypeAlias = Any
Value: TypeAlias = Any

#: A NumPy array of words or integers.
Array: TypeAlias = Any
