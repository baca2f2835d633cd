"""What an error of a public call must be: of an expected class, with a text that names the argument.

Example: ``RingBuffer.get_many(1.5)`` that raises "'float' object cannot be interpreted as an integer" names neither the
call's argument nor what it may be. Python's own words are taken for a sign that nobody has looked at the argument.
"""

from __future__ import annotations

import re
from typing import Final

from boundary_surface import Member
from boundary_values import VALUES

from latchfree.errors import LatchfreeError

#: Packages whose errors are judged.
JUDGED: Final = ("latchfree.streams.", "latchfree.sketches.", "latchfree.limiting.", "latchfree.topics.")

#: Calls whose arguments come from ours and not from users.
EXEMPT: Final = re.compile(
    r"^(TrieSnapshot|CopiedSnapshot|MaskIndex|Pattern)$|"  # made by calls that have checked what they hand over
    r"^(Random|RoundRobin|Sticky)\.|^Pattern\.starts_with$|"  # called by QueueGroups and by the engines
    r"^Kind\.|^(Dialect|Subscription|FieldSubscription|RoutedSubKey|Stats|Difference|\w+Counts)\.__"  # of Python
)

#: Arguments that raise, lie, act or are of our own: the error may be theirs.
_NOT_PLAIN: Final = re.compile(
    r"hostile|lying|short-|raising|acting|closes|uses|collects|forged|growing|too-|length|array-|-close|itself|"
    r"dialect|arena|ctrie|ring$|subscription"
)

PLAIN: Final = tuple(name for name in VALUES if not _NOT_PLAIN.search(name))

#: Says that an object is of no use any more, whatever the arguments are.
_CLOSED: Final = re.compile(r"\bis closed\b")
#: What Python, NumPy and Arrow say of an object that nobody has looked at.
_FOREIGN: Final = re.compile(
    r"cannot be interpreted as an integer|object is not (iterable|callable|subscriptable|an iterator)|has no attribute|"
    r"not supported between|unsupported operand|bad operand|has no len\(\)|must be real number|codec can't|"
    r"(takes|missing) \d+ .*positional|cannot unpack|(not enough|too many) values to unpack|argument must be|"
    r"an array element with a sequence|unhashable type|cannot use .* as a|truth value of an array|is required, not|"
    r"only (integer|length-1|0-dimensional)|could not (convert|broadcast)|did not recognize|Could not convert|"
    r"out of bounds|index out of|object too deep|Cannot (convert|cast)|numba|Unsupported|str(ing)? expected|"
    r"expected (str|bytes|string|int)\b(?!, got)|not implemented|Python int too large|"
    r"cannot convert|int too (large|big)|invalid literal|buffer (is|source|size)|object of type|Mismatched"
)

#: What a text calls a parameter, where that is not the parameter's name.
_OTHER_WORDS: Final = {
    "item": ("integers must be from -2**53",),
    "value": ("a ring buffer holds",),
    "message": ("this ring holds", "cannot be pickled"),
    "messages": ("row ",),
    "text": ("prefix",),
    "expected": ("ask for less",),
    "initial": ("ask for less",),
}

#: Classes of errors that a caller can foresee.
_EXPECTED: Final = (TypeError, ValueError, LatchfreeError, LookupError, OSError, StopIteration)
#: Classes among them that are never meant.
_NEVER: Final = (IndexError, UnicodeError)


def unclear(raised: BaseException, member: Member, hostile: tuple[tuple[int, str], ...], first: bool) -> str | None:
    """Return what is wrong with an error that a call has raised, None if nothing is.

    Parameters
    ----------
    raised : BaseException
    member : Member
    hostile : tuple of (int, str)
        The wrong arguments of the call.
    first : bool
        Whether the object is in the first of its states, in which a call can be made.
    """
    judged = member.owner.startswith(JUDGED) and not EXEMPT.search(member.label)
    if not first or len(hostile) > 1:  # of a closed object, or of two wrong arguments, the error may be about the other
        return None
    if not judged or not all(name in PLAIN for _, name in hostile):
        return None
    kind, text = type(raised), str(raised)
    if not hostile and member.name != "__reduce__" and kind in (TypeError, ValueError):
        return f"its right arguments are refused, so that wrong ones are not seen: {kind.__name__}: {text[:300]}"
    said = f"{kind.__module__}.{kind.__qualname__}: {text[:300]}"
    if not isinstance(raised, _EXPECTED) or isinstance(raised, _NEVER) or not kind.__module__.startswith(_ours(kind)):
        return f"no error that a caller can foresee: {said}"
    if not text.strip() and kind is not StopIteration:
        return f"an error without a text: {said}"
    if not first and _CLOSED.search(text):
        return None
    if kind in (TypeError, ValueError) and len(hostile) == 1 and not _names(text, member.parameters[hostile[0][0]][0]):
        return f"the error does not name {member.parameters[hostile[0][0]][0]!r}: {said}"
    if _FOREIGN.search(text):
        return f"the error does not name the argument: {said}"
    return None


def _ours(kind: type) -> tuple[str, ...]:
    return ("latchfree", "builtins", "queue", "asyncio")


def _names(text: str, parameter: str) -> bool:
    return parameter.rstrip("s") in text or any(each in text for each in _OTHER_WORDS.get(parameter, ()))
