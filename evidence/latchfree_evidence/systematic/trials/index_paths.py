"""The trie of a mask index: edges, paths and the room for them; and indexes whose tables lead to the wrong record.

Example: below two nodes the word ``a`` has two edges, also where all hashes are the same.
"""

from __future__ import annotations

import itertools
import random
from dataclasses import replace
from typing import Any, Final

import numpy as np

from latchfree.topics import IndexInvalid, LockedTrie, MaskIndex
from latchfree.topics.dialects import DIALECTS
from latchfree.topics.mask.byte_classes import class_table, eight
from latchfree.topics.mask.kernels import trie as t
from latchfree_evidence.systematic.plain.arrays import View
from latchfree_evidence.systematic.plain.faces import faces
from latchfree_evidence.systematic.plain.fenced import Fenced
from latchfree_evidence.systematic.plain.world import World
from latchfree_evidence.systematic.trials.index_words import hash_of
from latchfree_evidence.systematic.trials.place import require

_KINDS: Final = {"keys": np.uint64, "word": np.uint64, "loops": np.uint8, "inner": np.int64}
_WORD: Final = (1 << 64) - 1


def _trie(edges: int, nodes: int) -> Any:
    sizes = {"keys": edges, "child": edges, "word": edges, "size": edges, "inner": 1}
    return t.Trie(*(np.zeros(sizes.get(name, nodes), _KINDS.get(name, np.uint32)) for name in t.Trie._fields))


def _seen(arrays: Any) -> Any:
    return type(arrays)(*map(View, arrays))


def _mixed(node: int, word: bytes) -> int:
    h = (hash_of(word) + node * 0x9E3779B97F4A7C15) & _WORD
    h = (h ^ (h >> 32)) * 0xD6E8FEB86659FD93 & _WORD
    return h ^ (h >> 32)


def edges(world: World, seed: int) -> None:
    """Enter edges into a table until one place is free, and look all up, by the hashes there are and by one for all."""
    rng = random.Random(seed)
    folded = {"latchfree.topics.mask.kernels.texts:fold": lambda made, steps: lambda word: (1 << 64) - 1}
    for mixed, kernels in ((_mixed, world), (lambda node, word: _WORD, world.with_wrapped(folded))):
        asked = list(itertools.product((1, 2, 3, 7), (b"a", b"ab", b"b", b"", b"abcdefghi", b"abcdefghj")))
        rng.shuffle(asked)
        texts = Fenced(b"".join(word for _, word in asked))
        trie = _trie(len(asked) + 1, 1)
        model: list[tuple[int, bytes] | None] = [None] * len(trie.keys)
        at = 0
        for step, (node, word) in enumerate(asked + asked):
            known = step >= len(asked)
            at = 0 if step == len(asked) else at
            place, key = kernels[t.edge_of](
                _seen(trie), texts.address, node, hash_of(word), texts.address + at, len(word)
            )
            wanted = mixed(node, word) % len(model)
            while model[wanted] not in (None, (node, word)):
                wanted = (wanted + 1) % len(model)
            require(place == wanted and (model[place] is None) != known, "the place of an edge", node, word)
            require(key == node << 32 | mixed(node, word) >> 32, "its key", node, word)
            model[place] = (node, word)
            trie.keys[place], trie.word[place], trie.size[place] = key, at, len(word)
            at += len(word)


class _Grown:
    """A trie of patterns, in arrays that have just enough room."""

    def __init__(self, world: World, patterns: list[str], dialect: Any) -> None:
        self.world, self.dialect = world, dialect
        self.texts = Fenced("".join(patterns).encode())
        lengths = np.array([len(each) for each in patterns], np.int64)
        at = np.cumsum([0, *lengths[:-1]]).astype(np.int64)
        words = {tuple(each.split(dialect.separator)[: k + 1]) for each in patterns if each for k in range(99)}
        plain = [each for each in words if each[-1] not in (dialect.one, dialect.many)]
        self.trie = _trie(len(plain) + 1, len(words) + 2)
        used = world[t.grow](
            _seen(self.trie), self.texts.address, self.texts.address + len(self.texts.array), View(at), View(lengths),
            View(np.arange(1, len(patterns) + 1)), class_table(dialect, patterns=True).ctypes.data,
            int(eight(dialect.separator)), ord(dialect.one), ord(dialect.many), int(lengths.max()) + 1,
        )  # fmt: skip
        require(used == len(words) + 2, "how many nodes", used, len(words))
        inner = any(dialect.many in each.split(dialect.separator)[:-1] for each in patterns)
        require(bool(self.trie.inner[0]) == inner, "whether paths can meet")

    def found(self, topic: str, hidden: bool, room: int, stamps: np.ndarray[Any, Any], tick: int) -> tuple[Any, int]:
        words = topic.split(self.dialect.separator) if topic else []
        starts = [sum(len(each) + 1 for each in words[:k]) for k in range(len(words))]
        ends = [at + len(each) for at, each in zip(starts, words, strict=True)]
        given = [[hash_of(each.encode()) for each in words], starts, ends]
        line = Fenced(topic.encode())
        now, then = np.zeros(room, np.int64), np.zeros(room, np.int64)
        held, following = self.world[t.walk](
            _seen(self.trie), self.texts.address, line.address, len(words),
            t.Words(*(View(np.array(each, np.uint64)) for each in given)), self.dialect.least, hidden,
            _seen(t.Paths(now, then, stamps)), tick,
        )  # fmt: skip
        if held < 0:
            return None, following
        nodes = now[:held].tolist()
        require(len(set(nodes)) == held, "a node is listed once", nodes)
        return {int(self.trie.name[node]) for node in nodes} - {0}, following


