"""Relations of patterns: two overlap if some topic matches both; one subsumes another if it matches all its topics.

Example in AMQP: ``a.*`` and ``*.b`` overlap, on ``a.b``; ``a.#`` subsumes ``a.*``.

A pattern is a finite automaton over words. A wildcard for many words is a loop; where it stands for one word at least,
a step for one word comes before the loop. All words that neither pattern names behave alike, so the alphabet is the
words of both patterns and one more (in MQTT two more, as a leading wildcard refuses words that start with ``$``). Both
questions are reachability in a product of automata. Limits of length are left out of account.
"""

from __future__ import annotations

import string
from collections.abc import Iterable, Iterator
from itertools import count, product

from latchfree.arguments import many
from latchfree.topics.dialects import Dialect, get_dialect
from latchfree.topics.engines.locked_trie import LockedTrie
from latchfree.topics.errors import InvalidTopic
from latchfree.topics.matcher import Matcher, checked_matcher
from latchfree.topics.pattern import Kind, Pattern
from latchfree.topics.subscription import S, Subscription

MOST_STATES = 100_000
"""The most states of the product that `subsumes` visits."""

_OTHER = "\0other"
_DOLLAR = "$\0other"


class TooComplex(ValueError):
    """Whether a pattern subsumes another takes more than `MOST_STATES` states to decide."""


class _Automaton:
    """The automaton of a pattern: state n has taken n of its items; `None` is a wildcard."""

    def __init__(self, pattern: Pattern, dialect: Dialect) -> None:
        self.items: list[tuple[str | None, bool]] = []  # word, loops
        for word, kind in zip(pattern.words, pattern.kinds, strict=True):
            if kind == Kind.MANY:
                self.items += [(None, False)] * dialect.least + [(None, True)]
            else:
                self.items.append((None if kind == Kind.ONE else word, False))
        self.refuses_dollar = dialect.hides_dollar and pattern.wild_first

    def closure(self, states: set[int]) -> frozenset[int]:
        """Add the states that are reached without a word."""
        found = set(states)
        for state in states:
            while state < len(self.items) and self.items[state][1]:
                state += 1
                found.add(state)
        return frozenset(found)

    @property
    def start(self) -> frozenset[int]:
        """The states before the first word."""
        return self.closure({0})

    def step(self, states: frozenset[int], word: str, first: bool) -> frozenset[int]:
        """Return the states after a word."""
        if first and self.refuses_dollar and word.startswith("$"):
            return frozenset()
        reached = set()
        for state in states:
            if state < len(self.items):
                wanted, loops = self.items[state]
                if wanted is None or wanted == word:
                    reached.add(state if loops else state + 1)
        return self.closure(reached)

    def accepts(self, states: frozenset[int]) -> bool:
        """Return whether a topic may end here."""
        return len(self.items) in states


def _product(one: Pattern, other: Pattern, dialect: Dialect) -> tuple[_Automaton, _Automaton, list[str]]:
    words = {word for each in (one, other) for word, kind in zip(each.words, each.kinds, strict=True) if not kind}
    return _Automaton(one, dialect), _Automaton(other, dialect), [*sorted(words), _OTHER, _DOLLAR]


NO_WORD, ONE_EMPTY, SOME = range(3)
"""The words of a topic so far: none, one empty word, anything else."""


def _after(so_far: int, word: str) -> int:
    return ONE_EMPTY if so_far == NO_WORD and not word else SOME


def _is_topic(so_far: int, dialect: Dialect) -> bool:
    """Return whether a topic may end with these words: one empty word is written as no word is, so it is no topic."""
    return so_far == SOME or (so_far == NO_WORD and dialect.topic_defect("") is None)


