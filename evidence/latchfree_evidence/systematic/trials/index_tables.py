"""Tables of a mask index one by one: keys of groups, places and bits, records that are compared and copied.

Example: the record of ``+/b`` fits ``x/b`` and not ``x/c``, and no record of another group, whatever the table says.
"""

from __future__ import annotations

import itertools
import random
from typing import Final

import numpy as np

from latchfree.topics.dialects import DIALECTS
from latchfree.topics.mask.byte_classes import class_table, eight
from latchfree.topics.mask.groups import group_table
from latchfree.topics.mask.kernels import found, group_keys, table
from latchfree_evidence.systematic.plain.arrays import View
from latchfree_evidence.systematic.plain.fenced import Fenced
from latchfree_evidence.systematic.plain.world import World
from latchfree_evidence.systematic.trials.index_words import hash_of
from latchfree_evidence.systematic.trials.place import require

_WORD: Final = (1 << 64) - 1
_LOW: Final = (1 << 32) - 1
_GOLDEN: Final = 0x9E3779B97F4A7C15


def _literals(words: list[bytes], mask: int) -> int:
    key = 0
    for k, word in enumerate(words):
        if not mask >> k & 1:
            key ^= hash_of(word) * (_GOLDEN + 2 * k) & _WORD
    return key


def _salt(group: int) -> int:
    return (group + 1) * int(table.GROUP_STEP) & _WORD


def _bit(key: int, bits: int) -> int:
    return (key & _LOW) * bits >> 32


