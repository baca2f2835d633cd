"""Where the keys of a scenario fall in a Ctrie.

Keys are named 0 to 7. A layout gives each of them a hash; the key that has it is found by running the hash function
backwards, which is possible because it is a bijection of 64-bit words. A mask says how many bits of a hash the trie
looks at: keys whose masked hashes are equal collide wholly and end in an L-node.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from latchfree import words

MOST_KEYS: Final = 8
_ALL: Final = (1 << 64) - 1
_LEVEL: Final = 6


class Layout(NamedTuple):
    """A hash mask, and the hash of each key."""

    mask: int
    hashes: tuple[int, ...]


def _layout(*bits: tuple[int, ...], mask: int = _ALL) -> Layout:
    """From the slots of each key at levels 0, 1, ...; above them hashes differ, so that keys do."""
    hashes = []
    for key, slots in enumerate(bits):
        h = (key + 1) << 48
        for level, slot in enumerate(slots):
            h |= slot << _LEVEL * level
        hashes.append(h)
    return Layout(mask, tuple(hashes))


_KEYS: Final = range(MOST_KEYS)

LAYOUTS: Final = {
    # each key in a slot of the root
    "flat": _layout(*((k,) for k in _KEYS)),
    # all in one slot of the root, apart from the next level on
    "shared": _layout(*((0, k) for k in _KEYS)),
    # 0 and 1 share a slot of the root, 2 and 3 another, and so on
    "pairs": _layout(*((k >> 1, k & 1) for k in _KEYS)),
    # two slots at each of three levels: 0, 2, 5 and 7 in one half of the tree, 0 with 2 and 5 with 7 below
    "tree": _layout(*(((k ^ k >> 2) & 1, k & 1, k >> 1 & 1) for k in _KEYS)),
    # pairs again, but they collide wholly: L-nodes, eleven levels down
    "lists": _layout(*((k >> 1, 0) for k in _KEYS), mask=(1 << 2 * _LEVEL) - 1),
    # every key collides with every other
    "list": _layout(*((0,) for _ in _KEYS), mask=0),
}
"""Name -> layout; the first is the usual one."""

_M1: Final = pow(int(words.MIX_1), -1, 1 << 64)
_M2: Final = pow(int(words.MIX_2), -1, 1 << 64)


def key_with_hash(h: int) -> int:
    """Return the signed integer key whose full hash is `h`: `latchfree.words.mix` backwards."""
    word = h ^ h >> 32
    word = word * _M2 & _ALL
    word ^= word >> 29 ^ word >> 58
    word = word * _M1 & _ALL
    word ^= word >> 32
    return word - (1 << 64) if word >> 63 else word
