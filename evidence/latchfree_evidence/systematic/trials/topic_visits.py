"""Which nodes a match visits: those that may lead to a pattern that matches, and no others.

Example: the topic ``$t/a`` is matched in a trie of ``+/a`` and ``$t/+``. The branch of ``+`` is left alone, for a
leading wildcard matches no topic with a dollar sign. What is found there would be refused, so nobody would see a visit;
but the match would be slower, and would begin again when the branch changes.

The dialect in plain Python says where a match may lead: a pattern that begins with ``a/+`` may match a topic if ``a/+``
or ``a/+/#`` does.
"""

from __future__ import annotations

import functools
import itertools
from itertools import product
from typing import Final

from latchfree.ctrie.kernels.gcas import READ_ONLY
from latchfree.topics.concurrent.kernels import collect, digits
from latchfree_evidence.systematic.plain.world import World
from latchfree_evidence.systematic.trials import walking
from latchfree_evidence.systematic.trials.place import ALL, require
from latchfree_evidence.systematic.trials.topic_arrays import Column
from latchfree_evidence.systematic.trials.topic_scene import Topics
from latchfree_evidence.systematic.trials.topic_shape import Shape
from latchfree_evidence.systematic.trials.topic_texts import digit_of, is_pattern

_DIALECTS: Final = ("mqtt", "nats", "amqp")
#: All bits of digits count; or all words have the same lower bits, and I-nodes are below each other.
_MASKS: Final = (ALL >> 1, (ALL >> 1) & ~0xFFF)
_END, _ONE, _MANY = int(digits.END), int(digits.ANY_WORD), int(digits.ANY_WORDS)
_SIGNS: Final = (_END, _ONE, _MANY)
_LITERAL: Final = ("a", "b", "$t")


@functools.cache
def _beside(sign: int, front: str) -> str:
    """Return a word whose digit falls in the slot of a wildcard, or of the end of a pattern."""
    words = (f"{front}{k}" for k in itertools.count())
    return next(word for word in words if (digit_of(word.encode()) ^ sign) & 63 == 0)


class _Visits:
    """What a match of one topic should visit."""

    def __init__(self, here: Topics, topic: str) -> None:
        self.dialect, self.topic, self.mask = here.dialect, topic, here.mask
        self.split = self.dialect.split(topic)
        self.hidden = self.dialect.hides_dollar and topic.startswith("$")
        known = (*_LITERAL, *(_beside(sign, "p") for sign in _SIGNS), *topic.split(self.dialect.separator))
        self.words = {self.digit(word): word for word in known}
        self.words |= {_ONE: self.dialect.one, _MANY: self.dialect.many}

    def digit(self, word: str) -> int:
        """Return the digit of a word that is no wildcard."""
        return digit_of(word.encode()) & self.mask

    def matches(self, words: list[str]) -> bool:
        """Return whether the pattern of these words matches."""
        text = self.dialect.separator.join(words)
        return is_pattern(self.dialect, text) and self.dialect.matches(self.dialect.pattern(text), self.split)

    def leads(self, words: list[str]) -> bool:
        """Return whether a pattern that begins with these words may match."""
        return not words or self.matches(words) or self.matches([*words, self.dialect.many])

    def visits(self, path: list[int], prefix: int, level: int) -> bool:
        """Return whether an I-node is visited that is behind these digits, and some bits of the next one."""
        words = [self.words[each] for each in path[: path.index(_END) if _END in path else None]]
        if _END in path:
            return self.matches(words)
        if not self.leads(words):
            return False
        ahead = [self.digit(word) for word in self.topic.split(self.dialect.separator) if self.leads([*words, word])]
        ahead += [_END] if self.matches(words) else []
        ahead += [_ONE] if self.leads([*words, self.dialect.one]) else []
        ahead += [] if self.hidden and not words else [_MANY]
        low = (1 << level) - 1
        return any(each & low == prefix & low for each in ahead)


def _look(here: Topics, shape: Shape, topic: str, root: int, *, live: bool) -> None:
    """Match a topic once, and compare what was visited and found."""
    column, me = Column([topic]), here.place.who[0]
    buffers = here.buffers(column.longest)
    space, rules = here.world[collect.space_of](*buffers), here.grammar.rules
    at, length = column.address, column.longest
    count = here.world[digits.parse](at, length, rules, 0, here.mask, False, space.starts, space.digits)
    trie = here.trie if live else int(READ_ONLY)
    require(here.place.pinned(me, collect.collect, trie, root, rules, at, length, count, space), "there is room")
    here.fenced.check()
    found = [here.mem[buffers.found[k] + 1] >> 1 for k in range(buffers.counts[int(collect.FOUND)])]
    require(sorted(found) == sorted(here.matching(shape.held, topic)), "what is found", topic, found)
    noted = {buffers.noted[k]: buffers.noted[k + 1] for k in range(0, buffers.counts[int(collect.NOTED)], 2)}
    require(all(here.mem[i + 1] == main for i, main in noted.items()), "mains are noted with their I-nodes", noted)
    if not live:
        require(not noted, "nothing is noted in a frozen tree", noted)
        return
    wanted, seen = _Visits(here, topic), walking.born(here.mem, root)
    for i, (path, prefix, level) in shape.inner.items():
        younger = walking.born(here.mem, i) == seen
        visited = younger and wanted.visits(path, prefix, level)
        exact = _MANY not in path or not here.dialect.many_anywhere
        require(i in noted if visited else i not in noted or not exact, "which nodes are visited", topic, path, level)
    require(set(noted) <= set(shape.inner), "nodes of the trie are visited", noted)


def visits(world: World, seed: int) -> None:
    """Match topics of few words in a trie of all patterns of few words, and in its snapshots."""
    here = Topics(world, _DIALECTS[seed // 2], _MASKS[seed % 2])
    d, me = here.dialect, here.place.who[0]
    texts = [d.separator.join(each) for n in (1, 2, 3) for each in product((d.one, d.many, *_LITERAL), repeat=n)]
    patterns = [each for each in texts if is_pattern(d, each)]
    patterns = [*patterns[:20] * 2, *patterns[20::4] * 2]  # of two that are the same, the words are branches
    patterns += [f"a{d.separator}{_beside(sign, 'p')}" for sign in _SIGNS]
    here.add(me, patterns, list(range(len(patterns))))
    topics = [d.separator.join(each) for n in (1, 2, 3, 4) for each in product(("a", "$t", "x"), repeat=n)]
    some = topics[:12] + topics[12::5]
    some += [_beside(sign, front) + end for sign in _SIGNS for front in "$w" for end in ("", f"{d.separator}a")]
    some += [d.separator.join(("a", "b", _beside(sign, "w"))) for sign in _SIGNS]
    for topic in some:
        _look(here, here.check(), topic, here.mem[here.trie + 1], live=True)
    slot = here.freeze(me)
    here.add(me, [d.separator.join(("a", "b", "new")), d.separator.join(("$t", d.one, d.one, "new"))], [1, 2])
    for topic in some[::3]:
        _look(here, here.check(), topic, here.mem[here.trie + 1], live=True)
    held = {number: it for number, it in here.held.items() if it[0] in patterns}
    for topic in some[::5]:
        _look(here, here.check(root=here.root(slot), held=held), topic, here.root(slot), live=False)
    here.thaw(me, slot)
    here.account()
