"""``latchfree match``: who wants which topic."""

import json
import sys
from collections.abc import Iterator
from contextlib import nullcontext
from typing import TYPE_CHECKING, Annotated, Any

import typer

from latchfree_cli import exits, process
from latchfree_cli.frame import examples
from latchfree_cli.settings import Outcome, Settings

if TYPE_CHECKING:
    from latchfree.topics import Dialect, Matcher, Subscription
    from latchfree_cli.matching.interest import Interest
    from latchfree_cli.matching.topics import Topics

SHOWN = 5
"""Malformed topics that ``--skip-bad`` shows."""


@examples(
    "latchfree match subscriptions.csv topics.txt",
    "latchfree match subscriptions.csv topics.txt --skip-bad --to matches.parquet",
    'latchfree match subscriptions.csv --explain "plant/2/pump" --dialect mqtt',
)
def match(
    settings: Settings,
    *,
    subscriptions: Annotated[str, typer.Argument(help="CSV, JSONL or Parquet: pattern and, if there, subscriber.")],
    topics: Annotated[str, typer.Argument(help="CSV, JSONL or Parquet: topic; .txt or - : one on each line.")] = "-",
    dialect: Annotated[str, typer.Option("--dialect", "-d", help="amqp, nats or mqtt.")] = "mqtt",
    engine: Annotated[
        str, typer.Option("--engine", "-e", help="mask, concurrent, trie, optimized, bitmap or naive.")
    ] = "mask",
    to: Annotated[
        str | None, typer.Option("--to", metavar="FILE", help="Write columns to a .parquet or .arrow file.")
    ] = None,
    skip_bad: Annotated[
        bool, typer.Option("--skip-bad", help="Skip malformed topics; say which on standard error.")
    ] = False,
    all_members: Annotated[
        bool, typer.Option("--all-members", help="Name all members of a $share group, not the one whose turn it is.")
    ] = False,
    stats: Annotated[
        bool, typer.Option("--stats", help="Say on standard error what the engine holds and did.")
    ] = False,
    explain: Annotated[
        str | None, typer.Option("--explain", metavar="TOPIC", help="Say why each subscription matches one topic.")
    ] = None,
) -> Outcome:
    """Match topics with subscriptions, as they come; print one JSON object a topic.

    {"topic": ..., "subscribers": [...]}
    """
    from latchfree.topics import DIALECTS
    from latchfree_cli.matching.files import subscriptions as read
    from latchfree_cli.matching.interest import ENGINES, Interest

    exits.named("engine", ENGINES, [engine], "latchfree match --help")
    (rules,) = exits.named("dialect", DIALECTS, [dialect], "latchfree match --help")
    with settings.progress(f"reading {subscriptions}") as report:
        patterns, subscribers = read(subscriptions, rules, report)
        report(f"indexing {len(patterns):,} subscriptions")
        interest = Interest(patterns, subscribers, rules, engine, all_members=all_members or explain is not None)
    process.KEPT.keep(interest)
    if explain is not None:
        return _explained(settings, interest, explain)
    outcome = _all_matched(settings, interest, topics, to, skip_bad=skip_bad)
    if stats:
        held = {"subscriptions": len(patterns), "subscribers": len(interest.names)}
        sys.stderr.write(json.dumps({**interest.matcher.stats().to_dict(), **held}) + "\n")
    return outcome


