"""Snapshots and copies as compiled code makes and ends them: objects, their words, and what the arena has of them.

Example: ``trie.readonly_snapshot()`` makes two objects. There is memory for the first and none for the second: the call
raises MemoryError, the first object is gone, and the trie has no snapshot.
"""

from __future__ import annotations

import struct
import sys
from collections.abc import Callable
from typing import Any, Final

from latchfree import Ctrie
from latchfree.arena import Arena
from latchfree.ctrie.holds import Hold, Owner
from latchfree.ctrie.kernels.context import END, LENGTH, MAP_WORDS, SNAPSHOT
from latchfree.ctrie.kernels.shape import IDLE, REGISTERED
from latchfree.ctrie.kernels.taking import HOLD_STORE, OWNER_PARENT, SNAPSHOT_STORE
from latchfree.ctrie.references import settle
from latchfree.ctrie.store import Store
from latchfree.ctrie.view import Snapshot
from latchfree_evidence.systematic.plain.maps import Stage, maps
from latchfree_evidence.systematic.plain.world import World
from latchfree_evidence.systematic.trials.place import ALL, require

_MASKS: Final = (ALL, 0b111, 0)


def _instances() -> list[int]:
    """Return how many objects of each class there are: each has a reference to its class."""
    return [sys.getrefcount(each) for each in (Hold, Owner, Snapshot)]


def _registered(stage: Stage, trie: Any) -> bool:
    words, where = stage.memory_of(trie.arena), trie._store.trie
    return bool(words[where + int(REGISTERED)] > (words[where + int(IDLE)] != 0))


def _map(stage: Stage, mask: int, *, objects: bool = False) -> Any:
    kinds: dict[str, Any] = {} if objects else {"keys": int, "values": int}
    return Ctrie({n: n * n for n in range(20)}, arena=stage.arena(), hash_mask=mask, **kinds)


def taken(world: World, seed: int) -> None:
    """Take snapshots and copies, with nothing in the way."""
    with maps(world) as stage:
        trie = _map(stage, _MASKS[seed % 3], objects=seed >= 3)
        model, asked = dict(trie), stage.c.asked
        before = _instances()
        asked.clear()
        snapshot, copy = trie.readonly_snapshot(), trie.snapshot()
        require(type(snapshot) is Snapshot and not asked, "compiled code makes it", asked)
        require(_registered(stage, trie), "a snapshot is registered")
        require(snapshot._hold.trie is trie._store and snapshot._store is trie._store, "the words of a snapshot")
        require(copy._store.owner._parent.trie is trie._store, "the words of an owner")
        copy_of_copy = copy.copy()
        for n in range(10, 40):
            copy[n] = trie[n + 1] = n
        require(dict(snapshot) == model, "what a snapshot shows")
        require(dict(copy) == {**model, **{n: n for n in range(10, 40)}}, "what a copy holds", dict(copy))
        require(all(copy[n] == n for n in range(10, 40)) and copy[3] == 9, "what a copy finds")
        require(dict(copy_of_copy) == model and copy_of_copy[19] == 361, "a copy of a copy")
        require(all(copy_of_copy.pop(n) == n * n for n in range(20)), "what is taken out of it")
        del snapshot, copy, copy_of_copy
        require(not _registered(stage, trie), "nothing is registered")
        require(_instances() == before, "no object is left", _instances(), before)
        stage.look()


def no_room(world: World, seed: int) -> None:
    """Find the arena full, or nobody to work for: Python does what compiled code does not."""
    with maps(world) as stage:
        for objects in (False, True):
            trie = _map(stage, ALL, objects=objects)
            nodes, before = stage.nodes(trie.arena), _instances()
            for trouble in ("freeze", "fork", "clear", "nobody"):
                for act in (trie.readonly_snapshot, trie.snapshot):
                    if trouble == "nobody":
                        stage.without_participant(trie)
                    else:
                        stage.refusing.add(trouble)
                    made = act()
                    require(dict(made) == dict(trie) and len(made) == 20, "made all the same", trouble)
                    stage.refusing.clear()
                    del made
                    require(not _registered(stage, trie), "nothing is registered", trouble)
                    require(_instances() == before, "no object is left", trouble)
            trie.clear()
            for n in range(20):
                trie[n] = n * n
            settle(trie.arena)
            trie._store.owner.end()
            settle(trie.arena)
            require(stage.nodes(trie.arena) < nodes, "nodes are given back")
        stage.look()


