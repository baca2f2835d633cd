"""``latchfree pipeline sketch``: counts of messages that do not grow with them, on Spark."""

from dataclasses import asdict
from typing import Annotated

import typer

from latchfree_cli import exits
from latchfree_cli.commands.pipeline import places, spark_options
from latchfree_cli.commands.pipeline.endings import ending
from latchfree_cli.frame import examples
from latchfree_cli.settings import Outcome, Settings


@examples("latchfree pipeline sketch messages.parquet -o sketches --heavy 20")
def sketch(
    settings: Settings,
    messages: Annotated[
        str,
        typer.Argument(help="Parquet, CSV, JSONL or lines: a file, a folder, a glob or a URI; also what match wrote."),
    ],
    *,
    topic_column: Annotated[str, typer.Option("--topic-column", help="The column with the topics.")] = "topic",
    time_column: Annotated[
        str | None, typer.Option("--time-column", help="A timestamp, by which windows are cut; default: one window.")
    ] = None,
    window: Annotated[
        str | None, typer.Option("--window", help="With --time-column: width of a window; default: 1 hour.")
    ] = None,
    size_column: Annotated[
        str | None, typer.Option("--size-column", help="The payload, or its size, for quantiles.")
    ] = None,
    subscribers_column: Annotated[
        str | None, typer.Option("--subscribers-column", help="Subscribers, a list or one: how many, fan-outs.")
    ] = None,
    heavy: Annotated[int, typer.Option("--heavy", min=1, help="How many of the most frequent topics to name.")] = 10,
    schema: Annotated[
        str | None,
        typer.Option("--schema", metavar="DDL", help="Columns of the messages; default: what the files say."),
    ] = None,
    keep_going: Annotated[bool, typer.Option("--keep-going", help="Leave unreadable files out.")] = False,
    master: spark_options.Master = None,
    conf: spark_options.Conf = None,
    ui: spark_options.Ui = False,
) -> Outcome:
    """Estimate distinct topics and subscribers, heavy topics and quantiles; --out names a folder or a URI."""
    import latchfree_spark.match as jobs
    from latchfree_spark.sketch import QUANTILES, Columns, sketch_messages

    open_session = spark_options.opener(settings, "latchfree pipeline sketch", master, conf, ui)
    if window is not None and time_column is None:
        raise exits.Stop(exits.USAGE, "--window cuts by a column of times; name it with --time-column")
    columns = Columns(time_column, window or Columns.window, size_column, subscribers_column)
    wrong = (jobs.BadMessages, jobs.BadOutput, jobs.OutputExists)
    again = f"{settings.address} is not written; start again"
    with ending(again, wrong, nothing=(jobs.NoMessages,)), settings.progress(f"reading {messages}") as report:
        out = places.output(settings)
        found = places.found_here(messages, topic_column, schema=schema, keep_going=keep_going)
        report("starting Spark")
        with open_session() as spark:
            found = found or places.found_there(spark, messages, topic_column, schema=schema, keep_going=keep_going)
            report(f"sketching {messages}")
            total = sketch_messages(spark, found, out, columns, heavy=heavy, report=report)
    for reason in found.unreadable:
        settings.warn(f"left out: {reason}")
    settings.say(f"{total.messages:,} messages in {total.windows:,} windows -> {out}")
    settings.say(f"topics: about {total.topics:,}")
    if total.subscribers is not None:
        settings.say(f"subscribers: about {total.subscribers:,}")
    for name, values in (("payload bytes", total.sizes), ("fan-out", total.fan_outs)):
        if values is not None:
            said = ", ".join(f"{rank:.0%} up to {value:,}" for rank, value in zip(QUANTILES, values, strict=True))
            settings.say(f"{name}: {said}")
    for topic, count in total.heavy:
        settings.say(f"{count:>12,}  {topic}")
    if not total.heavy:
        settings.say("no topic is frequent enough to stand out")
    return Outcome("unknown" if found.unreadable else "ok", asdict(total))
