"""Topics and patterns as compiled code reads them, beside the dialect in plain Python.

Example: the pattern ``a.#.b`` is stored in an S-node, and compared with every topic of up to four words of ``a`` and
``b``. Where hashes collide, nothing else decides who is matched.
"""

from __future__ import annotations

import ctypes
import functools
import itertools
import mmap
import random
from typing import Any

import numpy as np

from latchfree import words
from latchfree.ctrie.kernels.snode import BLOB_KEY_WORDS, KEY, KEY_LENGTH
from latchfree.topics import InvalidPattern, InvalidTopic
from latchfree.topics.concurrent.kernels import agree, digits
from latchfree.topics.concurrent.packed_dialect import forbidden_in, rules_of
from latchfree.topics.dialects import DIALECTS
from latchfree_evidence.systematic.plain.world import World
from latchfree_evidence.systematic.trials.place import require

ALL = (1 << 63) - 1


def _patterns(dialect: Any, words_of: tuple[str, ...], most: int) -> list[Any]:
    found = []
    for count in range(1, most + 1):
        for some in itertools.product(words_of, repeat=count):
            try:
                found.append(dialect.pattern(dialect.separator.join(some)))
            except InvalidPattern:
                continue
    return found


def is_pattern(dialect: Any, text: str) -> bool:
    """Return whether a dialect takes a text for a pattern."""
    try:
        dialect.pattern(text)
    except InvalidPattern:
        return False
    return True


def _topics(dialect: Any, words_of: tuple[str, ...], most: int) -> list[str]:
    found = []
    for count in range(1, most + 1):
        for some in itertools.product(words_of, repeat=count):
            text = dialect.separator.join(some)
            try:
                dialect.topic(text)
            except InvalidTopic:
                continue
            found.append(text)
    return found


def stored(pattern: str, *, wild: bool, behind: str = "./") -> list[int]:
    """Return the words of an S-node that holds a pattern; behind them is a text, again and again."""
    data = pattern.encode()
    mem = [0] * int(BLOB_KEY_WORDS)
    mem[int(KEY)], mem[int(KEY_LENGTH)] = 5 << 1 | wild, len(data)
    padded = data + bytes(-len(data) % 8)
    packed = [int.from_bytes(padded[at : at + 8], "little") for at in range(0, len(padded), 8)]
    return [*mem, *packed, *[int.from_bytes(behind.encode() * 4, "little")] * 4]


def parsed(world: World, text: str, rules: int, forbidden: int, *, pattern: bool) -> tuple[int, Any, Any, Any]:
    """Return the number of words of a text, the text at an address, where its words start, and its digits."""
    kept = ctypes.create_string_buffer(b"\xff" * 8 + text.encode() + b"\xff" * 8)
    starts, found = (np.full(len(text.encode()) + 3, 77, np.uint64) for _ in range(2))
    at, length = ctypes.addressof(kept) + 8, len(text.encode())
    count = world[digits.parse](at, length, rules, forbidden, ALL, pattern, starts.ctypes.data, found.ctypes.data)
    return count, kept, starts, found


