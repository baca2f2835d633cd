"""A writer that stops before its update is decided, readers beside it, and a snapshot that has the update fail.

Example: a put has installed its main in a child, and stops. A lookup reads the new value: then it has decided that the
put succeeds, and a snapshot that begins afterwards holds the value. A lookup that took the main for decided would find
the old value again, once the snapshot has had the put fail.
"""

from __future__ import annotations

from typing import Any

from latchfree.ctrie.kernels import insert, lookup, loops, nodes, remove, snapshot
from latchfree_evidence.systematic.plain.world import World
from latchfree_evidence.systematic.trials import walking
from latchfree_evidence.systematic.trials.halting import Halted, everywhere
from latchfree_evidence.systematic.trials.place import require
from latchfree_evidence.systematic.trials.tries import Frozen, Kind, Trial

#: The root has one child, whose C-node holds the keys.
_BELOW_A_CHILD = Kind(mask=(1 << 12) - 1 & ~63, count=12)
_KEY, _NEW = 3, 999
_RDCSS = int(nodes.RDCSS)


class _Scene:
    """A trie of some keys, and a put or removal of one of them that can stop. `who` is writer, snapshotter, reader."""

    def __init__(self, world: World, kind: Kind, keys: int, *, removing: bool = False, bulk: bool = False) -> None:
        self.trial = Trial(world, kind, 0)
        self.mem, self.trie, self.bulk = self.trial.mem, self.trial.trie, bulk
        self.steps = world.stepping()
        self.writer, self.snapshotter, self.reader = self.trial.place.who
        for number in range(_KEY, _KEY + keys):
            self._put(number, number)
        self.wanted = None if removing else _NEW
        self.trial.place.pin(self.writer)
        key = self.trial.key(_KEY)
        self.write = (
            Halted(self.steps, remove.remove, self.mem, self.trie.at, self.writer, key, 0, 0)
            if removing
            else Halted(self.steps, insert.insert, self.mem, self.trie.at, self.writer, key, _NEW, 0, 0)
        )

    def _put(self, number: int, value: int) -> None:
        me = self.trial.place.who[0]
        self.trial.place.pinned(me, insert.insert, self.trie.at, me, self.trial.key(number), value, 0, 0)
        self.trie.held[number] = value

    def start_of_read(self) -> Halted:
        """Return a lookup that can stop."""
        key, mem, at, me = self.trial.key(_KEY), self.mem, self.trie.at, self.reader
        if self.bulk:
            self.found, self.out = [0], [0]
            return Halted(self.steps, loops.get_words, mem, at, me, [key], 0, 1, self.out, self.found)
        self.trial.place.pin(me)
        return Halted(self.steps, lookup.lookup, mem, at, me, key)

    def end_of_read(self, read: Halted) -> int | None:
        """Return what a lookup finds."""
        node = read.finish()
        if self.bulk:
            return self.out[0] if self.found[0] else None
        value = self.trial.value_at(node, _KEY) if node else None
        self.trial.place.unpin(self.reader)
        return value

    def finish(self) -> None:
        """Have the writer go on, and look at everything."""
        self.write.finish()
        self.trial.place.unpin(self.writer)
        if self.wanted is None:
            self.trie.held.pop(_KEY)
        else:
            self.trie.held[_KEY] = self.wanted
        self.trial.check()
        self.trial.finish()


def _child(mem: Any, trie: int) -> int:
    return walking.slots_of(mem, mem[mem[trie + 1] + 1])[0] & walking.PLAIN


def below_a_child(world: World, seed: int) -> None:
    """Read a key whose put is pending below a child; then take a snapshot, which has what was read."""
    for bulk in (False, True):
        scene = _Scene(world, _BELOW_A_CHILD, 6, bulk=bulk)
        scene.write.until("cas", _child(scene.mem, scene.trie.at) + 1)
        scene.write.step()
        value = scene.end_of_read(scene.start_of_read())
        if value == _NEW:
            scene.trie.held[_KEY] = _NEW
        scene.trial.freeze(scene.trie)
        scene.trial.scan(scene.trie, scene.trie.frozen[0])  # has the put fail if nobody has decided it
        again = scene.end_of_read(scene.start_of_read())
        require(value == again, "what was read stays", value, again)
        scene.finish()


