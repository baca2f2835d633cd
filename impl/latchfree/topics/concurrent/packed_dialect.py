"""Turn a dialect into two words for compiled code: its rules, and the bytes that no topic has."""

from __future__ import annotations

from typing import Final

from latchfree.topics.concurrent.kernels import digits
from latchfree.topics.dialects import Dialect
from latchfree.topics.rules import NATS_FORBIDDEN

_FORBIDDEN: Final = {"amqp": "", "nats": NATS_FORBIDDEN, "mqtt": "+#\0"}


def grammar_of(dialect: Dialect) -> digits.Grammar:
    """Return a dialect as compiled code takes it."""
    return digits.Grammar(rules_of(dialect), forbidden_in(dialect))


def rules_of(dialect: Dialect) -> int:
    """Return the rules of a dialect, see `latchfree.topics.concurrent.kernels.digits`.

    The rules of a dialect of your own are functions, so Python judges its texts, and compiled code refuses none.
    """
    flags = int(digits.ANYWHERE) if dialect.many_anywhere else 0
    flags |= int(digits.LEAST) if dialect.least else 0
    flags |= int(digits.HIDES) if dialect.hides_dollar else 0
    flags |= int(digits.NO_EMPTY_WORD) if dialect.name == "nats" and not dialect.own else 0
    flags |= int(digits.NO_EMPTY_TEXT) if dialect.name == "mqtt" and not dialect.own else 0
    flags |= dialect.longest << int(digits.LONGEST_SHIFT)
    return flags | ord(dialect.separator) | ord(dialect.one) << 8 | ord(dialect.many) << 16


def forbidden_in(dialect: Dialect) -> int:
    """Return the bytes that no topic of a dialect has, a bit each."""
    return 0 if dialect.own else sum(1 << ord(character) for character in _FORBIDDEN[dialect.name])
