"""``latchfree match``: who wants which topic."""

import json
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from latchfree_cli import exits
from latchfree_cli.frame import examples
from latchfree_cli.settings import Outcome, Settings
from latchfree_cli.topic_files import Batch, batches, subscriptions

if TYPE_CHECKING:
    from latchfree.topics import Dialect, Matcher, Subscription

ENGINES = {
    "mask": "MaskIndex",
    "concurrent": "ConcurrentTrie",
    "trie": "LockedTrie",
    "optimized": "OptimizedInvertedBitmap",
    "bitmap": "InvertedBitmap",
    "naive": "NaiveMatcher",
}


@examples(
    "latchfree match subscriptions.csv topics.txt",
    'latchfree match subscriptions.csv --explain "plant/2/pump" --dialect mqtt',
)
def match(
    settings: Settings,
    subscriptions: Annotated[str, typer.Argument(help="CSV, JSONL or Parquet: pattern and, if there, subscriber.")],
    topics: Annotated[str, typer.Argument(help="CSV, JSONL or Parquet: topic; .txt or - : one on each line.")] = "-",
    dialect: Annotated[str, typer.Option("--dialect", "-d", help="amqp, nats or mqtt.")] = "mqtt",
    engine: Annotated[str, typer.Option("--engine", "-e", help=", ".join(ENGINES) + ".")] = "mask",
    stats: Annotated[
        bool, typer.Option("--stats", help="Say on standard error what the engine holds and did.")
    ] = False,
    explain: Annotated[
        str | None, typer.Option("--explain", metavar="TOPIC", help="Say why each subscription matches one topic.")
    ] = None,
) -> Outcome:
    """Match topics with subscriptions; print one JSON object a topic: {"topic": ..., "subscribers": [...]}."""
    from latchfree.topics import DIALECTS

    exits.named("engine", ENGINES, [engine], "latchfree match --help")
    (rules,) = exits.named("dialect", DIALECTS, [dialect], "latchfree match --help")
    with settings.progress(f"reading {subscriptions}") as report:
        matcher = _load(subscriptions, rules, engine, report)
    if explain is not None:
        return _explained(settings, matcher, explain)
    seen = matched = 0
    rows: list[dict[str, Any]] = []
    with settings.progress("matching") as report:
        for batch in batches(topics, "topic"):
            for topic, subscribers in _matches(matcher, batch):
                seen += 1
                matched += len(subscribers)
                row = {"topic": topic, "subscribers": subscribers}
                if settings.json:
                    rows.append(row)
                else:
                    sys.stdout.write(json.dumps(row, ensure_ascii=False) + "\n")
            report(f"matching: {seen:,} topics, {matched:,} matches")
    sys.stdout.flush()
    if stats:
        sys.stderr.write(json.dumps(matcher.stats().to_dict()) + "\n")
    payload = {"topics": seen, "matches": matched, "rows": rows}
    if not seen:
        return Outcome("nothing", payload)
    return Outcome("ok", payload)


def _load(path: str, dialect: "Dialect", engine: str, report: Any) -> "Matcher":
    from latchfree import topics

    patterns, subscribers = subscriptions(path, dialect, report)
    report(f"indexing {len(patterns):,} subscriptions")
    if engine == "mask":
        return topics.MaskIndex.build(patterns, subscribers, dialect)
    matcher: topics.Matcher = getattr(topics, ENGINES[engine])(dialect)
    for pattern, subscriber in zip(patterns, subscribers, strict=True):
        matcher.subscribe(pattern, subscriber)
    return matcher


def _matches(matcher: "Matcher", batch: Batch) -> Iterator[tuple[str, list[Any]]]:
    from latchfree.topics import InvalidTopic

    texts = batch.columns["topic"]
    try:
        found = matcher.match_many(texts).to_pylist()
    except InvalidTopic as error:
        raise batch.stop(error.row or 0, InvalidTopic(error.text, error.dialect, error.rule, error.position)) from None
    except TypeError:  # subscribers of mixed types fit no Arrow array
        found = [list(matcher.match(text)) for text in texts]
    return zip(texts, (sorted(row, key=lambda each: (isinstance(each, str), each)) for row in found), strict=True)


def _explained(settings: Settings, matcher: "Matcher", topic: str) -> Outcome:
    from latchfree.topics import InvalidTopic

    try:
        words = matcher.dialect.topic(topic)
        found = sorted(matcher.matching(topic), key=lambda each: each.number)
    except InvalidTopic as error:
        raise exits.Stop(exits.USAGE, f"--explain: {error}") from None
    rows = [
        {"subscriber": each.subscriber, "pattern": each.pattern, "because": _reason(matcher, each, words)}
        for each in found
    ]
    for row in rows:
        settings.say(f"{row['pattern']}  ->  {row['subscriber']}: {row['because']}")
    if not rows:
        settings.say(f"no subscription matches {topic!r}")
    return Outcome("ok", {"topic": topic, "matches": rows})


def _reason(matcher: "Matcher", subscription: "Subscription", words: tuple[str, ...]) -> str:
    """Say which words of a topic each wildcard of a pattern that matches it stands for."""
    from latchfree.topics.explain import stands_for

    dialect = matcher.dialect
    found = stands_for(dialect.pattern(subscription.pattern), words, dialect)
    said = [f"{wild} is {dialect.separator.join(taken)!r}" if taken else f"{wild} is no word" for wild, taken in found]
    return ", ".join(said) or "the same words"
