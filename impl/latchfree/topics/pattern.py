"""A parsed pattern: its words, and the kind of each word."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum


class Kind(IntEnum):
    """The kinds of words in a pattern."""

    LITERAL = 0
    """Itself."""
    ONE = 1
    """Any one word."""
    MANY = 2
    """Any number of words: at least `Dialect.least`."""


@dataclass(frozen=True, slots=True)
class Pattern:
    """A valid pattern of one dialect.

    Parameters
    ----------
    text : str
        As it was given.
    words : tuple of str
        Its words; the share name of MQTT is not among them.
    kinds : tuple of Kind
        The kind of each word.
    group : str or None
        The share name of ``$share/group/filter``.
    """

    text: str
    words: tuple[str, ...]
    kinds: tuple[Kind, ...]
    group: str | None = None

    @property
    def literal(self) -> bool:
        """Whether the pattern has no wildcard."""
        return not any(self.kinds)

    @property
    def wild_first(self) -> bool:
        """Whether the first word is a wildcard."""
        return bool(self.kinds) and self.kinds[0] != Kind.LITERAL

    @property
    def wildcards(self) -> int:
        """How many words are wildcards."""
        return sum(kind != Kind.LITERAL for kind in self.kinds)

    def starts_with(self, words: tuple[str, ...]) -> bool:
        """Return whether the first words of the pattern are these, wildcards compared as text."""
        return self.words[: len(words)] == words


def parsed(pattern: object) -> Pattern:
    """Return an argument that must be a pattern already parsed.

    Raises
    ------
    TypeError
        If it is anything else.
    """
    if not isinstance(pattern, Pattern):
        raise TypeError(f"pattern must be a Pattern, which Dialect.pattern makes, not {type(pattern).__name__}")
    return pattern
