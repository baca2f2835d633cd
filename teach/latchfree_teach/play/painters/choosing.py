"""Choose the painter of a target."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from latchfree_explore.target import Memory, Target
from latchfree_teach.play.painters.lists import ListPainter
from latchfree_teach.play.painters.picture import Painter, Words
from latchfree_teach.play.painters.words import WordPainter

_LISTS: Final = {"treiber": ({"head": 1}, 32), "treiber_aba": ({"head": 1}, 32), "queue": ({"head": 8, "tail": 9}, 62)}
_LISTS_TOO: Final = {"hasty_queue": "queue"}


def painter_of(target: Target, memory: Memory, contended: Iterable[int], changed: Iterable[int]) -> Painter:
    """Return the painter of a structure that we know, by the name of the target; else one that draws words."""
    name = _LISTS_TOO.get(target.name, target.name)
    if name in ("ctrie", "topic-trie"):
        from latchfree_teach.play.painters.trie import TriePainter

        if name == "ctrie":
            return TriePainter(memory.root, _key_and_value)
        return TriePainter(memory.root, _subscription, _word)
    if name == "ring":
        from latchfree_teach.play.painters.ring import RingPainter

        return RingPainter(memory.root)
    if name in _LISTS and type(target) is Target and target.setup.__module__.startswith("latchfree_explore."):
        return ListPainter(*_LISTS[name])
    return WordPainter(contended, changed)


def _key_and_value(memory: Words, snode: int) -> str:
    """Return key and value: the target keeps the number of a key in the byte above its value."""
    held = int(memory[snode + 2])
    return f"{held >> 8}:{held & 255}"


def _subscription(memory: Words, snode: int) -> str:
    from latchfree_evidence.targets.topics import PATTERNS, SUBSCRIBERS

    number = int(memory[snode + 1]) >> 1
    return f"{PATTERNS[number // SUBSCRIBERS]}→{number % SUBSCRIBERS}" if number < 64 else "?"


def _word(digit: int) -> str:
    from latchfree.topics.concurrent.kernels.digits import ANY_WORD, ANY_WORDS, END

    return {int(ANY_WORD): "+", int(ANY_WORDS): "#", int(END): "$"}.get(digit, "•")
