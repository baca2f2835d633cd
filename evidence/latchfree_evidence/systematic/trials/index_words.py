"""Words of topics and patterns as a mask index reads them: places, hashes, shapes; none reads past the end of a text.

Example: of ``ab//c`` the words start at 0, 3 and 4. The text lies before a fence, so a kernel that reads eight bytes
from the last word on ends the process. Then the same text lies in a longer column, whose next text must not matter.
"""

from __future__ import annotations

import random
from typing import Any, Final

import numpy as np

from latchfree.topics.dialects import DIALECTS
from latchfree.topics.mask.byte_classes import class_table, eight
from latchfree.topics.mask.kernels import shapes, texts
from latchfree_evidence.systematic.plain.arrays import View
from latchfree_evidence.systematic.plain.fenced import Fenced
from latchfree_evidence.systematic.plain.world import World
from latchfree_evidence.systematic.trials.place import require

_WORD: Final = (1 << 64) - 1
_GOLDEN: Final = int(texts.GOLDEN)
_SIZES: Final = (0, 1, 2, 7, 8, 9, 15, 16, 17, 24, 25, 40)


def _folded(word: int) -> int:
    word = (word ^ (word >> 32)) * int(texts.MIX) & _WORD
    return word ^ (word >> 32)


def hash_of(word: bytes) -> int:
    """Return the hash of a word, as stored indices have it."""
    h, rest = 0, word
    while len(rest) > 8:
        h = (h ^ int.from_bytes(rest[:8], "little")) * _GOLDEN & _WORD
        rest = rest[8:]
    return _folded(((h ^ int.from_bytes(rest, "little")) * _GOLDEN + len(word)) & _WORD)


def _suspects(text: bytes, classes: Any, separator: bytes) -> int:
    if not text:
        return 0
    empty = text.split(separator).count(b"") if int(classes[texts.EMPTY_WORD]) == int(texts.SUSPICIOUS) else 0
    return empty + sum(int(classes[byte]) == int(texts.SUSPICIOUS) for byte in text)


def _check(world: World, text: bytes, dialect: Any, patterns: bool, most: int, behind: bytes) -> None:
    classes, separator = class_table(dialect, patterns=patterns), dialect.separator.encode()
    column = Fenced(text + behind)
    out = [Fenced(b"\xee" * 8 * most) for _ in range(3)]
    words, suspects = world[texts.parse](
        column.address, len(text), column.address + len(text + behind), classes.ctypes.data,
        int(eight(dialect.separator)), most, *(each.address for each in out),
    )  # fmt: skip
    parts = text.split(separator) if text else []
    require(words == len(parts), "how many words", text, words)
    require(suspects == _suspects(text, classes, separator), "what may break a rule", text, suspects)
    starts = [sum(len(each) + 1 for each in parts[:k]) for k in range(len(parts))]
    wanted = [list(map(hash_of, parts)), starts, [at + len(each) for at, each in zip(starts, parts, strict=True)]]
    for found, each in zip(out, wanted, strict=True):
        rest = [0xEEEEEEEEEEEEEEEE] * (most - len(parts[:most]))
        require(found.array.view(np.uint64).tolist() == [*each[:most], *rest], "where words are", text)


def parses(world: World, seed: int) -> None:
    """Split texts of all lengths, at the end of their memory and before other texts, with too little room, too."""
    rng = random.Random(seed)
    for dialect in DIALECTS.values():
        s = dialect.separator.encode()
        for first in _SIZES:
            for second in (None, *_SIZES[:8]):
                parts = [bytes(rng.choices(b"abz\xc3\xff", k=size)) for size in (first, second) if size is not None]
                _check(world, s.join(parts), dialect, bool(seed % 2), 4, rng.choice((b"", s + b"behind  ")))
        for _ in range(60):
            text = bytes(rng.choices(b"ab\0 +#*>\x1f\x7f" + 3 * s, k=rng.randint(0, 40)))
            _check(world, text, dialect, bool(seed % 2), rng.choice((0, 1, 3, 41)), rng.choice((b"", b"c" * 9)))


