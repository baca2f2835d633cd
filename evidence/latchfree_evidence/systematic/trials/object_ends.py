"""When a map of objects lets go of what it held: at once or later, so many at a time, and none within another.

Example: 420 objects wait, each with a finalizer. The next operation on the map lets go of 64 of them, and the one after
of 64 more, so that no operation takes long.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from latchfree.arena.kernels.epochs import drain, try_advance
from latchfree.arena.layout import H_EPOCH, P_HOLDERS
from latchfree.ctrie.border import TRIE
from latchfree.ctrie.references import settle
from latchfree_evidence.systematic.plain.maps import maps
from latchfree_evidence.systematic.plain.world import World
from latchfree_evidence.systematic.trials.object_maps import Beside, Key, Thing
from latchfree_evidence.systematic.trials.place import ALL, require

_SLICE: Final = 64


def _waiting(mem: Any, me: int) -> set[int]:
    """Return the nodes whose references are to be dropped."""
    found, node = set(), mem[me + int(P_HOLDERS)]
    while node:
        found.add(node)
        node = mem[node + 1]
    return found


def slices(world: World, seed: int) -> None:
    """Let go of many objects: 64 by each operation, and each of them once."""
    with maps(world) as stage:
        gone: list[int] = []
        beside = Beside(stage, ALL, [], [])
        trie, store, base = beside.trie, beside.trie._store, beside.arena.base
        mem, me = stage.memory_of(beside.arena), beside.arena.interpreter_participant()
        trie["plain"] = 0
        for n in range(420):
            trie[n] = Thing(n, lambda n=n: gone.append(n))  # type: ignore[misc]
        store.clear()
        for _ in range(4):
            stage.world[try_advance](mem)
            stage.world[drain](mem, me, 1 << 20)
            TRIE.reclaim(base, me)
        require(not gone, "nothing is let go of before anybody does", gone)
        same = [Key(1, 7), Key(2, 7)]
        acts: list[Callable[[], Any]] = [
            lambda: trie.__setitem__("plain", 1),
            lambda: trie.__setitem__("plain", 2),
            lambda: trie.__delitem__("plain"),
            lambda: trie.__setitem__(same[0], 1),
            lambda: store.swap(hash(same[0]), None, (same[1], 2)),
        ]
        for k, act in enumerate(acts):
            before = _waiting(mem, me)
            act()
            require(len(before - _waiting(mem, me)) == _SLICE, "so many are let go of", k)
        TRIE.drop_due(base, me)
        require(sorted(gone) == list(range(420)), "each once")
        beside.finish()


def endings(world: World, seed: int) -> None:
    """Have finalizers change the map: those that wait do not nest."""
    with maps(world) as stage:
        beside = Beside(stage, ALL, [], [])
        trie = beside.trie
        depths: list[int] = []
        depth = [0]

        def ending(n: int) -> Callable[[], None]:
            def end() -> None:
                depth[0] += 1
                depths.append(depth[0])
                if n < 1000:
                    del trie[n + 1000]
                    trie[n + 2000] = "ended"
                depth[0] -= 1

            return end

        for n in range(30):
            trie[n + 1000] = Thing(n, ending(n + 1000))
        copy = trie.snapshot()
        for n in range(30):
            copy[n] = Thing(n, ending(n))
        copy.clear()
        del copy
        settle(beside.arena)
        require(len(depths) == 60 and max(depths) == 1, "finalizers do not nest", depths)
        require(dict(trie) == {n + 2000: "ended" for n in range(30)}, "what they write is there", dict(trie))
        stage.look()
        beside.finish()


def hurry(world: World, seed: int) -> None:
    """Hurry for what may have a finalizer, and for nothing else: the epoch is moved on by two."""
    with maps(world) as stage:
        beside = Beside(stage, ALL, [], [])
        trie, words = beside.trie, beside.arena.words
        plain = ["tea" * 3, 1 << 70, b"bytes", None]
        others = [1.5, ("tuple",), Thing(0), True]
        for key in (*plain, *others):
            for value in (*plain, *others):
                quiet = any(value is each for each in plain)
                for name, slow in (("put", quiet), ("pop", any(key is each for each in plain))):
                    trie[key] = value
                    before = int(words[H_EPOCH])
                    getattr(trie, name)(*((key, 0) if name == "put" else (key,)))
                    after = int(words[H_EPOCH])
                    moved = 0 if slow and quiet else 2
                    require(after - before == moved, "the epoch", name, key, value, after - before)
        swap = trie._store.swap
        for old, new, done in ((None, ("a", 1), True), (None, ("b", 1), False), (("a", 2), ("b", 1), False)):
            before = int(words[H_EPOCH])
            require(swap(77, old, new) is done, "whether it is done", old, new)
            require(int(words[H_EPOCH]) == before, "nothing is replaced", old, new)
        trie[1] = 1.5
        before = int(words[H_EPOCH])
        require(trie._store.swap(1, trie._store.find(1), (1, 2)) is True, "it is done")
        require(int(words[H_EPOCH]) - before == 2, "it may have had a finalizer")
        trie.clear()
        settle(beside.arena)
        beside.finish()
