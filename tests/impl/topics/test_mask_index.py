"""The mask index: bulk calls, validation, files."""

import errno
import os
import pickle
import threading
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from latchfree.topics import MQTT, FrozenMatcher, IndexInvalid, InvalidPattern, InvalidTopic, LockedTrie, MaskIndex
from latchfree.topics.mask import layout
from latchfree.topics.mask.kernels.texts import same_bytes
from latchfree.topics.mask.kernels.trie import Trie, edge_of


def sample(subscribers=(1, 2, 3, 1)):
    return MaskIndex.build(["a/+", "a/#", "b/c", "a/b"], list(subscribers), "mqtt")


def random_texts(rng, count, wild):
    def word():
        return "+" if wild and rng.random() < 0.2 else f"w{rng.randrange(6)}"

    return ["/".join(word() for _ in range(rng.randint(1, 4))) for _ in range(count)]


@pytest.mark.parametrize("most_groups", [0, 3, 48])
def test_many_topics_at_once(rng, most_groups):
    patterns = random_texts(rng, 3000, True) + [f"{text}/#" for text in random_texts(rng, 200, True)]
    trie = LockedTrie("mqtt")
    for number, pattern in enumerate(patterns):
        trie.subscribe(pattern, number % 97)
    index = MaskIndex.build(patterns, np.arange(len(patterns)) % 97, "mqtt", most_groups=most_groups)
    topics = random_texts(rng, 500, False)
    assert [frozenset(row) for row in index.match_many(topics).to_pylist()] == [trie.match(topic) for topic in topics]


def test_rows_that_break_a_rule_are_named():
    index = sample()
    good = pa.array(["a/b"] * 100)
    for bad in ("a/+", "", "a\0", "x" * 65536):
        with pytest.raises(InvalidTopic) as caught:
            index.match_many(pa.concat_arrays([good, pa.array([bad]), good]))
        assert caught.value.row == 100
    offsets = pa.py_buffer(np.array([0, 1, 3], np.int32))
    broken = pa.Array.from_buffers(pa.string(), 2, [None, offsets, pa.py_buffer(b"a\xff\xfe")])
    with pytest.raises(InvalidTopic, match=r"row 1: .* it must be UTF-8"):
        index.match_many(broken)
    with pytest.raises(InvalidTopic, match="row 0"):
        MaskIndex.build(["a"], [1], replace(MQTT, most_words=2)).match_many(["a/b/c"])


@pytest.mark.parametrize("bad", ["a/#/b", "a+", "", "a\0", "$share/g", "$share/g/a#", "x" * 65536])
def test_patterns_that_break_a_rule_are_named(bad):
    with pytest.raises(InvalidPattern) as caught:
        MaskIndex.build(["a/+", "b", bad, bad], [1, 2, 3, 4], "mqtt")
    assert caught.value.row == 2


def test_arguments():
    with pytest.raises(ValueError, match="there are 1 patterns and 2 subscribers"):
        MaskIndex.build(["a"], [1, 2], "mqtt")
    with pytest.raises(ValueError, match="most_groups must be from 0 to 48, got 49"):
        MaskIndex.build(["a"], [1], "mqtt", most_groups=49)
    with pytest.raises(ValueError, match="subscribers must not be null, element 1 is"):
        MaskIndex.build(["a", "b"], pa.array([1, None]), "mqtt")


def test_shared_subscriptions_match_as_their_filters():
    index = MaskIndex.build(["$share/g/+/b", "$share/h/#"], ["x", "y"], "mqtt")
    assert index.match("a/b") == {"x", "y"}
    assert index.match("$SYS/b") == frozenset()


def test_it_does_not_change():
    index = sample()
    with pytest.raises(FrozenMatcher, match="subscribe on the matcher it was made from"):
        index.subscribe("a", 1)
    with pytest.raises(FrozenMatcher, match="unsubscribe on the matcher it was made from"):
        index.unsubscribe(next(index.subscriptions()))
    assert index.freeze() is index
    assert index.snapshot().pairs() == {("a/+", 1), ("a/#", 2), ("b/c", 3), ("a/b", 1)}
    assert {each.pattern for each in index.subscriptions("a")} == {"a/+", "a/#", "a/b"}
    index.match("a/b")
    stats = index.stats()
    assert (stats.subscriptions, stats.subscribers, stats.matches, stats.matched) == (4, 3, 1, 2)
    assert stats.details["masks"] == 3


def test_nothing_subscribed():
    index = MaskIndex.build([], [], "amqp")
    assert index.match("a") == frozenset()
    assert index.match_many(["a", ""]).to_pylist() == [[], []]
    assert not index.has_interest("a")