def _all_matched(settings: Settings, interest: "Interest", path: str, to: str | None, *, skip_bad: bool) -> Outcome:
    from latchfree_cli.matching import answers
    from latchfree_cli.matching.topics import arriving

    rows = answers.Rows(interest.names)
    seen = matched = skipped = 0
    plain: answers.Writer = rows if settings.json else answers.JsonLines(interest.names)
    with (
        nullcontext(plain) if to is None else answers.columns(to, interest.names) as write,
        settings.progress("matching") as report,
    ):
        for topics in arriving(path):
            for part, offsets, numbers, problem in _matched(interest, topics, skip_bad=skip_bad):
                if len(part.texts):
                    write(part.texts, offsets, numbers)
                seen += len(part.texts)
                matched += len(numbers)
                if problem is not None and not skip_bad:
                    raise problem
                if problem is not None:
                    skipped += 1
                    if skipped <= SHOWN:
                        sys.stderr.write(f"latchfree: skipped: {problem}\n")
            report(f"matching: {seen:,} topics, {matched:,} matches")
    if skipped:
        sys.stderr.write(f"latchfree: skipped {skipped:,} malformed topic{'s' if skipped > 1 else ''}\n")
    payload: dict[str, Any] = {"topics": seen, "matches": matched, "skipped": skipped}
    return Outcome("ok" if seen else "nothing", {**payload, "rows": rows.rows} if to is None else payload)


def _matched(
    interest: "Interest", topics: "Topics", *, skip_bad: bool
) -> Iterator[tuple["Topics", Any, Any, exits.Stop | None]]:
    """Yield topics with their subscribers, up to what is wrong with the row after them, if anything is."""
    import numpy as np

    from latchfree.topics import InvalidTopic

    try:
        offsets, numbers = interest.match(topics.texts)
    except InvalidTopic as error:
        bad = error.row or 0
    else:
        yield topics, offsets, numbers, topics.malformed
        return
    problems: dict[int, Exception | None] = {}
    rows = np.arange(bad)
    if skip_bad:  # one by one: there may be many
        for row, text in enumerate(topics.texts.to_pylist()):
            if (problem := _problem(interest.matcher, text)) is not None:
                problems[row] = problem
        rows = np.setdiff1d(np.arange(len(topics.texts)), list(problems))
    else:
        problems[bad] = _problem(interest.matcher, topics.texts[bad].as_py())
    good = topics.part(rows)
    yield good, *interest.match(good.texts), None
    nothing = topics.part(rows[:0]), np.zeros(1, np.int64), np.empty(0, np.int64)
    for row, problem in problems.items():
        yield *nothing, topics.stop(row, problem)
    if topics.malformed is not None:
        yield *nothing, topics.malformed


def _problem(matcher: "Matcher[Any]", text: str | bytes) -> Exception | None:
    from latchfree.topics import InvalidTopic

    try:
        matcher.dialect.topic(text)
    except InvalidTopic as error:
        shown = text if isinstance(text, str) else text.decode(errors="backslashreplace")
        return InvalidTopic(shown, error.dialect, error.rule, error.position)
    return None


def _explained(settings: Settings, interest: "Interest", topic: str) -> Outcome:
    from latchfree.topics import InvalidTopic

    matcher = interest.matcher
    try:
        words = matcher.dialect.topic(topic)
        found = sorted(matcher.matching(topic), key=lambda each: each.number)
    except InvalidTopic as error:
        raise exits.Stop(exits.USAGE, f"--explain: {error}") from None
    rows = [
        {
            "subscriber": interest.names[each.subscriber],
            "pattern": each.pattern,
            "because": _reason(matcher.dialect, each, words),
        }
        for each in found
    ]
    for row in rows:
        settings.say(f"{row['pattern']}  ->  {row['subscriber']}: {row['because']}")
    if not rows:
        settings.say(f"no subscription matches {topic!r}")
    return Outcome("ok", {"topic": topic, "matches": rows})


def _reason(dialect: "Dialect", subscription: "Subscription[Any]", words: tuple[str, ...]) -> str:
    """Say which words of a topic each wildcard of a pattern that matches it stands for."""
    from latchfree.topics.explain import stands_for

    found = stands_for(dialect.pattern(subscription.pattern), words, dialect)
    said = [f"{wild} is {dialect.separator.join(taken)!r}" if taken else f"{wild} is no word" for wild, taken in found]
    return ", ".join(said) or "the same words"