def walks(world: World, seed: int) -> None:
    """Match topics of few words by tries of one to many patterns, with stamps and without."""
    rng = random.Random(seed)
    unusual = replace(DIALECTS["amqp"], least=1), replace(DIALECTS["nats"], hides_dollar=True)
    for d in (*DIALECTS.values(), *unusual):
        s, some = d.separator, ["a", "ab", "$s", d.one]
        shapes = [s.join(each) for n in (1, 2, 3) for each in itertools.product(some, repeat=n)]
        shapes += [f"{each}{s}{d.many}" for each in shapes[:24]] + [d.many]
        if d.many_anywhere:
            shapes += [f"{d.many}{s}{each}" for each in shapes[:24]]
            shapes += [s.join(("a", d.many, d.many)), s.join((d.many, "a", d.many, d.one))]
        patterns = [d.many, *rng.sample(shapes[:-1], rng.choice((4, 20, 30)))] if seed % 2 else rng.sample(shapes, 12)
        patterns = list(dict.fromkeys(patterns))
        grown, trie = _Grown(world, patterns, d), LockedTrie[int](d)
        for k, pattern in enumerate(patterns):
            trie.subscribe(pattern, k + 1)
        nodes = len(grown.trie.one)
        stamps, tick = np.zeros(nodes if grown.trie.inner[0] else 0, np.int64), 1
        for n in (1, 2, 3, 4):
            for words in itertools.product(("a", "ab", "$s", "b"), repeat=n):
                if n > 2 and rng.random() < 0.8:
                    continue
                topic = s.join(words)
                hidden = d.hides_dollar and topic.startswith("$")
                found, after = grown.found(topic, hidden, nodes, stamps, tick)
                require(found == trie.match(topic), "which patterns match", topic, found, patterns)
                require(after > max([tick, *stamps.tolist()]), "a tick that no stamp has", tick, after)
                tick = after


def rooms(world: World, seed: int) -> None:
    """Walk with lists that are just long enough, and one shorter: the walk ends."""
    d = DIALECTS["mqtt"]
    none = np.zeros(0, np.int64)
    for patterns, topic, room in ((["a", "+"], "a", 2), (["#", "a"], "a", 2), (["#"], "", 2), (["a"], "a", 1)):
        grown = _Grown(world, patterns, d)
        wanted = {k + 1 for k in range(len(patterns))}
        require(grown.found(topic, False, room, none, 1)[0] == wanted, "a list that is just long enough", topic)
        if room > 1:
            require(grown.found(topic, False, room - 1, none, 1)[0] is None, "a list that is too short", topic)


def signs(world: World, seed: int) -> None:
    """Take the byte 0 for a wildcard, in dialects that have it so, where it is alone in its word."""
    none = np.zeros(0, np.int64)
    for d in (replace(DIALECTS["amqp"], one="\0"), replace(DIALECTS["amqp"], many="\0")):
        grown = _Grown(world, ["a.b", "ab", "\0", "a.\0", "\0\0"], d)
        least = d.many == "\0"
        for topic, wanted in (("a.b", {1, 4, 3} if least else {1, 4}), ("ab", {2, 3}), ("a", {3, 4} if least else {3})):
            require(grown.found(topic, False, len(grown.trie.one), none, 1)[0] == wanted, "who is matched", topic)


def meetings(world: World, seed: int) -> None:
    """Refuse an index that was changed so that two ways lead from each node of its trie to the next."""
    with faces(world):
        text = "/".join(["w"] * 9)
        index: MaskIndex[int] = MaskIndex.build([text, "#"], [1, 2], "mqtt", most_groups=0)
        require(index.match(text) == {1, 2}, "who is matched")
        edges = np.flatnonzero(index._trie.keys)
        for key, child in zip(index._trie.keys[edges].tolist(), index._trie.child[edges].tolist(), strict=True):
            index._trie.one[key >> 32] = child
        try:
            index.match(text)
        except IndexInvalid:
            return
        require(False, "a trie whose paths meet is refused")