def keys(world: World, seed: int) -> None:
    """Hash a topic for groups of all numbers of wildcards, with a filter that is read at once, and with a large one."""
    rng = random.Random(seed)
    shapes = [(0, 0), (0, 1), (1, 1), (0b10, 2), (0b11, 2), (0b111, 3), (0b10110, 5), (0b11111, 6), (1 << 6, 7), (0, 7)]
    rows = group_table(np.array([m for m, _ in shapes], np.uint64), np.array([d for _, d in shapes], np.int64))
    words = [b"w%d" % k for k in range(7)]
    for bits, shut, first, stop in itertools.product((192, (1 << 21), (1 << 21) + 64), (False, True), (0, 3), (4, 10)):
        prefix, hashes = np.zeros(65, np.uint64), np.zeros(65, np.uint64)
        for k, word in enumerate(words):
            hashes[k] = hash_of(word) * (_GOLDEN + 2 * k) & _WORD
            prefix[k + 1] = prefix[k] ^ hashes[k]
        filter_ = np.array([rng.getrandbits(64) for _ in range(3)] if bits == 192 else [0] * (bits // 64), np.uint64)
        wanted = []
        for group in range(first, stop):
            mask, depth = shapes[group]
            key = _literals(words[:depth], mask) ^ _salt(group)
            at = _bit(key, bits)
            if bits != 192 and rng.random() < 0.5:
                filter_[at >> 6] |= np.uint64(1 << (at & 63))
            is_set = int(filter_[at >> 6]) >> (at & 63) & 1
            require(world[table.is_set](filter_.ctypes.data, at) == is_set, "a bit", at)
            if not (shut and (depth == 0 or mask & 1)) and (is_set or bits > 1 << 21):
                wanted.append((key, 5 << 6 | group))
        out = Fenced(bytes(8 * 12)), Fenced(bytes(8 * 12))
        count = world[group_keys.hash_groups](
            rows.ctypes.data, first, stop, shut, hashes.ctypes.data, prefix.ctypes.data, filter_.ctypes.data, bits, 5,
            out[0].address, out[1].address, 1,
        )  # fmt: skip
        made = list(zip(*(each.array.view(np.uint64)[1:count].tolist() for each in out), strict=True))
        require(made == wanted, "the keys of a topic", bits, shut, first, stop)
    require(world[group_keys.number_of](3, 47) == 239, "a row and a group")
    require((world[group_keys.row_of](239), world[group_keys.group_of](239)) == (3, 47), "and back")
    for group in (0, 1, 47):
        require(world[table.salt_of](group) == _salt(group), "the salt of a group")


def fills(world: World, seed: int) -> None:
    """Enter patterns into tables that are nearly full, and look where each is."""
    rng = random.Random(seed)
    d = DIALECTS["mqtt"]
    masks, depths = np.array([0b10, 0, 0b1, 0], np.uint64), np.array([2, 1, 65 - 1, 0], np.int64)
    texts, groups = [], []
    for k in range(9):
        shape = rng.choice((0, 1, 1, 2, 3, 4, 0xFFFF))
        word = f"k{k}"
        texts.append((f"{word}/+", word, "/".join(["+", *[word] * 63]), "#", f"{word}/z", "q/+")[min(shape, 5)])
        groups.append(shape)
    column = Fenced("".join(texts).encode())
    offsets = np.cumsum([0, *map(len, texts)]).astype(np.int64)
    names = [1 + 5 * k for k in range(len(texts))]
    probed = sum(group < 4 for group in groups)
    entries, filter_ = np.zeros(probed + 1, np.uint64), np.zeros(2, np.uint64)
    world[table.fill_table](
        column.address, View(offsets), View(np.array(groups, np.int64)), View(masks), View(depths),
        View(np.array(names, np.int64)), class_table(d, patterns=True).ctypes.data, int(eight("/")), View(entries),
        View(filter_),
    )  # fmt: skip
    wanted, bits = [0] * len(entries), [0, 0]
    for text, group, name in zip(texts, groups, names, strict=True):
        if group >= 4:
            continue
        words = text.encode().split(b"/")[: int(depths[group])]
        key = _literals(words, int(masks[group])) ^ _salt(group)
        place = (key >> 32) * len(wanted) >> 32
        require(world[table.place_of](key, len(wanted)) == place, "the place of a key")
        while wanted[place]:
            place = (place + 1) % len(wanted)
        wanted[place] = (key & _LOW) << 32 | name
        bits[_bit(key, 128) >> 6] |= 1 << (_bit(key, 128) & 63)
    require(entries.tolist() == wanted, "the table", texts)
    require(filter_.tolist() == bits, "the filter", texts)


def _record(text: bytes, group: int, subscribers: list[int], width: int) -> bytes:
    head = len(subscribers).to_bytes(4, "little") + len(text).to_bytes(2, "little") + group.to_bytes(2, "little")
    return head + b"".join(each.to_bytes(width, "little", signed=True) for each in subscribers) + text


def agreements(world: World, seed: int) -> None:
    """Compare records of all short patterns of a shape, and of other groups, with topics that their group takes."""
    words = (b"a", b"ab", b"abcdefgh9", b"", b"b")
    for mask, depth, is_open in ((0, 0, True), (0, 1, False), (1, 1, True), (0, 2, True), (2, 2, False), (5, 3, True),
                                 (3, 2, False), (4, 3, False)):  # fmt: skip
        patterns = list(itertools.product(words, repeat=depth))
        for literals in patterns[seed % 3 :: 3]:
            shown = [b"+" if mask >> k & 1 else word for k, word in enumerate(literals)]
            text = b"/".join([*shown, *([b"#"] if is_open else [])])
            for group, subscribers, width in ((7, [1], 4), (7, [], 8), (6, [1, 2], 8)):
                record = Fenced(_record(text, group, subscribers, width))
                for topic in _topics(shown, words, depth, is_open):
                    parts = topic.split(b"/")
                    line = Fenced(topic)
                    starts = [sum(len(each) + 1 for each in parts[:k]) for k in range(len(parts))]
                    places = np.array([starts, [a + len(p) for a, p in zip(starts, parts, strict=True)]], np.uint64)
                    answer = world[found.fits](
                        record.address, width, 7, mask, depth, is_open, line.address, len(topic),
                        places[0].ctypes.data, places[1].ctypes.data,
                    )  # fmt: skip
                    fits = all(mask >> k & 1 or parts[k] == shown[k] for k in range(depth))
                    require(answer == (fits and group == 7), "whether a record fits", text, topic, group)


def _topics(shown: list[bytes], words: tuple[bytes, ...], depth: int, is_open: bool) -> list[bytes]:
    topics = []
    exact = [words[0] if word == b"+" else word for word in shown]
    for at in range(depth):
        topics += [b"/".join([*exact[:at], word, *exact[at + 1 :]]) for word in (*words, b"abc", b"x" * 30)]
    if is_open:
        topics += [b"/".join([*exact, *more]) for more in ((b"c",), (b"", b""), (b"abcdefghi",))]
    return [each for each in [*topics, b"/".join(exact)] if each]


def copies(world: World, seed: int) -> None:
    """Copy subscribers, or the name of their record, where there is room, or just not enough; keep each once."""
    rng = random.Random(seed)
    for width, count in itertools.product((4, 8), (0, 1, 3)):
        who = [rng.choice((-1, 1, 2**31 - 1, -(2 ** (8 * width - 1)))) for _ in range(count)]
        records = Fenced(b"....." * 4 + _record(b"a/b", 0, who, width))
        for names_only, room, k in itertools.product((False, True), range(6), (0, 2)):
            if k > room:
                continue
            out = np.full(room, 99, np.int64)
            end = world[found.emit](records.address, width, 6, names_only, View(out), k)
            new = [6] if names_only else who
            fits = k + len(new) <= room
            require(end == (k + len(new) if fits else -1), "where they end", room, k, new)
            wanted = [99] * k + new + [99] * (room - k - len(new)) if fits else [99] * room
            require(out.tolist() == wanted, "who is found", wanted)
    for size in (0, 1, 2, 5, 15, 16, 17, 18, 40):
        for low in (0, 3):
            held = [rng.randrange(1 + size // 2) for _ in range(low + size)] + [7] * 3
            out = np.array(held, np.int64)
            end = world[found.squeeze](View(out), low, low + size)
            part = held[low : low + size]
            wanted = list(dict.fromkeys(part)) if size <= found.FEW else sorted(set(part))
            require(out[low:end].tolist() == wanted, "each once, in order", part)
            require(out.tolist()[:low] == held[:low] and out.tolist()[-3:] == [7] * 3, "and nothing else changes")
