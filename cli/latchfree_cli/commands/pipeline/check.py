"""``latchfree pipeline check``: judge millions of histories on Spark."""

from typing import TYPE_CHECKING, Annotated, Final

import typer

from latchfree_cli import exits
from latchfree_cli.commands.pipeline import spark_options
from latchfree_cli.commands.pipeline.endings import ending
from latchfree_cli.commands.pipeline.uris import check_by_uri
from latchfree_cli.frame import examples
from latchfree_cli.own_models import own_models
from latchfree_cli.settings import Outcome, Settings

if TYPE_CHECKING:
    from latchfree_spark.check import Summary

TIMEOUT: Final = 60.0
"""Seconds for each history, if none are given."""

_SHOWN: Final = 10
_BAR: Final = 30
_LISTED: Final = 1000


@examples(
    "latchfree pipeline check histories/ verdicts --model map",
    "latchfree pipeline check s3a://lab/runs s3a://lab/verdicts --model map",
    'latchfree pipeline check "runs/*.jsonl" verdicts --master "local[2]"',
)
def check(
    settings: Settings,
    inputs: Annotated[list[str], typer.Argument(metavar="IN...", help="Files, folders or patterns of histories.")],
    output: Annotated[str, typer.Argument(metavar="OUT", help="A folder that is not there yet, or a URI.")],
    *,
    model: Annotated[
        str | None, typer.Option("--model", help="Sequential model: map, register, ...; your own is module:Name.")
    ] = None,
    py_files: Annotated[
        str | None, typer.Option("--py-files", metavar="FILE,...", help="Modules, zips or wheels of your own.")
    ] = None,
    criterion: Annotated[
        str, typer.Option("--criterion", help="linearizability, sequential-consistency, ...")
    ] = "linearizability",
    by: Annotated[
        str | None, typer.Option("--by", help="What large histories may be split by; default: history,object,key.")
    ] = None,
    giant: Annotated[
        int | None,
        typer.Option("--giant", min=1, help="Histories of more operations are judged apart; default: 100,000."),
    ] = None,
    budget: Annotated[int | None, typer.Option("--budget", min=1, help="Steps of the search for each history.")] = None,
    memory: Annotated[
        int, typer.Option("--memory", min=1, metavar="MB", help="Bound on the tables of a search.")
    ] = 1024,
    chunks: Annotated[int | None, typer.Option("--chunks", min=1, help="Pieces of work; default: by size.")] = None,
    partitions: Annotated[int | None, typer.Option("--partitions", min=1, help="Tasks; default: one a chunk.")] = None,
    join: Annotated[bool, typer.Option("--join", help="A name is one history in all files, not one in each.")] = False,
    keep_going: Annotated[bool, typer.Option("--keep-going", help="Count what cannot be read and go on.")] = False,
    incremental: Annotated[
        bool, typer.Option("--incremental", help="Append what OUT does not have yet; URIs are always judged so.")
    ] = False,
    master: spark_options.Master = None,
    conf: spark_options.Conf = None,
    ui: spark_options.Ui = False,
) -> Outcome:
    """Judge whether millions of recorded histories are linearizable.

    OUT holds a table of verdicts, the failing histories, whole and shrunk, and summary.html. A job that is interrupted
    goes on where it was when it is started again. If IN or OUT is a URI, as in s3a://lab/runs, Spark reads and writes
    it, and OUT may have the table of earlier runs: only new histories are judged.
    """
    from latchfree_spark.check import Options, check_files
    from latchfree_spark.check.options import GIANT, LEVELS
    from latchfree_spark.hadoop import is_uri

    remote = incremental or any(map(is_uri, (*inputs, output)))
    if remote and (by is not None or giant is not None):
        option = "--by" if by is not None else "--giant"
        raise exits.Stop(
            exits.USAGE, f"{option} is for paths; with URIs one worker judges a history, however long it is"
        )
    with ending(f"start again to go on from {output}.partial"):
        files = own_models(py_files, model)
        options = Options(
            model,
            LEVELS if by is None else tuple(by.split(",")),
            GIANT if giant is None else giant,
            settings.timeout or TIMEOUT,
            budget,
            memory << 20,
            join=join,
            criterion=criterion,
            py_files=files,
        )
        opened = spark_options.opener(settings, "latchfree pipeline check", master, conf, ui)
        if remote:
            return check_by_uri(
                settings, inputs, output, options, opened,
                rounds=chunks, partitions=partitions, keep_going=keep_going,
            )  # fmt: skip
        with settings.progress("pipeline check: looking at the input") as show:
            summary = check_files(
                inputs,
                output,
                options,
                open_session=opened,
                chunks=chunks,
                partitions=partitions,
                keep_going=keep_going,
                report=lambda text, done, total: show(f"{text} {_bar(done, total)} {done} of {total} chunks"),
            )
    return _told(settings, summary)


def _bar(done: int, total: int) -> str:
    filled = _BAR * done // max(1, total)
    return "━" * filled + "╌" * (_BAR - filled)


def _told(settings: Settings, summary: "Summary") -> Outcome:
    counts = ", ".join(f"{count:,} {name}" for name, count in summary.verdicts.items() if count) or "none"
    for warning in summary.warnings:
        settings.say(f"warning: {warning}")
    for problem in summary.problems[:_SHOWN]:
        settings.say(f"could not be read: {problem}")
    for row in summary.unknown[:_SHOWN]:
        settings.say(f"{row['history']}: unknown: {row['reason']}")
    for row in summary.failing[:_SHOWN]:
        settings.say(f"{row['history']}: violation: {row['reason']}")
    settings.note(f"{summary.histories:,} histories, {summary.operations:,} operations: {counts}")
    settings.note(f"tables, failing histories and a page: {summary.out}/summary.html")
    payload = {
        "out": str(summary.out),
        "histories": summary.histories,
        "operations": summary.operations,
        "verdicts": summary.verdicts,
        "problems": list(summary.problems[:_LISTED]),
        "warnings": list(summary.warnings),
        "failing": list(summary.failing),
        "unknown": list(summary.unknown),
        "seconds": round(summary.seconds, 3),
    }
    if summary.verdicts["violation"]:
        replay = next((row["replay"] for row in summary.failing if row["replay"]), None)
        return Outcome("violation", payload, reproduce=replay)
    if not summary.histories or summary.histories == summary.verdicts["error"]:
        settings.say("nothing was checked: no history could be read" if summary.problems else "nothing was checked")
        return Outcome("nothing", payload)
    undecided = summary.verdicts["unknown"] or summary.problems
    return Outcome("unknown" if undecided else "ok", payload)
