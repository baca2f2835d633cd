"""``latchfree explore MODULE:CLASS`` and the replay of its failures: classes and coroutines in plain Python."""

from __future__ import annotations

import ast
import inspect
import os
import re
import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, redirect_stderr, redirect_stdout, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TextIO

from latchfree_cli import exits
from latchfree_cli.process import INTERRUPTS
from latchfree_cli.settings import Outcome, Report, Settings

if TYPE_CHECKING:
    from latchfree_explore import PythonExploration

SWITCHES: Final = {"free": ("free",), "gil": ("gil",), "both": ("free", "gil")}

_CLASS: Final = re.compile(r"([^\W\d]\w*(?:\.[^\W\d]\w*)*):[^\W\d][\w.]*")


def names_a_class(target: str) -> bool:
    """Return whether a target is ``MODULE:CLASS``, not ``FILE.py:NAME``."""
    found = _CLASS.fullmatch(target)
    return found is not None and not found[1].endswith(".py")


def plain_class(target: str) -> str:
    """Return how a class in plain Python is named, if a target is FILE.py or FILE.py:NAME; else nothing."""
    found = re.fullmatch(r"((?:.*/)?([^\W\d]\w*)\.py)(?::([^\W\d][\w.]*))?", target)
    if found is None or not (name := found[3] or _first_class(Path(found[1]))):
        return ""
    return f"; a class in plain Python is {found[2]}:{name}, in the folder of the file"


def _first_class(file: Path) -> str:
    """Return the name of the first class of a file, nothing if there is none or it cannot be read."""
    try:
        body = ast.parse(file.read_bytes()).body
    except (OSError, SyntaxError, ValueError):
        return ""
    return next((each.name for each in body if isinstance(each, ast.ClassDef)), "")


def explore_class(
    settings: Settings,
    target: str,
    *,
    model: str | None,
    scenario: str | None,
    switches: str,
    schedules: int | None,
    cancels: int,
) -> Outcome:
    """Explore calls on an object of a class, or a coroutine function, in one or both models of the interpreter."""
    from latchfree_explore import CannotControl, Diverged, explore_async, explore_object
    from latchfree_explore.python.exploring import SCHEDULES
    from latchfree_explore.python.replays import find_class

    results: list[PythonExploration] = []
    reproduce: str | None = None
    try:
        folder = Path.cwd()
        with quiet():
            make = find_class(target)
        settings = settings_in(settings, folder)
        main = scenario is None and inspect.iscoroutinefunction(make)
        if main and model is not None:
            raise exits.Stop(exits.USAGE, f"{target}: a coroutine function is run as it is; --model is for a class")
        for each in SWITCHES[switches]:
            if any(every.complete for every in results):
                results.append(_within_free(scenario or ""))
                settings.say(f"explore {target}: {results[-1].verdict}: {results[-1].reason}")
                continue
            limits: Any = {
                "switches": each, "schedules": schedules or SCHEDULES, "timeout": settings.timeout, "cancels": cancels,
                "seed": settings.seed or 0, "raises": False,
            }  # fmt: skip
            with settings.progress(f"explore {target}: {each}") as report:

                def said(done: int, of: int, each: str = each, report: Report = report) -> None:
                    report(f"explore {target}: {each}: {done:,} of {of:,} programs")

                with quiet():
                    found = (
                        explore_async(make, **limits)
                        if main
                        else explore_object(make, scenario, model=model or "map", on_progress=said, **limits)
                    )
            results.append(found)
            if found.wrong is not None and reproduce is None:  # written before anything is said: a pipe may end early
                reproduce = _write(settings, found, target, "" if main else model or "map")
            settings.say(f"explore {target}: {found.explain()}")
            if found.interrupted:
                break
    except ValueError as error:
        raise exits.Stop(exits.USAGE, str(error)) from None
    except (CannotControl, Diverged) as error:
        raise exits.Stop(exits.TOOL, str(error)) from None
    payload = {"target": target, "results": [summary(each) for each in results]}
    if any(each.wrong is not None for each in results):
        return Outcome("violation", payload, reproduce=reproduce)
    if any(each.interrupted for each in results):
        return Outcome("unknown", payload, code=exits.INTERRUPTED)
    return Outcome("ok" if all(each.verdict == "ok" for each in results) else "unknown", payload)


def settings_in(settings: Settings, folder: Path) -> Settings:
    """Return settings whose output goes below a folder though a module that was imported has chosen another one."""
    with suppress(OSError):
        if Path.cwd() == folder:
            return settings
    return replace(settings, out=folder / settings.out)


