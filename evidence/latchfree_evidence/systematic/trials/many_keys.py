"""Calls for many keys beside a dict, and a trie in an arena so small that it is full again and again."""

from __future__ import annotations

import ctypes
import random
from typing import Any, Final

from latchfree.arena import layout
from latchfree.ctrie.kernels import loops, snapshot, snode
from latchfree_evidence.systematic.plain.world import World
from latchfree_evidence.systematic.trials.place import require
from latchfree_evidence.systematic.trials.tries import FULL, Kind, Trial

_SMALL: Final = (layout.FIRST_NODE + 9_000) * 8


class _Column:
    """A column of keys or values of a trial, as kernels take it."""

    def __init__(self, trial: Trial, what: str, numbers: list[int]) -> None:
        self.given: Any = numbers
        if what == "key" and trial.kind.keys == "word":
            self.given = [trial.key(number) for number in numbers]
        elif (trial.kind.keys if what == "key" else trial.kind.values) == "blob":
            places = [trial.key(number) if what == "key" else trial.value(number) for number in numbers]
            text = b"".join(ctypes.string_at(address, length) for address, length in places)
            offsets = [0]
            for _, length in places:
                offsets.append(offsets[-1] + length)
            self._buffer = ctypes.create_string_buffer(text, len(text) + 1)
            self.given = (ctypes.addressof(self._buffer), offsets)


def bulk(world: World, seed: int) -> None:
    """Put, get and remove ranges of columns, longer than a group is."""
    rng = random.Random(seed)
    kind = (
        Kind(count=90),
        Kind(mask=sum(3 << 6 * k for k in range(6)), count=90),
        Kind(keys="blob", values="blob", count=50),
    )[seed % 3]
    trial = Trial(world, kind, seed)
    trie = trial.trie
    for _ in range(6):
        numbers = [rng.randrange(kind.count) for _ in range(rng.choice((1, 31, 32, 33, 70)))]
        trial.fresh += len(numbers)
        values = [trial.fresh + k for k in range(len(numbers))]
        trial.fresh += len(numbers)
        first = rng.choice((0, rng.randrange(len(numbers))))
        last = rng.choice((len(numbers), rng.randrange(first, len(numbers) + 1)))
        me = trial.me()
        keys = _Column(trial, "key", numbers)
        wanted = _Column(trial, "value", values)
        done = world[loops.put_all](trial.mem, trie.at, me, keys.given, wanted.given, first, last)
        require(done == last - first, "put_all", done, first, last)
        require(trial.mem[me + int(layout.P_PIN)] == 0, "a loop ends its pin")
        trie.held.update(zip(numbers[first:last], values[first:last], strict=True))
        for _ in range(4):
            trial.step()
        _get(world, trial, numbers, first, last)
        if rng.random() < 0.7:
            found = [7] * len(numbers)
            cut = rng.randrange(first, last + 1)
            done = world[loops.remove_all](trial.mem, trie.at, me, keys.given, first, cut, found)
            require(done == cut - first, "remove_all", done)
            for k in range(first, cut):
                require(found[k] == (trie.held.pop(numbers[k], None) is not None), "remove_all says what was there", k)
            require(found[:first] + found[cut:] == [7] * (len(found) - cut + first), "and nothing of other keys")
        require(trial.mem[me + int(layout.P_PIN)] == 0, "a loop ends its pin")
    trial.check()
    trial.finish()