def runs(world: World, seed: int) -> None:
    """Compare runs of bytes that differ in one byte, or behind their end only; read neither past its end."""
    for length in range(27):
        one = Fenced(bytes(range(length)))
        for changed in range(length):
            other = Fenced(one.array.tobytes())
            require(world[texts.same_bytes](one.address, other.address, length) is True, "equal runs", length)
            other.array[changed] ^= 128
            require(world[texts.same_bytes](one.address, other.address, length) is False, "a byte", length, changed)
        require(world[texts.same_bytes](one.address, Fenced(b"").address, 0) is True, "empty runs")


def positions(world: World, seed: int) -> None:
    """Give the same word another hash at each of its positions, and know the one of stored indices."""
    for k in range(65):
        require(world[texts.at_position](12345, k) == 12345 * (_GOLDEN + 2 * k) & _WORD, "the hash at a position", k)


def _shape(text: str, dialect: Any) -> tuple[int, int, bool]:
    words = text.split(dialect.separator) if text else []
    inner = words[:-1] if words and words[-1] == dialect.many else words
    mask = sum(1 << k for k, word in enumerate(words[:64]) if word == dialect.one)
    odd = len(inner) > 64 or dialect.many in inner
    classes = class_table(dialect, patterns=True)
    suspects = _suspects(text.encode(), classes, dialect.separator.encode())
    suspects -= sum(word in (dialect.one, dialect.many) and classes[ord(word)] == texts.SUSPICIOUS for word in words)
    depth = -1 if odd else 2 * len(inner) + (len(inner) < len(words))
    return mask, depth, odd or not words or suspects != 0


def scans(world: World, seed: int) -> None:
    """Find the shapes of patterns, of those that break a rule, too, and of very deep ones."""
    rng = random.Random(seed)
    for dialect in DIALECTS.values():
        s, one, many = dialect.separator, dialect.one, dialect.many
        given = ["", one, many, s, "a", f"a{s}{many}", f"{many}{s}a", f"a{one}", f"{many}{many}", f"{one}{s}{many}"]
        for n in (63, 64, 65, 66, 67):
            given += [s.join([word] * n) + end for word in ("w", one) for end in ("", s + many, s + one, s + "z")]
        choices = [one, many, "a", "bb", "", "c\0", f"d{one}", f"{many}e", f"{one}{one}"]
        given += [s.join(rng.choices(choices, k=rng.randint(1, 6))) for _ in range(120)]
        given.append(s.join(["w"] * 64 + [many, "w"]))
        column = Fenced("".join(given).encode())
        offsets = np.cumsum([0, *map(len, given)]).astype(np.int64)
        out = np.zeros(len(given), np.uint64), np.zeros(len(given), np.int64), np.zeros(len(given), np.uint8)
        classes = class_table(dialect, patterns=True)
        world[shapes.scan_patterns](
            column.address, View(offsets), classes.ctypes.data, int(eight(s)), ord(one), ord(many), *map(View, out)
        )
        for k, text in enumerate(given):
            found = int(out[0][k]), int(out[1][k]), bool(out[2][k])
            require(found == _shape(text, dialect), "the shape of a pattern", text, found)


def loads(world: World, seed: int) -> None:
    """Split texts of short words: `load` reads 1 to 7 bytes, as a shift follows, and there is none by 64 bits."""

    def wrapped(made: Any, steps: bool) -> Any:
        def load(address: int, size: int, limit: int) -> Any:
            require(1 <= size <= 7, "bytes that are read as a word", size)
            return made(address, size, limit)

        return load

    kernels = world.with_wrapped({"latchfree.topics.mask.kernels.texts:load": wrapped})
    for text in (b"a", b"abc/efg", b"abc/efgh", b"a/cd/fgh/jk/mn/p", b"", b"/", b"abc/efgh/"):
        for behind in (b"", b"/behind  "):
            _check(kernels, text, DIALECTS["mqtt"], False, 9, behind)