def agreements(world: World, seed: int) -> None:
    """Compare stored patterns with topics, all of few short words."""
    name, dialect = list(DIALECTS.items())[seed % 3]
    one, many = dialect.one, dialect.many
    sets = (
        (one, many, "a", "b", ""),
        (one, many, "a", "ab", f"a{one}"),
        (one, many, "abcdefg", "", "abcdefgh", f"{one}a", f"{many}a"),
    )
    some = (*sets[seed // 3], "$s") if dialect.hides_dollar else sets[seed // 3]
    rules, agrees = rules_of(dialect), world[agree.agrees]
    literal = tuple(word for word in some if word not in (one, many))
    topics = _topics(dialect, literal, 3) if seed < 6 else _topics(dialect, (*literal, "abcdefgha", "aa"), 2)
    behinds = [dialect.separator.join((word, "")) for word in (one, "a")]
    patterns = _patterns(dialect, some, 4 if seed < 6 else 3)
    if seed >= 6:  # whose last, empty word is where the words of an S-node end
        patterns += _patterns(dialect, (one, "abcde", ""), 3)
        topics += [text for text in _topics(dialect, ("a", "abcde", ""), 3) if "abcde" in text]
    texts = [(topic, *parsed(World(), topic, rules, 0, pattern=False)) for topic in topics]
    for k, pattern in enumerate(patterns):
        wild = any(kind.value for kind in pattern.kinds)
        for behind in behinds if seed >= 6 else behinds[k % 2 :][:1]:
            mem = stored(pattern.text, wild=wild, behind=behind)
            for topic, count, kept, starts, _ in texts[k % 3 :: 3] if seed < 6 else texts:
                at, length = ctypes.addressof(kept) + 8, len(topic.encode())
                found = agrees(mem, 0, rules, at, length, count, starts.ctypes.data)
                wanted = dialect.matches(pattern, dialect.split(topic))
                require(found == wanted, "whether a pattern matches", name, pattern.text, topic, found)


def mixed(word: int) -> int:
    """Return a word mixed."""
    return int(_mix()(word))


@functools.cache
def _mix() -> Any:
    return World()[words.mix]


def digit_of(word: bytes) -> int:
    """Return the digit of a word, as `latchfree.topics.concurrent.kernels.digits` documents it."""
    h, mix = 0x243F6A8885A308D3, _mix()
    whole = len(word) // 8 * 8
    for at in range(0, whole, 8):
        h = mix(h ^ int.from_bytes(word[at : at + 8], "little"))
    return int(mix(h ^ int.from_bytes(word[whole:], "little") ^ (len(word) << 56 & ~0 & (1 << 64) - 1))) & ALL


def parses(world: World, seed: int) -> None:
    """Split topics and patterns into words: how many, where they start, their digits, and who breaks a rule."""
    rng = random.Random(seed)
    _, dialect = list(DIALECTS.items())[seed % 3]
    s, rules, forbidden = dialect.separator, rules_of(dialect), forbidden_in(dialect)
    some = (
        "a",
        "",
        "b7",
        dialect.one,
        f"{dialect.one}x",
        f"{dialect.many}y",
        dialect.many,
        "seven77",
        "eight888",
        "nine99999",
        "x" * 15,
        "x" * 16,
        "é" * 9,
    )
    texts = [s.join(rng.choice(some) for _ in range(rng.randint(1, 5))) for _ in range(200)]
    texts += ["a !", "@ a", "x@ !", "$", "$a"]
    texts += ["", s, "a", s.join("w" * dialect.most_words), s.join("w" * (dialect.most_words + 1))]
    texts += ["x" * dialect.longest, "x" * (dialect.longest + 1), "y" * (dialect.longest - 9) + s + "abcdefgh"]
    texts += [f"{front}{chr(code)}{back}" for code in (0, 9, 31, 32, 43, 63, 64, 127)
              for front in ("", "abcdefg", "abcdefgh") for back in ("", "z" * 9)]  # fmt: skip
    for text in texts:
        count, kept, starts, found = parsed(world, text, rules, forbidden, pattern=False)
        try:
            dialect.topic(text)
        except InvalidTopic:
            require(count == int(digits.INVALID), "a text that breaks a rule", text[:30], count)
            continue
        split = text.split(s) if text else []
        require(count == len(split), "how many words there are", text[:30], count)
        places = list(itertools.accumulate((len(word.encode()) + 1 for word in split), initial=0))
        require(starts.tolist()[: count + 1] == places, "where they start", text[:30])
        wanted = [*map(digit_of, (word.encode() for word in split)), int(digits.END)]
        require(found.tolist()[: count + 1] == wanted, "their digits", text[:30])
        if len(text) < 90:
            _stored(world, dialect, text, kept)
    for text in (f"{dialect.one}x", f"a{s}{dialect.many}y", dialect.one, "$"):
        if is_pattern(dialect, text):
            _stored(world, dialect, text, parsed(world, text, rules, 0, pattern=True)[1])


def _stored(world: World, dialect: Any, text: str, kept: Any) -> None:
    """Read the digits of a pattern that is stored: they are those of the text."""
    rules, mask = rules_of(dialect), (1 << 20) - 1
    mem, s = stored(text, wild=True), dialect.separator
    split = text.encode().split(s.encode()) if text else []
    at = world[digits.first_word](mem, 0)
    require(at == (0 if text else 1), "where the first word of a pattern starts", text)
    signs = {dialect.one.encode(): int(digits.ANY_WORD), dialect.many.encode(): int(digits.ANY_WORDS)}
    for word in split:
        wanted = signs.get(word, digit_of(word) & mask)
        require(world[digits.stored_digit](mem, 0, rules, mask, at) == wanted, "the digit of a word", text, at)
        at = world[digits.word_after](mem, 0, rules, at)
    require(at == len(text.encode()) + 1, "the end of a pattern", text, at)
    require(world[digits.stored_digit](mem, 0, rules, mask, at) == int(digits.END), "behind it is END", text)
    name = int(world[words.mix](mem[int(KEY)]))
    require(world[digits.stored_digit](mem, 0, rules, mask, at + 1) == name, "behind END is the number", text)
    count, _, _, found = parsed(world, text, rules, 0, pattern=True)
    expected = [signs.get(word, digit_of(word)) for word in split]
    require(count == int(digits.INVALID) or found.tolist()[:count] == expected, "the digits of a pattern", text)
    hidden = world[digits.is_hidden](ctypes.addressof(kept) + 8, len(text.encode()), rules)
    require(bool(hidden) == (dialect.hides_dollar and text.startswith("$")), "whether a topic is hidden", text)
    sign = ctypes.create_string_buffer(b"$")
    require(not world[digits.is_hidden](ctypes.addressof(sign), 0, rules), "no text is not hidden")


def fences(world: World, seed: int) -> None:
    """Split texts that end where a page ends, or begin where one begins; their neighbours may not be read."""
    page, rules = mmap.PAGESIZE, rules_of(list(DIALECTS.values())[seed % 3])
    area = mmap.mmap(-1, 3 * page)
    start = ctypes.addressof(ctypes.c_char.from_buffer(area))
    protect = ctypes.CDLL(None).mprotect
    for neighbour in (start, start + 2 * page):
        require(protect(ctypes.c_void_p(neighbour), ctypes.c_size_t(page), 0) == 0, "a page is taken away")
    starts, found = (np.zeros(40, np.uint64) for _ in range(2))
    for length in range(1, 25):
        for gap in range(length + 1):
            text = b"x" * gap + (bytes([rules & 255]) + b"y" * length)[: length - gap]
            for at in (start + page, start + 2 * page - length):
                ctypes.memmove(at, text, length)
                count = world[digits.parse](at, length, rules, 0, ALL, False, starts.ctypes.data, found.ctypes.data)
                wanted = [digit_of(word) for word in text.split(text[gap : gap + 1] or b"?")]
                require(count == int(digits.INVALID) or found[:count].tolist() == wanted, "the digits", text)
    for neighbour in (start, start + 2 * page):
        require(protect(ctypes.c_void_p(neighbour), ctypes.c_size_t(page), 3) == 0, "a page is given back")
