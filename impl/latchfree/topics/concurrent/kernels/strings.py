"""The string of digits of a subscription, and the subscriber that its S-node holds."""

from __future__ import annotations

from latchfree.atomics import peek
from latchfree.ctrie.kernels.nodes import NIL, ONE
from latchfree.ctrie.kernels.snode import BLOB_KEY_WORDS, KEY_LENGTH, words_for
from latchfree.jit import kernel
from latchfree.kinds import Array, Handle, Word
from latchfree.topics.concurrent.kernels.agree import WILD
from latchfree.topics.concurrent.kernels.digits import ANY_WORD, ANY_WORDS, END, parse
from latchfree.words import mix


@kernel
def string(rules: Word, mask: Word, address: Word, length: Word, number: Word, starts: Array, digits: Array) -> Word:
    """Write the string of a subscription to `digits`; return the subscription's name."""
    count = parse(address, length, rules, NIL, mask, True, starts.ctypes.data, digits.ctypes.data)
    wild = NIL
    for k in range(count):
        if digits[k] == ANY_WORD or digits[k] == ANY_WORDS:
            wild = WILD
    name = (number << ONE) | wild
    digits[count] = END
    digits[count + ONE] = mix(name)
    return name


@kernel
def value_of(mem: Handle, s: Word) -> Word:
    """Return the subscriber in an S-node."""
    return peek(mem, s + BLOB_KEY_WORDS + words_for(peek(mem, s + KEY_LENGTH)))
