"""Every bound of the package in one table, with its value as the code has it.

Example: ``python -m latchfree_cli.limits`` prints the table of ``docs/limits.md``. A test compares the two, and goes
beyond each bound to see the error that the table names.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from inspect import signature
from typing import Any, Final

from latchfree.arena import entry, header, layout
from latchfree.ctrie import codecs
from latchfree.limiting import limiter
from latchfree.sketches import counted, kll
from latchfree.sketches.common import items, shapes, stored
from latchfree.sketches.kernels import scalable, top
from latchfree.streams import RingBuffer, handle
from latchfree.streams import codecs as messages
from latchfree.topics import AMQP, MQTT, NATS, CachedMatcher, RetainedTopics, relations
from latchfree_cli.matching import lines
from latchfree_lincheck.engine import bounds
from latchfree_lincheck.watching import tail
from latchfree_spark.check.input import lines as history_lines


@dataclass(frozen=True, slots=True)
class Limit:
    """A bound.

    Attributes
    ----------
    name : str
        What is bounded.
    default : str
        The bound where nobody says otherwise, as the code has it.
    unit : str
    how : str
        How to set it; "fixed" if it cannot be set.
    error : str
        What is raised beyond it, or what happens instead.
    test : str
        The file below ``tests/`` that goes beyond it.
    """

    name: str
    default: str
    unit: str
    how: str
    error: str
    test: str = "cli/test_limits.py"


def _default(call: Callable[..., Any], name: str) -> str:
    """Return the default of a parameter."""
    return f"{signature(call).parameters[name].default:,}"


def _topics(what: str, unit: str, attribute: str) -> tuple[Limit, ...]:
    return tuple(
        Limit(
            f"{what}, {dialect.name}",
            f"{getattr(dialect, attribute):,}",
            unit,
            f"`dataclasses.replace(dialect, {attribute}=)`",
            "`InvalidTopic`, `InvalidPattern`",
        )
        for dialect in (MQTT, NATS, AMQP)
    )


LIMITS: Final = (
    Limit("key of a `Ctrie`", f"{codecs.MAX_KEY_BYTES:,}", "bytes", "fixed", "`ValueError`"),
    Limit("value of a `Ctrie`", f"{codecs.MAX_VALUE_BYTES:,}", "bytes", "fixed", "`ValueError`"),
    Limit("integer of a `Ctrie`, ring or sketch", "64, signed", "bits", "fixed", "`ValueError`"),
    Limit(
        "snapshots of a map at once", "what its arena holds", "snapshots", "`Arena.create(capacity=)`", "`ArenaFull`"
    ),
    Limit("arena, least", f"{header.MINIMUM_BYTES:,}", "bytes", "`Arena.create(capacity=)`", "`ValueError`"),
    Limit("arena, most", f"{header.MAXIMUM_BYTES:,}", "bytes", "`Arena.create(capacity=)`", "`ValueError`"),
    Limit("what an arena holds", "its capacity", "bytes", "`Arena.create(capacity=)`", "`ArenaFull`"),
    Limit("structures of an arena", f"{layout.DIRECTORY_ENTRIES:,}", "names", "fixed", "`DirectoryFull`"),
    Limit("name of a structure", f"{entry.MAX_NAME_BYTES:,}", "bytes", "fixed", "`ValueError`"),
    Limit(
        "threads in an arena at once",
        f"{layout.PARTICIPANT_COUNT:,}",
        "slots",
        "fixed",
        "`ParticipantsExhausted`",
        "impl/arena/test_lending.py",
    ),
    Limit("ring", f"2 to {handle.MOST_CAPACITY:,}", "values", "`RingBuffer(capacity)`", "`ValueError`"),
    Limit("values in a ring", "its capacity", "values", "`RingBuffer(when_full=)`", "waits, `RingFull`, or drops"),
    Limit("message of a ring", f"{messages.MOST_BYTES:,}", "bytes", "fixed", "`ValueError`"),
    Limit(
        "wait for a claimed cell",
        _default(RingBuffer, "stall_timeout"),
        "seconds",
        "`RingBuffer(stall_timeout=)`",
        "`RingStalled`",
    ),
    Limit("sketch", f"{8 * shapes.MOST_CELLS:,}", "bytes", "arguments of the sketch", "`ValueError`"),
    Limit("count of one add", f"{counted.MOST_COUNT:,}", "items", "fixed", "`ValueError`"),
    Limit("items in a buffer", f"1 to {items.CHUNK:,}", "items", "`buffered(most=)`", "`ValueError`"),
    Limit("item of a `TopK`", f"{top.MOST_BYTES:,}", "bytes", "fixed", "`ValueError`"),
    Limit("hashes of a `MinHash`", f"1 to {shapes.MOST_HASHES:,}", "hashes", "`MinHash(hashes=)`", "`ValueError`"),
    Limit("items of a `TopK`", f"1 to {shapes.MOST_HASHES:,}", "items", "`TopK(items=)`", "`ValueError`"),
    Limit(
        "layers of a `ScalableBloom`",
        f"1 to {int(scalable.MOST_LAYERS):,}",
        "layers",
        "`ScalableBloom(initial=, most=)`",
        "`ValueError`",
    ),
    Limit(
        "rows of a `CountMin` of another library", f"1 to {shapes.MOST_FOREIGN:,}", "rows", "fixed", "`SketchInvalid`"
    ),
    Limit("bits of an item of a `Bloom` of Spark", f"1 to {shapes.MOST_FOREIGN:,}", "bits", "fixed", "`SketchInvalid`"),
    Limit("items added to a sketch, after a merge", f"{stored.MOST_ADDED:,}", "items", "fixed", "`ValueError`"),
    Limit("writers of a `KLL`", f"1 to {shapes.MOST_LANES:,}", "threads", "`KLL(writers=)`", "`ValueError`"),
    Limit("items of a `KLL` after a merge", f"{kll.MOST_ITEMS:,}", "items", "fixed", "`ValueError`"),
    Limit(
        "rate", f"{limiter.LEAST_RATE:g} to {limiter.MOST_RATE:g}", "a second", "`RateLimiter(rate)`", "`ValueError`"
    ),
    Limit("burst", f"1 to {limiter.MOST_BURST:,}", "tokens", "`RateLimiter(burst=)`", "`ValueError`"),
    Limit("tokens granted", "rate and burst", "tokens", "`RateLimiter(when_empty=)`", "waits, `RateLimited`, or sheds"),
    *_topics("topic or pattern", "bytes", "longest"),
    *_topics("words of a topic or pattern", "words", "most_words"),
    Limit("subscriptions of one subscriber", "none", "", "`LimitedMatcher(each=)`", "`LimitReached`"),
    Limit("subscriptions in all", "none", "", "`LimitedMatcher(in_all=)`", "`LimitReached`"),
    Limit("subscribers of a topic", "none", "", "`LimitedMatcher(fan_out=)`", "`LimitReached`"),
    Limit("retained topics", _default(RetainedTopics, "most"), "topics", "`RetainedTopics(most=)`", "`LimitReached`"),
    Limit(
        "results of a cache",
        _default(CachedMatcher, "entries"),
        "topics",
        "`CachedMatcher(entries=)`",
        "the oldest are dropped",
        "impl/topics/test_routing.py",
    ),
    Limit(
        "results of a cache",
        _default(CachedMatcher, "most_bytes"),
        "bytes",
        "`CachedMatcher(most_bytes=)`",
        "the oldest are dropped",
        "impl/topics/test_routing.py",
    ),
    Limit(
        "comparison of two patterns",
        f"{relations.MOST_STATES:,}",
        "states",
        "fixed",
        "`TooComplex`",
        "impl/topics/test_relations.py",
    ),
    Limit("line of `latchfree match`", f"{lines.LONGEST_LINE:,}", "bytes", "fixed", "exit code 2", "cli/test_match.py"),
    Limit("line of events that are followed", f"{tail.LONGEST:,}", "bytes", "fixed", "`ValueError`"),
    Limit(
        "line of histories in a job",
        f"{history_lines.LONGEST:,}",
        "bytes",
        "fixed",
        "told with its place; the others are read",
        "pipeline/check/test_reading.py",
    ),
    Limit(
        "operations of a history",
        "the memory of a search",
        "bytes",
        "`check(memory=)`, `--memory`",
        "verdict unknown",
        "lincheck/checking/test_checker.py",
    ),
    Limit(
        "steps of a search", "none", "steps", "`check(budget=)`", "verdict unknown", "lincheck/checking/test_many.py"
    ),
    Limit(
        "memory of a search",
        f"{bounds.MEMORY:,}",
        "bytes",
        "`check(memory=)`, `--memory`",
        "verdict unknown",
        "lincheck/checking/test_checker.py",
    ),
    Limit(
        "time of a search",
        "none",
        "seconds",
        "`check(timeout=)`, `--timeout`",
        "verdict unknown",
        "lincheck/checking/test_checker.py",
    ),
)


def table() -> str:
    """Return the table in Markdown."""
    head = "| what | bound | unit | how to set it | beyond it | test |\n|---|---|---|---|---|---|\n"
    return head + "".join(
        f"| {each.name} | {each.default} | {each.unit} | {each.how} | {each.error} | `{each.test}` |\n"
        for each in LIMITS
    )
