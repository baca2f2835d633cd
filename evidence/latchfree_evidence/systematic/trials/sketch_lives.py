"""The records of sketches: made of zeros, left alone by calls of another number, and touched by who is pinned only.

Example: a call of each compiled function of a sketch is stopped before each of its accesses. When the access is of the
sketch's words, the participant of the call is pinned: nobody frees them now.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import numpy as np

from latchfree.arena import Arena, layout
from latchfree.arena.kernels import epochs, freelists
from latchfree.border import WORD, Border
from latchfree.limiting import RateLimiter
from latchfree.limiting.border import BUCKET
from latchfree.sketches import (
    KLL,
    Bloom,
    CountingBloom,
    CountMin,
    HyperLogLog,
    InverseBloom,
    MinHash,
    PartitionedBloom,
    ScalableBloom,
    StableBloom,
    TopK,
)
from latchfree.sketches.border import SKETCH
from latchfree.sketches.kernels import bloom, record
from latchfree_evidence.systematic.plain.arrays import View
from latchfree_evidence.systematic.plain.faces import faces
from latchfree_evidence.systematic.plain.words import Raw
from latchfree_evidence.systematic.plain.world import World
from latchfree_evidence.systematic.trials.halting import Halted
from latchfree_evidence.systematic.trials.place import Place, require

CAPACITY: Final = 4 << 20
_GONE: Final = int(record.GONE)
#: By what the names of their calls begin with.
_MAKERS: Final[dict[str, Any]] = {
    "bloom": lambda arena, name: Bloom.create(arena, name, 50, 0.1),
    "hll": lambda arena, name: HyperLogLog.create(arena, name, 0.25),
    "count": lambda arena, name: CountMin.create(arena, name, 0.5, 0.5, conservative=True),
    "inverse": lambda arena, name: InverseBloom.create(arena, name, 8),
    "partitioned": lambda arena, name: PartitionedBloom.create(arena, name, 50, 0.1),
    "counting": lambda arena, name: CountingBloom.create(arena, name, 50, 0.1),
    "scalable": lambda arena, name: ScalableBloom.create(arena, name, 8, 0.1, most=50),
    "stable": lambda arena, name: StableBloom.create(arena, name, 640),
    "minhash": lambda arena, name: MinHash.create(arena, name, 16),
    "top": lambda arena, name: TopK.create(arena, name, 2, 0.5, 0.5),
    "kll": lambda arena, name: KLL.create(arena, name, 0.2, writers=2, seed=1),
    "coupon": lambda arena, name: HyperLogLog.create(arena, name, 0.25, hash="datasketches"),
    "counter": lambda arena, name: CountMin.create(arena, name, 0.5, 0.5, hash="spark"),
    "bit": lambda arena, name: Bloom.create(arena, name, 50, 0.1, hash="spark-v2"),
    "added": lambda arena, name: Bloom.create(arena, name, 50, 0.1),
    "copy": lambda arena, name: Bloom.create(arena, name, 50, 0.1),
}
_HERE: Final = (WORD,) * 4


def calls_of(arena: Arena) -> Iterator[tuple[str, Any, Any, list[Any]]]:
    """Yield the calls of sketches and limiters: name, border, the sketch's place, and arguments behind its number."""
    makers = {**_MAKERS, **dict.fromkeys(BUCKET.calls, lambda arena, name: RateLimiter.create(arena, name, 10.0, 5))}
    borders: tuple[Border, ...] = (SKETCH, BUCKET)
    for border in borders:
        for name, call in border.calls.items():
            kinds: Any = call.arguments  # type: ignore[union-attr]
            if kinds[:4] != _HERE or name == "create":
                continue
            place = makers[name.partition("_")[0] if border is SKETCH else name](arena, f"{name} {id(border)}")._place
            size = 3
            if name.endswith("merge") or name == "copy":
                size = int(arena.words[place.root + int(record.CELLS)])
            elif name == "kll_read":
                size = place.shape[1] * 2000
            elif name == "hll_count_ranks":
                size = 256
            elif name in ("top_put", "top_read"):
                size = place.shape[2] * 64
            elif name.endswith("add_slice"):
                size = place.shape[0] * place.shape[1]
            given = [
                (1 if name != "set_back" else 0) if kind == WORD else View(np.ones(size, kind.item))
                for kind in kinds[4:]
            ]
            if name == "top_put_blobs":  # where each ends; none has bytes
                given[3] = View(np.ones(size + 1, np.int64))
            if place.hashing is not None:  # so many words of an item
                given[0] = View(np.ones(size * place.hashing.each, np.uint64))
            yield name, border, place, given
            _unlink(border, arena, f"{name} {id(border)}")


def _unlink(border: Border, arena: Arena, name: str) -> None:
    """Unlink what `calls_of` has made."""
    arena.directory.remove(name, lambda entry: None, root=arena.directory.find(name).root)


