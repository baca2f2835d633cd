"""``latchfree check``: judge whether recorded histories are linearizable."""

from pathlib import Path
from typing import Annotated

import typer

from latchfree_cli.frame import examples
from latchfree_cli.histories.checking import Request, check_files
from latchfree_cli.histories.files import Reading
from latchfree_cli.history_options import Failed, Initial, Keyed, KeyOrder, Level, Transactions
from latchfree_cli.settings import Outcome, Settings


@examples(
    "latchfree check history.jsonl --model map",
    "latchfree check transactions.edn --level snapshot-isolation",
    "latchfree check --follow events.jsonl --model register",
)
def check(
    settings: Settings,
    files: Annotated[list[Path], typer.Argument(metavar="FILE", help="Files of histories; - is standard input.")],
    model: Annotated[
        str | None, typer.Option("--model", help="Sequential model: map, register, ...; your own is module:Name.")
    ] = None,
    py_files: Annotated[
        str | None, typer.Option("--py-files", metavar="FILE,...", help="Modules, zips or wheels of your own.")
    ] = None,
    format_: Annotated[str | None, typer.Option("--format", help="File format; default: recognised.")] = None,
    criterion: Annotated[
        str, typer.Option("--criterion", help="linearizability, sequential-consistency, ...")
    ] = "linearizability",
    relaxation: Annotated[
        int, typer.Option("--relaxation", min=0, metavar="N", help="Updates that each process may keep back.")
    ] = 0,
    engine: Annotated[str, typer.Option("--engine", help="auto, monitor, frontier, wgl, python or smt.")] = "auto",
    memory: Annotated[int, typer.Option("--memory", min=1, metavar="MB", help="Bound on the tables.")] = 2048,
    failed: Failed = None,
    keyed: Keyed = False,
    initial: Initial = None,
    *,
    transactions: Transactions = None,
    level: Level = None,
    keys: KeyOrder = None,
    follow: Annotated[
        bool, typer.Option("--follow", help="Judge one file of events, or -, while it grows; see docs/watching.md.")
    ] = False,
    whole: Annotated[bool, typer.Option("--whole", help="With --follow: do not judge keys apart.")] = False,
) -> Outcome:
    """Judge whether recorded histories are linearizable, or keep a weaker promise; whether transactions are isolated.

    A malformed file ends the command before any verdict.
    """
    request = Request(
        files=files,
        py_files=py_files,
        reading=Reading(format_, model, failed, keyed, initial),
        criterion=criterion,
        relaxation=relaxation,
        engine=engine,
        memory=memory,
        transactions=transactions,
        level=level,
        keys=keys,
        follow=follow,
        whole=whole,
    )
    return check_files(settings, request)
