"""``latchfree show``: draw recorded histories, and interleavings that an exploration found, as one HTML page."""

import shlex
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from latchfree_cli import exits
from latchfree_cli.frame import examples
from latchfree_cli.histories.files import Reading, kept, model_of, read_histories, stem_of
from latchfree_cli.history_options import Failed, Initial, Keyed
from latchfree_cli.pages import SUFFIXES, write_page
from latchfree_cli.settings import Outcome, Settings

if TYPE_CHECKING:
    from latchfree_lincheck.show import Judged


class OpenAt(StrEnum):
    """Where a page opens."""

    START = "start"
    FIRST_ERROR = "first-error"


@examples(
    "latchfree show history.jsonl --model map -o history.html",
    "latchfree show out/explore-ctrie-S1.json",
)
def show(
    settings: Settings,
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE", help="Files of histories, or that latchfree explore wrote.")
    ],
    model: Annotated[str | None, typer.Option("--model", help="Sequential model: map, register, ...")] = None,
    format_: Annotated[str | None, typer.Option("--format", help="File format; default: recognised.")] = None,
    open_at: Annotated[OpenAt, typer.Option("--open-at", help="Where the page opens.")] = OpenAt.FIRST_ERROR,
    failed: Failed = None,
    keyed: Keyed = False,
    initial: Initial = None,
) -> Outcome:
    """Draw recorded histories: one HTML page with lanes, states and violations.

    The page goes to the file given with -o (REPORT.html), else into the output folder. It needs no network. A file that
    latchfree explore wrote is run again, and its steps are drawn with their source lines.
    """
    from latchfree_explore.replay_files import is_replay
    from latchfree_lincheck.show import judge_parts, page

    path = _target(settings.out, files)
    if any(kept(file) and is_replay(file, "python-replay") for file in files):
        return _show_python(settings, files, path)
    reading = Reading(format_, model, failed, keyed, initial)
    replays = [file for file in files if kept(file) and is_replay(file)]
    read = [
        (file, history)
        for file in dict.fromkeys(files)
        if file not in replays
        for history in read_histories(file, reading)
    ]
    jobs = [(file, history, model_of(file, history, model)) for file, history in read]
    judged = [_replayed(settings, file) for file in replays]
    if not judged and not any(len(history) for _, history, _ in jobs):
        settings.say("nothing was checked: the files hold no operations")
        return Outcome("nothing", {"histories": []})
    reproduce = shlex.join(["latchfree", "replay", str(replays[-1])]) if replays else None
    with settings.progress(f"show: {len(jobs)} histories") as report:
        for number, (file, history, name) in enumerate(jobs, start=1):
            where = f"show: history {number} of {len(jobs)}, {history.name}"
            report(where)
            one = judge_parts(
                history,
                name,
                timeout=settings.timeout,
                source=str(file),
                on_part=lambda done, total, where=where: report(f"{where}: part {done} of {total}"),  # type: ignore[misc]
            )
            judged.append(one)
            if one.verdict.verdict != "ok":
                settings.say(f"{file}: {history.name}: {one.verdict.verdict}\n{one.verdict.explain()}")
            if one.verdict.verdict == "violation":
                again = ["latchfree", "check", str(file), "--model", name, *reading.again()]
                reproduce = shlex.join(again) if kept(file) else None
        report("show: writing the page")
        text = page(judged, open_at=open_at.value)
    size = write_page(path, text)
    settings.note(f"wrote {path} ({size / 1e6:.1f} MB): open it in a browser")
    payload = {
        "page": str(path),
        "bytes": size,
        "histories": [
            {
                "file": each.source,
                "history": each.history.name,
                "model": each.model.name,
                "verdict": each.verdict.verdict,
                "reason": each.verdict.reason,
                "operations": each.verdict.operations,
                "violations": sum(part.verdict.verdict == "violation" for part in each.parts),
            }
            for each in judged
        ],
    }
    verdicts = [*(each.verdict.verdict for each in judged), *("violation" for _ in replays)]
    return Outcome(exits.worst(verdicts), payload, reproduce=reproduce)


def _replayed(settings: Settings, file: Path) -> "Judged":
    """Run the schedule of a replay file again; return what its operations came to, and its steps."""
    from latchfree_evidence.exploring import replay
    from latchfree_evidence.targets.finding import find_target
    from latchfree_explore.page import steps_of
    from latchfree_explore.replay_files import read
    from latchfree_lincheck.show import judge_parts

    with settings.progress(f"replay {file}"):
        try:
            result = replay(file)
        except (ValueError, RuntimeError) as error:
            raise exits.Stop(exits.USAGE, f"{file}: {error}") from None
        if result.failure is None:
            raise exits.Stop(
                exits.INCONCLUSIVE, f"{file}: nothing to draw: {result.reason}; explore its scenario again"
            )
        model = find_target(read(file)["target"]).model
        judged = judge_parts(result.failure.history, model, source=str(file), steps=steps_of(result.failure))
    settings.say(f"{file}: {judged.history.name}: {result.reason}")
    return judged


def _show_python(settings: Settings, files: list[Path], path: Path) -> Outcome:
    """Draw the schedule of a replay file of plain Python."""
    from latchfree_cli.exploring.classes import page_of

    if len(files) != 1:
        raise exits.Stop(exits.USAGE, "a schedule of plain Python has a page of its own: give one file")
    text, outcome = page_of(settings, files[0])
    if text is None:
        return outcome
    size = write_page(path, text)
    settings.note(f"wrote {path} ({size / 1e6:.1f} MB): open it in a browser")
    return Outcome(outcome.verdict, {"page": str(path), **outcome.payload}, reproduce=outcome.reproduce)


def _target(out: Path, files: list[Path]) -> Path:
    """Return where the page goes; a file that is read is never overwritten."""
    path = out if out.suffix.lower() in SUFFIXES else out / f"{stem_of(files[0])}.html"
    if path.exists() and any(file.exists() and path.samefile(file) for file in files):
        raise exits.Stop(exits.USAGE, f"{path}: would overwrite a history; choose another file with -o REPORT.html")
    return path
