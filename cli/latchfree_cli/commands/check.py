"""``latchfree check``: judge whether recorded histories are linearizable."""

import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from latchfree_cli import exits
from latchfree_cli.following import follow_events
from latchfree_cli.frame import examples
from latchfree_cli.history_files import Failed, Initial, Keyed, Reading, kept, model_of, read_file, stem_of
from latchfree_cli.own_models import own_models
from latchfree_cli.settings import Outcome, Settings
from latchfree_cli.transaction_files import (
    KeyOrder,
    Level,
    Transactions,
    are_transactions,
    check_transaction_files,
    require_alone,
)

if TYPE_CHECKING:
    from latchfree_lincheck import History, Verdict
    from latchfree_lincheck.checking.verdict import EngineName


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
    _require_known(criterion, engine)
    if follow or whole:
        others = (format_, failed, keyed, initial, transactions, level, keys)
        plain = not any(others) and (criterion, engine) == ("linearizability", "auto")
        own_models(py_files, model)
        return follow_events(settings, files, model, memory << 20, follow=follow, whole=whole, plain=plain)
    if are_transactions(files, transactions, level, keys):
        other = criterion != "linearizability"
        require_alone(model=model, py_files=py_files, format=format_, criterion=other, engine=engine != "auto")
        require_alone(failed=failed, keyed=keyed, initial=initial)
        return check_transaction_files(settings, files, transactions, level, keys)
    own_models(py_files, model)
    reading = Reading(format_, model, failed, keyed, initial)
    read = {file: read_file(file, reading) for file in files}
    jobs = [(file, history, model_of(file, history, model)) for file in read for history in read[file]]
    entries: list[dict[str, object]] = []
    reproduce = None
    with settings.progress(f"check: {len(jobs)} histories") as report:
        for number, (file, history, name) in enumerate(jobs, start=1):
            report(f"check: history {number} of {len(jobs)}, {history.name}")
            try:
                verdict = _judged(history, name, criterion, engine, settings.timeout, memory << 20)
            except ValueError as error:
                raise exits.Stop(exits.USAGE, f"{file}: {error}") from None
            entry: dict[str, object] = {
                "file": str(file),
                "history": history.name,
                "model": name,
                "verdict": verdict.verdict,
                "reason": verdict.reason,
                "operations": verdict.operations,
                "engine": verdict.engine,
                "why": verdict.why,
                "seconds": round(verdict.seconds, 6),
            }
            head = f"{file}: {history.name}: {verdict.verdict}"
            if verdict.verdict == "ok":
                settings.note(f"{head} ({verdict.operations:,} operations, {verdict.seconds:.3f} s, {verdict.engine})")
            else:
                settings.say(f"{head}\n{verdict.explain()}")
            if verdict.verdict == "violation":
                path, how = file, reading.again()
                if len(read[file]) > 1 or not kept(file):
                    path, how = _write_alone(settings, file, history), []
                    entry["artefact"] = str(path)
                settings.write(f"check/{_file_name(file, history)}.txt", verdict.explain() + "\n")
                chosen = [] if criterion == "linearizability" else ["--criterion", criterion]
                chosen += ["--py-files", py_files] if py_files else []
                reproduce = shlex.join(["latchfree", "check", str(path), "--model", name, *how, *chosen])
            entries.append(entry)
    if not any(entry["operations"] for entry in entries):
        settings.say("nothing was checked: the files hold no operations")
        return Outcome("nothing", {"histories": entries})
    worst = exits.worst(str(entry["verdict"]) for entry in entries)
    return Outcome(worst, {"histories": entries}, reproduce=reproduce)


def _require_known(criterion: str, engine: str) -> None:
    """Stop unless both are known and go together."""
    from latchfree_lincheck.checking.verdict import ENGINE_NAMES
    from latchfree_lincheck.criteria import CRITERIA

    for option, value, known in (("--criterion", criterion, CRITERIA), ("--engine", engine, ENGINE_NAMES)):
        if value not in known:
            raise exits.Stop(exits.USAGE, f"{option} {value!r} is unknown; choose one of {', '.join(known)}")
    if criterion != "linearizability" and engine != "auto":
        raise exits.Stop(exits.USAGE, f"--engine is for linearizability; leave it out with --criterion {criterion}")


def _judged(
    history: "History", model: str, criterion: str, engine: str, timeout: float | None, memory: int
) -> "Verdict":
    """Return the verdict on a history; raise ValueError where the engine or criterion that was chosen does not fit."""
    from latchfree_lincheck import Verdict
    from latchfree_lincheck.checking.checker import check
    from latchfree_lincheck.criteria import judge

    if criterion != "linearizability":
        return judge(history, model, criterion=criterion, timeout=timeout, memory=memory)
    try:
        return check(history, model, timeout=timeout, memory=memory, engine=cast("EngineName", engine))
    except ValueError as error:
        if engine != "auto":
            raise
        # Calls that are legal one by one, but not together.
        return Verdict(verdict="unknown", reason=str(error), operations=len(history), seconds=0.0, engine="none")


def _write_alone(settings: Settings, file: Path, history: "History") -> Path:
    """Write one history of a file with several below ``check/`` in the output folder."""
    from latchfree_lincheck import write_history

    path = settings.out / "check" / f"{_file_name(file, history)}.jsonl"
    settings.save(path, lambda path: write_history(path, [history]))
    return path


def _file_name(file: Path, history: "History") -> str:
    stem = stem_of(file)
    return re.sub(r"[^\w.-]+", "_", stem if history.name == stem else f"{stem}-{history.name}")
