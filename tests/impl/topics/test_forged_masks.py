"""Files of a mask index that were forged: numbers changed at random, and the checksum mended.

Each is refused with an `IndexInvalid`, or is an index on which every call ends, without reading where it should not.
The trials run in a process of their own, so that a signal or an endless search fails one test.
"""

import contextlib
import random
import signal
import struct
import zlib

import numpy as np
import pytest
from children import in_child

from latchfree.topics import IndexInvalid, MaskIndex
from latchfree.topics.mask import checking, layout

pytestmark = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")

PATTERNS = ["a/+", "a/#", "b/c", "a/b", "+/+/c", "#", "a/+/c/#", "long-word-of-a-topic/x", "b/+", "+"]
INNER = ["a.#.b", "#.c", "a.*", "a.b", "#.a.#", "*.*.#", "x.#.y.#.z"]
MADE = {
    "groups": lambda: MaskIndex.build(PATTERNS, range(10), "mqtt"),
    "trie": lambda: MaskIndex.build(PATTERNS, range(10), "mqtt", most_groups=0),
    "few groups": lambda: MaskIndex.build(PATTERNS, [f"é{k % 4}" for k in range(10)], "mqtt", most_groups=3),
    "wide": lambda: MaskIndex.build(INNER, [1 << 40, 2, 3, 4, -5, 2, 7], "amqp", most_groups=2),
    "empty": lambda: MaskIndex.build([], [], "amqp"),
}
TOPICS = {
    "mqtt": ["a/b", "b/c", "a/x/c/d", "", "a", "long-word-of-a-topic/x", "q/r/c", "/".join("abc" * 30)],
    "amqp": ["a.b", "a.x.b", "x.1.y.2.z", "a", "", ".".join("abac" * 30)],
}
#: Numbers that lead out of whatever they are taken for.
EDGES = (
    0,
    1,
    2,
    3,
    7,
    63,
    64,
    65,
    127,
    128,
    255,
    0xFFFF,
    1 << 16,
    (1 << 31) - 1,
    1 << 31,
    (1 << 32) - 1,
    (1 << 64) - 1,
)
ROUNDS = 2_000


def mended(data):
    """Return a file with a checksum that fits."""
    return data[:24] + struct.pack("<I", zlib.crc32(data[32:])) + data[28:]


def forged(rng, whole, start):
    """Return a file with some bytes, halves, words or numbers of another value; most of them behind the description."""
    data = bytearray(whole)
    for _ in range(rng.choice((1, 1, 1, 2, 5))):
        size = rng.choice((1, 2, 4, 8))
        low = 12 if rng.random() < 0.05 else start if rng.random() < 0.9 else 32
        at = rng.randrange(low, len(data) - size + 1) // size * size
        old = int.from_bytes(data[at : at + size], "little")
        new = rng.choice((rng.choice(EDGES), old + 1, old - 1, old ^ 1 << rng.randrange(64), rng.getrandbits(64)))
        data[at : at + size] = (new % (1 << 8 * size)).to_bytes(size, "little")
    return mended(bytes(data))


def use(index):
    """Make every call; a subscriber or a pattern that is not there may be noticed here."""
    for topic in TOPICS[index.dialect.name if index.dialect.name in TOPICS else "amqp"]:
        for call in (index.match, index.matching, index.has_interest, lambda topic: index.match_many([topic] * 70)):
            with contextlib.suppress(IndexInvalid, IndexError, ValueError):
                call(topic)
    for call in (index.stats, lambda: list(index.subscriptions("a")), lambda: len(index)):
        with contextlib.suppress(IndexError, ValueError):
            call()