def crossed(world: World, seed: int) -> None:
    """Let each entry of the table lead to the record of another pattern: groups and bytes refuse them all."""
    with faces(world):
        patterns = ["a/+", "a/b", "+/b", "a/b/#", "a/bc", "+/+", "a/c", "#", "+/#"]
        topics = ["a/b", "a/x", "a/b/c", "x/b", "a/bc", "a/c", "y/z", "a"]
        index: MaskIndex[int] = MaskIndex.build(patterns, range(len(patterns)), "mqtt")
        require(all(index.match(topic) for topic in topics), "somebody is matched")
        entries = index._arrays["entries"]
        used = np.flatnonzero(entries)
        low = np.uint64(0xFFFFFFFF)
        names = entries[used] & low
        for turn in range(1, len(patterns)):
            entries[used] = (entries[used] & ~low) | np.roll(names, turn)
            require(not any(index.match_many(topics).to_pylist()), "nobody is", turn)


def corners(world: World, seed: int) -> None:
    """Match topics of few words by all groups of few patterns: short ones, hidden ones, and such as any topic has."""
    name = ("mqtt", "amqp", "nats")[seed % 3]
    d = DIALECTS[name]
    rng = random.Random(seed)
    one, many, s = d.one, d.many, d.separator
    patterns = [many, one, "a", f"{one}{s}{many}", f"$s{s}{many}", f"$s{s}{one}", f"a{s}{many}", f"{one}{s}{one}"]
    patterns += [f"{one}{s}a{s}{many}", s.join([one] * 64), s.join([one] * 63 + [many]), s.join(["w"] * 64 + [many])]
    patterns = [each for each in patterns if rng.random() < 0.8] or [many]
    topics = [s.join(each) for n in (1, 2, 3) for each in itertools.product(("a", "$s", "b"), repeat=n)]
    topics += [s.join(["w"] * n) for n in (62, 63, 64, 65, 66)]
    trie: LockedTrie[int] = LockedTrie(name)
    for k, pattern in enumerate(patterns):
        trie.subscribe(pattern, k)
    with faces(world):
        for groups in (48, 2, 0):
            index: MaskIndex[int] = MaskIndex.build(patterns, range(len(patterns)), name, most_groups=groups)
            for given in (topics, topics[:1], topics[::-1] * 2):
                together = [frozenset(row) for row in index.match_many(given).to_pylist()]
                require(together == [trie.match(each) for each in given], "who is matched", groups)


def roots(world: World, seed: int) -> None:
    """Match by a trie of the root alone and by one of one edge; and the empty topic, before one that starts with $."""
    with faces(world):
        for groups in (0, 48):
            index: MaskIndex[int] = MaskIndex.build([""], [1], "amqp", most_groups=groups)
            require(index.match("") == {1} and not index.match("a"), "who is matched", groups)
            index = MaskIndex.build(["a"], [1], "mqtt", most_groups=groups)
            require(index.match("a") == {1} and not index.match("b"), "who is matched", groups)
            hiding = replace(DIALECTS["amqp"], hides_dollar=True)
            index = MaskIndex.build(["#"], [1], hiding, most_groups=groups)
            require(index.match_many(["", "$", "", "a"]).to_pylist() == [[1], [], [1], [1]], "who hides", groups)


def stale(world: World, seed: int) -> None:
    """Match where the places behind the last key that is kept hold that key once more: they are not read."""

    def wrapped(made: Any, steps: bool) -> Any:
        def probe(tables: Any, keys: Any, numbers: Any, places: Any, count: Any) -> Any:
            kept = made(tables, keys, numbers, places, count)
            if kept:
                for each in (keys, numbers, places):
                    each[kept] = each[kept - 1]
            return kept

        return probe

    with faces(world.with_wrapped({"latchfree.topics.mask.kernels.search:probe": wrapped})):
        patterns = ["a/+", "a/b", "+/b", "+/+"]
        index: MaskIndex[int] = MaskIndex.build(patterns, range(4), "mqtt")
        require(sorted(index.match_many(["a/b"]).to_pylist()[0]) == [0, 1, 2, 3], "each subscriber once")


def around(world: World, seed: int) -> None:
    """Look for records of one key from the last place of the table on: the search goes on with the first."""
    changes = {
        "latchfree.topics.mask.kernels.texts:fold": lambda made, steps: lambda word: 0,
        "latchfree.topics.mask.kernels.table:place_of": lambda made, steps: lambda key, capacity: capacity - 1,
    }
    with faces(world.with_wrapped(changes)):
        for count in (1, 2, 3, 4, 5):
            index: MaskIndex[int] = MaskIndex.build([f"{k}/+" for k in range(count)], range(count), "mqtt")
            topics = [f"{k}/x" for k in range(count + 1)]
            together = index.match_many(topics).to_pylist()
            require(together == [*([k] for k in range(count)), []], "who is matched", count)