def bodies(world: World, seed: int) -> None:
    """Call what Python calls of a trie as a whole, with room and without, and with nobody to work for."""
    with maps(world) as stage:
        for objects in (False, True):
            trie = _map(stage, ALL, objects=objects)
            store = trie._store
            slot = store.take_now()
            require(_registered(stage, trie) and store.drop(slot) is None, "a snapshot is dropped")
            require(not _registered(stage, trie), "nothing is registered")
            for name in ("drop_slot", "give_slot"):
                slot = store.take_now()
                require(store.builtin(name)(slot) is None, "a snapshot is given back", name)
                kept = bool(stage.memory_of(trie.arena)[store.trie + int(REGISTERED)])
                require(kept == (name == "give_slot"), "only who gives one leaves it idle", name)
            trie.arena.collect()  # who finds an idle snapshot needs no room
            for name in ("freeze", "clear"):
                stage.refusing.add(name)
                refused = store.take_now() if name == "freeze" else store.clear()
                require(refused is NotImplemented and len(trie) == 20, "there is no room", name)
            slot = store.take_now()
            calls = [store.take_now, store.clear, lambda: store.drop(slot), lambda: store.find(5)]  # noqa: B023
            if objects:
                calls.append(lambda: store.swap(5, None, (1, 2)))  # noqa: B023
            _without(stage, trie, *calls)
            require(_registered(stage, trie), "nothing was done")
            store.drop(slot)
            require(store.clear() is None and len(trie) == 0, "everything is removed")
        stage.look()


def _without(stage: Stage, trie: Any, *calls: Callable[..., Any]) -> None:
    stage.without_participant(trie)
    for call in calls:
        require(call() is NotImplemented, "nobody works")
    trie._store.participant()


def no_memory(world: World, seed: int) -> None:
    """Have memory for some of the objects that a call makes."""
    with maps(world) as stage:
        trie = _map(stage, ALL)
        for act, most in ((trie.readonly_snapshot, 2), (trie.snapshot, 3)):
            for count in range(most + 1):
                before = _instances()
                held = sys.getrefcount(trie._store), sys.getrefcount(trie._context)
                stage.c.failing = count
                failed = False
                try:
                    act()
                except MemoryError:
                    failed = True
                stage.c.failing = None
                require(failed == (count < most), "memory runs out", count)
                require(_instances() == before, "no object is left", count, _instances(), before)
                require((sys.getrefcount(trie._store), sys.getrefcount(trie._context)) == held, "nor a reference")
                require(not _registered(stage, trie), "nothing is registered", count)
        stage.look()


def not_ready(world: World, seed: int) -> None:
    """Ask a store that has no context, or not that of a map."""
    with maps(world) as stage:
        trie = _map(stage, ALL)
        short = Store.__new__(Store)
        short._context = trie._store.context()
        shorter = Store.__new__(Store)
        shorter._context = trie._context[:-8]
        for store in (Store.__new__(Store), short, shorter):
            for name in ("view_now", "fork_now"):
                try:
                    getattr(store, name)()
                except SystemError:
                    continue
                raise AssertionError(f"{name} of a store that is not ready")
        require(len(trie._context) == 8 * int(MAP_WORDS) and int(LENGTH) == 2, "the length of a context")
        for name in ("view_now", "fork_now"):
            shared = trie._store._context
            first, after = 8 * int(SNAPSHOT), 8 * int(END) + 8
            trie._store._context = shared[:first] + bytes(after - first) + shared[after:]
            require(getattr(trie._store, name)() is NotImplemented, "a store that others share")
            trie._store._context = shared
        stage.look()


def _ended(stage: Stage, owner: Any, error: BaseException | None) -> None:
    """End an owner while an error is on its way, which stays."""
    function = stage.function("slot_end_owner")

    def end(this: int) -> int:
        stage.c.error = error
        return int(function(this) or 0)

    _, left = stage.c.call(end, id(owner))
    require(left is error, "the error that was on its way", left, error)


def _fail(owner: Any) -> None:
    raise KeyError("the end fails")


def ends(world: World, seed: int) -> None:
    """End copies of which a snapshot is registered that no hold is about: Python ends them."""
    with maps(world) as stage:
        trie = _map(stage, ALL)
        before = _instances()
        for error in (None, ValueError("on its way")):
            for fails in (False, True):
                copy = trie.snapshot()
                owner = copy._store.owner
                copy._store.take_now()
                if fails:
                    context = bytearray(owner._context)
                    struct.pack_into("=Q", context, 8 * int(END), id(_fail))
                    whole, owner._context = owner._context, bytes(context)
                    _ended(stage, owner, error)
                    ((raised, who),) = stage.c.reported
                    require(isinstance(raised, KeyError) and who is _fail, "what the end raises is reported")
                    stage.c.reported.clear()
                    require(owner.trie != 0, "it has not ended")
                    owner._context = whole
                    del raised, who
                stage.c.asked.clear()
                _ended(stage, owner, error)
                require(stage.c.asked == ["end"] and owner.trie == 0, "Python ends it", stage.c.asked)
                require(not stage.c.reported, "nothing is reported", stage.c.reported)
                del owner, copy
        settle(trie.arena)
        require(not _registered(stage, trie) and _instances() == before, "nothing is left")
        stage.look()


