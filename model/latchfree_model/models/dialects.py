"""How message brokers match topics with patterns: AMQP 0-9-1, NATS and MQTT.

A pattern and a topic are words between separators; in a pattern one wildcard stands for exactly one word, the other
for many. The dialects differ in where ``many`` may stand, whether it may stand for no word, and what is valid.

Sources: AMQP 0-9-1, section 3.1.3.3; NATS, "Subject-Based Messaging"; MQTT 5.0, sections 1.5.4, 4.7 and 4.8.2.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import Final


@dataclass(frozen=True, slots=True)
class Dialect:
    """One broker's rules.

    Parameters
    ----------
    name : str
        What users type.
    separator, one, many : str
        What is between words; the wildcard for one word, the wildcard for many.
    least : int
        How many words `many` stands for at least.
    longest : int
        Bytes of a pattern or topic at most, in UTF-8.
    pattern_defect, topic_defect : callable
        Return what is wrong with a text, or None.
    """

    name: str
    separator: str
    one: str
    many: str
    least: int
    longest: int
    pattern_defect: Callable[[str], str | None]
    topic_defect: Callable[[str], str | None]

    def check_pattern(self, text: object) -> None:
        """Raise ValueError, with the reason, unless `text` is a valid pattern."""
        self._check("pattern", text, self.pattern_defect)

    def check_topic(self, text: object) -> None:
        """Raise ValueError, with the reason, unless `text` is a valid topic."""
        self._check("topic", text, self.topic_defect)

    def _check(self, kind: str, text: object, find: Callable[[str], str | None]) -> None:
        if not isinstance(text, str):
            raise ValueError(f"a {kind} of {self.name} is a string, not {text!r}")
        size = len(text.encode("utf-8", "surrogatepass"))
        defect = f"it has {size:,} bytes, and {self.longest:,} are allowed" if size > self.longest else find(text)
        if defect is not None:
            raise ValueError(f"{text[:80]!r} is no {kind} of {self.name}: {defect}")

    def matches(self, pattern: str, topic: str) -> bool:
        """Return whether a valid topic matches a valid pattern, in time O(words of one * words of the other)."""
        return _matches(self, pattern, topic)

    def words(self, text: str) -> list[str]:
        """Return the words of a pattern or topic; the group of a shared MQTT subscription is left out."""
        if self.name == "mqtt" and text.startswith(_SHARE):
            text = text.split("/", 2)[2]
        return text.split(self.separator) if text else []


@lru_cache(maxsize=1 << 14)
def _matches(dialect: Dialect, pattern: str, topic: str) -> bool:
    wanted, seen = dialect.words(pattern), topic.split(dialect.separator) if topic else []
    if dialect.name == "mqtt" and topic.startswith("$") and wanted[0] in (dialect.one, dialect.many):
        return False
    return _match_words(dialect, wanted, seen)


def _match_words(dialect: Dialect, wanted: Sequence[str], seen: Sequence[str]) -> bool:
    """Walk the pattern, keeping for every n whether its words so far match the first n words of the topic."""
    reached = [True] + [False] * len(seen)
    for word in wanted:
        if word == dialect.many:
            first = reached.index(True) + dialect.least if True in reached else len(seen) + 1
            reached = [n >= first for n in range(len(seen) + 1)]
        else:
            fits = [word in (dialect.one, other) for other in seen]
            reached = [False, *(before and fit for before, fit in zip(reached, fits, strict=False))]
    return reached[-1]


_SHARE: Final = "$share/"


def _amqp_defect(text: str) -> str | None:
    return None  # words may be empty, and a wildcard inside a word is that character


def _nats_topic_defect(text: str) -> str | None:
    if any(character in " \t\r\n\0" for character in text):
        return "it has white space or NUL"
    return "it has an empty token" if "" in text.split(".") else None


def _nats_pattern_defect(text: str) -> str | None:
    if ">" in text.split(".")[:-1]:
        return "'>' must be the last token"
    return _nats_topic_defect(text)


def _mqtt_topic_defect(text: str) -> str | None:
    if "+" in text or "#" in text:
        return "it has a wildcard"
    return _mqtt_text_defect(text)


def _mqtt_pattern_defect(text: str) -> str | None:
    rest = text
    if text.startswith(_SHARE):
        group, slash, rest = text.removeprefix(_SHARE).partition("/")
        if not slash or not group or "+" in group or "#" in group:
            return "expected $share/group/filter with a group free of + and #"
    levels = rest.split("/")
    if any("#" in level for level in levels[:-1]) or ("#" in levels[-1] and levels[-1] != "#"):
        return "'#' must be the whole last level"
    if any("+" in level and level != "+" for level in levels):
        return "'+' must be a whole level"
    return _mqtt_text_defect(rest)


def _mqtt_text_defect(text: str) -> str | None:
    if not text:
        return "it is empty"
    return "it has NUL" if "\0" in text else None


AMQP: Final = Dialect("amqp", ".", "*", "#", 0, 255, _amqp_defect, _amqp_defect)
NATS: Final = Dialect("nats", ".", "*", ">", 1, 4096, _nats_pattern_defect, _nats_topic_defect)
MQTT: Final = Dialect("mqtt", "/", "+", "#", 0, 65535, _mqtt_pattern_defect, _mqtt_topic_defect)

DIALECTS: Final = MappingProxyType({dialect.name: dialect for dialect in (AMQP, NATS, MQTT)})
"""Every dialect, by name."""
