"""The directory of an arena, the words of its header, and the count of its words, as users have them."""

from __future__ import annotations

import functools
import random
from typing import Any

import numpy as np

from latchfree.arena import Arena, layout
from latchfree.arena.kernels import blocks, counting, directory, freelists, node, state
from latchfree.errors import StructureExists, StructureMissing
from latchfree_evidence.systematic.plain.arrays import View
from latchfree_evidence.systematic.plain.faces import faces
from latchfree_evidence.systematic.plain.memory import MARKING
from latchfree_evidence.systematic.plain.world import World
from latchfree_evidence.systematic.trials.halting import Halted
from latchfree_evidence.systematic.trials.place import Place, require
from latchfree_evidence.systematic.trials.sketched import CAPACITY
from latchfree_evidence.systematic.trials.tries import KINDS, Trial

_WORDS = 16


def directories(world: World, seed: int) -> None:
    """List structures, find them and take them out, beside a dict."""
    with faces(world):
        rng, arena = random.Random(seed), Arena.anonymous(CAPACITY)
        listed: dict[str, int] = {}
        for _ in range(120):
            name = f"structure {rng.randrange(70)}"
            if rng.random() < 0.6:
                root = rng.randrange(1, 1 << 40)
                try:
                    arena.directory.create(
                        name,
                        kind=1,
                        keys="int",
                        values="bytes",
                        hash_mask=rng.getrandbits(64),
                        build=functools.partial(int, root),
                    )
                    require(name not in listed, "a name is listed once", name)
                    listed[name] = root
                except StructureExists:
                    require(name in listed, "what exists was listed", name)
            else:
                try:
                    require(arena.directory.remove(name).root == listed.pop(name, None), "what is removed", name)
                except StructureMissing:
                    require(name not in listed, "what is missing was not listed", name)
            found = {each.name: each.root for each in arena.directory.entries()}
            require(found == listed, "all that are listed")
        arena.close()


def entries(world: World, seed: int) -> None:
    """Read, take, fill and release entries, and stop a reader before each access, while another one changes it."""
    read, take, change = world[directory.read], world[directory.take], world[directory.change]
    fill, release = world[directory.fill], world[directory.release]
    for function in (take, change):
        mem = [9] * 40
        require(not function(mem, 16, 8, 7) and mem == [9] * 40, "another state is left alone")
        require(function(mem, 16, 9, 7) and mem == [9] * 16 + [7] + [9] * 23, "the state is changed")
    copy = np.arange(100, 132, dtype=np.uint64)
    mem = [9] * 40
    fill(mem, 16, copy.ctypes.data)
    require(mem == [9] * 17 + list(range(101, 116)) + [9] * 8, "the words of an entry are filled")
    fill(mem, 16, 0)
    require(mem == [9] * 17 + [0] * 15 + [9] * 8, "or emptied")
    release(mem, 16, 3)
    require(mem == [9] * 16 + [3] + [0] * 15 + [9] * 8, "and given up")
    mem, copy = list(range(200, 264)), np.zeros(64, np.uint64)
    read(mem, 16, 2, copy.ctypes.data)
    require(copy.tolist() == [*range(216, 248), *[0] * 32], "so many entries are copied")
    before, more = 0, True
    while more:
        mem, copy = [5] * _WORDS, np.zeros(_WORDS, np.uint64)
        call = Halted(world.stepping(), directory.read, mem, 0, 1, copy.ctypes.data)
        more = call.run(before)
        mem[:] = [6] * _WORDS
        call.finish()
        require(copy.tolist() in ([5] * _WORDS, [6] * _WORDS), "an entry is read as at one instant", copy.tolist())
        require(more is False or copy[0] == 6 or before == 0, "the state is read again", before)
        before += 1
    require(before > _WORDS, "there were places to stop at")


def states(world: World, seed: int) -> None:
    """Read and swap words of the header."""
    mem = [4, 5, 6]
    require(world[state.read](mem, 1) == 5, "a word is read")
    require(not world[state.swap](mem, 1, 4, 9) and mem == [4, 5, 6], "another word is left alone")
    require(world[state.swap](mem, 1, 5, 9) and mem == [4, 9, 6], "the word is changed")


