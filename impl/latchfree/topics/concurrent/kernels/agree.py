"""Compare the pattern of a stored subscription with a topic, byte by byte.

Example: ``#.b`` against ``a.b.b``. ``#`` stands for no word, then ``b`` differs from ``a``; so ``#`` takes ``a``, then
``b`` fits and one word is left over; so ``#`` takes ``a.b``, and the rest fits.

A pattern without wildcards is compared whole. Any other is walked with the topic; on a mismatch the last `many` takes
one word more. The earlier ones need not: a word that they could give up, the last can take. So the time is O(bytes of
the pattern * words of the topic) (Kirk Krauss, "Matching Wildcards", 2008, with words for characters).
"""

import numpy as np

from latchfree.atomics import peek, read_byte
from latchfree.ctrie.kernels.snode import KEY, KEY_LENGTH, same_key
from latchfree.jit import kernel
from latchfree.kinds import Flag, Handle, Word
from latchfree.topics.concurrent.kernels.digits import (
    LEAST,
    first_word,
    is_hidden,
    many_byte,
    one_byte,
    separator,
    stored_byte,
)

_0, _1, _2 = map(np.uint64, (0, 1, 2))
_NOWHERE = np.uint64((1 << 64) - 1)

#: Bit of an S-node's name that says that its pattern has wildcards; the rest is its number.
WILD = _1


@kernel
def _word_fits(mem: Handle, s: Word, gap: Word, at: Word, address: Word, start: Word, end: Word) -> Word:
    """Return where the next word of a pattern starts if the word at `at` equals a word of the topic, else NOWHERE."""
    length = peek(mem, s + KEY_LENGTH)
    for k in range(start, end):
        if at == length or stored_byte(mem, s, at) != read_byte(address + np.uint64(k)):
            return _NOWHERE
        at += _1
    return at + _1 if at == length or stored_byte(mem, s, at) == gap else _NOWHERE


@kernel
def _walk(mem: Handle, s: Word, rules: Word, address: Word, topic_length: Word, count: Word, starts: Word) -> Flag:
    length = peek(mem, s + KEY_LENGTH)
    gap = separator(rules)
    least = _1 if rules & LEAST != _0 else _0
    at = first_word(mem, s)
    here = _0  # word of the topic
    again = _NOWHERE  # of the pattern, after the last `many`
    taken = _0  # words of the topic up to there, those that `many` stands for included
    while True:
        if at > length:
            if here == count:
                return True
        else:
            byte = stored_byte(mem, s, at) if at < length else gap
            alone = byte != gap and (at + _1 == length or stored_byte(mem, s, at + _1) == gap)
            wild = alone and (byte == one_byte(rules) or byte == many_byte(rules))
            if wild and here == _0 and at == _0 and is_hidden(address, topic_length, rules):
                return False
            if wild and byte == many_byte(rules):
                at += _2
                here += least
                if here > count:
                    return False
                if at > length:
                    return True
                again = at
                taken = here
                continue
            if here < count:
                below = at + _2
                if not wild:
                    below = _word_fits(mem, s, gap, at, address, peek(starts, here), peek(starts, here + _1) - _1)
                if below != _NOWHERE:
                    at = below
                    here += _1
                    continue
        if again == _NOWHERE or taken >= count:
            return False
        taken += _1
        at = again
        here = taken


@kernel
def agrees(mem: Handle, s: Word, rules: Word, address: Word, length: Word, count: Word, starts: Word) -> Flag:
    """Return whether the subscription in S-node `s` matches a topic of `count` words, whose places are at `starts`."""
    if peek(mem, s + KEY) & WILD == _0:
        return same_key(mem, s, (address, length))
    return _walk(mem, s, rules, address, length, count, starts)
