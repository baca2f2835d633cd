"""A trie beside a dict: random operations of two participants, snapshots, forks, clears, and accounts in the end."""

from __future__ import annotations

import ctypes
import random
from dataclasses import dataclass, field
from typing import Any, Final

from latchfree.arena.kernels import freelists
from latchfree.ctrie.kernels import entry_points, insert, lookup, loops, remove, scan, snapshot, trees
from latchfree.ctrie.kernels.snode import full_hash, placed
from latchfree_evidence.systematic.plain.world import World
from latchfree_evidence.systematic.trials import walking
from latchfree_evidence.systematic.trials.place import ALL, Place, require

FULL: Final = ALL
_MODES: Final = {"always": 0, "absent": 1, "present": 2, "equal": 3}


@dataclass(frozen=True)
class Kind:
    """What keys and values are.

    Attributes
    ----------
    mask : int
        The bits of hashes that the trie looks at.
    keys, values : str
        "word" or "blob"; values may be a "pair" of objects, too.
    count : int
        How many different keys there are.
    """

    mask: int = ALL
    keys: str = "word"
    values: str = "word"
    count: int = 60


KINDS: Final = (
    Kind(),
    Kind(mask=0b111, count=12),
    Kind(mask=0, count=8),
    Kind(mask=(1 << 12) - 1 & ~63, count=40),
    Kind(keys="blob", values="blob", count=30),
    Kind(keys="blob", count=30, mask=0xFFFF),
    Kind(values="blob", count=30),
    Kind(mask=sum(1 << 6 * k for k in range(11)), count=60),
    Kind(values="pair", count=40),
    Kind(values="pair", count=12, mask=0b11),
)


@dataclass
class Frozen:
    """A snapshot, what it must hold, and the fork that goes on from it, if there is one."""

    slot: int
    held: dict[int, int]
    fork: Trie | None = None


@dataclass
class Trie:
    """A trie, what it must hold, and its snapshots."""

    at: int
    held: dict[int, int] = field(default_factory=dict)
    frozen: list[Frozen] = field(default_factory=list)
    parent: Frozen | None = None