def trials(rng, whole, folder, rounds):
    """Open forged files and use them; return how many were refused."""
    described = struct.unpack("<I", whole[12:16])[0]
    path, refused = folder / "forged", 0
    for _ in range(rounds):
        path.write_bytes(forged(rng, whole, -(-(32 + described) // 64) * 64))
        signal.alarm(120)
        try:
            index = MaskIndex.open(path)
        except IndexInvalid:
            refused += 1
        else:
            use(index)
    signal.alarm(0)
    return refused


@pytest.mark.parametrize("name", MADE)
def test_a_forged_file_is_refused_or_can_be_used(rng, tmp_path, name):
    path = tmp_path / "index"
    index = MADE[name]()
    index.save(path)
    use(MaskIndex.open(path))  # compiled in this process, once
    seed = rng.getrandbits(64)

    def run():
        refused = trials(random.Random(seed), path.read_bytes(), tmp_path, ROUNDS)
        assert ROUNDS // 10 < refused < ROUNDS

    in_child(run)


def changed(index, name, at, value):
    """Return the file of an index with one element changed."""
    arrays = {each: array.copy() for each, array in layout.unpack(index._buffer, "it")[1].items()}
    plain = {"dialect": index.dialect.name, "subscriptions": 1, "objects": False}
    if at is None:
        arrays[name] = value(arrays[name])
    else:
        arrays[name][at] = value
    return layout.pack(plain, arrays)


def shorter(array):
    return array[:-1]


@pytest.mark.parametrize(
    ("made", "name", "at", "value", "says"),
    [
        ("groups", "width", 0, 5, "neither 4 nor 8 bytes"),
        ("groups", "width", None, shorter, "the array width has another length"),
        ("groups", "masks", None, lambda array: array.view("<i8"), "the array masks is of another type"),
        ("groups", "masks", None, shorter, "too many groups"),
        ("groups", "depths", 0, -1, "too many words"),
        ("groups", "depths", 0, 65, "too many words"),
        ("groups", "masks", 0, 1 << 63, "wildcards behind its words"),
        ("groups", "depths", None, np.flip, "in another order|behind its words"),
        ("groups", "exact_at", 1, 9, "not those of its words"),
        ("groups", "exact_at", 65, -1, "not those of its words"),
        ("groups", "open_to", 65, 47, "not those of its words"),
        ("groups", "filter", None, lambda array: array[:0], "filter is too short"),
        ("groups", "entries", None, lambda array: array[array != 0], "its table is full"),
        ("groups", "entries", None, lambda array: array | (array != 0), "none of a record|one behind the other"),
        ("groups", "entries", None, lambda array: array >> 32 << 32, "a name is none of a record"),
        ("groups", "records", 6, 40, "of no group"),
        ("groups", "records", 0, 200, "one behind the other"),
        ("groups", "records", 4, 200, "one behind the other"),
        ("groups", "records", None, shorter, "in the midst of one"),
        ("groups", "records", None, lambda array: array[:-4], "none of a record|one behind the other"),
        ("trie", "records", 6, 0, "of a group"),
        ("trie", "trie_name", 2, 1 << 31, "a name is none of a record"),
        ("trie", "trie_one", None, shorter, "its nodes are of several numbers"),
        ("trie", "trie_word", None, shorter, "its edges are of several numbers"),
        ("trie", "trie_keys", None, lambda array: array | 1, "no room for another edge"),
        ("trie", "trie_many", 1, 1 << 31, "a node is none of its trie"),
        ("trie", "trie_many", 1, 3, "two ways lead to one node"),
        ("trie", "trie_many", 3, 1, "a way leads to the root"),
        ("trie", "trie_word", None, lambda array: array + (1 << 63), "a word is none of its records"),
        ("trie", "trie_size", None, lambda array: array | 1 << 31, "a word is none of its records"),
        ("few groups", "name_offsets", None, lambda array: array[:0], "the array name_offsets is empty"),
        ("few groups", "name_offsets", 1, 1 << 40, "out of bounds"),
        ("few groups", "name_bytes", 0, 255, "Invalid UTF8"),
    ],
)  # fmt: skip
def test_each_number_that_leads_elsewhere_is_named(tmp_path, made, name, at, value, says):
    path = tmp_path / "index"
    index = MADE[made]()
    changed(index, name, at, value).tofile(path)
    with pytest.raises(IndexInvalid, match=f"{path} is damaged: .*({says})"):
        MaskIndex.open(path)


def test_what_is_built_is_checked_whatever_its_kind(rng, tmp_path):
    """Nothing that `build` makes is refused: groups or none, shapes of all lengths, deep tries."""
    path = tmp_path / "index"
    for most in (0, 1, 48):
        for dialect, one, many, separator in (("mqtt", "+", "#", "/"), ("amqp", "*", "#", ".")):
            patterns = []
            for _ in range(300):
                words = [rng.choice((one, "a", "b", "word")) for _ in range(rng.choice((1, 2, 3, 5, 63, 64, 65)))]
                if rng.random() < 0.3:
                    words[-1] = many
                patterns.append(separator.join(words))
            index = MaskIndex.build(patterns, range(300), dialect, most_groups=most)
            index.save(path)
            assert np.array_equal(MaskIndex.open(path)._buffer, index._buffer)


@pytest.mark.parametrize(
    "description",
    [
        b"[]", b"{}", b'{"arrays":1}', b'{"arrays":[1]}', b'{"arrays":[["a","|u1",0]]}', b'{"arrays":[["a","|O",0,1]]}',
        b'{"arrays":[["a","<u8",1,1]]}', b'{"arrays":[["a","<u8",0,-1]]}', b'{"arrays":[["a","<u8",-64,1]]}',
        b'{"arrays":[["a","<u8",0,1e3]]}', b'{"arrays":[["a","<u8",0,1152921504606846976]]}',
        b'{"arrays":[[[],"<u8",0,1]]}',
        b"\xff", b"[" * 100_000, b'{"arrays":[]}', b'{"arrays":[],"dialect":[]}', b'{"arrays":[],"dialect":"nats"}',
    ],
)  # fmt: skip
def test_a_description_that_makes_no_sense_is_refused(tmp_path, description):
    path = tmp_path / "index"
    start = -(-(32 + len(description)) // 64) * 64
    body = description.ljust(start - 32 + 64, b"\0")
    head = struct.pack("<8sIIQI4x", layout.MAGIC, layout.VERSION, len(description), 32 + len(body), 0)
    path.write_bytes(mended(head + body))
    with pytest.raises(IndexInvalid, match=f"{path} is damaged: (nothing can be made|it is of|it has other)"):
        MaskIndex.open(path)


def test_every_array_is_checked():
    assert {*checking.KINDS, *checking.NAMES} == {
        name for made in MADE.values() for name in layout.unpack(made()._buffer, "it")[1]
    }
