"""Short bursts of one thread and of two, for ratios on a machine that others use, too.

Each thread has a processor of its own, and two begin together, at a gate that they spin at. A burst counts only if the
kernel has switched neither thread meanwhile; so what is compared is two threads that really ran at the same time.
"""

from __future__ import annotations

import importlib
import os
import resource
import statistics
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from latchfree.atomics import fetch_add, load, pause
from latchfree.jit import kernel
from latchfree.sketches.common.items import CHUNK, chunks, column_of

#: Of each sketch, the module of its kernels, and what the one that adds many takes besides hashes.
KERNELS = {
    "Bloom": ("bloom", ""),
    "PartitionedBloom": ("partitioned", ""),
    "CountingBloom": ("counting", ""),
    "ScalableBloom": ("scalable", ""),
    "StableBloom": ("stable", "answers"),
    "InverseBloom": ("inverse", "answers"),
    "HyperLogLog": ("hyperloglog", ""),
    "CountMin": ("slices", "own"),
    "CountMin, conservative": ("count_min", ""),
    "TopK": ("slices", "own and answers"),
    "MinHash, 128 hashes": ("minhash", ""),
    "KLL": ("kll", "who"),
}
#: Nanoseconds of a burst, about, and after how many there is a new sketch.
_LENGTH = 300_000
_FRESH = 60
#: Fewer bursts make no figure.
_FEWEST = 5


@kernel
def meet(gate: Any, threads: Any) -> None:
    """Wait until so many threads are here."""
    fetch_add(gate, np.uint64(0), np.uint64(1))
    while load(gate, np.uint64(0)) < threads:
        pause(gate)


def _switches() -> int:
    used = resource.getrusage(resource.RUSAGE_THREAD)
    return used.ru_nivcsw + used.ru_nvcsw


class _Second:
    """A thread on a processor of its own, which runs what it is given."""

    def __init__(self, processor: int) -> None:
        self._processor = processor
        self._given, self._done = threading.Semaphore(0), threading.Semaphore(0)
        self.call: Callable[[], Any] = int
        self.end = self.switches = 0
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self) -> None:
        os.sched_setaffinity(0, {self._processor})
        while True:
            self._given.acquire()
            before = _switches()
            self.call()
            self.end, self.switches = time.perf_counter_ns(), _switches() - before
            self._done.release()

    def start(self, call: Callable[[], Any]) -> None:
        self.call = call
        self._given.release()

    def join(self) -> None:
        self._done.acquire()


def _call_of(module: str, more: str) -> Callable[..., Any]:
    """Return compiled code that waits at the gate and then adds."""
    kernels = importlib.import_module(f"latchfree.sketches.kernels.{module}")
    nobody = np.uint64(0)
    if more == "own":
        add_slice = kernels.add_slice

        @kernel
        def counted(
            gate: Any, threads: Any, mem: Any, root: Any, number: Any, hashes: Any, answers: Any, own: Any
        ) -> None:
            meet(gate, threads)
            size = np.int64(len(hashes)) * np.int64(threads) // 2  # slices of one thread are as large as those of two
            for first in range(0, len(hashes), size):
                add_slice(mem, nobody, root, number, hashes[first : first + size], own)

        return counted
    if more == "own and answers":
        top_add_slice = kernels.top_add_slice

        @kernel
        def frequent(
            gate: Any, threads: Any, mem: Any, root: Any, number: Any, hashes: Any, answers: Any, own: Any
        ) -> None:
            meet(gate, threads)
            size = np.int64(len(hashes)) * np.int64(threads) // 2
            for first in range(0, len(hashes), size):
                top_add_slice(mem, nobody, root, number, hashes[first : first + size], own, answers)

        return frequent
    add = kernels.add_many
    if more == "who":

        @kernel
        def numbers(
            gate: Any, threads: Any, mem: Any, root: Any, number: Any, hashes: Any, answers: Any, own: Any
        ) -> None:
            meet(gate, threads)
            add(mem, nobody, root, number, np.uint64(1), hashes)

        return numbers
    if more == "answers":

        @kernel
        def answered(
            gate: Any, threads: Any, mem: Any, root: Any, number: Any, hashes: Any, answers: Any, own: Any
        ) -> None:
            meet(gate, threads)
            add(mem, nobody, root, number, hashes, answers)

        return answered

    @kernel
    def plain(gate: Any, threads: Any, mem: Any, root: Any, number: Any, hashes: Any, answers: Any, own: Any) -> None:
        meet(gate, threads)
        add(mem, nobody, root, number, hashes)

    return plain


def _hashes(count: int) -> Iterator[NDArray[np.uint64]]:
    """Yield hashes of new items, so many at a time."""
    first = 0
    while True:
        yield np.concatenate([part.copy() for _, part in chunks(column_of(np.arange(first, first + count)), 0)])
        first += count


def ratios(name: str, make: Callable[[], Any], bursts: int) -> tuple[float, float, int] | None:
    """Return the medians of nanoseconds an item with one thread and with two, and how many bursts of two counted."""
    one_on, other_on = sorted(os.sched_getaffinity(0))[:2]
    processors = os.sched_getaffinity(0)
    module, more = KERNELS[name]
    run, second = _call_of(module, more), _Second(other_on)
    gate: NDArray[np.uint64] = np.zeros(8, np.uint64)
    at, found = np.uint64(gate.ctypes.data), ([], [])  # type: tuple[list[float], list[float]]
    os.sched_setaffinity(0, {one_on})
    try:
        half = 1_000
        for burst in range(bursts):
            if burst % _FRESH == 0:
                place = make()._place
                fresh = _hashes(2 * half)
            given = (np.uint64(place.base), np.uint64(place.root), np.uint64(place.number))
            answers = np.zeros(2 * half, np.uint8)
            owns = [np.ones(place.shape[0] * place.shape[1] if "own" in more else 0, np.uint64) for _ in range(2)]

            gate[0], hashes = 0, next(fresh)
            before, begun = _switches(), time.perf_counter_ns()
            run(at, np.uint64(1), *given, hashes, answers, owns[0])
            took = time.perf_counter_ns() - begun
            if burst == 0:
                continue  # compiled
            if burst == 1:
                # Slices are those of `add_many`.
                half = CHUNK if "own" in more else max(1_000, min(64_000, round(half * _LENGTH / took)))
                fresh = _hashes(2 * half)
                continue
            if _switches() == before:
                found[0].append(took / len(hashes))

            gate[0], hashes = 0, next(fresh)
            mine, theirs = hashes[:half], hashes[half:]
            second.start(lambda h=theirs, g=given, a=answers, o=owns[1]: run(at, np.uint64(2), *g, h, a[: len(h)], o))
            while gate[0] == 0:
                time.sleep(20e-6)
            before, begun = _switches(), time.perf_counter_ns()
            run(at, np.uint64(2), *given, mine, answers[half:], owns[0])
            end, mine_switched = time.perf_counter_ns(), _switches() - before
            second.join()
            if not mine_switched and not second.switches:
                found[1].append((max(end, second.end) - begun) / len(hashes))
    finally:
        os.sched_setaffinity(0, processors)
    if min(map(len, found)) < _FEWEST:
        return None
    return statistics.median(found[0]), statistics.median(found[1]), len(found[1])