@contextmanager
def quiet() -> Iterator[None]:
    """Have what is explored print nothing, which it would do once for each schedule; Ctrl-C is the explorer's.

    Standard error is dropped, too: a module may log what it does.
    """
    nowhere = _nowhere()
    with INTERRUPTS.left_to_others(), redirect_stdout(nowhere), redirect_stderr(nowhere):
        yield


_NOWHERE: Final[list[TextIO]] = []


def _nowhere() -> TextIO:
    """Return the one file that drops all: a module may keep, when it is imported, what is standard output then."""
    if not _NOWHERE or _NOWHERE[0].closed:
        _NOWHERE[:] = [Path(os.devnull).open("w", encoding="utf-8", errors="backslashreplace")]  # noqa: SIM115 - kept
    return _NOWHERE[0]


def _within_free(scenario: str) -> PythonExploration:
    """Return the result of the model "gil" where nothing is wrong in any schedule of "free": it has some of those."""
    from latchfree_explore import PythonExploration

    reason = "gil: its schedules are among those of free, in which nothing is wrong"
    return PythonExploration("gil", reason=reason, strategy="dpor", complete=True, scenario=scenario)


def _write(settings: Settings, failed: PythonExploration, target: str, model: str) -> str | None:
    """Write the replay file of a failure; return the command that runs it again, None if it cannot be written."""
    import json

    from latchfree_explore.python.replays import to_json

    text = json.dumps(to_json(failed, target=target, model=model), indent=1) + "\n"
    path = settings.write(f"explore-{target.replace(':', '.')}-{failed.switches}.json", text)
    return settings.replayed_by(path)


def replay_class(settings: Settings, file: Path, stop_at: int | None = None) -> Outcome:
    """Run the schedule of a replay file of plain Python again; open pdb before one of its steps."""
    if stop_at is not None and settings.json:
        raise exits.Stop(exits.USAGE, "--pdb talks on standard output, as --json does; leave out one of the two")
    result, outcome = _replayed(settings, file, stop_at)
    if result is not None:
        settings.say(f"replay {file}: {result.explain()}")
    return outcome


def page_of(settings: Settings, file: Path) -> tuple[str | None, Outcome]:
    """Return the page of a replay file of plain Python, None if the schedule does not fail any more."""
    result, outcome = _replayed(settings, file)
    if result is None or result.wrong is None:
        if result is not None:
            settings.say(f"show {file}: {result.reason}")
        return None, outcome
    return result.page(), outcome


def _asks() -> bool:
    """Return whether standard input is open."""
    return sys.stdin is not None and not sys.stdin.closed


@contextmanager
def _replaying(stop_at: int | None) -> Iterator[None]:
    """Have what is replayed print to standard error, but for a debugger; Ctrl-C is the explorer's."""
    elsewhere = nullcontext() if stop_at is not None else redirect_stdout(sys.stderr)
    with INTERRUPTS.left_to_others(), elsewhere, redirect_stderr(sys.stderr):
        yield


def _replayed(settings: Settings, file: Path, stop_at: int | None = None) -> tuple[PythonExploration | None, Outcome]:
    from latchfree_explore import CannotControl, Diverged, replay_python
    from latchfree_explore.python.replays import find_class, read

    if stop_at is not None and not _asks():
        raise exits.Stop(exits.USAGE, "--pdb asks on standard input, which is closed")
    try:
        with _replaying(stop_at), suppress(ValueError):  # the import's own exchange of standard streams is put back
            find_class(read(file)["target"])
        with _replaying(stop_at):
            result = replay_python(file, stop_at=stop_at)
    except ValueError as error:
        raise exits.Stop(exits.USAGE, str(error)) from None
    except Diverged as error:
        settings.say(f"replay {file}: unknown: {error}")
        return None, Outcome("unknown", {"reason": str(error)})
    except CannotControl as error:
        raise exits.Stop(exits.TOOL, str(error)) from None
    reproduce = shlex.join(["latchfree", "replay", str(file)]) if result.wrong is not None else None
    return result, Outcome(result.verdict, summary(result), reproduce=reproduce)


def summary(result: PythonExploration) -> dict[str, object]:
    """Return what ``--json`` says about an exploration."""
    wrong = result.wrong
    return {
        "switches": result.switches,
        "verdict": result.verdict,
        "reason": result.reason,
        "complete": result.complete,
        "schedules": result.schedules,
        "cut_short": result.cut,
        "programs": result.programs,
        "scenario": result.scenario,
        "seconds": round(result.seconds, 3),
        "failure": None
        if wrong is None
        else {
            "kind": wrong.kind,
            "message": wrong.message,
            "context_switches": result.context_switches,
            "preemptions": result.preemptions,
        },
    }