def ended_once(world: World, seed: int) -> None:
    """End holds and owners that have ended, or were never made."""
    with maps(world) as stage:
        trie = _map(stage, ALL)
        hold, end_hold, end_owner = (
            trie.readonly_snapshot()._hold,
            *map(stage.function, ("slot_end_hold", "slot_end_owner")),
        )
        stage.c.call(end_hold, id(hold))
        require(hold.slot == 0 and not _registered(stage, trie), "a snapshot is given back")
        snapshot = trie.readonly_snapshot()
        stage.c.call(end_hold, id(hold))
        require(_registered(stage, trie) and len(snapshot) == 20, "once")
        half, without = Hold.__new__(Hold), Hold.__new__(Hold)
        half.slot = without.taker = snapshot._hold.slot
        without._context = trie._context
        for each in (half, without):
            stage.c.call(end_hold, id(each))
            require(_registered(stage, trie), "a hold that was not made")
        half.slot = 0
        del snapshot
        copy = trie.snapshot()
        copy[5] = 6
        del copy
        settle(trie.arena)
        nodes, store = stage.nodes(trie.arena), trie._store
        for nobody in (False, True):
            copy = trie.snapshot()
            for n in range(30):
                copy[n] = n
            owner = copy._store.owner
            if nobody:
                stage.without_participant(copy)
            stage.c.asked.clear()
            stage.c.call(end_owner, id(owner))
            require(stage.c.asked == (["end"] if nobody else []), "who ends it", stage.c.asked)
            require(owner.trie == 0, "it has ended")
            stage.c.asked.clear()
            stage.c.call(end_owner, id(owner))
            require(not stage.c.asked, "nobody is asked once more", stage.c.asked)
            del copy, owner
            settle(trie.arena)
            require(nobody or stage.nodes(trie.arena) == nodes, "its nodes are given back")
        owners = Owner.__new__(Owner), Owner.__new__(Owner)
        owners[0].trie = store.trie
        owners[1]._context = trie._context
        for owner in owners:
            stage.c.call(end_owner, id(owner))
        owners[0].trie = 0
        require(len(trie) == 20 and trie[3] == 9, "an owner that was not made")
        stage.look()


def shown(world: World, seed: int) -> None:
    """Show the collector of garbage what stores, holds, owners and snapshots hold."""
    with maps(world) as stage:
        trie = _map(stage, ALL)
        snapshot, copy = trie.readonly_snapshot(), trie.snapshot()
        require(snapshot[3] == 9, "a snapshot that has a builtin of its own")
        hold, owner = snapshot._hold, copy._store.owner
        own = trie._store.owner
        arena: Arena = trie.arena
        empty = Owner.__new__(Owner)
        empty._arena = arena
        require(own._arena is arena and owner._parent.trie is trie._store, "what owners hold")
        cases: list[tuple[str, Any, list[Any]]] = [
            ("store", trie._store, [Store]),
            ("hold", hold, [Hold, trie._store]),
            ("owner", owner, [type(owner), owner._parent]),
            ("owner", own, [type(own), None, arena]),
            ("owner", empty, [Owner, arena]),
            ("snapshot", snapshot, [Snapshot, trie._store, hold]),
        ]
        require(len({int(HOLD_STORE), int(OWNER_PARENT), int(SNAPSHOT_STORE)}) == 2, "where words are")
        for k, (name, thing, wanted) in enumerate(cases):
            function = stage.function(f"slot_show_{name}")
            for stop in range(len(wanted) + 1):
                seen: list[int] = []

                def visit(one: int, argument: int, seen: list[int] = seen, stop: int = stop) -> int:
                    seen.append(one + argument)
                    return (1 << 33) + (9 if len(seen) == stop else 0)

                address = stage.c.address_of(f"visit {k} {stop}", visit)
                answer, _ = stage.c.call(function, id(thing), address, 3)
                most = stop or len(wanted)
                require(seen == [id(each) + 3 for each in wanted[:most]], "what is shown", name, stop, seen, wanted)
                require(answer == (9 if stop else 0), "the answer", name, stop, answer)
        stage.look()
