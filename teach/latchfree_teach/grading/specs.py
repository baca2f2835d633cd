"""Lesson 7: a module of TLA+, model-checked by TLC: the student's steps, and the student's invariant on wrong systems.

Example: the lesson's ``checks.tla`` extends the student's module and has a ``LostNext`` in which a thread stores where
it should compare. The student's invariant has to be violated there, and to hold where the steps are right.

A run of TLC takes half a second, nearly all of it for starting and reading. So checks share runs where the answer is
the same: the invariants of one system are checked together, and so are all wrong systems, as one that begins in any of
them. Where a common run leaves a check open, that check has a run of its own.

TLC runs in processes of its own, each stopped when its time is over.
"""

from __future__ import annotations

import functools
import os
import signal
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from latchfree.jit import cache_root
from latchfree_model.tlc.archive import class_archive
from latchfree_model.tlc.manifest import SpecModel
from latchfree_model.tlc.result import TlcResult
from latchfree_model.tlc.run import run_model
from latchfree_teach.course.lesson import Check, Lesson
from latchfree_teach.grading.judging import Judgement
from latchfree_teach.grading.modules import MODULE, admitted

SECONDS: Final = 60.0
HEAP: Final = 192
"""Megabytes of Java's heap: two runs at once, and the process that waits for them, have less than 768."""
_SYSTEM: Final = "which_system_is_checked"
_OR: Final = " \\/ "

Group = Callable[[Sequence[Check], Path], list[Judgement]]


class OutOfTime(Exception):
    """A run of TLC was stopped."""


def judgements(lesson: Lesson, text: str, folder: Path) -> Iterator[tuple[Check, Judgement]]:
    """Admit a submission, and have TLC judge each check of the lesson.

    Raises
    ------
    Refused
        If the text is no module of definitions.
    ValueError
        If TLC cannot parse or evaluate it.
    OutOfTime, MemoryError
        If TLC had to be stopped.
    """
    module = admitted(lesson, text)
    (folder / f"{MODULE}.tla").write_text(module, encoding="utf-8")
    checks = (lesson.folder / "checks.tla").read_text(encoding="utf-8")
    (folder / "Checks.tla").write_text(checks, encoding="utf-8")
    return judged(lesson.checks, folder)


@functools.cache
def archive() -> Path | None:
    """Return the classes of TLC as Java keeps them, which saves a third of a run; made once on a machine."""
    return class_archive(cache_root(), threading.Event())


def judged(checks: Sequence[Check], folder: Path) -> Iterator[tuple[Check, Judgement]]:
    """Judge checks, as many runs at once as there are processors, and yield them in their order."""
    with ThreadPoolExecutor(max(1, min(4, len(os.sched_getaffinity(0))))) as pool:
        found = {}
        for judge, group in _groups(checks):
            future = pool.submit(judge, group, folder)
            found.update({each.name: (future, place) for place, each in enumerate(group)})
        try:
            for check in checks:
                future, place = found[check.name]
                yield check, future.result()[place]
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


def _groups(checks: Sequence[Check]) -> Iterator[tuple[Group, list[Check]]]:
    """Yield the checks that share a run, and how they are judged."""
    wrong = [check for check in checks if check.options["expect"] == "violation"]
    systems: dict[tuple[object, ...], list[Check]] = {}
    for check in checks:
        if check not in wrong:
            told = check.options
            systems.setdefault((told.get("init"), told["next"], told.get("threads")), []).append(check)
    for group in systems.values():
        yield _one_system, group
    if wrong:
        yield _wrong_systems, wrong


def _one_system(group: Sequence[Check], folder: Path) -> list[Judgement]:
    """Judge the invariants of one system in one run; all that it leaves open alone."""
    told = [check.options for check in group]
    if len(group) == 1:
        return [_alone(told[0], folder)]
    found = _run(told[0], folder, [each["invariant"] for each in told])
    if found.verdict == "ok":
        return [_judgement(each, found) for each in told]
    return [_judgement(each, found) if found.property == each["invariant"] else _alone(each, folder) for each in told]