def overlaps(one: str, other: str, dialect: str | Dialect) -> bool:
    """Return whether some topic matches both patterns.

    The time is O(words of one * words of the other * different words).

    Parameters
    ----------
    one, other : str
        Patterns.
    dialect : str or Dialect
        The dialect of both.

    Raises
    ------
    InvalidPattern
        If a pattern breaks a rule of the dialect.
    """
    dialect = get_dialect(dialect)
    a, b, words = _product(dialect.pattern(one), dialect.pattern(other), dialect)
    todo = [(i, j, NO_WORD) for i in a.start for j in b.start]
    seen = set(todo)
    while todo:
        i, j, so_far = todo.pop()
        if i == len(a.items) and j == len(b.items) and _is_topic(so_far, dialect):
            return True
        for word in words:
            now = _after(so_far, word)
            for i2 in a.step(frozenset([i]), word, so_far == NO_WORD):
                for j2 in b.step(frozenset([j]), word, so_far == NO_WORD):
                    if (i2, j2, now) not in seen:
                        seen.add((i2, j2, now))
                        todo.append((i2, j2, now))
    return False


def subsumes(wide: str, narrow: str, dialect: str | Dialect) -> bool:
    """Return whether every topic that matches `narrow` matches `wide`.

    Parameters
    ----------
    wide, narrow : str
        Patterns.
    dialect : str or Dialect
        The dialect of both.

    Raises
    ------
    InvalidPattern
        If a pattern breaks a rule of the dialect.
    TooComplex
        For some patterns with ``#`` before many ``*``, which have exponentially many states.
    """
    dialect = get_dialect(dialect)
    a, b, words = _product(dialect.pattern(wide), dialect.pattern(narrow), dialect)
    todo = [(j, a.start, NO_WORD) for j in b.start]
    seen = set(todo)
    while todo:
        j, states, so_far = todo.pop()
        if j == len(b.items) and not a.accepts(states) and _is_topic(so_far, dialect):
            return False
        for word in words:
            now = _after(so_far, word)
            reached = a.step(states, word, so_far == NO_WORD)
            for j2 in b.step(frozenset([j]), word, so_far == NO_WORD):
                if (j2, reached, now) not in seen:
                    if len(seen) >= MOST_STATES:
                        raise TooComplex(f"whether {wide!r} subsumes {narrow!r} takes over {MOST_STATES:,} states")
                    seen.add((j2, reached, now))
                    todo.append((j2, reached, now))
    return True


def overlapping(matcher: Matcher[S], pattern: str) -> Iterator[Subscription[S]]:
    """Return the subscriptions whose patterns overlap with a pattern: an exact reverse match.

    Tries, and what is around them, follow the pattern from word to word: for ``+/score`` to all first words, and from
    there only to ``score``, ``+`` and ``#``. Of the other matchers every different pattern is compared, once.

    Parameters
    ----------
    matcher : Matcher
        The matcher whose subscriptions are looked through.
    pattern : str
        A pattern in the dialect of the matcher.

    Returns
    -------
    iterator of Subscription

    Raises
    ------
    TypeError
        If `matcher` is none.
    InvalidPattern
        If the pattern breaks a rule of the matcher's dialect.
    """
    asked = checked_matcher(matcher).dialect.pattern(pattern)
    return _overlapping(matcher, pattern, asked)


def _overlapping(matcher: Matcher[S], pattern: str, asked: Pattern) -> Iterator[Subscription[S]]:
    dialect = matcher.dialect
    known: dict[str, bool] = {}
    for each in _may_overlap(matcher, asked):
        if each.pattern not in known:
            parsed = dialect.pattern(each.pattern)
            known[each.pattern] = not _apart(parsed, asked) and (
                _plainly_overlap(parsed, asked, dialect) or overlaps(each.pattern, pattern, dialect)
            )
        if known[each.pattern]:
            yield each


def _may_overlap(matcher: Matcher[S], pattern: Pattern) -> Iterable[Subscription[S]]:
    """Return the subscriptions that overlap with a pattern, and perhaps others; all, of a matcher without an index."""
    find = getattr(matcher, "may_overlap", None)
    return matcher.subscriptions() if find is None else find(pattern)


