"""How brokers write patterns and topics: AMQP 0-9-1, NATS and MQTT.

Example: in MQTT ``sport/+/score`` matches ``sport/golf/score``, and ``sport/#`` matches ``sport`` and all below.

Patterns and topics are words between separators. In a pattern one wildcard stands for exactly one word, the other
(*many*) for several. The dialects differ in where *many* may stand and whether it may stand for no word, in whether
the empty text has words, and in the texts that are valid (`latchfree.topics.rules`). A wildcard character inside a
word is just that character.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final

from latchfree.topics import rules
from latchfree.topics.errors import InvalidPattern, InvalidText, InvalidTopic
from latchfree.topics.pattern import Kind, Pattern


def exact_bytes(text: str | bytes) -> bytes:
    """Return the bytes of a text, as an object of just that class: those of a subclass may lie about their length."""
    return str.encode(text) if isinstance(text, str) else text if type(text) is bytes else b"".join((text,))


@dataclass(frozen=True, slots=True)
class Dialect:
    """The rules of one protocol.

    Parameters
    ----------
    name : str
        The name that users type.
    separator, one, many : str
        The character between words, the wildcard for one word, the wildcard for many words. One ASCII character each.
    least : int
        The fewest words that `many` stands for.
    longest : int
        Bytes, in UTF-8, of a pattern or topic at most.
    most_words : int
        Words of a pattern or topic at most.
    many_anywhere : bool
        Whether `many` may stand elsewhere than at the end, and several times.
    hides_dollar : bool
        Whether a leading wildcard does not match topics that start with ``$``.
    shares : bool
        Whether ``$share/name/filter`` is a shared subscription.
    pattern_defect, topic_defect : callable
        Return the first defect of a text as (rule, character), or None. The rules of `DIALECTS` follow the characters
        of the dialect that has them.
    """

    name: str
    separator: str
    one: str
    many: str
    least: int
    longest: int
    most_words: int
    many_anywhere: bool
    hides_dollar: bool
    shares: bool
    pattern_defect: Callable[[str], rules.Defect]
    topic_defect: Callable[[str], rules.Defect]

    def __post_init__(self) -> None:
        for what in ("separator", "one", "many"):
            character = getattr(self, what)
            if not isinstance(character, str) or len(character) != 1 or not character.isascii():
                raise ValueError(f"{what} of a dialect must be one ASCII character, not {character!r}")
        if len({self.separator, self.one, self.many}) < 3:
            raise ValueError("separator, one and many of a dialect must be three characters")
        signs = rules.Signs(self.separator, self.one, self.many)
        for what in ("pattern_defect", "topic_defect"):
            rule = getattr(self, what)
            if isinstance(rule, rules.Rule):
                object.__setattr__(self, what, replace(rule, signs=signs))
            elif not callable(rule):
                raise TypeError(f"{what} of a dialect must be a function of a text, not {type(rule).__name__}")
        for what, low, high in (("least", 0, 1), ("longest", 1, 65_535), ("most_words", 1, 65_536)):
            number = getattr(self, what)
            if type(number) is not int or not low <= number <= high:
                raise ValueError(f"{what} of a dialect must be an int from {low} to {high:,}, not {number!r}")

    def pattern(self, text: str | bytes) -> Pattern:
        """Parse a pattern.

        Raises
        ------
        InvalidPattern
            If the pattern breaks a rule of the dialect.
        """
        checked = self._checked(text, InvalidPattern, self.pattern_defect)
        group = None
        start = 0
        if self.shares and checked.startswith(self.share_prefix):
            start = rules.filter_start(checked, self.separator)
            group = checked[len(self.share_prefix) : start - 1]
        words = self.split(checked[start:])
        if len(words) > self.most_words:
            raise InvalidPattern(text, self.name, self._too_many(len(words)))
        special = {self.one: Kind.ONE, self.many: Kind.MANY}
        return Pattern(checked, words, tuple([special.get(word, Kind.LITERAL) for word in words]), group)

    def topic(self, text: str | bytes) -> tuple[str, ...]:
        """Return the words of a topic.

        Raises
        ------
        InvalidTopic
            If the topic breaks a rule of the dialect.
        """
        words = self.split(self._checked(text, InvalidTopic, self.topic_defect))
        if len(words) > self.most_words:
            raise InvalidTopic(text, self.name, self._too_many(len(words)))
        return words

    def prefix(self, text: str | None) -> tuple[str, ...]:
        """Return the first words that are asked for; None asks for no word.

        Raises
        ------
        TypeError
            If it is no str.
        """
        if text is not None and not isinstance(text, str):
            raise TypeError(f"prefix must be str, not {type(text).__name__}")
        return self.split(str.__str__(text or ""))

    @property
    def share_prefix(self) -> str:
        """The start of a shared subscription, ``$share/`` in MQTT."""
        return rules.SHARED + self.separator

    @property
    def topic_rule(self) -> rules.Rule:
        """The rule of topics, as data; only for a dialect that is not `own`."""
        assert isinstance(self.topic_defect, rules.Rule)
        return self.topic_defect

    @property
    def own(self) -> bool:
        """Whether Python judges the texts of bulk calls, since compiled code does not know the rules.

        It knows those of `DIALECTS`, with any limits and characters but a wildcard that is a letter or the like where
        the rules forbid wildcards in topics, and a separator that the rules forbid.
        """
        topic = self.topic_defect
        if not isinstance(topic, rules.Rule) or not isinstance(self.pattern_defect, rules.Rule):
            return True
        return any(ord(each) > 63 or each == self.separator for each in topic.forbidden)

    def split(self, text: str) -> tuple[str, ...]:
        """Return the words of a text; the empty text has none."""
        if not isinstance(text, str):
            raise TypeError(f"text must be str, not {type(text).__name__}")
        return tuple(text.split(self.separator)) if text else ()

    def hidden(self, words: tuple[str, ...]) -> bool:
        """Return whether a leading wildcard does not match the topic of these words."""
        return self.hides_dollar and bool(words) and words[0].startswith("$")

    def matches(self, pattern: Pattern, words: tuple[str, ...]) -> bool:
        """Return whether a pattern matches a topic; the time is O(words of one * words of the other).

        `reached` holds every number of topic words that the pattern words so far can stand for.
        """
        if not (isinstance(pattern, Pattern) and isinstance(words, tuple)):
            raise TypeError(
                "pattern must be what Dialect.pattern returns and words what Dialect.topic does, not "
                f"{type(pattern).__name__} and {type(words).__name__}"
            )
        if pattern.wild_first and self.hidden(words):
            return False
        size = len(words)
        reached = {0}
        for word, kind in zip(pattern.words, pattern.kinds, strict=True):
            if kind == Kind.MANY:
                reached = set(range(min(reached) + self.least, size + 1))
            else:
                reached = {n + 1 for n in reached if n < size and (kind == Kind.ONE or words[n] == word)}
            if not reached:
                return False
        return size in reached

    def _too_many(self, count: int) -> str:
        return f"it has {count:,} words, and {self.most_words:,} are allowed"

    def _checked(self, text: str | bytes, error: type[InvalidText], defect_of: Callable[[str], rules.Defect]) -> str:
        if isinstance(text, str):
            if type(text) is not str:
                text = str.__str__(text)  # a subclass may encode and split as it likes
            try:
                size = len(text.encode())
            except UnicodeEncodeError as fault:
                raise error(text, self.name, "it must be encodable in UTF-8", fault.start) from None
        elif isinstance(text, bytes):
            text = exact_bytes(text)
            size = len(text)
            try:
                text = text.decode()
            except UnicodeDecodeError as fault:
                raise error(text, self.name, "it must be UTF-8", fault.start) from None
        else:
            raise error(text, self.name, f"it must be str or UTF-8 bytes, not {type(text).__name__}")
        if size > self.longest:
            raise error(text, self.name, f"it has {size:,} bytes, and {self.longest:,} are allowed")
        defect = defect_of(text)
        if defect is not None:
            raise error(text, self.name, *defect)
        return text


_ANY: Final = rules.Rule(rules.amqp)
_NATS: Final = rules.Rule(rules.nats_pattern), rules.Rule(rules.nats_topic)
_MQTT: Final = rules.Rule(rules.mqtt_pattern), rules.Rule(rules.mqtt_topic)

AMQP: Final = Dialect("amqp", ".", "*", "#", 0, 255, 256, True, False, False, _ANY, _ANY)
NATS: Final = Dialect("nats", ".", "*", ">", 1, 4096, 2048, False, False, False, *_NATS)
MQTT: Final = Dialect("mqtt", "/", "+", "#", 0, 65535, 200, False, True, True, *_MQTT)

DIALECTS: Final = MappingProxyType({dialect.name: dialect for dialect in (AMQP, NATS, MQTT)})
"""Every dialect, by name."""


def get_dialect(dialect: str | Dialect) -> Dialect:
    """Return a dialect given by name, or the one given."""
    if isinstance(dialect, Dialect):
        return dialect
    if not isinstance(dialect, str):
        raise TypeError(f"dialect must be a Dialect or its name, not {type(dialect).__name__}")
    if dialect not in DIALECTS:
        raise ValueError(f"no topic dialect is called {dialect!r}; there are {', '.join(DIALECTS)}")
    return DIALECTS[dialect]


def parse_pattern(dialect: Dialect, text: str | bytes, queue: str | None, row: int | None) -> Pattern:
    """Parse the pattern of a subscription; the pattern or `queue` may name a queue group, not both.

    Raises
    ------
    InvalidPattern
        Naming the row, unless `row` is None.
    """
    if queue is not None and not isinstance(queue, str):
        raise TypeError(f"queue must be str, not {type(queue).__name__}")
    try:
        pattern = dialect.pattern(text)
    except InvalidText as error:
        raise (error if row is None else error.at_row(row)) from None
    if pattern.group is not None and queue is not None:
        raise InvalidPattern(text, dialect.name, f"it names a queue group, and {queue!r} is another", row=row)
    return pattern
