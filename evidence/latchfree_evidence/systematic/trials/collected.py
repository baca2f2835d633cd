"""What the collector of garbage is shown of a map of objects: each reference that the map owns, once.

Example: a map holds a key and a value. The collector is shown both; while a snapshot of the map is there, it is shown
neither, for the snapshot reads the same node.
"""

from __future__ import annotations

import itertools
import sys
from typing import Any, Final

from latchfree import Ctrie
from latchfree.ctrie.kernels.nodes import MAIN, PENDING, PREV, ROOT_WORD
from latchfree.ctrie.references import settle
from latchfree_evidence.systematic.plain.maps import Stage, maps
from latchfree_evidence.systematic.plain.world import World
from latchfree_evidence.systematic.trials.object_maps import Key, Thing
from latchfree_evidence.systematic.trials.place import ALL, require

_visits: Final = itertools.count()


def _shown(stage: Stage, trie: Any, stop: int = 0, by: str = "traverse_o") -> tuple[list[int], int]:
    """Return the addresses that the collector is shown, and the answer; it stops at number `stop`, from 1."""
    seen: list[int] = []

    def visit(thing: int, argument: int) -> int:
        require(argument == 77, "the argument of the collector", argument)
        seen.append(thing)
        return (1 << 40) + (5 if len(seen) == stop else 0)

    address = stage.c.address_of(f"visit {next(_visits)}", visit)
    answer, error = stage.c.call(stage.function(by), id(trie), address, 77)
    require(error is None, "nothing goes wrong")
    return seen, answer


def collectors(world: World, seed: int) -> None:
    """Show the collector of garbage what a map owns, each reference once."""
    with maps(world) as stage:
        for mask in (ALL, 0, 0b111):
            hashes = [0, 1, 1 << 61 - 1, 5, 5 | 1 << 50, 5 | 1 << 60, 64 * 7, *range(20, 60)]
            keys = [Key(n, h) for n, h in enumerate(hashes)]
            values = [Thing(n) for n in range(len(keys))]
            trie: Any = Ctrie(arena=stage.arena(), hash_mask=mask)
            for size in range(len(keys)):
                trie[keys[size]] = values[size]
                if size in (0, 1, 5, 6, len(keys) - 1):
                    wanted = sorted(map(id, (*keys[: size + 1], *values[: size + 1])))
                    seen, answer = _shown(stage, trie)
                    require((sorted(seen), answer) == (wanted, 0), "each once", len(seen), len(wanted), answer)
            for stop in (1, 2, 3, len(seen)):
                some, answer = _shown(stage, trie, stop)
                require(answer == 5 and some == seen[:stop], "it stops", stop, answer)
            hold = trie.readonly_snapshot()
            require(_shown(stage, trie) == ([], 0), "a snapshot shows the same")
            hold.close()
            fork = trie.snapshot()
            require(_shown(stage, fork) == ([], 0), "what the parent owns")
            value, key, other = Thing("new"), Key(98, 1000), Key(99, 5)
            fork[key] = value
            fork[other] = value
            several = id(fork._store.find(5))
            require(sorted(_shown(stage, fork)[0]) == sorted((id(key), id(value), several)), "what a copy owns")
            require(_shown(stage, trie) == ([], 0), "while there is a copy")
            del fork
            settle(trie.arena)
            require(sorted(_shown(stage, trie)[0]) == wanted, "when the copy is gone")
            _pending(stage, trie)
        stage.look()


def _pending(stage: Stage, trie: Any) -> None:
    """Have an update pending: below it nothing is shown."""
    mem = stage.memory_of(trie.arena)
    main = mem[mem[trie._store.trie + int(ROOT_WORD)] + int(MAIN)]
    before, mem[main + int(PREV)] = mem[main + int(PREV)], main
    require(_shown(stage, trie) == ([], 0), "below an update that is pending")
    mem[main + int(PREV)] = before
    mem[trie._store.trie + int(ROOT_WORD)] |= int(PENDING)
    require(_shown(stage, trie) == ([], 0), "while a snapshot is taken")
    mem[trie._store.trie + int(ROOT_WORD)] &= ~int(PENDING)


def slots(world: World, seed: int) -> None:
    """Show the class of a map, and what the map holds if it holds objects; take a map apart."""
    with maps(world) as stage:
        key, value = Key(1, 5), Thing(1)
        trie: Any = Ctrie({key: value}, arena=stage.arena())
        typed: Any = Ctrie({1: 2}, keys=int, values=int, arena=stage.arena())
        for each, wanted in (
            (trie, [Ctrie, key, value]),
            (typed, [Ctrie]),
            (Ctrie.__new__(Ctrie), [Ctrie]),
        ):
            for stop in range(len(wanted) + 1):
                seen, answer = _shown(stage, each, stop, "slot_traverse")
                require(seen == list(map(id, wanted[: stop or None])), "what is shown", wanted, stop)
                require(answer == (5 if stop else 0), "the answer", wanted, stop, answer)
        context = typed._context
        before = sys.getrefcount(context)
        for held in (1, 1):
            answer, error = stage.c.call(stage.function("slot_clear"), id(typed))
            require((answer, error) == (0, None), "a map is taken apart")
            require(sys.getrefcount(context) == before - held, "the context is let go of once")
            require(not hasattr(typed, "_context"), "the map has no context")
        stage.look()
