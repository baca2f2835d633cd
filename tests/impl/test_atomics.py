"""Atomic operations from compiled code: what each does, that none loses an update, and that handles dispatch."""

import threading
from typing import Any, NamedTuple

import numpy as np
import pytest
from numba import njit, types
from numba.core.caching import FunctionCache
from numba.extending import overload

from latchfree import Ctrie, atomics
from latchfree.arena.kernels.epochs import pin
from latchfree.ctrie.kernels.lookup import lookup, lookup_frozen
from latchfree.words import mix

WORD = (1 << 64) - 1
THREADS = 4


def _words(*values):
    array = np.array(values, dtype=np.uint64)
    return array, np.uint64(array.ctypes.data)


def _reader(operation):
    return njit(lambda mem, at: operation(mem, at))


def _writer(operation):
    return njit(lambda mem, at, value: operation(mem, at, value))


@pytest.mark.parametrize("name", ["load", "load_seq", "load_unsure", "peek"])
def test_reads_the_word_at_the_offset(name):
    words, base = _words(3, 5, WORD)
    read = _reader(getattr(atomics, name))
    assert [read(base, np.uint64(k)) for k in range(3)] == [3, 5, WORD]
    assert words.tolist() == [3, 5, WORD]


@pytest.mark.parametrize("name", ["store", "poke"])
def test_writes_only_the_word_at_the_offset(name):
    words, base = _words(3, 5, 7)
    _writer(getattr(atomics, name))(base, np.uint64(1), np.uint64(WORD))
    assert words.tolist() == [3, WORD, 7]


@pytest.mark.parametrize(
    ("name", "before", "operand", "after"),
    [
        ("exchange", 5, 9, 9),
        ("fetch_add", 5, 9, 14),
        ("fetch_add", WORD, 2, 1),
        ("fetch_or", 0b0110, 0b0011, 0b0111),
        ("fetch_and", 0b0110, 0b0011, 0b0010),
        ("fetch_max", 5, 9, 9),
        ("fetch_max", 9, 5, 9),
        ("fetch_max", WORD, 1, WORD),  # unsigned: the largest, not minus one
        ("fetch_min", 5, 9, 5),
        ("fetch_min", WORD, 1, 1),
    ],
)
def test_read_modify_write_returns_what_was_there(name, before, operand, after):
    words, base = _words(1, before, 1)
    assert _writer(getattr(atomics, name))(base, np.uint64(1), np.uint64(operand)) == before
    assert words.tolist() == [1, after, 1]


def test_cas_writes_only_over_the_expected_word():
    words, base = _words(5)
    cas = njit(lambda mem, at, old, new: atomics.cas(mem, at, old, new))
    assert cas(base, np.uint64(0), np.uint64(5), np.uint64(6)) is True
    assert cas(base, np.uint64(0), np.uint64(5), np.uint64(7)) is False
    assert words.tolist() == [6]


def test_fence_and_pause_compile():
    @njit
    def both(mem):
        atomics.fence(mem)
        atomics.pause(mem)
        return True

    assert both(_words(0)[1])


@pytest.mark.parametrize(("name", "attribute"), [("in_line", "alwaysinline"), ("out_of_line", "noinline")])
def test_a_function_says_whether_it_is_compiled_into_its_callers(name, attribute):
    said = getattr(atomics, name)

    @njit
    def function(word):
        said()
        return word + np.uint64(1)

    assert function(np.uint64(4)) == 5
    (code,) = function.inspect_llvm().values()
    assert attribute in code


def test_bits():
    popcount = njit(lambda word: atomics.popcount(word))
    trailing_zeros = njit(lambda word: atomics.trailing_zeros(word))
    for word in (0, 1, 2, 12, 1 << 63, WORD):
        assert popcount(np.uint64(word)) == word.bit_count()
        assert trailing_zeros(np.uint64(word)) == ((word & -word).bit_length() - 1 if word else 64)