def _counted(world: World, mem: Any, words: int) -> tuple[int, list[int]]:
    totals = np.zeros(counting.TOTALS, np.uint64)
    top = world[counting.count](mem, words, View(totals))
    return int(top), totals.tolist()


def _held(mem: Any, me: int, word: Any) -> list[int]:
    """Return the blocks of a list."""
    found, block = [], mem[me + int(word)]
    while block:
        found.append(block)
        block = mem[block + int(blocks.LINK)]
    return found


def _size(mem: Any, block: int) -> int:
    return int(freelists.round_up(np.uint64(mem[block] >> int(node.SIZE_SHIFT) & int(node.SIZE_MASK))))


def counts(world: World, seed: int) -> None:
    """Work in an arena, and count its words: each use is what a walk of all lists finds."""
    trial = Trial(World(wrapped=MARKING), KINDS[seed % len(KINDS)], seed)
    for _ in range(150):
        trial.step()
    place: Any = trial.place
    _compare(world, place, seed)


def _compare(world: World, place: Place, seed: int) -> None:
    mem: Any = place.mem.bare
    top, totals = _counted(world, mem, len(mem))
    require(top == mem[int(layout.H_BUMP)], "the end of what was given out")
    free = tails = limbo = spare = deferred = 0
    for me in [layout.PARTICIPANTS + k * layout.PARTICIPANT_WORDS for k in range(mem[int(layout.H_CLAIMED)])]:
        bump, limit = mem[me + int(layout.P_BUMP)], mem[me + int(layout.P_LIMIT)]
        tails += max(0, limit - bump)
        for kind in range(int(freelists.CLASSES)):
            at = mem[me + int(layout.P_FREE) + kind]
            while at:
                free += int(freelists.class_size(np.uint64(kind)))
                at = mem[at] & (1 << 40) - 1
        spare += sum(_size(mem, block) for block in _held(mem, me, layout.P_SPARES))
        for block in _held(mem, me, layout.P_OLDEST):
            limbo += _size(mem, block)
            for k in range(mem[block + int(blocks.COUNT)]):
                entry = np.uint64(mem[block + int(blocks.ENTRIES) + k])
                words = int(blocks.words_of(entry))
                if int(entry) & int(blocks.DEFERRED) and not words:
                    deferred += 1
                else:
                    limbo += int(freelists.round_up(np.uint64(words)))
        at = mem[me + int(layout.P_DEFERRED)]
        while at:
            deferred, at = deferred + 1, mem[at] & (1 << 40) - 1
        at = mem[me + int(layout.P_HOLDERS)]
        while at:
            limbo, at = limbo + _size(mem, at), mem[at + 1] & (1 << 40) - 1
    for kind in range(int(freelists.CLASSES)):
        batch = mem[int(layout.SHARED_LISTS) + kind] & (1 << 40) - 1
        while batch:
            at = batch
            while at:
                free += int(freelists.class_size(np.uint64(kind)))
                at = mem[at] & (1 << 40) - 1
            batch = mem[batch + 1] & (1 << 40) - 1 if kind else 0
    expected = {
        counting.FREE: free, counting.TAILS: tails, counting.LIMBO: limbo, counting.SPARE: spare,
        counting.DEFERRED_THINGS: deferred, counting.TORN: 0,
    }  # fmt: skip
    for use, words in expected.items():
        require(totals[use] == words, "words of a use", use, totals[use], words)
    left = top - layout.FIRST_NODE - free - tails - limbo - spare - 2 * mem_deferred(mem, place)
    require(totals[counting.LEFT] == left, "words that nobody lists", totals[counting.LEFT], left)


def mem_deferred(mem: Any, place: Place) -> int:
    """Return how many things wait on the lists of deferred ones."""
    found = 0
    for me in [layout.PARTICIPANTS + k * layout.PARTICIPANT_WORDS for k in range(mem[int(layout.H_CLAIMED)])]:
        at = mem[me + int(layout.P_DEFERRED)]
        while at:
            found, at = found + 1, mem[at] & (1 << 40) - 1
    return found