def _get(world: World, trial: Trial, numbers: list[int], first: int, last: int) -> None:
    trie, keys = trial.trie, _Column(trial, "key", numbers)
    found = [7] * len(numbers)
    if trial.kind.values == "word":
        out = [-9] * len(numbers)
        world[loops.get_words](trial.mem, trie.at, trial.me(), keys.given, first, last, out, found)
        wanted = [trie.held.get(number, 0) for number in numbers]
        require(out[first:last] == wanted[first:last], "get_words")
        require(set(out[:first] + out[last:]) <= {-9}, "get_words writes what it was asked for")
        there = [int(number in trie.held) for number in numbers]
        require(found == [7] * first + there[first:last] + [7] * (len(found) - last), "found")
        return
    offsets = [0] * (len(numbers) + 1)
    lengths = [len(ctypes.string_at(*trial.value(trie.held[n]))) for n in numbers[first:last] if n in trie.held]
    room = bytearray(trial.rng.choice((40, 4000, sum(lengths), sum(lengths[: len(lengths) // 2]))))
    done = world[loops.get_blobs](trial.mem, trie.at, trial.me(), keys.given, first, last, offsets, room, found)
    at = 0
    for k in range(first, done):
        value = trie.held.get(numbers[k])
        text = b"" if value is None else ctypes.string_at(*trial.value(value))
        require(offsets[k + 1] - offsets[k] == len(text) and room[at : at + len(text)] == text, "get_blobs", k)
        require(found[k] == (value is not None), "found", k)
        at += len(text)
    if done < last:
        value = trie.held[numbers[done]]
        require(at + len(ctypes.string_at(*trial.value(value))) > len(room), "get_blobs ends where room ends")
    require(trial.mem[trial.place.who[0] + int(layout.P_PIN)] == 0, "a loop ends its pin")
    require(trial.mem[trial.place.who[1] + int(layout.P_PIN)] == 0, "a loop ends its pin")


def full(world: World, seed: int) -> None:
    """Fill a small arena, again and again; removals, snapshots and clears must still find room."""
    rng = random.Random(seed)
    kind = (Kind(count=900), Kind(count=900, mask=0xFF), Kind(count=500, values="blob"))[seed % 3]
    trial = Trial(world, kind, seed, _SMALL)
    trie = trial.trie
    capacity = trial.mem.bare[int(layout.H_CAPACITY)]
    ordinary = capacity - capacity // 64
    refused = ever = 0
    was_frozen = False
    for _ in range(3):
        tries = 0
        while tries < 700 and refused < 40:
            before = trial.mem.bare[int(layout.H_BUMP)]
            refused += not trial.write(trie, rng.randrange(kind.count))
            after = trial.mem.bare[int(layout.H_BUMP)]
            fair = was_frozen or after == before or after <= ordinary
            require(fair, "a put takes nothing of the reserve", after)
            tries += 1
            if tries > 400 and rng.random() < 0.01:
                trial.freeze(trie)
                was_frozen = True  # from now on a put may have to renew, which is urgent
        ever += refused
        refused = 0
        for frozen in list(trie.frozen):
            trial.scan(trie, frozen)
            trial.drop(trie, frozen)
        for number in list(trie.held):
            require(trial.take(trie, number), "a removal finds room in a full arena", number)
            if rng.random() < 0.4:
                break
        trial.read(trie, rng.randrange(kind.count))
    for number in list(trie.held):
        if rng.random() < 0.9:
            require(trial.take(trie, number), "a removal finds room in a full arena", number)
    require(ever, "the arena was full")
    if seed % 2:
        me = trial.me()
        require(trial.place.pinned(me, snapshot.clear, trie.at, me) != FULL, "a clear finds room")
        trie.held.clear()
    trial.check()
    trial.finish()


def bytes_of_keys(world: World, seed: int) -> None:
    """Compare the bytes of a key with a stored key of every length; neither what is before nor behind them counts."""
    rng = random.Random(seed)
    for length in range(41):
        data = bytes(rng.randrange(256) for _ in range(length))
        stored = data + bytes(-length % 8) + b"\x5a" * 16
        packed = [int.from_bytes(stored[at : at + 8], "little") for at in range(0, len(stored), 8)]
        mem = [0] * int(snode.BLOB_KEY_WORDS) + packed
        mem[int(snode.KEY_LENGTH)] = length
        for before in (b"\0" * 8, b"\xff" * 8):
            kept = (ctypes.c_uint8 * (length + 16))(*before, *data, *before)
            at = ctypes.addressof(kept) + 8
            require(world[snode.same_key](mem, 0, (at, length)), "the same bytes", length)
            for k in range(length):
                kept[8 + k] = data[k] ^ 1 << rng.randrange(8)
                require(not world[snode.same_key](mem, 0, (at, length)), "another byte", length, k)
                kept[8 + k] = data[k]
