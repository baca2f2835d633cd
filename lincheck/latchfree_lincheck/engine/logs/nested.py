"""Collections of EDN that nobody looks at, passed over: where one ends, if it is certainly well formed.

Example: the nemesis says ``:value [:isolated {"n1" #{"n2" "n3"}}]``. A history is malformed if a map has a key twice or
a set an element, so these are compared; only those that are no collections can be compared here.
"""

from __future__ import annotations

from typing import Final

from latchfree.jit import kernel
from latchfree_lincheck.engine.logs.lines import Bytes, starts, word
from latchfree_lincheck.engine.logs.tokens import BITS, LENGTH, same_token, scalar_token
from latchfree_lincheck.history.timeline import Ints

_NIL: Final = word(b"nil")
_KEY: Final = word(b":key")
_APPEND: Final = word(b":append")

DEEPEST: Final = 6
_MOST: Final = 40
#: How many numbers of scratch `nested_end` takes: a kind, a count and a place for each level, and tokens.
ROOM: Final = 3 * DEEPEST + _MOST

_VECTOR: Final = 0
_MAP: Final = 1
_SET: Final = 2

_BLANK: Final = 32
_HASH: Final = 35
_COMMA: Final = 44
_MINUS: Final = 45
_COLON: Final = 58
_OPENING: Final = 91
_CLOSING: Final = 93
_LETTER_A: Final = 97
_LETTER_Z: Final = 122
_BEGIN: Final = 123
_END: Final = 125


@kernel
def keyword_at(text: Bytes, at: int) -> tuple[int, int]:
    """Return the token of a keyword of small letters and hyphens, without its colon, and where it ends; or -1.

    The keyword ``:key`` is unusual: it tells another format.
    """
    if at >= len(text) or text[at] != _COLON or starts(text, at, _KEY):
        return 0, -1
    end = at + 1
    while end < len(text) and (_LETTER_A <= text[end] <= _LETTER_Z or (text[end] == _MINUS and end > at + 1)):
        end += 1
    if end == at + 1 or end - at > LENGTH:
        return 0, -1
    return ((at + 1) << BITS) | (end - at - 1), end


@kernel
def element_at(text: Bytes, at: int) -> tuple[int, int]:
    """Return a token of an element that is no collection, and where it ends, or -1.

    A keyword's token has its colon, so that it differs from all others. Those of one letter, and ``:append``, are
    unusual: ``:f``, ``:r`` and ``:w`` may tell transactions, too.
    """
    token, end = 0, -1
    if at < len(text) and text[at] == _COLON:
        token, end = keyword_at(text, at)
        size = token & LENGTH
        if size == 1 or starts(text, at, _APPEND):
            return 0, -1
        token = (at << BITS) | (size + 1)
    elif starts(text, at, _NIL):
        token, end = (at << BITS) | len(_NIL), at + len(_NIL)
    else:
        token, end = scalar_token(text, at, False)
    if end < 0 or end >= len(text) or text[end] not in (_BLANK, _COMMA, _CLOSING, _END):
        return 0, -1
    return token, end


@kernel
def opening_at(text: Bytes, at: int) -> tuple[int, int]:
    """Return the kind of the collection that begins at a place, and where its elements begin; -1 if none does."""
    if text[at] == _OPENING:
        return _VECTOR, at + 1
    if text[at] == _BEGIN:
        return _MAP, at + 1
    if text[at] == _HASH and at + 1 < len(text) and text[at + 1] == _BEGIN:
        return _SET, at + 2
    return 0, -1


@kernel
def nested_end(text: Bytes, at: int, scratch: Ints) -> int:
    """Return where the collection at a place ends, or -1 if there is none or it is unusual."""
    kinds, counts = scratch[:DEEPEST], scratch[DEEPEST : 2 * DEEPEST]
    firsts, seen = scratch[2 * DEEPEST : 3 * DEEPEST], scratch[3 * DEEPEST :]
    depth, known = 0, 0
    while at < len(text):
        if depth > 0 and (text[at] == _BLANK or text[at] == _COMMA):
            at += 1
            continue
        if depth > 0 and (text[at] == _CLOSING or text[at] == _END):
            depth -= 1
            if (text[at] == _CLOSING) != (kinds[depth] == _VECTOR) or (kinds[depth] == _MAP and counts[depth] & 1 == 1):
                return -1
            known = firsts[depth]
            at += 1
            if depth == 0:
                return at
            counts[depth - 1] += 1
            continue
        alone = depth > 0 and (kinds[depth - 1] == _SET or (kinds[depth - 1] == _MAP and counts[depth - 1] & 1 == 0))
        kind, begin = opening_at(text, at)
        if begin >= 0:
            if alone or depth == DEEPEST:
                return -1
            kinds[depth], counts[depth], firsts[depth] = kind, 0, known
            depth += 1
            at = begin
            continue
        if depth == 0:
            return -1
        token, at = element_at(text, at)
        if at < 0:
            return -1
        if alone:
            for other in range(firsts[depth - 1], known):
                if same_token(text, seen[other], token):
                    return -1
            if known == _MOST:
                return -1
            seen[known] = token
            known += 1
        counts[depth - 1] += 1
    return -1