@pytest.mark.parametrize("subscribers", [(1, 2, 3, 1), ("é", "y", "z", "é"), (2**40, 1, 2, -5)])
def test_saved_and_opened(tmp_path, subscribers):
    index, path = sample(subscribers), tmp_path / "topics.index"
    index.save(path)
    for again in (MaskIndex.open(path), MaskIndex.open(path, check=False), pickle.loads(pickle.dumps(index))):
        assert again.match("a/b") == index.match("a/b") == set(subscribers) - {subscribers[2]}
        assert again.dialect is MQTT
        assert again.match_many(["b/c", "x"]).to_pylist() == [[subscribers[2]], []]
        assert again.nbytes == index.nbytes
    assert [each.name for each in tmp_path.iterdir()] == ["topics.index"]


def test_two_savers_and_a_reader(tmp_path):
    """Every open succeeds and finds one of the two indices, whole."""
    path = tmp_path / "index"
    indices = [sample(), MaskIndex.build([f"t/{n}" for n in range(5000)], np.arange(5000), "mqtt")]
    matches = [[{1, 2}, set()], [set(), {7}]]  # of a/b and t/7, in each index
    indices[0].save(path)
    left = [200, 200]
    failed = []

    def saver(k):
        while left[k]:
            try:
                indices[k].save(path)
            except OSError as error:
                failed.append(error)
            left[k] -= 1

    savers = [threading.Thread(target=saver, args=(k,)) for k in range(2)]
    for thread in savers:
        thread.start()
    opened = 0
    while any(left) or opened == 0:
        index = MaskIndex.open(path)
        assert [index.match("a/b"), index.match("t/7")] in matches
        opened += 1
    for thread in savers:
        thread.join()
    assert failed == []
    assert [file.name for file in tmp_path.iterdir()] == ["index"]


def test_a_failed_save_leaves_the_old_index(tmp_path, monkeypatch):
    path = tmp_path / "index"
    sample().save(path)

    def fail(fd):
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", fail)
        with pytest.raises(OSError, match="No space left on device") as caught:
            MaskIndex.build(["x"], [9], "mqtt").save(path)
    assert caught.value.filename == str(path)
    assert MaskIndex.open(path).match("a/b") == {1, 2}
    assert [file.name for file in tmp_path.iterdir()] == ["index"]


def test_what_cannot_be_saved(tmp_path):
    with pytest.raises(TypeError, match="all int or all str can be saved"):
        MaskIndex.build(["a"], [(1, 2)], "mqtt").save(tmp_path / "x")
    with pytest.raises(TypeError, match="a dialect of your own cannot be saved"):
        MaskIndex.build(["a"], [1], replace(MQTT, most_words=9)).save(tmp_path / "x")
    assert not list(tmp_path.iterdir())


