"""Replay files of plain Python: one failing schedule, to be run again exactly, on any version.

The schedule is one of an object's calls, by threads or by tasks, or of a coroutine function.

A schedule is a list of threads, and says nothing of addresses or bytecode; so a file written on one version of Python
runs on others. Each step's thread, line and access are kept: where a run differs, the error names both.
"""

from __future__ import annotations

import importlib
import json
import re
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from itertools import groupby
from pathlib import Path
from typing import Any, Final

from latchfree_explore.python.aio.program import AsyncProgram
from latchfree_explore.python.calling import calls_of, checked_scenario, tasks_of
from latchfree_explore.python.core.constants import Constants
from latchfree_explore.python.core.digests import digests, has_changed
from latchfree_explore.python.core.run import MOST_STEPS, Diverged
from latchfree_explore.python.core.steps import Step
from latchfree_explore.python.given.arguments import whole
from latchfree_explore.python.given.owners import owner_of
from latchfree_explore.python.program import Machine, Program
from latchfree_explore.python.result import PythonExploration
from latchfree_explore.python.search.strategies import Fixed
from latchfree_explore.python.verdicts import in_a_line
from latchfree_explore.replay_files import not_on_a_disk
from latchfree_model import get_model

KIND: Final = "python-replay"
VERSION: Final = 2
_FIELDS: Final = {
    "target": str, "model": str, "scenario": str, "switches": str, "choices": list, "written": list, "steps": list,
    "source": str, "kind": str, "tasks": bool, "cancels": int,
}  # fmt: skip
_LINE: Final = re.compile(r"(?<=\.py):[0-9]+")
_OF_THE_LOOP: Final = re.compile(r"outside:0 (callback Ending\.|the end of (generators|the pool) goes on)")
"""What older files say of callbacks of the loop itself, which are told no more."""
_BEFORE_TASKS: Final = 1
"""The version of files of threads only."""


class PythonReplayError(ValueError):
    """A file that is no replay of plain Python."""


def find_class(target: str) -> Callable[[], Any]:
    """Return what ``module:Name`` names; the current folder is searched first.

    Raises
    ------
    ValueError
        If there is no such module, importing it raises an exception, or it has no such name.
    """
    module, _, name = target.partition(":")
    if not all(part.isidentifier() for part in f"{module}.{name}".split(".")):
        raise ValueError(f"{target!r} is no MODULE:NAME, such as cache:Cache")
    if str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))
    try:
        found: Any = importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name is not None and (error.name == module or module.startswith(f"{error.name}.")):
            raise ValueError(
                f"there is no module {error.name!r} on sys.path, nor in {Path.cwd()}; "
                "fix: run this in the folder of the module"
            ) from None
        raise ValueError(f"importing {module} failed: {error}; fix: install it, or name it as it is called") from error
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # also what pytest.skip raises
        where = f" ({Path(error.filename or '').name}, line {error.lineno})" if isinstance(error, SyntaxError) else ""
        words = error.msg if isinstance(error, SyntaxError) else error
        text = f"importing {module} failed: {type(error).__name__}: {' '.join(str(words).split())}"
        raise ValueError(f"{text.rstrip(': ')}{where}") from error
    file = getattr(sys.modules.get(module), "__file__", None) or "built in"
    for part in name.split("."):
        try:
            found = getattr(found, part)
        except AttributeError:
            raise ValueError(f"{module!r} ({file}) has no {name!r}") from None
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            raise ValueError(f"{module!r} ({file}): looking up {part!r} raised {in_a_line(error)}") from error
    if not callable(found):
        raise ValueError(f"{target} is no class or function")
    made: Callable[[], Any] = found
    return made


def to_json(result: PythonExploration, *, target: str, model: str) -> dict[str, Any]:
    """Return the failure of an exploration as a document; without a scenario the target is a coroutine function."""
    assert result.wrong is not None
    return {
        "latchfree": KIND,
        "version": VERSION,
        "python": ".".join(map(str, sys.version_info[:3])),
        "target": target,
        "model": model,
        "scenario": result.scenario,
        "tasks": result.tasks,
        "cancels": result.cancels,
        "switches": result.switches,
        "kind": result.wrong.kind,
        "message": result.wrong.message,
        "preemptions": result.preemptions,
        "choices": [[thread, len(list(piece))] for thread, piece in groupby(result.wrong.choices)],
        "written": result.written,
        "steps": outline(result.steps),
        **digests(find_class(target), result.steps),
    }


def outline(steps: Iterable[Step]) -> list[list[Any]]:
    """Return thread, line and access of each step, without values: values may hold addresses."""
    return [
        [step.thread, [f"{Path(file).name}:{line} {_access(words)}" for file, line, words in step.texts]]
        for step in steps
    ]


def _access(words: str) -> str:
    return words.partition(": ")[0].partition(" = ")[0]


