"""Replay files: everything needed to run one failing schedule again, as JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from latchfree_explore.failure import Failure
from latchfree_explore.result import Exploration
from latchfree_explore.scenario import Scenario
from latchfree_explore.target import Target
from latchfree_explore.target_files import find_target
from latchfree_explore.weak.axioms import MODELS
from latchfree_explore.written_schedules import unwritten, written

VERSION: Final = 2
_FIELDS: Final = {
    "target": str,
    "scenario": str,
    "schedule": list,
    "source": str,
    "plain": bool,
    "memory": str,
    "races": bool,
    "choices": list,
}
#: Version 1 had no memory models.
_ADDED: Final = {"memory": "sc", "races": False, "choices": []}


class ReplayError(ValueError):
    """A file that is no replay file."""


def to_json(result: Exploration, *, target: str, source: str, plain: bool, races: bool = True) -> dict[str, Any]:
    """Return the failure of an exploration as a document; `target` is the name that the caller gave."""
    failure = result.failure
    assert failure is not None
    schedule, choices = written(failure.schedule, failure.choices)
    return {
        "latchfree": "replay",
        "version": VERSION,
        "target": target,
        "mutant": result.mutant,
        "scenario": str(failure.scenario),
        "schedule": [list(pair) for pair in schedule],
        "choices": [list(pair) for pair in choices],
        "memory": result.memory,
        "races": races,
        "plain": plain,
        "kind": failure.kind,
        "message": failure.message,
        "source": source,
    }


def is_replay(path: Path, kind: str = "replay") -> bool:
    """Return whether a file begins as replay files of a kind do; False if it is not on a disk, or cannot be read."""
    if not path.is_file():
        return False  # a pipe would have been read, and would wait for its writer
    try:
        with path.open("rb") as file:
            return re.match(rb'\s*\{\s*"latchfree"\s*:\s*"%b"' % kind.encode(), file.read(200)) is not None
    except OSError:
        return False


def not_on_a_disk(path: Path) -> str:
    """Return what is wrong with a pipe or a folder, which cannot be read again; nothing if it may be a file."""
    return f"{path}: is no file on a disk; fix: save it in one first" if path.exists() and not path.is_file() else ""


def read(path: Path) -> dict[str, Any]:
    """Read a replay file.

    Raises
    ------
    ReplayError
        Naming the file, what is wrong and what was expected.
    """
    if problem := not_on_a_disk(path):
        raise ReplayError(problem)
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise ReplayError(f"{path}: expected JSON: {error}") from None
    return validated(document, str(path))


def validated(given: Any, where: str) -> dict[str, Any]:
    """Raise `ReplayError` unless a document is a replay; return it."""
    if not isinstance(given, dict) or given.get("latchfree") != "replay":
        raise ReplayError(f'{where}: expected an object with "latchfree": "replay"')
    document: dict[str, Any] = given
    if document.get("version") == 1:
        document = {**document, **_ADDED, "version": VERSION}
    if document.get("version") != VERSION:
        raise ReplayError(f"{where}: version {document.get('version')!r} of the format; this program reads {VERSION}")
    for name, kind in _FIELDS.items():
        if not isinstance(document.get(name), kind):
            raise ReplayError(f"{where}: {name!r} must be a {kind.__name__}, not {document.get(name)!r}")
    for piece in document["schedule"]:
        if not (isinstance(piece, list) and len(piece) == 2 and all(type(n) is int and n >= 0 for n in piece)):
            raise ReplayError(f"{where}: 'schedule' is a list of [thread, steps], not {piece!r}")
    if document["memory"] not in MODELS:
        raise ReplayError(f"{where}: 'memory' must be one of {', '.join(MODELS)}, not {document['memory']!r}")
    steps = sum(steps for _, steps in document["schedule"])
    for piece in document["choices"]:
        if not (isinstance(piece, list) and len(piece) == 2 and all(type(n) is int for n in piece) and piece[0] >= 0):
            raise ReplayError(f"{where}: 'choices' is a list of [step, choice], not {piece!r}")
        if piece[0] >= steps:
            raise ReplayError(f"{where}: 'choices' names step {piece[0]}, but 'schedule' has {steps}")
    try:
        Scenario.parse(document["scenario"])
    except ValueError as error:
        raise ReplayError(f"{where}: {error}") from None
    return document


def replay(case: str | Path | dict[str, Any], *, find: Callable[[str], Target] = find_target) -> Exploration:
    """Run the schedule of a replay file, or of its content, again.

    Parameters
    ----------
    case : path or dict
        The file, or what it holds.
    find : callable
        Return the target that goes by a name; by default the name is a file that declares it.

    Returns
    -------
    Exploration
        "violation" if it still fails, "ok" if it does not, "unknown" if the schedule does not fit the code any more.

    Raises
    ------
    ReplayError
        If it is no replay.
    """
    document = validated(case, "replay") if isinstance(case, dict) else read(Path(case))
    from latchfree_explore.board import layout as b
    from latchfree_explore.machine.machine import Machine
    from latchfree_explore.minimise import failure_along
    from latchfree_explore.sources import source_hash

    target = find(document["target"])
    machine = Machine(
        target,
        Scenario.parse(document["scenario"]),
        plain=document["plain"],
        memory=document["memory"],
        races=document["races"],
    )
    schedule, choices = unwritten(document["schedule"], document["choices"])
    failure: Failure | None = failure_along(machine, schedule, choices)
    result = Exploration(
        target.name,
        "replay",
        0,
        document.get("mutant"),
        schedules=1,
        scenarios=1,
        failure=failure,
        memory=document["memory"],
    )
    changed = source_hash(target) != document["source"]
    if failure is not None:
        result.verdict = "violation"
        result.reason = f"{failure.kind}: {failure.message}"
    elif machine.status == b.DIVERGED:
        result.verdict = "unknown"
        result.reason = f"the schedule does not fit the code after {len(machine.schedule)} of {len(schedule)} steps"
    else:
        result.reason = "the schedule does not fail"
    if changed:
        result.reason += " (the sources have changed since it was recorded)"
    return result
