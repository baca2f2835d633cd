"""What ``latchfree check`` does with its files; `latchfree_cli.commands.check` declares the options."""

import re
import shlex
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, cast

from latchfree_cli import exits
from latchfree_cli.histories.files import (
    Reading,
    has_transactions,
    kept,
    model_of,
    open_file,
    parse_histories,
    require_once,
    stem_of,
)
from latchfree_cli.settings import Outcome, Settings

if TYPE_CHECKING:
    from latchfree_lincheck import History, Verdict
    from latchfree_lincheck.checking.verdict import EngineName
    from latchfree_lincheck.formats.source import Source

PROMISE = "linearizability"
"""What is judged, unless ``--criterion`` says otherwise."""
RELAXED = "intermediate-value"
"""The criterion that has a relaxation."""
ENGINE = "auto"
"""Who judges, unless ``--engine`` says otherwise."""
MEMORY = 2048
"""Megabytes for the tables of a search, unless ``--memory`` says otherwise."""


@dataclass(frozen=True)
class Request:
    """The files and the options of the command, by their names there; `memory` is in megabytes."""

    files: list[Path]
    reading: Reading = field(default_factory=Reading)
    py_files: str | None = None
    criterion: str = PROMISE
    relaxation: int = 0
    engine: str = ENGINE
    memory: int = MEMORY
    transactions: str | None = None
    level: str | None = None
    keys: str | None = None
    follow: bool = False
    whole: bool = False


def check_files(settings: Settings, request: Request) -> Outcome:
    """Judge all histories of the files; a malformed file ends the command before any verdict."""
    _require_known(request.criterion, request.engine, request.relaxation)
    files, reading = request.files, request.reading
    by_others = request.transactions, request.level, request.keys
    if request.follow or request.whole:
        from latchfree_cli.histories.following import follow_events
        from latchfree_cli.own_models import own_models

        others = (reading.format, reading.failed, reading.keyed, reading.initial, *by_others)
        plain = not any(others) and (request.criterion, request.engine) == (PROMISE, ENGINE)
        own_models(request.py_files, reading.model)
        memory = request.memory << 20
        return follow_events(
            settings, files, reading.model, memory, follow=request.follow, whole=request.whole, plain=plain
        )
    require_once(files)
    sources = {file: open_file(file) for file in files}
    if any(option is not None for option in by_others) or any(map(has_transactions, sources.values())):
        from latchfree_cli.histories.transactions import check_transaction_files, require_alone

        require_alone(
            model=reading.model,
            py_files=request.py_files,
            format=reading.format,
            criterion=request.criterion != PROMISE,
            engine=request.engine != ENGINE,
        )
        require_alone(failed=reading.failed, keyed=reading.keyed, initial=reading.initial)
        return check_transaction_files(settings, sources, *by_others)
    if request.py_files is not None or reading.model is not None:
        from latchfree_cli.own_models import own_models

        own_models(request.py_files, reading.model)
    return _judge_files(settings, request, sources)


def _judge_files(settings: Settings, request: Request, sources: "dict[Path, Source]") -> Outcome:
    """Judge each history, say what came out, and return the worst verdict."""
    reading = request.reading
    read = {file: parse_histories(sources.pop(file), reading) for file in [*sources]}
    jobs = [(file, history, model_of(file, history, reading.model)) for file in read for history in read[file]]
    entries: list[dict[str, object]] = []
    reproduce = None
    with settings.progress(f"check: {len(jobs)} histories") as report:
        for number, (file, history, name) in enumerate(jobs, start=1):
            report(f"check: history {number} of {len(jobs)}, {history.name}")
            try:
                verdict = _judged(history, name, request, settings.timeout)
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
                told = f"check/{_file_name(file, history)}.txt"
                settings.write(told, verdict.explain() + "\n", synchronised=False)  # the same command makes it again
                chosen = [] if request.criterion == PROMISE else ["--criterion", request.criterion]
                chosen += ["--relaxation", str(request.relaxation)] if request.relaxation else []
                chosen += ["--py-files", request.py_files] if request.py_files else []
                reproduce = shlex.join(["latchfree", "check", str(path), "--model", name, *how, *chosen])
            entries.append(entry)
    if not any(entry["operations"] for entry in entries):
        settings.say("nothing was checked: the files hold no operations")
        return Outcome("nothing", {"histories": entries})
    worst = exits.worst(str(entry["verdict"]) for entry in entries)
    return Outcome(worst, {"histories": entries}, reproduce=reproduce)


def _require_known(criterion: str, engine: str, relaxation: int) -> None:
    """Stop unless all are known and go together."""
    if relaxation and criterion != RELAXED:
        raise exits.Stop(exits.USAGE, f"--relaxation is for --criterion {RELAXED}; leave it out with {criterion}")
    if (criterion, engine) == (PROMISE, ENGINE):
        return
    from latchfree_lincheck.checking.verdict import ENGINE_NAMES
    from latchfree_lincheck.criteria import CRITERIA

    for option, value, known in (("--criterion", criterion, CRITERIA), ("--engine", engine, ENGINE_NAMES)):
        if value not in known:
            raise exits.Stop(exits.USAGE, f"{option} {value!r} is unknown; choose one of {', '.join(known)}")
    if criterion != "linearizability" and engine != "auto":
        raise exits.Stop(exits.USAGE, f"--engine is for linearizability; leave it out with --criterion {criterion}")


def _judged(history: "History", model: str, request: Request, timeout: float | None) -> "Verdict":
    """Return the verdict on a history; raise ValueError where the engine or criterion that was chosen does not fit."""
    memory = request.memory << 20
    if request.criterion != PROMISE:
        from latchfree_lincheck.criteria import judge

        return judge(
            history, model, criterion=request.criterion, timeout=timeout, memory=memory, relaxation=request.relaxation
        )
    from latchfree_lincheck.checking.checker import check

    try:
        return check(history, model, timeout=timeout, memory=memory, engine=cast("EngineName", request.engine))
    except ValueError as error:
        if request.engine != ENGINE:
            raise
        from latchfree_lincheck import Verdict

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