def _plainly_overlap(one: Pattern, other: Pattern, dialect: Dialect) -> bool:
    """Return whether two patterns overlap that are not `_apart`, where that is plain; False may mean anything.

    Where wildcards for many words are last, a topic has the literal words of both, and ``x`` elsewhere.
    """
    ends = [Kind.MANY in each.kinds for each in (one, other)]
    if any(Kind.MANY in each.kinds[:-1] for each in (one, other)):
        return False
    wild_first = dialect.hides_dollar and (one.wild_first or other.wild_first)
    if wild_first and any(word.startswith("$") for word in (*one.words[:1], *other.words[:1])):
        return False
    if all(ends):
        return True
    open_, closed = (one, other) if ends[0] else (other, one)
    if any(ends) and len(closed.words) < len(open_.words) - 1 + dialect.least:
        return False
    return len(closed.words) > 1 or (len(closed.words) == 1 and "" not in (*one.words[:1], *other.words[:1]))


def _apart(one: Pattern, other: Pattern) -> bool:
    """Return whether two patterns differ in a word before any wildcard for many words, or in length without one."""
    for a, b, kind, its in zip(one.words, other.words, one.kinds, other.kinds, strict=False):
        if Kind.MANY in (kind, its):
            return False
        if kind == its == Kind.LITERAL and a != b:
            return True
    return len(one.words) != len(other.words) and Kind.MANY not in (*one.kinds, *other.kinds)


def without_subsumed(patterns: list[str], dialect: str | Dialect) -> list[str]:
    """Return the patterns that no other pattern subsumes, each once: together they match the same topics.

    A pattern that subsumes ``a/+`` matches ``a/x``, where ``x`` is a word of no pattern. A trie of all patterns finds
    those that do, and only these are compared. Of patterns that match the same topics one stays.

    Parameters
    ----------
    patterns : list of str
        The patterns, in any order.
    dialect : str or Dialect
        One of `DIALECTS`: how the patterns are written.

    Returns
    -------
    list of str
        Those with the most wildcards first.

    Raises
    ------
    InvalidPattern
        If a pattern breaks a rule of the dialect.
    TooComplex
        See `subsumes`.
    """
    dialect = get_dialect(dialect)
    parsed = {text: dialect.pattern(text) for text in many(patterns, "patterns", "a list")}
    order = sorted(parsed, key=lambda text: -parsed[text].wildcards)
    trie = LockedTrie[int](dialect)
    for rank, text in enumerate(order):
        trie.subscribe(text, rank)
    fresh = _fresh_word({word for each in parsed.values() for word in each.words}, dialect)
    kept = []
    for rank, text in enumerate(order):
        literal = parsed[text].literal
        others = [each for each in _candidates(trie, parsed[text], fresh, len(order)) if each != rank]
        wider = (each for each in others if literal or subsumes(order[each], text, dialect))
        if not any(each < rank or not subsumes(text, order[each], dialect) for each in wider):
            kept.append(text)
    return kept


def _candidates(trie: LockedTrie[int], pattern: Pattern, fresh: str, count: int) -> Iterable[int]:
    """Return the ranks of all patterns that match one topic of a pattern; all ranks where that is no topic."""
    words = [word if kind == Kind.LITERAL else fresh for word, kind in zip(pattern.words, pattern.kinds, strict=True)]
    try:
        return sorted(trie.match(trie.dialect.separator.join(words)))
    except InvalidTopic:
        return range(count)


def _fresh_word(words: set[str], dialect: Dialect) -> str:
    """Return a word that is none of these: of one letter if there is one, for the limit of bytes."""
    letters = set(string.ascii_letters + string.digits) - {dialect.separator, dialect.one, dialect.many}
    every = ("".join(each) for size in count(1) for each in product(sorted(letters), repeat=size))
    return next(each for each in every if each not in words)
