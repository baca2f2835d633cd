"""Turn a dialect into two words for compiled code: its rules, and the bytes that no topic has."""

from __future__ import annotations

from latchfree.topics import rules
from latchfree.topics.concurrent.kernels import digits
from latchfree.topics.dialects import Dialect


def grammar_of(dialect: Dialect) -> digits.Grammar:
    """Return a dialect as compiled code takes it."""
    return digits.Grammar(rules_of(dialect), forbidden_in(dialect))


def rules_of(dialect: Dialect) -> int:
    """Return the rules of a dialect, see `latchfree.topics.concurrent.kernels.digits`.

    Where the rules are functions of yours, Python judges the texts, and compiled code refuses none.
    """
    find = None if dialect.own else dialect.topic_rule.find
    flags = int(digits.ANYWHERE) if dialect.many_anywhere else 0
    flags |= int(digits.LEAST) if dialect.least else 0
    flags |= int(digits.HIDES) if dialect.hides_dollar else 0
    flags |= int(digits.NO_EMPTY_WORD) if find is rules.nats_topic else 0
    flags |= int(digits.NO_EMPTY_TEXT) if find in (rules.mqtt_topic, rules.nats_topic) else 0
    flags |= dialect.longest << int(digits.LONGEST_SHIFT)
    flags |= (dialect.most_words - 1) << int(digits.MOST_WORDS_SHIFT)
    return flags | ord(dialect.separator) | ord(dialect.one) << 8 | ord(dialect.many) << 16


def forbidden_in(dialect: Dialect) -> int:
    """Return the bytes that no topic of a dialect has, a bit each."""
    return 0 if dialect.own else sum(1 << ord(character) for character in set(dialect.topic_rule.forbidden))
