"""The errors of topic matching."""

from __future__ import annotations

from latchfree.errors import LatchfreeError


class InvalidText(LatchfreeError, ValueError):
    """A text breaks a rule of its dialect; the index is unchanged.

    Attributes
    ----------
    text : str or bytes
        The pattern or topic.
    rule : str
        The rule that the text breaks.
    position : int or None
        The first character (byte, for text that is not UTF-8) that breaks the rule, from 0; None if no single one does.
    row : int or None
        The row of a bulk call.
    """

    kind = "text"

    def __init__(
        self, text: object, dialect: str, rule: str, position: int | None = None, row: int | None = None
    ) -> None:
        self.text = text
        self.dialect = dialect
        self.rule = rule
        self.position = position
        self.row = row
        shown = repr(text) if not isinstance(text, str | bytes) or len(text) <= 80 else f"{text[:77]!r}..."
        where = "" if position is None else f", at character {position}"
        prefix = "" if row is None else f"row {row}: "
        super().__init__(f"{prefix}{shown} is no {self.kind} of {dialect}: {rule}{where}")

    def at_row(self, row: int) -> InvalidText:
        """Return the same error, naming the row of a bulk call."""
        return type(self)(self.text, self.dialect, self.rule, self.position, row)

    def __reduce__(self) -> tuple[type[InvalidText], tuple[object, ...]]:
        return type(self), (self.text, self.dialect, self.rule, self.position, self.row)


class InvalidPattern(InvalidText):
    """A pattern breaks a rule of its dialect."""

    kind = "pattern"


class InvalidTopic(InvalidText):
    """A topic breaks a rule of its dialect."""

    kind = "topic"


class UnknownSubscription(LatchfreeError, LookupError):
    """The handle was never a subscription of this matcher, or is unsubscribed already."""


class LimitReached(LatchfreeError, RuntimeError):
    """There are as many as allowed; nothing changed.

    Attributes
    ----------
    what : str
        What there is too much of.
    limit : int
    """

    def __init__(self, what: str, limit: int, fix: str) -> None:
        self.what = what
        self.limit = limit
        self.fix = fix
        super().__init__(f"{what}: {limit:,} at most; {fix}")

    def __reduce__(self) -> tuple[type[LimitReached], tuple[str, int, str]]:
        return type(self), (self.what, self.limit, self.fix)


class FrozenMatcher(LatchfreeError, TypeError):
    """The matcher cannot change: subscribe on the matcher that the index was made from, and freeze again."""


class IndexInvalid(LatchfreeError, ValueError):
    """A saved index is truncated, foreign, or of a version this program does not know."""