def damages(world: World, seed: int) -> None:
    """Count words of an arena that are damaged: the count ends, follows no link out of the arena, and says so."""
    trial = Trial(World(wrapped=MARKING), KINDS[seed % len(KINDS)], seed)
    for _ in range(120):
        trial.step()
    whole: Any = trial.place.mem.array
    rng = random.Random(seed)
    lists = [int(layout.SHARED_LISTS) + k for k in range(92)]
    for me in trial.place.who:
        lists += [me + int(layout.P_FREE) + k for k in range(92)]
        lists += [me + int(at) for at in (layout.P_OLDEST, layout.P_SPARES, layout.P_DEFERRED, layout.P_HOLDERS)]
    bump = int(whole[int(layout.H_BUMP)])
    for k in range(60):
        words = whole[: bump + 64].copy()
        for _ in range(rng.choice((1, 1, 3, 30))):
            inside = rng.randrange(layout.FIRST_NODE, bump)
            value = rng.choice(
                (inside, rng.getrandbits(64), rng.getrandbits(40), bump - 1, bump - 2, rng.randrange(100))
            )
            words[rng.choice((rng.choice(lists), inside))] = value
        if k % 10 == 9:
            words[int(layout.H_BUMP)] = rng.choice((rng.getrandbits(64), len(words) + 1, 5))
        if k % 10 == 8:
            words[int(layout.H_CLAIMED)] = rng.choice((1, rng.getrandbits(40)))
        top, totals = _counted(world, _Guarded(words), len(words))
        require(layout.FIRST_NODE <= top <= len(words), "the end is in the arena", top)
        used = sum(totals[use] for use in (counting.FREE, counting.TAILS, counting.LIMBO, counting.SPARE))
        require(used + totals[counting.LEFT] <= top - layout.FIRST_NODE, "no word is counted twice", used)


class _Guarded:
    """Words of which those that were given out, and those of the header, may be read."""

    def __init__(self, words: Any) -> None:
        self._words = memoryview(words)

    def __getitem__(self, at: int) -> int:
        if not 0 <= at < len(self._words):
            raise IndexError(f"word {at} is read, which is not in the arena")
        return int(self._words[at])


def circles(world: World, seed: int) -> None:
    """Count lists that are circles, or too long by a word, or just not: the count says whether they are torn."""
    place = Place(World(), 1, (layout.FIRST_NODE + 4000) * 8)
    mem: Any = place.mem.bare
    me = place.who[0]
    first = layout.FIRST_NODE
    mem[int(layout.H_BUMP)] = first + 100
    at = {
        name: me + int(getattr(layout, name)) for name in ("P_FREE", "P_OLDEST", "P_SPARES", "P_DEFERRED", "P_HOLDERS")
    }
    header = 1 << int(node.SIZE_SHIFT)
    head = int(blocks.ENTRIES)

    def torn(changes: dict[int, int]) -> int:
        kept = {where: mem[where] for where in changes}
        for where, value in changes.items():
            mem[where] = value
        _, totals = _counted(world, mem, len(mem))
        for where, value in kept.items():
            mem[where] = value
        return int(totals[counting.TORN])

    for where in range(first, first + 110):
        mem[where] = 0
    require(not torn({}), "nothing is torn")
    four = at["P_FREE"] + 3
    require(not torn({four: first + 96}), "the last words of all")
    require(torn({four: first + 97}), "a node that ends outside")
    require(torn({four: first - 1}) and not torn({four: first}), "a node that begins outside")
    require(torn({four: first, first: first}), "a circle")
    require(not torn({four: first, first: first + 4}), "two nodes")
    shared = int(layout.SHARED_LISTS) + 3
    require(torn({shared: first, first + 1: first}), "a circle of batches")
    require(not torn({shared: first, first + 1: first + 8}), "two batches")
    require(not torn({int(layout.SHARED_LISTS): first, first + 1: first + 8}), "single words are on no shared list")
    for where in (at["P_OLDEST"], at["P_SPARES"]):
        size = 16
        block = {where: first, first: size * header}
        require(not torn(block), "an empty block")
        require(torn({where: first, first: (head - 1) * header if head > 1 else 0}), "a block of too few words")
        require(torn({**block, first + int(blocks.COUNT): size - head + 1}), "a block of too many entries")
        require(not torn({where: first + 84, first + 84: size * header}), "a block that ends where all end")
        require(torn({where: first + 88, first + 88: size * header}), "a block that ends outside")
        require(torn({**block, first + int(blocks.LINK): first}), "a circle of blocks")
    require(not torn({at["P_HOLDERS"]: first, first: 4 * header}), "a holder")
    require(torn({at["P_HOLDERS"]: first, first: 1 * header}), "a holder of one word")
    require(torn({at["P_HOLDERS"]: first, first: 4 * header, first + 1: first}), "a circle of holders")
    require(torn({at["P_DEFERRED"]: first, first: first}), "a circle of deferred things")
    require(not torn({at["P_DEFERRED"]: first + 98}), "the last two words")


