"""Atomic access to 64-bit words, for compiled code only.

Every function takes a **memory handle** and a word offset. What the access compiles to is chosen by the
handle's numba type: for a plain unsigned integer (a base address) it is the bare machine instruction. Another
handle type joins by registering its own ``numba.extending.overload`` of these functions, and then the same
algorithm compiles, unchanged, with whatever that overload does around the access (count it, log it, yield to a
scheduler). The algorithms must therefore touch shared memory through this module alone.

Orders. ``load`` is acquire and ``store`` is release: enough to publish a node and to read one. ``load_seq`` is
sequentially consistent, for the places where a thread writes one word and must then see another thread's write
to a different word (the store-load order that acquire and release do not give). All read-modify-write
operations are sequentially consistent. ``peek`` and ``poke`` are plain accesses, for immutable fields of a
published node and for any field of a node nobody else has seen; the compiler may merge or hoist them.

The instructions themselves are in `latchfree.llvm`, which is loaded with the compiler.
"""

import sys
from typing import Final

from latchfree.jit.lazy import instruction, stub
from latchfree.jit.starting import when_started

__all__ = [
    "barrier",
    "cas",
    "exchange",
    "fence",
    "fetch_add",
    "fetch_and",
    "fetch_max",
    "fetch_min",
    "fetch_or",
    "high_product",
    "in_line",
    "load",
    "load_seq",
    "load_unsure",
    "out_of_line",
    "pause",
    "peek",
    "poke",
    "popcount",
    "prefetch",
    "prefetch_read",
    "read_byte",
    "read_int32",
    "read_word",
    "store",
    "trailing_zeros",
]


@stub
def load(mem, at):
    """Read word `at`; later accesses stay after it (acquire)."""


@stub
def load_seq(mem, at):
    """Read word `at` in the single total order of all sequentially consistent accesses."""


@stub
def load_unsure(mem, at):
    """Read word `at`, which may be another thread's by now, and written plainly (acquire).

    Example: the link of the first node of a stack. Another thread may have taken the node and be filling it in; then
    the value is arbitrary, and the compare-and-swap of the stack's head fails. The value counts only if that succeeds.
    """


@stub
def peek(mem, at):
    """Plain read of an immutable or unpublished word."""


@stub
def store(mem, at, value):
    """Write word `at`; earlier accesses stay before it (release)."""


@stub
def poke(mem, at, value):
    """Plain write to a word nobody else can see yet."""


@stub
def cas(mem, at, old, new):
    """Compare and swap: if word `at` is `old`, make it `new` and return True."""


@stub
def exchange(mem, at, value):
    """Write `value` and return what was there."""


@stub
def fetch_add(mem, at, value):
    """Add (modulo 2**64) and return what was there."""


@stub
def fetch_or(mem, at, value):
    """Bitwise or, returning what was there."""


@stub
def fetch_and(mem, at, value):
    """Bitwise and, returning what was there."""


@stub
def fetch_max(mem, at, value):
    """Unsigned maximum, returning what was there."""


@stub
def fetch_min(mem, at, value):
    """Unsigned minimum, returning what was there."""


@stub
def fence(mem):
    """Sequentially consistent fence."""


@stub
def barrier(mem):
    """Keep the compiler from moving accesses across this point; no instruction is emitted.

    A barrier orders the plain writes of a thread for a process that looks after the thread was killed.
    """


@stub
def prefetch(mem, at):
    """Bring word `at` near the processor, to be written soon; no effect on what any thread sees."""


@stub
def prefetch_read(mem, at):
    """Bring word `at` near the processor, to be read soon."""


@stub
def pause(mem):
    """Tell the processor that this is a spin loop; a scheduler may switch here."""


_LLVM: Final = "latchfree.llvm"

#: Said at the start of a function: it is compiled into every function that calls it.
in_line: Final = instruction(_LLVM, "in_line")

#: Said at the start of a function that is seldom called: it is compiled into none, so its callers need not save the
#: registers that it takes.
out_of_line: Final = instruction(_LLVM, "out_of_line")

#: Returns the number of one bits of a word.
popcount: Final = instruction(_LLVM, "popcount")

#: Returns the index of the lowest one bit of a word; 64 when there is none.
trailing_zeros: Final = instruction(_LLVM, "trailing_zeros")

#: Reads the 8 bytes at a raw address of a caller's buffer, aligned or not, in native order.
read_word: Final = instruction(_LLVM, "read_word")

#: Reads the byte at a raw address, as a word.
read_byte: Final = instruction(_LLVM, "read_byte")

#: Reads the 4 bytes at a raw address, as a word (offsets of an Arrow string array).
read_int32: Final = instruction(_LLVM, "read_int32")

#: Returns the upper 64 of the 128 bits of the product of two words.
high_product: Final = instruction(_LLVM, "high_product")


def _register() -> None:
    from latchfree.llvm import register

    register(sys.modules[__name__])


when_started(_register)
