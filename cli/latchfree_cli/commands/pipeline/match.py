"""``latchfree pipeline match``: who gets which message, on Spark, for tables and streams."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from latchfree_cli import exits
from latchfree_cli.commands.pipeline import spark_options
from latchfree_cli.frame import examples
from latchfree_cli.settings import Outcome, Report, Settings
from latchfree_cli.topic_files import subscriptions as read_subscriptions

if TYPE_CHECKING:
    from latchfree.topics import Dialect, MaskIndex
    from latchfree_spark.match import Progress, Summary


@examples(
    "latchfree pipeline match -s subscriptions.csv -m log.parquet -o matched",
    "latchfree pipeline match -s subscriptions.csv -m new/ -o matched --stream",
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
        str, typer.Option("--messages", "-m", help="Parquet, CSV, JSONL or lines: a file, a folder or a glob.")
    ],
    dialect: Annotated[str, typer.Option("--dialect", "-d", help="amqp, nats or mqtt.")] = "mqtt",
    topic_column: Annotated[str, typer.Option("--topic-column", help="The column with the topics.")] = "topic",
    schema: Annotated[
        str | None,
        typer.Option("--schema", metavar="DDL", help="Columns of the messages; default: what the files say."),
    ] = None,
    deliveries: Annotated[
        bool, typer.Option("--deliveries", help="Also one row for each message and subscriber.")
    ] = False,
    counts: Annotated[bool, typer.Option("--counts/--no-counts", help="Count by subscriber and by topic.")] = True,
    stream: Annotated[bool, typer.Option("--stream", help="Go on with files that appear, until Ctrl-C.")] = False,
    available_now: Annotated[
        bool, typer.Option("--available-now", help="With --stream: end after the files that are there.")
    ] = False,
    every: Annotated[
        float, typer.Option("--every", min=0, metavar="SECONDS", help="With --stream: from batch to batch.")
    ] = 1.0,
    max_files: Annotated[
        int | None, typer.Option("--max-files", min=1, help="With --stream: files in a batch at most.")
    ] = None,
    keep_going: Annotated[
        bool, typer.Option("--keep-going", help="Count what is no message and go on; exit code 3.")
    ] = False,
    master: spark_options.Master = None,
    conf: spark_options.Conf = None,
    ui: spark_options.Ui = False,
) -> Outcome:
    """Match messages with subscriptions on Spark; --out names the folder to write.

    A table of messages needs a folder that is not there; all of it appears at once. A stream goes on where it was when
    it is started again with the same folder.
    """
    import latchfree_spark.match as jobs
    from latchfree.topics import DIALECTS

    open_session = spark_options.opener(settings, "latchfree pipeline match", master, conf, ui)
    (rules,) = exits.named("dialect", DIALECTS, [dialect], "latchfree pipeline match --help")
    try:
        with settings.progress(f"reading {subscriptions}") as report:
            table = jobs.SubscriptionTable(subscriptions, lambda path: _index(path, rules, report))
            if stream:
                with open_session() as spark:
                    report(f"waiting for messages in {messages}")
                    done = jobs.match_stream(
                        spark, table, messages, settings.out, topic=topic_column, schema=schema, every=every,
                        available_now=available_now, max_files=max_files, keep_going=keep_going,
                        report=lambda done: report(f"{done.messages:,} messages, {done.matches:,} matches"),
                        warn=settings.warn,
                    )  # fmt: skip
                settings.say(f"{_totals(done)}, in {done.batches:,} batches -> {settings.out / 'matches'}")
                verdict = "unknown" if done.bad else "ok"
                return Outcome(verdict if done.messages else "nothing", asdict(done))
            jobs.refuse_existing(settings.out)
            found = jobs.find(messages, topic_column, schema=schema, keep_going=keep_going)
            index, _ = table.now()
            report("starting Spark")
            with open_session() as spark:
                report(f"matching {messages}")
                summary = jobs.match_messages(
                    spark, index, found, settings.out, deliveries=deliveries, counts=counts, keep_going=keep_going
                )
    except jobs.NoMessages as error:
        raise exits.Stop(exits.NOTHING, str(error)) from None
    except (jobs.BadMessages, jobs.BadSubscriptions, jobs.OutputExists) as error:
        raise exits.Stop(exits.USAGE, str(error)) from None
    for reason in summary.unreadable:
        settings.warn(f"left out: {reason}")
    settings.say(f"{_totals(summary)} -> {settings.out / 'matches'}")
    return Outcome("unknown" if summary.bad or summary.unreadable else "ok", asdict(summary))


def _totals(done: "Progress | Summary") -> str:
    bad = f", {done.bad:,} without a valid topic" if done.bad else ""
    return f"{done.messages:,} messages, {done.matches:,} matches{bad}"


def _index(path: str, dialect: "Dialect", report: Report) -> "MaskIndex":
    from latchfree.topics import MaskIndex

    patterns, subscribers = read_subscriptions(path, dialect, report)
    report(f"indexing {len(patterns):,} subscriptions")
    return MaskIndex.build(patterns, subscribers, dialect)