def test_files_that_are_no_index(tmp_path):
    path = tmp_path / "topics.index"
    sample().save(path)
    whole = path.read_bytes()

    def opened(data):
        path.write_bytes(data)
        return MaskIndex.open(path)

    for data, says in [
        (b"", "is no topic index"),
        (b"PAR1" + whole[4:], "is no topic index: it does not start with LFTOPICS"),
        (whole[:8], "is no topic index"),
        (whole[:-1], "it is truncated"),
        (whole[: len(whole) // 2], "it is truncated"),
        (whole + b"x", "it is truncated or was added to"),
        (whole[:8] + b"\x07" + whole[9:], "has layout version 7, and this program knows 3"),
        (whole[:8] + b"\x02" + whole[9:], "has layout version 2, and this program knows 3"),
        (whole[:-70] + bytes([whole[-70] ^ 1]) + whole[-69:], "is damaged: its checksum"),
    ]:
        with pytest.raises(IndexInvalid, match=says) as refused:
            opened(data)
        assert str(path) in str(refused.value)
    assert opened(whole).match("b/c") == {3}
    with pytest.raises(FileNotFoundError):
        MaskIndex.open(tmp_path / "missing")


def test_a_hash_is_never_taken_for_a_match():
    """Each hash leads to the record of another pattern: the comparison of bytes and groups must refuse them all."""
    patterns = ["a/+", "a/b", "+/b", "a/b/#", "a/bc", "+/+", "a/c"]
    index = MaskIndex.build(patterns, range(7), "mqtt")
    topics = ["a/b", "a/x", "a/b/c", "x/b", "a/bc", "a/c", "y/z"]
    assert all(index.match(topic) for topic in topics)
    entries = index._arrays["entries"]
    used = np.flatnonzero(entries)
    low = np.uint64(0xFFFFFFFF)
    names = entries[used] & low
    for turn in range(1, 7):
        entries[used] = (entries[used] & ~low) | np.roll(names, turn)
        assert [index.match(topic) for topic in topics] == [frozenset()] * 7
    entries[used] = (entries[used] & ~low) | names
    assert all(index.match(topic) for topic in topics)


def test_an_edge_is_not_taken_for_that_of_another_node():
    """The hashes of this word below these two nodes differ in the last bit only, which a key once left out."""
    text = np.frombuffer(b"?\xdd\xc9\xd7\xe7%\x8f\xb7", np.uint8)
    golden, mix = 0x9E3779B97F4A7C15, 0xD6E8FEB86659FD93

    def fold(word):
        word = (word ^ (word >> 32)) * mix % (1 << 64)
        return word ^ (word >> 32)

    h = fold((int(text.view(np.uint64)[0]) * golden + len(text)) % (1 << 64))
    one, other = 1, 1_970_938_149
    assert fold((h + one * golden) % (1 << 64)) ^ fold((h + other * golden) % (1 << 64)) == 1
    items = {"keys": np.uint64, "word": np.uint64, "loops": np.uint8, "inner": np.int64}
    trie = Trie(*(np.zeros(2, items.get(name, np.uint32)) for name in Trie._fields))
    records = np.uint64(text.ctypes.data)

    def edge(node):
        return edge_of(trie, records, np.int64(node), np.uint64(h), records, np.int64(len(text)))

    place, key = edge(one)
    trie.keys[place], trie.child[place], trie.size[place] = key, 2, len(text)
    assert edge(one) == (place, key)
    assert trie.keys[edge(other)[0]] == 0


@pytest.mark.slow
def test_nodes_whose_hashes_nearly_collide_are_far_apart():
    """Such a pair needs one of six high halves in the product of the constant and the number of nodes between."""
    inverse = pow(0xD6E8FEB86659FD93, -1, 1 << 64)
    halves = {(each >> 32) + more & 0xFFFFFFFF for each in (inverse, -inverse % (1 << 64)) for more in (-1, 0, 1)}
    nearest = 836_034_978
    golden, step = np.uint64(0x9E3779B97F4A7C15), 1 << 22
    for low in range(1, nearest + 1, step):
        apart = np.arange(low, min(low + step, nearest + 1), dtype=np.uint64)
        high = apart * golden >> np.uint64(32)
        near = np.zeros(len(apart), bool)
        for half in halves:
            near |= high == np.uint64(half)
        assert apart[near].tolist() == ([nearest] if apart[-1] == nearest else [])


@pytest.mark.parametrize("wild", ["one", "many"])
def test_a_trie_whose_paths_meet_is_refused(wild):
    """Both ways lead from each node to the next, so that twice as many paths arrive there as the trie has nodes."""
    words = ["w"] * 12
    index = MaskIndex.build(["/".join(words), "#"], [1, 2], "mqtt", most_groups=0)
    trie = index._trie
    edges = np.flatnonzero(trie.keys)
    below = dict(zip((trie.keys[edges] >> np.uint64(32)).tolist(), trie.child[edges].tolist(), strict=True))
    assert index.match("/".join(words)) == {1, 2}
    for node, child in below.items():
        getattr(trie, wild)[node] = child
    for found in (index.match, index.has_interest, index.matching, lambda topic: index.match_many([topic])):
        with pytest.raises(IndexInvalid, match="two ways lead to one node"):
            found("/".join(words))


def test_the_layout():
    buffer = layout.pack({"x": 1}, {"a": np.arange(5), "b": np.empty(0, np.uint8)})
    plain, arrays = layout.unpack(buffer, "it")
    assert plain == {"x": 1}
    assert arrays["a"].tolist() == [0, 1, 2, 3, 4]
    assert arrays["b"].tolist() == []


def test_bytes_are_the_same_where_each_of_them_is():
    texts = [(bytes(range(length)) + b"?") for length in range(27)]
    for text in texts:
        one = np.frombuffer(text, np.uint8)
        for changed in range(len(text)):
            other = one.copy()
            other[changed] ^= 128
            equal = same_bytes(np.uint64(one.ctypes.data), np.uint64(other.ctypes.data), len(text) - 1)
            assert equal == (changed == len(text) - 1)


def test_a_probe_ends_however_few_patterns_there_are():
    """The table has a free place at which the search for a key that is not there ends."""
    for count in range(1, 40):
        index = MaskIndex.build([f"a/{k}" for k in range(count)], list(range(count)), "mqtt")
        assert np.count_nonzero(index._arrays["entries"] == 0) > 0
        assert index.match_many([f"a/{k}" for k in range(3000)]).to_pylist() == [
            [k] if k < count else [] for k in range(3000)
        ]


def test_bytes_that_lie_about_their_length_are_measured():
    class Lying(bytes):
        def __len__(self) -> int:
            return 1 << 40

    index = MaskIndex.build(["a.b"], [1])
    assert index.match(Lying(b"a.b")) == {1}
    assert index.has_interest(Lying(b"a.b"))
