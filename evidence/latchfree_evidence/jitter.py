"""A memory handle that shakes the schedule: now and then a thread gives up the processor before an atomic access.

Example: a put reads a node and then swaps it. The gap between the two accesses is a few nanoseconds, and another thread
rarely runs in that gap. Compiled for a jittered handle, the same put sometimes gives up the processor right there.

On a busy machine the processor may go to another program for milliseconds, and the run would do nothing but wait. So a
thread that was away for long does not yield again until it has run for a part of that time.
"""

import time
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
    load_unsure,
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

# Words of a thread's state.
_MASK = np.uint64(1)
_REST = np.uint64(2)
_SECONDS = np.uint64(3)
_NANOSECONDS = np.uint64(4)
STATE_WORDS = 5

#: A thread was away for long after so many nanoseconds: another thread of the run would have yielded sooner.
_LONG = np.uint64(100_000)
#: A thread rests for the time that it was away, divided by so much.
_SHARE = np.uint64(16)
_BILLION = np.uint64(1_000_000_000)
_WORD_BYTES = np.uint64(8)
_CLOCK = np.int32(time.CLOCK_MONOTONIC)

_yield_processor: Any = types.ExternalFunction("sched_yield", types.int32())
_read_clock: Any = types.ExternalFunction("clock_gettime", types.int32(types.int32, types.uint64))


class Jittered(NamedTuple):
    """A base address, and the address of the thread's state.

    The state has `STATE_WORDS` words: the random seed, a mask of how rarely to yield, and three that begin as zeros,
    namely the time until which the thread rests, and the time just read (seconds, nanoseconds).
    """

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
def _now(state: Word) -> Word:
    """Return nanoseconds of a clock that never goes back."""
    _read_clock(_CLOCK, state + _SECONDS * _WORD_BYTES)
    return peek(state, _SECONDS) * _BILLION + peek(state, _NANOSECONDS)


@kernel
def shake(state: Word) -> None:
    """Yield once in (mask + 1) calls on average, unless the thread rests."""
    if random_word(state) & peek(state, _MASK) != _NONE:
        return
    began = _now(state)
    if began < peek(state, _REST):
        return
    yield_processor()
    ended = _now(state)
    if ended - began > _LONG:
        poke(state, _REST, ended + (ended - began) // _SHARE)


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


_READS: tuple[Any, ...] = (load, load_seq, load_unsure)
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
