"""The rules of each dialect: functions that return the first defect of a text as (rule, character), or None.

A rule is written for the characters of a dialect: `Rule` holds a function and the three characters, and a dialect with
another separator or wildcard has the same rule for its own.

Sources: AMQP 0-9-1, 3.1.3.3; NATS, "Subject-Based Messaging"; MQTT 5.0, 1.5.4, 4.7 and 4.8.2.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, NamedTuple, TypeAlias

Defect: TypeAlias = tuple[str, int | None] | None

SHARED: Final = "$share"
"""The first word of a shared subscription of MQTT; the share name and the filter follow."""

NATS_FORBIDDEN: Final = " \t\n\r\0"
"""Characters no NATS subject has: those that end an argument of a command, and NUL."""


class Signs(NamedTuple):
    """The characters of a dialect: between words, for one word, for many words."""

    separator: str
    one: str
    many: str


_NO_SIGNS: Final = Signs("", "", "")


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule of a protocol, for the characters of one dialect.

    Parameters
    ----------
    find : callable
        Returns the first defect of a text.
    signs : Signs
    """

    find: Callable[[str, Signs], Defect]
    signs: Signs = _NO_SIGNS

    def __call__(self, text: str) -> Defect:
        """Return the first defect of a text."""
        return self.find(text, self.signs)

    @property
    def forbidden(self) -> str:
        """The characters that this rule forbids wherever they are."""
        if self.find is nats_topic:
            return NATS_FORBIDDEN
        return f"{self.signs.one}{self.signs.many}\0" if self.find is mqtt_topic else ""


def amqp(text: str, signs: Signs) -> Defect:
    """Return None: words may be empty, and a wildcard inside a word is that character."""
    return None


def nats_topic(text: str, signs: Signs) -> Defect:
    """Find the first defect: tokens are not empty and have no space, tab, line end or NUL."""
    at = 0
    for token in text.split(signs.separator):
        if not token:
            return "a token must not be empty", at
        for k, character in enumerate(token):
            if character in NATS_FORBIDDEN:
                return f"a token must not have {'NUL' if character == chr(0) else 'white space'}", at + k
        at += len(token) + 1
    return None


def nats_pattern(text: str, signs: Signs) -> Defect:
    """Find the first defect: the rules of a topic, and ``>`` is the last token."""
    defect = nats_topic(text, signs)
    if defect is None:
        at = 0
        for token in text.split(signs.separator)[:-1]:
            if token == signs.many:
                return f"{signs.many!r} must be the last token", at
            at += len(token) + 1
    return defect


def mqtt_topic(text: str, signs: Signs) -> Defect:
    """Find the first defect: a topic is not empty, and has no wildcard characters and no NUL."""
    if not text:
        return "it must not be empty", None
    if signs.one in text or signs.many in text or "\0" in text:
        at = next(at for at, character in enumerate(text) if character in (signs.one, signs.many, "\0"))
        if text[at] == "\0":
            return "it must not have NUL", at
        return f"a topic must not have the wildcard {text[at]!r}", at
    return None


def mqtt_pattern(text: str, signs: Signs) -> Defect:
    """Find the first defect: ``+`` is a whole level, ``#`` the whole last one; a share name has no wildcard."""
    separator, one, many = signs
    prefix = SHARED + separator
    start = 0
    if text.startswith(prefix):
        start = filter_start(text, separator)
        if start < 0:
            return f"expected {SHARED}{separator}name{separator}filter", len(text)
        name = text[len(prefix) : start - 1]
        if not name:
            return "the share name must not be empty", len(prefix)
        for at, character in enumerate(name):
            if character in (one, many, "\0"):
                return f"the share name must not have {one!r}, {many!r} or NUL", len(prefix) + at
    if start == len(text):
        return "the filter must not be empty" if start else "it must not be empty", None
    at = start
    levels = text[start:].split(separator)
    for number, level in enumerate(levels):
        for k, character in enumerate(level):
            if character == "\0":
                return "it must not have NUL", at + k
            if character == many and (level != many or number < len(levels) - 1):
                return f"{many!r} must be the whole last level", at + k
            if character == one and level != one:
                return f"{one!r} must be a whole level", at + k
        at += len(level) + 1
    return None


def filter_start(text: str, separator: str) -> int:
    """Return where the filter of a shared subscription starts; -1 if it has none."""
    end = text.find(separator, len(SHARED) + 1)
    return end + 1 if end >= 0 else -1