def read(path: Path) -> dict[str, Any]:
    """Read a replay file.

    Raises
    ------
    PythonReplayError
        Naming the file, what is wrong and what was expected.
    """
    with suppress(OSError):  # a name may be too long to be asked for
        if problem := not_on_a_disk(path):
            raise PythonReplayError(problem)
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise PythonReplayError(f"{path}: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        raise PythonReplayError(f"{path}: expected JSON: {error}") from None
    if not isinstance(document, dict) or document.get("latchfree") != KIND:
        raise PythonReplayError(f'{path}: expected an object with "latchfree": "{KIND}"')
    if document.get("version") == _BEFORE_TASKS:
        document = {"tasks": False, "cancels": 0, **document, "version": VERSION}
    if document.get("version") != VERSION:
        raise PythonReplayError(f"{path}: version {document.get('version')!r}; this program reads {VERSION}")
    for name, kind in _FIELDS.items():
        if type(document.get(name)) is not kind:
            raise PythonReplayError(f"{path}: {name!r} must be a {kind.__name__}, not {document.get(name)!r}")
    if document["cancels"] < 0:
        raise PythonReplayError(f"{path}: 'cancels' must be at least 0, not {document['cancels']}")
    fewest = document.get("preemptions")
    if fewest is not None and (type(fewest) is not int or fewest < 0):
        raise PythonReplayError(f"{path}: 'preemptions' is a number of at least 0, or null, not {fewest!r}")
    files = document.get("files", {})
    if not isinstance(files, dict) or not all(isinstance(each, str) for each in files.values()):
        raise PythonReplayError(f"{path}: 'files' is an object of digests by file, not {files!r}")
    if document["switches"] not in ("free", "gil"):
        raise PythonReplayError(f"{path}: 'switches' are 'free' or 'gil', not {document['switches']!r}")
    for name in document["written"]:
        if not isinstance(name, str):
            raise PythonReplayError(f"{path}: 'written' is a list of names, not with {name!r}")
    for piece in document["choices"]:
        if not (isinstance(piece, list) and len(piece) == 2 and all(type(n) is int and n >= 0 for n in piece)):
            raise PythonReplayError(f"{path}: 'choices' is a list of [thread, steps], not {piece!r}")
    if sum(count for _, count in document["choices"]) > MOST_STEPS:
        raise PythonReplayError(f"{path}: 'choices' has more than the {MOST_STEPS:,} steps that a schedule may have")
    return document


def program_of(document: dict[str, Any], make: Callable[[], Any]) -> Program:
    """Return the program of a replay file, whose target has been found."""
    if not document["scenario"]:
        return AsyncProgram(make, cancels=document["cancels"])
    model = get_model(document["model"])
    scenario = checked_scenario(make, document["scenario"], model)
    if document["tasks"]:
        return tasks_of(make, scenario, model, cancels=document["cancels"], sample=owner_of(make).it)
    return calls_of(make, scenario, model)


def replay_python(case: str | Path, *, stop_at: int | None = None) -> PythonExploration:
    """Run the schedule of a replay file again, exactly.

    Parameters
    ----------
    case : path
        The replay file.
    stop_at : int, optional
        A step, counted from 0, before which the debugger `pdb` opens in the thread that takes the step.

    Returns
    -------
    PythonExploration
        "violation" if the schedule still fails, "ok" if it does not.

    Raises
    ------
    PythonReplayError
        If it is no replay, or there is no such step.
    TypeError
        If `stop_at` is no whole number.
    Diverged
        If the code takes other steps than when the file was written; the message names both.
    """
    document = read(Path(case))
    if stop_at is not None:
        stop_at, count = whole("stop_at", stop_at), len(document["steps"])
        if not 0 <= stop_at < count:
            has = f"has steps 0 to {count - 1}" if count else "has no steps"
            raise PythonReplayError(f"{case}: there is no step {stop_at}: the schedule {has}")
    try:
        make = find_class(document["target"])
        program = program_of(document, make)
    except ValueError as error:
        raise PythonReplayError(f"{case}: {error}") from error
    changed = " (the source has changed since)" if has_changed(document, make) else ""
    machine = Machine(program, polls=document["switches"] == "gil")
    machine.constants = Constants(document["written"])
    choices = [thread for thread, count in document["choices"] for _ in range(count)]
    stop = -1 if stop_at is None else stop_at
    with machine.ready():
        try:
            _settle(machine, choices)
            run, wrong = machine.execute(Fixed(choices), telling=True, stop_at=stop)
        except Diverged as error:
            raise Diverged(f"{error}{changed}") from None
    _compare(document["steps"], outline(run.steps), changed)
    result = PythonExploration(document["switches"], strategy="replay", schedules=1, scenario=document["scenario"])
    result.steps, result.names, result.wrong = run.steps, [task.name for task in run.tasks], wrong
    result.preemptions, result.tasks, result.cancels = (
        document.get("preemptions"),
        document["tasks"],
        document["cancels"],
    )
    result.verdict = "ok" if wrong is None else "violation"
    result.reason = ("the schedule does not fail" if wrong is None else f"{wrong.kind}: {wrong.message}") + changed
    return result


def _settle(machine: Machine, choices: list[int]) -> None:
    """Run a schedule until it does nothing new: a first run may import a module, say, which is rewritten then."""
    while True:
        try:
            machine.execute(Fixed(choices))
        except Diverged:
            if not machine.constants.refuted():
                raise
        else:
            if not machine.constants.refuted():
                return


def _compare(before: list[Any], now: list[Any], changed: str) -> None:
    """Raise `Diverged` where two runs took different steps; lines may have moved if the source has changed."""
    before = [_of_the_program(each) for each in before]
    for at in range(max(len(before), len(now))):
        old = before[at] if at < len(before) else None
        new = now[at] if at < len(now) else None
        if old != new and not (changed and _LINE.sub("", str(old)) == _LINE.sub("", str(new))):
            raise Diverged(f"step {at}{changed}: {_words(new)}; when the file was written {_words(old)}")


def _of_the_program(step: Any) -> Any:
    """Return a step of an outline without what the loop itself does."""
    if isinstance(step, list) and len(step) == 2 and isinstance(step[1], list):
        return [step[0], [each for each in step[1] if not (isinstance(each, str) and _OF_THE_LOOP.match(each))]]
    return step


def _words(step: Any) -> str:
    """Return a step of an outline in words."""
    if step is None:
        return "there was no such step"
    try:
        thread, texts = step
        return f"thread {thread} did {'; '.join(texts) or 'nothing that others see'}"
    except (TypeError, ValueError):
        return repr(step)