def test_raw_reads_at_odd_addresses():
    data = np.arange(1, 18, dtype=np.uint8)
    address = data.ctypes.data
    raw = bytes(data)
    read_word = njit(lambda at: atomics.read_word(at))
    read_int32 = njit(lambda at: atomics.read_int32(at))
    read_byte = njit(lambda at: atomics.read_byte(at))
    for k in range(9):
        assert read_word(np.uint64(address + k)) == int.from_bytes(raw[k : k + 8], "little")
        assert read_int32(np.uint64(address + k)) == int.from_bytes(raw[k : k + 4], "little")
        assert read_byte(np.uint64(address + k)) == raw[k]


@pytest.mark.parametrize("name", ["load", "load_seq", "load_unsure", "peek", "fence", "pause"])
def test_python_cannot_call_them(name):
    arguments = (0,) if name in ("fence", "pause") else (0, 0)
    with pytest.raises(TypeError, match=rf"latchfree\.atomics\.{name} works in numba-compiled code only"):
        getattr(atomics, name)(*arguments)


@pytest.mark.parametrize(
    "name",
    ["store", "poke", "exchange", "fetch_add", "fetch_or", "fetch_and", "fetch_max", "fetch_min"],
)
def test_python_cannot_call_the_writers_either(name):
    with pytest.raises(TypeError, match=rf"latchfree\.atomics\.{name} works in numba-compiled code only"):
        getattr(atomics, name)(0, 0, 0)


# threads -----------------------------------------------------------------------------------------------------


def _together(work, count=THREADS):
    """Run work(k) in `count` threads that start together; an exception in one fails the test."""
    barrier = threading.Barrier(count)
    failures = []

    def body(k):
        try:
            barrier.wait()
            work(k)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=body, args=(k,)) for k in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]


@njit(nogil=True)
def _add_many(mem, count):
    for _ in range(count):
        atomics.fetch_add(mem, np.uint64(0), np.uint64(1))


@njit(nogil=True)
def _cas_many(mem, count):
    for _ in range(count):
        while True:
            old = atomics.load(mem, np.uint64(0))
            if atomics.cas(mem, np.uint64(0), old, old + np.uint64(3)):
                break


@njit(nogil=True)
def _set_bits(mem, first):
    for k in range(16):
        atomics.fetch_or(mem, np.uint64(0), np.uint64(1) << np.uint64(first + k))


@njit(nogil=True)
def _wait_for(mem, wanted):
    while atomics.load(mem, np.uint64(0)) != wanted:
        atomics.pause(mem)
    return atomics.peek(mem, np.uint64(1))


def test_fetch_add_by_several_threads_loses_nothing():
    words, base = _words(0)
    _add_many(base, 0)
    _together(lambda k: _add_many(base, 50_000))
    assert words.tolist() == [THREADS * 50_000]


def test_cas_by_several_threads_loses_nothing():
    words, base = _words(0)
    _cas_many(base, 0)
    _together(lambda k: _cas_many(base, 20_000))
    assert words.tolist() == [3 * THREADS * 20_000]


def test_fetch_or_by_several_threads_loses_nothing():
    words, base = _words(0)
    _together(lambda k: _set_bits(base, 16 * k))
    assert words.tolist() == [WORD]


def test_a_spinning_load_sees_another_thread_store():
    words, base = _words(0, 0)
    store = _writer(atomics.store)
    seen = []
    _wait_for(base, np.uint64(0))
    store(base, np.uint64(0), np.uint64(0))
    waiter = threading.Thread(target=lambda: seen.append(_wait_for(base, np.uint64(1))))
    waiter.start()
    words[1] = 42
    store(base, np.uint64(0), np.uint64(1))
    waiter.join(timeout=600)
    assert seen == [42], "the spinning thread never saw the store, or not what was written before it"


# handles -----------------------------------------------------------------------------------------------------


class Counted(NamedTuple):
    """A base address, and the address of a word that counts the atomic accesses."""

    base: Any
    counter: Any


def _is_counted(mem):
    return isinstance(mem, types.BaseNamedTuple) and mem.instance_class is Counted


def _tick(mem):
    raise NotImplementedError


