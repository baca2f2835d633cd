"""The rules of each dialect: functions that return the first defect of a text as (rule, character), or None.

Sources: AMQP 0-9-1, 3.1.3.3; NATS, "Subject-Based Messaging"; MQTT 5.0, 1.5.4, 4.7 and 4.8.2.
"""

from __future__ import annotations

from typing import Final, TypeAlias

Defect: TypeAlias = tuple[str, int | None] | None

SHARE: Final = "$share/"
"""The start of a shared subscription of MQTT; the share name and the filter follow."""

NATS_FORBIDDEN: Final = " \t\n\r\0"
"""Characters no NATS subject has: those that end an argument of a command, and NUL."""


def amqp(text: str) -> Defect:
    """Return None: words may be empty, and a wildcard inside a word is that character."""
    return None


def nats_topic(text: str) -> Defect:
    """Find the first defect: tokens are not empty and have no space, tab, line end or NUL."""
    at = 0
    for token in text.split("."):
        if not token:
            return "a token must not be empty", at
        for k, character in enumerate(token):
            if character in NATS_FORBIDDEN:
                return f"a token must not have {'NUL' if character == chr(0) else 'white space'}", at + k
        at += len(token) + 1
    return None


def nats_pattern(text: str) -> Defect:
    """Find the first defect: the rules of a topic, and ``>`` is the last token."""
    defect = nats_topic(text)
    if defect is None:
        at = 0
        for token in text.split(".")[:-1]:
            if token == ">":
                return "'>' must be the last token", at
            at += len(token) + 1
    return defect


def mqtt_topic(text: str) -> Defect:
    """Find the first defect: a topic is not empty, and has no wildcard characters and no NUL."""
    if not text:
        return "it must not be empty", None
    for at, character in enumerate(text):
        if character in "+#":
            return f"a topic must not have the wildcard {character!r}", at
        if character == "\0":
            return "it must not have NUL", at
    return None


def mqtt_pattern(text: str) -> Defect:
    """Find the first defect: ``+`` is a whole level, ``#`` the whole last one; a share name has no wildcard."""
    start = 0
    if text.startswith(SHARE):
        start = filter_start(text)
        if start < 0:
            return "expected $share/name/filter", len(text)
        name = text[len(SHARE) : start - 1]
        if not name:
            return "the share name must not be empty", len(SHARE)
        for at, character in enumerate(name):
            if character in "+#\0":
                return "the share name must not have '+', '#' or NUL", len(SHARE) + at
    if start == len(text):
        return "the filter must not be empty" if start else "it must not be empty", None
    at = start
    levels = text[start:].split("/")
    for number, level in enumerate(levels):
        for k, character in enumerate(level):
            if character == "\0":
                return "it must not have NUL", at + k
            if character == "#" and (level != "#" or number < len(levels) - 1):
                return "'#' must be the whole last level", at + k
            if character == "+" and level != "+":
                return "'+' must be a whole level", at + k
        at += len(level) + 1
    return None


def filter_start(text: str) -> int:
    """Return where the filter of a shared subscription starts; -1 if it has none."""
    slash = text.find("/", len(SHARE))
    return slash + 1 if slash >= 0 else -1
