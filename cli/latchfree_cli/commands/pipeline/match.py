"""``latchfree pipeline match``: who gets which message, on Spark, for tables and streams."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from latchfree_cli import exits
from latchfree_cli.commands.pipeline import places, spark_options
from latchfree_cli.commands.pipeline.endings import ending
from latchfree_cli.frame import examples
from latchfree_cli.matching.files import subscriptions as read_subscriptions
from latchfree_cli.settings import Outcome, Report, Settings

if TYPE_CHECKING:
    from latchfree.topics import Dialect, MaskIndex
    from latchfree_spark.match import Progress, Summary


@examples(
    "latchfree pipeline match -s subscriptions.csv -m log.parquet -o matched",
    "latchfree pipeline match -s subscriptions.csv -m new/ -o matched --stream",
    "latchfree pipeline match -s s.csv -o matched --stream --format kafka",
)
def match(
    settings: Settings,
    *,
    subscriptions: Annotated[
        str,
        typer.Option(
            "--subscriptions",
            "-s",
            help="CSV, JSONL or Parquet: pattern and, if there, subscriber. A folder: its last.",
        ),
    ],
    messages: Annotated[
        str, typer.Option("--messages", "-m", help="Parquet, CSV, JSONL or lines: a file, a folder, a glob or a URI.")
    ] = "",
    dialect: Annotated[str, typer.Option("--dialect", "-d", help="amqp, nats or mqtt.")] = "mqtt",
    topic_column: Annotated[str, typer.Option("--topic-column", help="The column with the topics.")] = "topic",
    schema: Annotated[
        str | None,
        typer.Option("--schema", metavar="DDL", help="Columns of the messages; default: what the files say."),
    ] = None,
    deliveries: Annotated[
        bool, typer.Option("--deliveries", help="Also one row for each message and subscriber.")
    ] = False,
    counts: Annotated[
        bool | None, typer.Option("--counts/--no-counts", help="Count by subscriber and by topic; default: count.")
    ] = None,
    stream: Annotated[bool, typer.Option("--stream", help="Go on with files that appear, until Ctrl-C.")] = False,
    available_now: Annotated[
        bool, typer.Option("--available-now", help="With --stream: end after the files that are there.")
    ] = False,
    every: Annotated[
        float | None,
        typer.Option("--every", min=0, metavar="SECONDS", help="With --stream: from batch to batch; default: 1."),
    ] = None,
    max_files: Annotated[
        int | None, typer.Option("--max-files", min=1, help="With --stream: files in a batch at most.")
    ] = None,
    format: Annotated[
        str | None,
        typer.Option("--format", metavar="NAME", help="With --stream: a source of Spark's, as kafka; default: files."),
    ] = None,
    option: Annotated[
        list[str] | None,
        typer.Option("--option", metavar="KEY=VALUE", help="What the source of a stream is told; as often as needed."),
    ] = None,
    select: Annotated[
        list[str] | None,
        typer.Option("--select", metavar="SQL", help="With --format: a column of the messages; as often as needed."),
    ] = None,
    keep_going: Annotated[
        bool, typer.Option("--keep-going", help="Count what is no message and go on; exit code 3.")
    ] = False,
    master: spark_options.Master = None,
    conf: spark_options.Conf = None,
    ui: spark_options.Ui = False,
) -> Outcome:
    """Match messages with subscriptions on Spark; --out names the folder to write.

    A table of messages needs a folder that is not there, a path or a URI as s3a://lab/matched; all of it appears at
    once. A stream goes on where it was when it is started again with the same folder, which is a path.
    """
    options = _options(option or ())
    streams = {"--format": format, "--option": option, "--select": select, "--available-now": available_now or None}
    _refuse(
        stream,
        streams | {"--every": every, "--max-files": max_files},
        {"--deliveries": deliveries or None, "--counts": counts},
    )
    if not messages and not format:
        raise exits.Stop(exits.USAGE, "there are no messages; name them with --messages, or with --stream --format")
    import latchfree_spark.match as jobs
    from latchfree.topics import DIALECTS
    from latchfree_spark.hadoop import is_uri

    if stream and is_uri(settings.address):
        raise exits.Stop(exits.USAGE, f"{settings.address}: the output of a stream is a path; a table may have a URI")
    if stream and is_uri(subscriptions):
        raise exits.Stop(
            exits.USAGE, f"{subscriptions}: the subscriptions of a stream are at a path; a table's may be at a URI"
        )
    open_session = spark_options.opener(settings, "latchfree pipeline match", master, conf, ui)
    (rules,) = exits.named("dialect", DIALECTS, [dialect], "latchfree pipeline match --help")
    again = f"start again to go on in {settings.out}" if stream else f"{settings.address} is not written; start again"
    wrong = (jobs.BadMessages, jobs.BadOutput, jobs.BadSubscriptions, jobs.OutputExists)
    with ending(again, wrong, nothing=(jobs.NoMessages,)), settings.progress(f"reading {subscriptions}") as report:
        table = jobs.SubscriptionTable(subscriptions, lambda path: _index(path, rules, report))
        if stream:
            with open_session() as spark:
                report(f"waiting for messages in {messages or format}")
                done = jobs.match_stream(
                    spark, table, messages, settings.out, topic=topic_column, schema=schema,
                    every=1.0 if every is None else every,
                    available_now=available_now, max_files=max_files, keep_going=keep_going,
                    format=format, options=options, select=select or (), warn=settings.warn,
                    report=lambda done: report(f"{_totals(done)}, {done.rate:,.0f} a second in the last batch"),
                )  # fmt: skip
            settings.say(f"{_totals(done)}, in {done.batches:,} batches -> {settings.out / 'matches'}")
            verdict = "unknown" if done.bad or done.replaced else "ok"
            return Outcome(verdict if done.messages else "nothing", asdict(done))
        out = places.output(settings)
        found = places.found_here(messages, topic_column, schema=schema, keep_going=keep_going)
        index = None if is_uri(subscriptions) else table.now()[0]
        report("starting Spark")
        with open_session() as spark:
            if index is None:
                with places.fetched(spark, subscriptions) as copy:
                    index = _index(copy, rules, report)
            found = found or places.found_there(spark, messages, topic_column, schema=schema, keep_going=keep_going)
            report(f"matching {messages}")
            summary = jobs.match_messages(
                spark, index, found, out,
                deliveries=deliveries, counts=counts is not False, keep_going=keep_going, report=report,
            )  # fmt: skip
    for reason in summary.unreadable:
        settings.warn(f"left out: {reason}")
    settings.say(f"{_totals(summary)} -> {out}/matches")
    return Outcome("unknown" if summary.bad or summary.unreadable else "ok", asdict(summary))


def _options(given: Sequence[str]) -> dict[str, str]:
    """Return options by their names."""
    made = dict(each.partition("=")[::2] for each in given)
    if any("=" not in each for each in given):
        raise exits.Stop(exits.USAGE, "an --option is KEY=VALUE, as --option subscribe=readings")
    return made


def _refuse(stream: bool, of_streams: Mapping[str, object], of_tables: Mapping[str, object]) -> None:
    """End the command if an option was given that makes no difference here."""
    wrong = [name for name, value in (of_tables if stream else of_streams).items() if value is not None]
    if wrong:
        kind, way = ("tables", "leave --stream out") if stream else ("streams", "add --stream")
        raise exits.Stop(exits.USAGE, f"{', '.join(wrong)}: only {kind} of messages have that; {way}")


def _totals(done: "Progress | Summary") -> str:
    bad = f", {done.bad:,} without a valid topic" if done.bad else ""
    return f"{done.messages:,} messages, {done.matches:,} matches{bad}"


def _index(path: str, dialect: "Dialect", report: Report) -> "MaskIndex":
    from latchfree.topics import MaskIndex

    patterns, subscribers = read_subscriptions(path, dialect, report)
    report(f"indexing {len(patterns):,} subscriptions")
    return MaskIndex.build(patterns, subscribers, dialect)