@overload(_tick)
def _tick_compiled(mem):
    return lambda mem: atomics.fetch_add(mem.counter, np.uint64(0), np.uint64(1))


def _count(operation, arity):
    def read(mem, at):
        def counted(mem, at):
            _tick(mem)
            return operation(mem.base, at)

        return counted if _is_counted(mem) else None

    def cas(mem, at, old, new):
        def counted(mem, at, old, new):
            _tick(mem)
            return operation(mem.base, at, old, new)

        return counted if _is_counted(mem) else None

    def write(mem, at, value):
        def counted(mem, at, value):
            _tick(mem)
            return operation(mem.base, at, value)

        return counted if _is_counted(mem) else None

    overload(operation)((read, write, cas)[arity])


def _pass_through():
    @overload(atomics.peek)
    def peek(mem, at):
        return (lambda mem, at: atomics.peek(mem.base, at)) if _is_counted(mem) else None

    @overload(atomics.poke)
    def poke(mem, at, value):
        return (lambda mem, at, value: atomics.poke(mem.base, at, value)) if _is_counted(mem) else None

    @overload(atomics.barrier)
    def barrier(mem):
        return (lambda mem: atomics.barrier(mem.base)) if _is_counted(mem) else None


_count(atomics.load, 0)
_count(atomics.load_seq, 0)
_count(atomics.load_unsure, 0)
_count(atomics.store, 1)
_count(atomics.exchange, 1)
_count(atomics.fetch_add, 1)
_count(atomics.cas, 2)
_pass_through()


@pytest.fixture
def _uncached(monkeypatch):
    """Keep code compiled for this module's handle out of the caches of latchfree's kernels."""
    monkeypatch.setattr(FunctionCache, "load_overload", lambda *_: None)
    monkeypatch.setattr(FunctionCache, "save_overload", lambda *_: None)


@pytest.fixture
def handle(arena):
    counter = np.zeros(1, np.uint64)
    return Counted(np.uint64(arena.base), np.uint64(counter.ctypes.data)), counter


@pytest.mark.usefixtures("_uncached")
def test_an_unchanged_algorithm_runs_on_a_handle_of_ones_own(arena, handle):
    counted, counter = handle
    trie = Ctrie({k: 10 * k for k in range(100)}, keys=int, values=int, arena=arena, hash_mask=63)
    snapshot = trie.readonly_snapshot()  # which keeps what is read below: no pin is needed
    root = np.uint64(snapshot._held().root)

    def find(key):
        counter[0] = 0
        node = int(lookup_frozen(counted, root, mix(np.uint64(key)) & np.uint64(63), np.uint64(0), np.int64(key)))
        return (trie._store._value_at(node) if node else None), int(counter[0])

    # Two accesses for each I-node on the way, main and prev: the root alone, or also the eleven above an L-node.
    assert [find(k)[0] for k in range(100)] == [10 * k for k in range(100)]
    assert {find(k)[1] for k in range(100)} == {2, 2 * 12}
    assert find(1000)[0] is None


@pytest.mark.slow
@pytest.mark.usefixtures("_uncached")
def test_a_counted_lookup_renews_once_after_a_snapshot(arena, handle):
    counted, counter = handle
    trie = Ctrie({k: 10 * k for k in range(100)}, keys=int, values=int, arena=arena, hash_mask=63)
    me = np.uint64(arena.interpreter_participant())
    pin(counted.base, me)

    def find(key):
        counter[0] = 0
        node = int(lookup(counted, np.uint64(trie._store.trie), me, key))
        return (trie._store._value_at(node) if node else None), int(counter[0])

    assert [find(k)[0] for k in range(100)] == [10 * k for k in range(100)]
    # The root word, then two for each I-node; where the first descent meets an L-node there is a second one.
    short, long = 1 + 2, 2 * (1 + 2 * 12)
    assert {find(k)[1] for k in range(100)} == {short, long}
    deep = next(k for k in range(100) if find(k)[1] == long)
    trie.readonly_snapshot()
    value, renewing = find(deep)
    assert value == 10 * deep
    assert renewing > long
    assert find(deep) == (10 * deep, long)
