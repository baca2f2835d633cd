"""Explain why a pattern matches a topic: the words that each wildcard stands for."""

from __future__ import annotations

from functools import cache

from latchfree.topics.dialects import Dialect
from latchfree.topics.matcher import Matcher, checked_matcher
from latchfree.topics.pattern import Kind, Pattern
from latchfree.topics.subscription import S, Subscription


def stands_for(pattern: Pattern, words: tuple[str, ...], dialect: Dialect) -> list[tuple[str, tuple[str, ...]]]:
    """Return each wildcard of a pattern with the topic words that it stands for; the first take as few as possible.

    Raises
    ------
    ValueError
        If the pattern does not match the topic.
    """
    size = len(words)
    depth = len(pattern.words)

    @cache
    def fits(i: int, j: int) -> bool:
        """Return whether the pattern from word i matches the topic from word j."""
        for n in range(i, depth):
            if pattern.kinds[n] == Kind.MANY:
                return any(fits(n + 1, k) for k in range(j + dialect.least, size + 1))
            if j == size or (pattern.kinds[n] == Kind.LITERAL and pattern.words[n] != words[j]):
                return False
            j += 1
        return j == size

    if not dialect.matches(pattern, words):
        raise ValueError(f"{pattern.text!r} does not match these words: {', '.join(words)}")
    found = []
    at = 0
    for n, (word, kind) in enumerate(zip(pattern.words, pattern.kinds, strict=True)):
        end = at + 1
        if kind == Kind.MANY:
            end = next(k for k in range(at + dialect.least, size + 1) if fits(n + 1, k))
        if kind != Kind.LITERAL:
            found.append((word, words[at:end]))
        at = end
    return found


def reasons(matcher: Matcher[S], topic: str | bytes) -> dict[Subscription[S], list[tuple[str, tuple[str, ...]]]]:
    """Return the subscriptions that match a topic, each with its wildcards and the words that they stand for.

    Works with every matcher.

    Parameters
    ----------
    matcher : Matcher
        Any matcher.
    topic : str or bytes
        The topic; bytes are UTF-8.

    Returns
    -------
    dict

    Raises
    ------
    InvalidTopic
        If the topic breaks a rule of the dialect.
    """
    dialect = checked_matcher(matcher).dialect
    words = dialect.topic(topic)
    return {each: stands_for(dialect.pattern(each.pattern), words, dialect) for each in matcher.matching(topic)}