def digests(world: World, seed: int) -> None:
    """Change a word of a participant that changes with a list: another count is seen to differ."""
    place = Place(World(), 2, (layout.FIRST_NODE + 4000) * 8)
    mem: Any = place.mem.bare
    rng, first, end = random.Random(seed), int(layout.P_BUMP), int(layout.PARTICIPANT_WORDS)
    changed = [
        me + k for me in place.who for k in (first, first + 1, end - 2, end - 1, *rng.sample(range(first, end), 20))
    ]
    shared = int(layout.SHARED_LISTS)
    changed += [shared, shared + 1, shared + 90, shared + 91, *rng.sample(range(shared, shared + 92), 10)]
    seen = {_counted(world, mem, len(mem))[1][counting.DIGEST]}
    for at in set(changed):
        kept, mem[at] = mem[at], 0x1234567_89ABCDE1
        seen.add(_counted(world, mem, len(mem))[1][counting.DIGEST])
        mem[at] = kept
    require(len(seen) == len(set(changed)) + 1, "no two digests are the same", len(seen))


def ends(world: World, seed: int) -> None:
    """Count an arena that is given out to the last word, lists of the smallest and the largest class, and things."""
    first, at = layout.FIRST_NODE, int(layout.P_FREE) + layout.PARTICIPANTS
    shared = int(layout.SHARED_LISTS)

    def found(top: int, changes: dict[int, int]) -> dict[str, int]:
        words = np.zeros(first + top, np.uint64)
        words[int(layout.H_BUMP)], words[int(layout.H_CLAIMED)] = first + top, 1
        for where, value in changes.items():
            words[where] = value
        _, totals = _counted(world, _Guarded(words), len(words))
        return {name: totals[getattr(counting, name)] for name in ("FREE", "TORN", "DEFERRED_THINGS", "LEFT")}

    require(found(4, {at + 3: first}) == {"FREE": 4, "TORN": 0, "DEFERRED_THINGS": 0, "LEFT": 0}, "all words are free")
    require(found(8, {at: first, first: first + 1})["FREE"] == 2, "single words")
    for lists in (at, shared):
        require(found(8, {lists + 91: first})["TORN"] == 1, "the largest class is looked at", lists)
        require(found(8, {lists: first})["FREE"] == 1, "and the smallest")
    require(found(8, {shared: first + 7})["TORN"] == 0, "behind a single word nothing is read")
    two = {shared + 1: first, first + 1: first + 4}
    require(found(8, two) == {"FREE": 4, "TORN": 0, "DEFERRED_THINGS": 0, "LEFT": 4}, "two batches of two words")
    deferred = layout.PARTICIPANTS + int(layout.P_DEFERRED)
    require(found(8, {deferred: first, first: first + 2})["DEFERRED_THINGS"] == 2, "things are counted one by one")