def helper_that_is_late(world: World, seed: int) -> None:
    """Stop a lookup before it commits somebody's put; meanwhile a snapshot has the put fail."""
    scene = _Scene(world, _BELOW_A_CHILD, 6)
    child = _child(scene.mem, scene.trie.at)
    scene.write.until("cas", child + 1)
    scene.write.step()
    read = scene.start_of_read()
    read.until("cas", scene.mem[child + 1] + 1)
    scene.trial.freeze(scene.trie)
    scene.trial.scan(scene.trie, scene.trie.frozen[0])
    value = scene.end_of_read(read)
    require(value == _KEY, "who is late with a commit finds that the put has failed", value)
    scene.finish()


def below_the_root(world: World, seed: int) -> None:
    """Read a key while a put or removal, and a snapshot, are pending at the root: what was read stays."""
    for bulk in (False, True):
        for removing in (False, True):
            scene = _Scene(world, Kind(count=12), 1 if removing else 4, removing=removing, bulk=bulk)
            mem, at, root = scene.mem, scene.trie.at, scene.mem[scene.trie.at + 1]
            scene.write.until("cas", root + 1)
            read = scene.start_of_read()
            read.until("load_seq", root + 1)  # it has read the root
            place, me = scene.trial.place, scene.snapshotter
            place.pin(me)
            freeze = Halted(scene.steps, snapshot.freeze, mem, at, me)
            freeze.until("cas", at + 1)
            freeze.step()
            descriptor = mem[at + 1] & walking.PLAIN
            require(mem[descriptor] >> 40 == _RDCSS << 20 | 5, "the header of a descriptor", mem[descriptor])
            freeze.until("cas")  # it has found the main as it was, and is about to decide
            scene.write.step()
            value = scene.end_of_read(read)
            slot = freeze.finish()
            place.unpin(me)
            again = scene.end_of_read(scene.start_of_read())
            require(value in (_KEY, again), "what was read stays", bulk, removing, value, again)
            held = dict(scene.trie.held)
            if again != _KEY:
                held = {**held, _KEY: _NEW} if again else {}
            scene.trie.frozen.append(Frozen(slot, held))
            scene.trial.scan(scene.trie, scene.trie.frozen[0])
            scene.finish()


def renewals(world: World, seed: int) -> None:
    """Stop an update anywhere below a child of an older generation; meanwhile there is another snapshot: it ends."""
    steps = world.stepping()
    for removing in (False, True):

        def scene(before: int, removing: bool = removing) -> bool:
            trial = Trial(world, _BELOW_A_CHILD, 0)
            mem, trie, late = trial.mem, trial.trie, trial.place.who[2]
            for number in range(6):
                trial.place.pinned(late, insert.insert, trie.at, late, trial.key(number), number, 0, 0)
                trie.held[number] = number
            trial.freeze(trie)
            trial.place.pin(late)
            key = trial.key(_KEY)
            call = (
                Halted(steps, remove.remove, mem, trie.at, late, key, 0, 0)
                if removing
                else Halted(steps, insert.insert, mem, trie.at, late, key, _NEW, 0, 0)
            )
            more = call.run(before)
            place, me = trial.place, trial.place.who[0]
            if seed:  # then the child is renewed by somebody else
                place.pinned(me, insert.insert, trie.at, me, trial.key(1), 50 + before, 0, 0)
                trie.held[1] = 50 + before
            slot = place.pinned(me, snapshot.freeze, trie.at, me)
            value = mem[place.pinned(me, lookup.lookup, trie.at, me, key) + 2] if not removing else None
            if removing and place.pinned(me, lookup.lookup, trie.at, me, key):
                value = _KEY
            call.finish()
            place.unpin(late)
            held = {number: held for number, held in trie.held.items() if number != _KEY}
            trie.held = held if removing else {**held, _KEY: _NEW}
            trie.frozen.append(Frozen(slot, held if value is None else {**held, _KEY: value}))
            trial.check()
            trial.finish()
            return more

        everywhere(scene, 20)
