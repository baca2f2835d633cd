"""``latchfree check``: judge whether recorded histories are linearizable."""

import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from latchfree_cli import exits
from latchfree_cli.histories import model_of, read_file
from latchfree_cli.settings import Outcome, Settings

if TYPE_CHECKING:
    from latchfree_lincheck import History, Verdict


def check(
    settings: Settings,
    files: Annotated[list[Path], typer.Argument(metavar="FILE", help="Files of histories.")],
    model: Annotated[str | None, typer.Option("--model", help="Sequential model: map, register, ...")] = None,
    format_: Annotated[str | None, typer.Option("--format", help="File format; default: recognised.")] = None,
) -> Outcome:
    """Judge whether recorded histories are linearizable.

    A malformed file ends the command before any verdict.
    """
    from latchfree_lincheck import check as judge

    read = {file: read_file(file, format_, model) for file in files}
    jobs = [(file, history, model_of(file, history, model)) for file in read for history in read[file]]
    entries: list[dict[str, object]] = []
    reproduce = None
    with settings.progress(f"check: {len(jobs)} histories") as report:
        for number, (file, history, name) in enumerate(jobs, start=1):
            report(f"check: history {number} of {len(jobs)}, {history.name}")
            try:
                verdict = judge(history, name, timeout=settings.timeout)
            except ValueError as error:  # calls that are legal one by one, but not together
                verdict = _not_judged(history, error)
            entry: dict[str, object] = {
                "file": str(file),
                "history": history.name,
                "model": name,
                "verdict": verdict.verdict,
                "reason": verdict.reason,
                "operations": verdict.operations,
                "seconds": round(verdict.seconds, 6),
            }
            head = f"{file}: {history.name}: {verdict.verdict}"
            if verdict.verdict == "ok":
                settings.note(f"{head} ({verdict.operations:,} operations, {verdict.seconds:.3f} s)")
            else:
                settings.say(f"{head}\n{verdict.explain()}")
            if verdict.verdict == "violation":
                path = file
                if len(read[file]) > 1:
                    path = _write_alone(settings, file, history)
                    entry["artefact"] = str(path)
                settings.write(f"check/{_file_name(file, history)}.txt", verdict.explain() + "\n")
                reproduce = shlex.join(["latchfree", "check", str(path), "--model", name])
            entries.append(entry)
    if not any(entry["operations"] for entry in entries):
        settings.say("nothing was checked: the files hold no operations")
        return Outcome("nothing", {"histories": entries})
    worst = exits.worst(str(entry["verdict"]) for entry in entries)
    return Outcome(worst, {"histories": entries}, reproduce=reproduce)


def _not_judged(history: "History", error: ValueError) -> "Verdict":
    from latchfree_lincheck import Verdict

    return Verdict(verdict="unknown", reason=str(error), operations=len(history), seconds=0.0, engine="none")


def _write_alone(settings: Settings, file: Path, history: "History") -> Path:
    """Write one history of a file with several below ``check/`` in the output folder."""
    from latchfree_lincheck import write_history

    path = settings.out / "check" / f"{_file_name(file, history)}.jsonl"
    settings.save(path, lambda path: write_history(path, [history]))
    return path


def _file_name(file: Path, history: "History") -> str:
    return re.sub(r"[^\w.-]+", "_", file.stem if history.name == file.stem else f"{file.stem}-{history.name}")
