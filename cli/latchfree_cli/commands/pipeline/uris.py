"""``latchfree pipeline check`` with URIs: Spark reads and writes, and only new histories are judged."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict
from typing import TYPE_CHECKING, Final

from latchfree_cli.commands.pipeline.endings import ending
from latchfree_cli.settings import Outcome, Settings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from latchfree_spark.check import Options
    from latchfree_spark.frames.run import Run

_SHOWN: Final = 10


def check_by_uri(
    settings: Settings,
    inputs: Sequence[str],
    output: str,
    options: "Options",
    open_session: "Callable[[], AbstractContextManager[SparkSession]]",
    *,
    rounds: int | None,
    partitions: int | None,
    keep_going: bool,
) -> Outcome:
    """Judge the histories that the table of verdicts at a URI does not have."""
    from latchfree_spark.frames.uris import check_uris, refuse_options
    from latchfree_spark.hadoop import uri

    with ending(f"start again to judge what {output} lacks"):
        refuse_options(options)
        with settings.progress("pipeline check: starting Spark") as show, open_session() as spark:
            run = check_uris(
                spark,
                [uri(name) for name in inputs],
                uri(output),
                options,
                rounds=rounds or 1,
                partitions=partitions,
                keep_going=keep_going,
                report=show,
            )
    return _told(settings, run)


def _told(settings: Settings, run: "Run") -> Outcome:
    for warning in run.warnings:
        settings.say(f"warning: {warning}")
    for problem in run.problems[:_SHOWN]:
        settings.say(f"could not be read: {problem}")
    for rows, verdict in ((run.unknown, "unknown"), (run.failing, "violation")):
        for row in rows[:_SHOWN]:
            settings.say(": ".join(filter(None, (row["source"], row["history"], verdict, row["reason"]))))
    judged = sum(run.verdicts.values())
    counts = ", ".join(f"{count:,} {name}" for name, count in run.verdicts.items() if count) or "none"
    settings.note(f"{run.histories:,} histories, {run.known:,} of them known; {judged:,} judged: {counts}")
    settings.note(f"{run.out}/verdicts/date={run.date}")
    if run.page:
        settings.note(f"failing histories and a page: {run.page}")
    payload = asdict(run) | {"seconds": round(run.seconds, 3)}
    if run.verdicts["violation"]:
        replay = next((row["replay"] for row in run.failing if row.get("replay")), None)
        return Outcome("violation", payload, reproduce=replay)
    if not judged or judged == run.verdicts["error"]:
        settings.say("nothing new was checked")
        return Outcome("nothing", payload)
    return Outcome("unknown" if run.verdicts["unknown"] or run.problems else "ok", payload)
