"""Epochs beside a set of holders: a node is freed only after everybody who may hold it has unpinned, and then soon."""

from __future__ import annotations

import random

from latchfree.arena import layout
from latchfree.arena.kernels import allocator, blocks, epochs, freelists, participants
from latchfree_evidence.systematic.plain.world import World
from latchfree_evidence.systematic.trials.place import Place, require
from latchfree_evidence.systematic.trials.tries import spares

_PIN, _EPOCH = int(layout.P_PIN), int(layout.H_EPOCH)
_HOLDER, _ORDINARY = 12, 5


class _Limbo:
    def __init__(self, world: World, seed: int) -> None:
        self.world, self.rng = world, random.Random(seed)
        self.place = Place(world, 4)
        self.mem = self.place.mem
        self.mem[_EPOCH] += 5_000 * (seed % 2)
        self.pinned: dict[int, int] = {}
        self.waiting: dict[int, tuple[dict[int, int], str, int]] = {}
        self.turn = 0

    def call(self, kernel: object, *arguments: int) -> int:
        return self.world[kernel](self.mem, *arguments)  # type: ignore[no-any-return]

    def step(self) -> None:
        me, what = self.rng.choice(self.place.who), self.rng.random()
        self.turn += 1
        if what < 0.12:
            self.call(epochs.pin, me)
            require(self.mem[me + _PIN] == self.mem[_EPOCH] << 1 | 1, "a pin names the epoch")
            self.pinned[me] = self.turn
        elif what < 0.3:
            self.call(epochs.unpin, me)
            self.pinned.pop(me, None)
        elif what < 0.75:
            self.retire(me)
        elif what < 0.85:
            self.advance()
        else:
            most = self.rng.choice((1, 3, 64, 1 << 62))
            before = self.due(me)
            more = self.call(epochs.drain, me, most)
            freed = before - self.due(me)
            require(freed <= most + 70 if most < 1 << 62 else True, "a drain frees about as many as asked", freed)
            require(not more or most < 1 << 62, "a drain of everything leaves nothing")
            if not more:
                require(self.due(me) == 0, "all that is due is freed")
        self.look()

    def due(self, me: int) -> int:
        """Return how many entries of a limbo are due."""
        count, block = 0, self.mem[me + int(layout.P_OLDEST)]
        while block:
            if self.mem[block + int(blocks.EPOCH)] + 2 <= self.mem[_EPOCH]:
                count += self.mem[block + int(blocks.COUNT)]
            block = self.mem[block + int(blocks.LINK)]
        return count

    def retire(self, me: int) -> None:
        if not self.call(allocator.begin, me, 0):
            raise AssertionError("an attempt begins")
        require(self.mem[me + int(layout.P_SPARE_COUNT)] == blocks.STOCK, "an attempt begins with its stock of blocks")
        size = self.rng.choice((2, 3, 5, 9, 40))
        node = self.call(allocator.allocate, me, size)
        how = self.rng.choice(("retire", "retire", "defer", "empty", "holder", "abandon"))
        kind = _HOLDER if how in ("holder", "empty") else self.rng.choice((_ORDINARY, 9, 11))
        self.mem[node] = kind << 60 | size << 40 | 7
        if how == "abandon":
            self.call(allocator.abandon, me)
            require(self.mem[me + int(layout.P_JOURNALLED)] == 0, "what is abandoned is noted no more")
        elif how == "defer":
            self.call(epochs.defer, me, node)
        elif how == "empty":
            self.call(epochs.retire_empty, me, node)
        else:
            self.call(epochs.retire, me, node)
        self.waiting[node] = dict(self.pinned), how, size

    def advance(self) -> None:
        epoch = self.mem[_EPOCH]
        free = all(self.mem[me + _PIN] in (0, epoch << 1 | 1) for me in self.place.who)
        moved = self.call(epochs.try_advance)
        require(bool(moved) == free, "the epoch advances unless somebody is pinned in an earlier one", free)
        require(self.mem[_EPOCH] == epoch + free, "by one", epoch)

    def look(self) -> None:
        for me in self.place.who:
            for what, field, link in (("defer", layout.P_DEFERRED, 0), ("holder", layout.P_HOLDERS, 1)):
                node = self.mem[me + int(field)]
                self.mem[me + int(field)] = 0
                while node:
                    require(node in self.waiting, "what comes back was retired", node)
                    holders, how, size = self.waiting.pop(node)
                    require(how == what and not self.held(holders), "a thing comes back in due time", how)
                    node, given = self.mem[node + link], node
                    self.call(freelists.give, me, given, self.call_size(size))
        for node, (holders, how, _) in list(self.waiting.items()):
            if self.mem.marks[node]:
                require(how not in ("defer", "holder"), "its structure frees it", how)
                require(not self.held(holders), "a node that somebody may hold is not freed", node)
                del self.waiting[node]

    def held(self, holders: dict[int, int]) -> bool:
        """Return whether one of those who were pinned has been ever since."""
        return any(self.pinned.get(me) == turn for me, turn in holders.items())

    def call_size(self, size: int) -> int:
        return self.world[freelists.round_up](size)  # type: ignore[no-any-return]