def wrong_numbers(world: World, seed: int) -> None:
    """Call what is unlinked: every call says so, and changes nothing."""
    with faces(world):
        arena = Arena.anonymous(CAPACITY)
        me = arena.interpreter_participant()
        for name, border, place, given in calls_of(arena):
            cells = slice(place.root, place.root + 24 + int(arena.words[place.root + int(record.CELLS)]))
            before = arena.words[cells].copy()
            for who in (0, me):
                found = world[border.calls[name].kernel](Raw(arena.base), who, place.root, place.number ^ 2, *given)
                require(found == _GONE, "a call of another number finds nothing", name, found)
                require(arena.words[me + int(layout.P_PIN)] == 0, "and ends its pin", name)
            require((arena.words[cells] == before).all(), "and changes nothing", name)
        arena.close()


def pins(world: World, seed: int) -> None:
    """Stop each call before each access: the participant is pinned whenever the sketch's words are touched."""
    steps = world.stepping()
    with faces(world):
        arena = Arena.anonymous(CAPACITY)
        me = arena.interpreter_participant()
        pin = me + int(layout.P_PIN)
        for name, border, place, given in calls_of(arena):
            for who in (me, 0):
                call = Halted(steps, border.calls[name].kernel, Raw(arena.base), who, place.root, place.number, *given)
                touched = 0
                while call.access is not None:
                    if len(call.access) > 2 and place.root <= call.access[2]:
                        touched += 1
                        require(arena.words[pin] != 0 or not who, "who touches a sketch is pinned", name, call.access)
                    require(who or arena.words[pin] == 0, "nobody is pinned for private memory")
                    call.step()
                require(touched > 1 and call.result != _GONE, "a call finds the sketch", name)
                require(arena.words[pin] == 0, "a call ends its pin", name)
        arena.close()


def records(world: World, seed: int) -> None:
    """Make records in words that were used before: all are 0 but for two, and all come back."""
    place = Place(world, 1, (layout.FIRST_NODE + 12_000) * 8)
    mem, me = place.mem, place.who[0]
    create, free = world[record.create], world[record.free]
    for _ in range(3):
        made = []
        for size in (32, 48, 128, 36, 72):
            at = create(mem, me, size)
            start = mem[at + int(record.START)]
            require(at % 8 == 0 and 0 <= at - start < 8, "a record begins a line of the cache", at, start)
            require(mem[at + int(record.SIZE)] == size, "a record has its size")
            rest = {int(record.START), int(record.SIZE)}
            require(not any(mem[k] for k in range(start, start + size) if k - at not in rest), "the others are 0")
            made.append((at, start, size))
            for k in range(start, start + size):
                mem[k] = k if k - at not in rest else mem[k]
        place.account([(start, size) for _, start, size in made])
        for at, _, _ in made:
            free(mem, me, at)
        place.account([])
    large: list[tuple[int, int]] = []
    while True:
        at = create(mem, me, 1024)
        if not at:
            break
        large.append((mem[at + int(record.START)], 1024))
    require(len(large) >= 2, "there was room for some")
    place.account(large)
    require(world[freelists.take](mem, me, 1024, 1), "a reserve is left for those who free memory")


def unlinked(world: World, seed: int) -> None:
    """Unlink a sketch while a call is under way: nobody is quiet until the call has ended."""
    steps, first = world.stepping(), 0
    while True:
        place = Place(world, 2, (layout.FIRST_NODE + 8000) * 8)
        mem, (me, other) = place.mem, place.who
        at = world[record.create](mem, me, 128)
        for word, value in {bloom.BLOCKS: 1, bloom.WORDS: 4, bloom.BITS: 1, record.NUMBER: 7}.items():
            mem[at + int(word)] = value
        call = Halted(steps, bloom.add_one, mem, other, at, 7, 1 << 40)
        more = call.run(first)
        pinned = mem[other + int(layout.P_PIN)] != 0
        ended = Halted(steps, record.end, mem, at)
        ended.step()
        world[epochs.try_advance](mem)
        epoch = ended.finish()
        require(mem[at + int(record.NUMBER)] == 0, "its number is gone")
        require(epoch == mem[int(layout.H_EPOCH)], "the epoch is read when the number is gone")
        quiet = [world[record.is_quiet](mem, epoch) for _ in range(6)]
        require(not quiet[0], "two epochs must pass")
        require(quiet[-1] != pinned, "nobody is quiet before all calls that may be in the sketch have ended")
        result = call.finish()
        require(result in (1, _GONE) and (result == 1 or not any(mem[at + 24 + k] for k in range(8))), "all or nothing")
        quiet = [world[record.is_quiet](mem, epoch) for _ in range(3)]
        require(any(quiet), "all are quiet in the end")
        first += 1
        if not more:
            break
    require(first > 5, "the call was stopped at some places", first)