class Trial:
    """Random operations on one arena.

    Parameters
    ----------
    world : World
    kind : Kind
    seed : int
    capacity : int
        Of the arena, in bytes.
    first : bool
        Whether the first generation is what who mistakes `READ_ONLY` for a trie takes for that of the root.
    """

    def __init__(self, world: World, kind: Kind, seed: int, capacity: int = 4 << 20, *, first: bool = False) -> None:
        self.kind, self.rng = kind, random.Random(seed)
        self.place = Place(world, 3, capacity)
        self.mem = self.place.mem
        self.roomy = capacity >= 4 << 20
        if first:
            self.mem[24] = self.mem[6] - 1
        self._buffers: dict[tuple[str, int], Any] = {}
        self.trie = Trie(self.place.pinned(self.me(), entry_points.create, kind.mask, self.place.who[0]))
        require(self.trie.at not in (0, FULL), "a trie is made")
        self._new(self.trie.at, 0)
        self.fresh = 1
        self.tombs = False

    def me(self) -> int:
        """Return one of the two participants that operate; the third only reads."""
        return int(self.place.who[self.rng.randrange(2)])

    def _new(self, at: int, fork: int) -> None:
        """Look at the root record of a new trie."""
        words = [self.mem[at + k] for k in range(2, 7)]
        require(self.mem[at] >> 40 == 6 << 20 | 9, "the header of a root record", self.mem[at])
        require(words == [self.kind.mask, 0, 0, 0, fork], "the words of a root record", words)
        require(self.mem[at + 8] == 0, "no snapshot is idle in a new trie")
        self.mem[at + 7] = 0  # not in use here

    def call(self, kernel: Any, *arguments: Any) -> Any:
        """Call a kernel that takes memory, trie or slot and participant, pinned."""
        return self.place.pinned(self.place.who[0], kernel, *arguments)

    # keys and values ------------------------------------------------------------------------------------------------

    def _blob(self, what: str, number: int) -> tuple[int, int]:
        if (what, number) not in self._buffers:
            text = f"{what[0]}{number}".encode() * (1 + number * 7 % 9)
            text = text[: len(text) - number % 3] if number % 5 else text
            text += bytes([number & 255])
            self._buffers[what, number] = ctypes.create_string_buffer(text, len(text) or 1), len(text)
        buffer, length = self._buffers[what, number]
        return ctypes.addressof(buffer), length

    def key(self, number: int) -> Any:
        """Return a key as kernels take it."""
        if self.kind.keys == "blob":
            return self._blob("key", number)
        return number - 20

    def value(self, number: int) -> Any:
        """Return a value as kernels take it."""
        if self.kind.values == "pair":
            return ((number % 3 + 1, number // 3 + 5),)
        return self._blob("value", number) if self.kind.values == "blob" else number

    def value_at(self, node: int, number: int) -> int:
        """Check the key and value of an S-node, and return the value's number."""
        words = walking.size_of(self.mem, node)
        blob = self.kind.keys == "blob"
        pair = self.kind.values == "pair"
        require(walking.kind_of(self.mem, node) == (walking.PAIR if pair else walking.S_NODE), "an S-node", node)
        if not blob:
            require(self.mem[node + 1] == number - 20 & ALL, "the key of the node", number)
            key_words = 3
        else:
            address, length = self.key(number)
            require(self.mem[node + 3] == length, "the length of a key", number)
            key_words = 4 + (length + 7) // 8
            require(self._bytes(node + 4, length) == ctypes.string_at(address, length), "the bytes of a key", number)
        if pair:
            held, value = self.mem[node + 2], self.mem[node + 3]
            require(words == 4 and 1 <= held <= 3 and value >= 5, "the objects of a pair", held, value)
            return 3 * (value - 5) + held - 1
        if self.kind.values == "word":
            require(words == key_words, "the words of a node", words, key_words)
            return self.mem[node + 2]
        length = self.mem[node + 2]
        require(words == key_words + (length + 7) // 8, "the words of a node", words)
        text = self._bytes(node + key_words, length)
        for (what, value), (buffer, size) in self._buffers.items():
            if what == "value" and buffer.raw[:size] == text:
                return value
        raise AssertionError(f"a value that nobody has put: {text!r}")

    def _bytes(self, at: int, length: int) -> bytes:
        words = [self.mem[at + k].to_bytes(8, "little") for k in range((length + 7) // 8)]
        return b"".join(words)[:length]

    # operations -----------------------------------------------------------------------------------------------------

    def write(self, trie: Trie, number: int) -> bool:
        """Insert in a random mode; return whether there was room."""
        mode = self.rng.choice(["always"] * 3 + list(_MODES))
        old = trie.held.get(number)
        expected = old if old is not None and self.rng.random() < 0.6 else self.rng.randrange(1, self.fresh + 1)
        if old is not None and self.kind.values == "pair" and self.rng.random() < 0.5:
            expected = old + self.rng.choice((0, 1, 3))  # one of the two objects may be the same
        if self.rng.random() < 0.1 and self.kind.values == "word":
            expected = self.mem[2]  # what who reads node 0 takes for a value
        self.fresh += 1
        value = self.fresh
        me = self.me()
        node = self.place.pinned(
            me, insert.insert, trie.at, me, self.key(number), self.value(value), _MODES[mode], self.value(expected)
        )
        if node == FULL:
            return False
        allowed = {"always": True, "absent": old is None, "present": old is not None, "equal": old == expected}[mode]
        if mode == "equal" and not allowed:
            require(node == 0, "a refused replace returns nothing", number)
        else:
            require((self.value_at(node, number) if node else None) == old, "put returns the old value", number, mode)
        if allowed:
            trie.held[number] = value
        return True

    def take(self, trie: Trie, number: int) -> bool:
        """Remove, now and then on condition; return whether there was room."""
        old = trie.held.get(number)
        mode = self.rng.choice(["always", "always", "equal"])
        expected = old if old is not None and self.rng.random() < 0.6 else self.rng.randrange(1, self.fresh + 1)
        me = self.me()
        node = self.place.pinned(me, remove.remove, trie.at, me, self.key(number), _MODES[mode], self.value(expected))
        if node == FULL:
            return False
        allowed = old is not None and (mode == "always" or old == expected)
        require((self.value_at(node, number) if node else None) == (old if allowed else None), "remove", number, mode)
        if allowed:
            del trie.held[number]
        return True

    def read(self, trie: Trie, number: int) -> None:
        """Look a key up in the trie and in its snapshots."""
        me = self.me()
        node = self.place.pinned(me, lookup.lookup, trie.at, me, self.key(number))
        require((self.value_at(node, number) if node else None) == trie.held.get(number), "get", number)
        for frozen in trie.frozen:
            root = self.mem[frozen.slot + 50]
            h = self.place.world[placed](self.mem, trie.at, self.place.world[full_hash](self.key(number)))
            node = self.place.pinned(me, lookup.lookup_frozen, root, h, 0, self.key(number))
            found = self.value_at(node, number) if node else None
            require(found == frozen.held.get(number), "get in a snapshot", number)

    def freeze(self, trie: Trie) -> None:
        """Take a snapshot."""
        me = self.me()
        slot = self.place.pinned(me, snapshot.freeze, trie.at, me)
        require(slot != FULL or not self.roomy, "there is room for a snapshot")
        if slot != FULL:
            trie.frozen.append(Frozen(slot, dict(trie.held)))

    def scan(self, trie: Trie, frozen: Frozen) -> None:
        """Read a whole snapshot, in batches of random length, and count it."""
        cursor, out = [0] * scan.CURSOR_WORDS, [0] * self.rng.choice((1, 2, 3, 7, 64))
        me, root, found = self.me(), self.mem[frozen.slot + 50], []
        self.place.world[loops.scan_start](self.mem, me, root, cursor)
        require(self.mem[me + 8] == 0, "a call ends its pin")
        while True:
            n = self.place.world[loops.scan_next](self.mem, me, cursor, out)
            found += out[:n]
            if n < len(out):
                break
        require(len(found) == len(set(found)) == len(frozen.held), "the keys of a snapshot", len(found))
        for number, value in frozen.held.items():
            require(any(self._is(node, number, value) for node in found), "a key of a snapshot", number, value)
        for room in (1, 5, 200):
            total = self.place.pinned(me, scan.count, root, [0] * 32, [0] * room)
            require(total == len(frozen.held), "the size of a snapshot", total)
        total = self.place.world[loops.scan_count](self.mem, me, root, [0] * 32, [0] * 5)
        require(total == len(frozen.held), "the size of a snapshot", total)

    def _is(self, node: int, number: int, value: int) -> bool:
        try:
            return self.value_at(node, number) == value
        except AssertionError:
            return False

    def drop(self, trie: Trie, frozen: Frozen) -> None:
        """Give a snapshot back, with the fork that goes on from it."""
        me = self.me()
        if frozen.fork is not None:
            for inner in list(frozen.fork.frozen):
                self.drop(frozen.fork, inner)
            self.mem[me + 28] = 4711  # a word that anybody may have written
            for _ in range(2):  # the second call finds the fork gone
                self.place.world[entry_points.destroy](self.mem, frozen.fork.at, me, frozen.slot)
                require(self.mem[frozen.slot + 40] == 0, "the slot has no fork any more")
                require(self.mem[me + 8] == 0, "a call ends its pin")
                require(self.mem.marks[frozen.fork.at], "a fork is freed by the first call")
        trie.frozen.remove(frozen)
        self.place.world[entry_points.drop](self.mem, trie.at, me, frozen.slot)

    def fork(self, frozen: Frozen) -> None:
        """Go on from a snapshot."""
        me = self.me()
        at = self.place.world[entry_points.fork](self.mem, frozen.slot, me, self.kind.mask)
        require(at != FULL or not self.roomy, "there is room for a fork")
        if at != FULL:
            require(self.mem[frozen.slot + 40] == at, "the slot of a snapshot knows its fork")
            self._new(at, 1)
            frozen.fork = Trie(at, dict(frozen.held), parent=frozen)

    def clear(self, trie: Trie) -> None:
        """Remove all keys."""
        me = self.me()
        if self.place.pinned(me, snapshot.clear, trie.at, me) != FULL:
            trie.held.clear()

    def reclaim(self, me: int) -> None:
        """Free what a participant has to free by itself: trees, and pairs of objects."""
        self.place.world[trees.reclaim](self.mem, me)
        while self.mem[me + 29]:
            node = self.mem[me + 29]
            require(walking.kind_of(self.mem, node) == walking.PAIR, "what holds something is a pair", node)
            self.mem[me + 29] = self.mem[node + 1]
            self.place.world[freelists.free](self.mem, me, node)

    # all of it ------------------------------------------------------------------------------------------------------

    def tries(self) -> list[Trie]:
        """Return the trie and all forks, forks of forks included."""
        found, ahead = [], [self.trie]
        while ahead:
            trie = ahead.pop()
            found.append(trie)
            ahead += [frozen.fork for frozen in trie.frozen if frozen.fork is not None]
        return found

    def step(self) -> None:
        """Do something; afterwards nobody is pinned but the third participant, if it was."""
        self._step()
        for me in self.place.who[:2]:
            require(self.mem[me + 8] == 0, "a call ends its pin")

    def _step(self) -> None:
        trie = self.rng.choice(self.tries())
        number = self.rng.randrange(self.kind.count)
        what = self.rng.random()
        if what < 0.45:
            self.write(trie, number)
        elif what < 0.75:
            self.take(trie, number)
        elif what < 0.88:
            self.read(trie, number)
        elif what < 0.92:
            self.freeze(trie)
        elif what < 0.95 and trie.frozen:
            frozen = self.rng.choice(trie.frozen)
            self.scan(trie, frozen)
            self.drop(trie, frozen)
        elif what < 0.97 and trie.frozen and len(self.tries()) < 4:
            frozen = self.rng.choice(trie.frozen)
            if frozen.fork is None:
                self.fork(frozen)
        elif what > 0.99:
            self.clear(trie)

    def check(self) -> None:
        """Compare everything with the dicts."""
        for trie in self.tries():
            list(walking.tables(self.mem, trie.at))
            require(walking.born(self.mem, self.mem[trie.at + 1]) <= self.mem[24], "no generation is beyond the last")
            walking.shape(self.mem, self.mem[trie.at + 1], tombs=self.tombs)
            me = self.me()
            empty = self.place.world[entry_points.is_empty](self.mem, trie.at, me)
            require(self.mem[me + 8] == 0, "a call ends its pin")
            require(bool(empty) == (not trie.held), "is_empty")
            for number in range(self.kind.count):
                self.read(trie, number)
            for frozen in trie.frozen:
                self.scan(trie, frozen)

    def finish(self) -> None:
        """Give everything back, and account for every word."""
        for frozen in list(self.trie.frozen):
            self.drop(self.trie, frozen)
        self.check()
        self.place.settle(self.reclaim)
        require(self.mem[self.trie.at + 4] == 0, "no snapshot is counted", self.mem[self.trie.at + 4])
        spare = [(block, 68) for me in self.place.who for block in spares(self.mem, me)]
        self.place.account([*walking.of_trie(self.mem, self.trie.at), *spare])
        self.check()
        self.place.world[entry_points.destroy](self.mem, self.trie.at, self.place.who[0], 0)
        self.reclaim(self.place.who[0])
        self.place.account([(block, 68) for me in self.place.who for block in spares(self.mem, me)])


def spares(mem: Any, me: int) -> list[int]:
    """Return the spare blocks of a participant, as many as it counts."""
    found, block = [], mem[me + 26]
    while block:
        require(mem[block] == 8 << 60 | 68 << 40 and mem[block + 2] == 0, "a spare block is an empty block", block)
        found.append(block)
        block = mem[block + 1]
    require(len(found) == mem[me + 27], "spare blocks are counted", len(found), mem[me + 27])
    return found