def _wrong_systems(group: Sequence[Check], folder: Path) -> list[Judgement]:
    """Judge the invariant in all wrong systems in one run, which goes on after a violation; else each alone."""
    names = [f"{_SYSTEM}_{k}" for k in range(len(group))]
    init = [f"({_SYSTEM} = {k} /\\ {each.options.get('init', 'Init')})" for k, each in enumerate(group)]
    next_ = [f"({_SYSTEM} = {k} /\\ {_SYSTEM}' = {k} /\\ {each.options['next']})" for k, each in enumerate(group)]
    lines = ["---- MODULE Together ----", "EXTENDS Checks", f"VARIABLE {_SYSTEM}"]
    lines += [f"{_SYSTEM}_Init == " + _OR.join(init), f"{_SYSTEM}_Next == " + _OR.join(next_)]
    lines += [f"{name} == {_SYSTEM} = {k} => {group[k].options['invariant']}" for k, name in enumerate(names)]
    (folder / "Together.tla").write_text("\n".join([*lines, "====", ""]), encoding="utf-8")
    told = {"init": f"{_SYSTEM}_Init", "next": f"{_SYSTEM}_Next"}
    found = _run(told, folder, names, module="Together.tla", options=("-continue",))
    if found.verdict == "unknown" or found.distinct != sum(each.options["distinct"] for each in group):
        return [_alone(each.options, folder) for each in group]
    return [_judgement(each.options, _part(found, name, each.options)) for name, each in zip(names, group, strict=True)]


def _part(found: TlcResult, name: str, told: Mapping[str, Any]) -> TlcResult:
    """Return what a run of its own would have found of one system."""
    if name in found.violated:
        return replace(found, verdict="violation", property=told["invariant"])
    return replace(found, verdict="ok", property=None, distinct=told["distinct"])


def _alone(told: Mapping[str, Any], folder: Path) -> Judgement:
    found = _run(told, folder, [told["invariant"]])
    if found.verdict == "unknown":
        why = " ".join(" ".join(found.errors or (found.reason,)).split())
        raise ValueError(why[:300])
    return _judgement(told, found)


def _run(
    told: Mapping[str, Any],
    folder: Path,
    invariants: Sequence[str],
    *,
    module: str = "Checks.tla",
    options: Sequence[str] = (),
) -> TlcResult:
    threads = ", ".join(f'"{name}"' for name in "abcd"[: told.get("threads", 2)])
    init = told.get("init", "Init")
    config = folder / f"{init}-{told['next']}-{len(threads)}-{'-'.join(invariants)[:60]}.cfg"
    config.write_text(
        f"CONSTANT Threads = {{{threads}}}\nINIT {init}\nNEXT {told['next']}\nINVARIANTS {' '.join(invariants)}\n",
        encoding="utf-8",
    )
    spec = SpecModel(folder, "answer", module, config.name, "quick", "ok", "Right", "", distinct=1)
    found = run_model(
        spec,
        timeout=SECONDS,
        options=("-deadlock", *options),
        archive=archive(),
        java_options=(f"-Xmx{HEAP}m",),
    )
    _stopped(found)
    return found


def _stopped(found: TlcResult) -> None:
    """Raise where a run was stopped: by its time, by the limit of the processor that it inherits, by its heap."""
    signals = tuple(f"exit code -{int(number)}:" for number in (signal.SIGXCPU, signal.SIGKILL))
    if found.reason.startswith("timeout") or any(each in found.reason for each in signals):
        raise OutOfTime
    if "OutOfMemoryError" in found.reason:
        raise MemoryError


def _judgement(told: Mapping[str, Any], found: TlcResult) -> Judgement:
    outcome = f"{found.verdict} {found.property if found.verdict == 'violation' else found.distinct}"
    if told["expect"] == "violation":
        if found.verdict == "violation":
            return Judgement("", "", outcome)
        return Judgement("not caught", f"{told['invariant']} holds in this system, which is wrong", outcome)
    if found.verdict == "violation":
        return Judgement("violated", f"{told['invariant']} is violated", outcome, _shown(found))
    if found.distinct != told.get("distinct", found.distinct):
        why = f"{found.distinct} states can be reached; there should be {told['distinct']}"
        return Judgement("other states", why, outcome)
    return Judgement("", "", outcome)


def _shown(found: TlcResult) -> str:
    """Return the states of a counterexample, one a line."""
    if found.trace is None:
        return ""
    lines = []
    for number, state in enumerate(found.trace.states, start=1):
        values = "  ".join(f"{name} = {value}" for name, value in state.variables.items())
        lines.append(f"{number}. {state.action}: {values}")
    return "\n".join(lines)
