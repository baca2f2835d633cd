"""A memory handle that shakes the schedule: now and then a thread gives up the processor before an atomic access.

Example: a put reads a node and then swaps it. The gap between the two accesses is a few nanoseconds, and another thread
rarely runs in that gap. Compiled for a jittered handle, the same put sometimes gives up the processor right there.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import types
from numba.extending import overload

from latchfree.atomics import (
    barrier,
    cas,
    exchange,
    fetch_add,
    fetch_and,
    fetch_max,
    fetch_min,
    fetch_or,
    load,
    load_seq,
    pause,
    peek,
    poke,
    prefetch,
    prefetch_read,
    store,
)
from latchfree.jit import kernel
from latchfree.kinds import Word

_MULTIPLIER = np.uint64(6364136223846793005)
_INCREMENT = np.uint64(1442695040888963407)
_HIGH = np.uint64(40)
_NONE = np.uint64(0)

_yield_processor: Any = types.ExternalFunction("sched_yield", types.int32())


class Jittered(NamedTuple):
    """A base address, the address of the thread's random state (two words: seed, mask of how rarely to yield)."""

    base: Any
    state: Any


@kernel
def random_word(state: Word) -> Word:
    """Return the next 24 random bits of the generator whose state is the word at an address."""
    seed = peek(state, _NONE) * _MULTIPLIER + _INCREMENT
    poke(state, _NONE, seed)
    return seed >> _HIGH


@kernel
def yield_processor() -> None:
    """Let another thread run."""
    _yield_processor()


@kernel
def shake(state: Word) -> None:
    """Yield once in (mask + 1) calls on average."""
    if random_word(state) & peek(state, np.uint64(1)) == _NONE:
        yield_processor()


def _is_jittered(mem: Any) -> bool:
    return isinstance(mem, types.BaseNamedTuple) and getattr(mem, "instance_class", None) is Jittered


def _shaken_read(operation: Any) -> Any:
    def choose(mem, at):  # type: ignore[no-untyped-def]
        if not _is_jittered(mem):
            return None

        def shaken(mem, at):  # type: ignore[no-untyped-def]
            shake(mem.state)
            return operation(mem.base, at)

        return shaken

    return overload(operation)(choose)


def _shaken_write(operation: Any) -> Any:
    def choose(mem, at, value):  # type: ignore[no-untyped-def]
        if not _is_jittered(mem):
            return None

        def shaken(mem, at, value):  # type: ignore[no-untyped-def]
            shake(mem.state)
            return operation(mem.base, at, value)

        return shaken

    return overload(operation)(choose)


_READS: tuple[Any, ...] = (load, load_seq)
_WRITES: tuple[Any, ...] = (store, exchange, fetch_add, fetch_or, fetch_and, fetch_max, fetch_min)
for _operation in _READS:
    _shaken_read(_operation)
for _operation in _WRITES:
    _shaken_write(_operation)


@overload(cas)
def _cas(mem, at, old, new):  # type: ignore[no-untyped-def]
    if not _is_jittered(mem):
        return None

    def shaken(mem, at, old, new):  # type: ignore[no-untyped-def]
        shake(mem.state)
        return cas(mem.base, at, old, new)

    return shaken


@overload(peek)
def _peek(mem, at):  # type: ignore[no-untyped-def]
    return (lambda mem, at: peek(mem.base, at)) if _is_jittered(mem) else None


@overload(poke)
def _poke(mem, at, value):  # type: ignore[no-untyped-def]
    return (lambda mem, at, value: poke(mem.base, at, value)) if _is_jittered(mem) else None


@overload(prefetch)
def _prefetch(mem, at):  # type: ignore[no-untyped-def]
    return (lambda mem, at: prefetch(mem.base, at)) if _is_jittered(mem) else None


@overload(prefetch_read)
def _prefetch_read(mem, at):  # type: ignore[no-untyped-def]
    return (lambda mem, at: prefetch_read(mem.base, at)) if _is_jittered(mem) else None


@overload(barrier)
def _barrier(mem):  # type: ignore[no-untyped-def]
    return (lambda mem: barrier(mem.base)) if _is_jittered(mem) else None


@overload(pause)
def _pause(mem):  # type: ignore[no-untyped-def]
    return (lambda mem: yield_processor()) if _is_jittered(mem) else None