def limbo(world: World, seed: int) -> None:
    """Pin, unpin, retire and drain in any order."""
    trial = _Limbo(world, seed)
    for _ in range(700):
        trial.step()
    for me in trial.place.who:
        trial.call(epochs.unpin, me)
    trial.pinned.clear()
    for _ in range(4):
        trial.advance()
    if seed % 2:
        for me in trial.place.who:
            trial.call(epochs.drain, me, 1 << 62)
    else:
        collector = trial.place.who[seed // 2 % 4]
        others = [me for me in trial.place.who if me != collector]
        for me in others:
            require(trial.call(participants.release, me, trial.mem[me]), "a slot is released")
            require(trial.mem[me] == 0, "and free")
        trial.call(participants.collect, collector)
        for me in others:
            require(not spares(trial.mem, me), "spare blocks of a free slot are freed")
            for field in (layout.P_OLDEST, layout.P_DEFERRED, layout.P_HOLDERS, layout.P_STATE):
                require(trial.mem[me + int(field)] == 0, "nothing waits in a free slot", field)
    for me in trial.place.who:
        trial.mem[me] = trial.mem[me] or 1
    trial.look()
    require(not trial.waiting, "all that was retired is free", len(trial.waiting))
    trial.place.account([(block, 68) for me in trial.place.who for block in spares(trial.mem, me)])


def idle(world: World, seed: int) -> None:
    """Retire only: the epoch advances by itself, and attempts free what is due."""
    trial = _Limbo(world, seed)
    trial.rng = random.Random(seed)
    for k in range(2_000):
        trial.retire(trial.place.who[0])
        trial.look()
        require(len(trial.waiting) < 400, "what is retired is freed soon", k, len(trial.waiting))


def queue(world: World, seed: int) -> None:
    """Blocks of a limbo: after so many nodes the epoch advances, and a block that was half linked is not lost."""
    place = Place(world, 1)
    mem, me = place.mem, place.who[0]
    world[allocator.begin](mem, me, 0)
    made = []
    for count in (40, 23, 1, 63, 1, 20):
        block = world[blocks.take_spare](mem, me)
        for _ in range(count):
            node = world[freelists.take](mem, me, 2, 0)
            mem[node] = _ORDINARY << 60 | 2 << 40
            world[blocks.append](mem, block, world[blocks.entry_for](mem, node))
        require(bool(world[blocks.is_full](mem, block)) == (count == 64), "a block has room for 64")
        before, epoch = mem[me + int(layout.P_RETIRED)], mem[_EPOCH]
        world[epochs.enqueue](mem, me, block, epoch)
        full = before + count >= 64
        require(mem[_EPOCH] == epoch + full, "the epoch advances after so many nodes", before, count)
        require(mem[me + int(layout.P_RETIRED)] == (0 if full else before + count), "nodes are counted", before, count)
        require(mem[me + int(layout.P_NEWEST)] == block and mem[block + 1] == 0, "the block is the newest")
        made.append(block)
    require([mem[block + 1] for block in made] == [*made[1:], 0], "blocks are linked in their order")
    require(mem[me + int(layout.P_OLDEST)] == made[0], "the first is the oldest")
    mem[me + int(layout.P_NEWEST)] = made[0]  # as if killed before the newest was noted
    mem[_EPOCH] += 2
    freed = mem[made[0] + 2]
    require(world[epochs.drain](mem, me, freed), "the oldest block is freed, and there may be more")
    require(mem[me + int(layout.P_OLDEST)] == mem[me + int(layout.P_NEWEST)] == made[1], "the others are not lost")
    require(not world[epochs.drain](mem, me, 1 << 62) and mem[me + int(layout.P_OLDEST)] == 0, "all are freed")
    place.account([(block, 68) for block in spares(mem, me)])


def parts(world: World, seed: int) -> None:
    """Free a block in parts; and retire into blocks: only a full one has the epoch advanced, and the next has it."""
    place = Place(world, 1)
    mem, me = place.mem, place.who[0]
    count, epoch, newest = int(blocks.COUNT), int(blocks.EPOCH), int(layout.P_NEWEST)

    def ordinary() -> int:
        node: int = world[freelists.take](mem, me, 2, 0)
        mem[node] = _ORDINARY << 60 | 2 << 40
        return node

    world[allocator.begin](mem, me, 0)
    block = world[blocks.take_spare](mem, me)
    for _ in range(5):
        world[blocks.append](mem, block, world[blocks.entry_for](mem, ordinary()))
    for most, left in ((2, 3), (0, 3), (2, 1), (9, 0), (1, 0)):
        before = mem[block + count]
        freed = world[blocks.free_entries](mem, me, block, most)
        require(freed == before - left and mem[block + count] == left, "so many entries are freed", most, freed)
    world[freelists.free](mem, me, block)
    for later in range(2):
        mem[_EPOCH] += later
        now = mem[_EPOCH]
        world[allocator.begin](mem, me, 0)
        world[epochs.retire](mem, me, ordinary())
        require(mem[_EPOCH] == now, "the epoch stays until a block is full")
        require(mem[mem[me + newest] + epoch] == now, "a block has the epoch of its nodes")
    while not world[blocks.is_full](mem, mem[me + newest]):
        world[epochs.retire](mem, me, ordinary())
    require(mem[_EPOCH] == now, "the epoch stays until a block is full")
    world[epochs.retire](mem, me, ordinary())
    require(mem[_EPOCH] == now + 1, "after a full block the epoch advances")
    require(mem[mem[me + newest] + epoch] == now + 1, "and the next block has the new one")
    mem[_EPOCH] += 2
    require(not world[epochs.drain](mem, me, 1 << 62) and mem[me + int(layout.P_OLDEST)] == 0, "all are freed")
    place.account([(block, 68) for block in spares(mem, me)])
