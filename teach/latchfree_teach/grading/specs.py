"""Lesson 7: a module of TLA+, model-checked by TLC: the student's steps, and the student's invariant on wrong systems.

Example: the lesson's ``checks.tla`` extends the student's module and has a ``LostNext`` in which a thread stores where
it should compare. The student's invariant has to be violated there, and to hold where the steps are right.

A run of TLC takes half a second, nearly all of it for starting and reading. So checks share runs where the answer is
the same: the invariants of the student's system are checked together, and all systems that the lesson gives are one
that begins in any of them. Where a common run leaves a check open, that check has a run of its own.

TLC runs in processes of its own, each stopped when its time is over.
"""

from __future__ import annotations

import functools
import os
import signal
import threading
from collections import Counter
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
    return judged(lesson, lesson.checks, folder)


@functools.cache
def archive() -> Path | None:
    """Return the classes of TLC as Java keeps them, which saves a third of a run; made once on a machine."""
    return class_archive(cache_root(), threading.Event())


def judged(lesson: Lesson, checks: Sequence[Check], folder: Path) -> Iterator[tuple[Check, Judgement]]:
    """Judge checks, as many runs at once as there are processors, and yield them in their order."""
    with ThreadPoolExecutor(max(1, min(4, len(os.sched_getaffinity(0))))) as pool:
        found = {}
        for judge, group in _groups(lesson, checks):
            future = pool.submit(judge, group, folder)
            found.update({each.name: (future, place) for place, each in enumerate(group)})
        try:
            for check in checks:
                future, place = found[check.name]
                yield check, future.result()[place]
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


def _groups(lesson: Lesson, checks: Sequence[Check]) -> Iterator[tuple[Group, list[Check]]]:
    """Yield the checks that share a run, and how they are judged; what takes longest comes first."""
    own: dict[object, list[Check]] = {}
    given: dict[object, list[Check]] = {}
    same = Counter(map(_system, checks))
    for check in checks:
        if check.options["next"] in lesson.holes or same[_system(check)] > 1:
            own.setdefault(_system(check), []).append(check)
        else:
            given.setdefault(check.options.get("threads", 2), []).append(check)
    for groups, judge in ((own, _one_system), (given, _given_systems)):
        for group in groups.values():
            yield judge, group


def _system(check: Check) -> tuple[object, ...]:
    told = check.options
    return told.get("init"), told["next"], told.get("threads", 2)


def _asked(told: Mapping[str, Any]) -> str:
    """Return the name of the invariant, or of what must hold of each step."""
    return str(told.get("invariant") or told["steps"])


def _one_system(group: Sequence[Check], folder: Path) -> list[Judgement]:
    """Judge what must hold in one system in one run; all that it leaves open alone."""
    told = [check.options for check in group]
    if len(group) == 1:
        return [_alone(told[0], folder)]
    found = _run(told[0], folder, told)
    if found.verdict == "ok":
        return [_judgement(each, found) for each in told]
    return [_judgement(each, found) if found.property == _asked(each) else _alone(each, folder) for each in told]


def _given_systems(group: Sequence[Check], folder: Path) -> list[Judgement]:
    """Judge the invariants of several systems in one run, which goes on after a violation; else each alone.

    The states of all but one of the systems are known, and the rest is those of that one.
    """
    unknown = [check for check in group if "distinct" not in check.options]
    if len(group) == 1 or len(unknown) > 1:
        return [_alone(check.options, folder) for check in group]
    found = _together(group, folder)
    if found.verdict == "unknown" or found.distinct is None:
        return [_alone(check.options, folder) for check in group]
    rest = found.distinct - sum(check.options.get("distinct", 0) for check in group)
    judged = []
    for k, check in enumerate(group):
        told = check.options
        if _name(k) not in found.violated:
            alone = replace(found, verdict="ok", property=None, distinct=told.get("distinct", rest))
            judged.append(_judgement(told, alone))
        elif told["expect"] == "violation":
            judged.append(_judgement(told, replace(found, verdict="violation", property=told["invariant"])))
        else:  # the states that lead to it are shown
            judged.append(_alone(told, folder))
    return judged


def _together(group: Sequence[Check], folder: Path) -> TlcResult:
    """Run systems as one that begins in any of them, and stays there."""
    begun: list[str] = []
    steps: list[str] = []
    lines = ["---- MODULE Together ----", "EXTENDS Checks", f"VARIABLE {_SYSTEM}"]
    for k, check in enumerate(group):
        told = check.options
        begun.append(f"({_SYSTEM} = {k} /\\ {told.get('init', 'Init')})")
        steps.append(f"({_SYSTEM} = {k} /\\ {_SYSTEM}' = {k} /\\ {told['next']})")
        lines.append(f"{_name(k)} == {_SYSTEM} = {k} => {told['invariant']}")
    lines += [f"{_SYSTEM}_Init == " + _OR.join(begun), f"{_SYSTEM}_Next == " + _OR.join(steps), "====", ""]
    (folder / "Together.tla").write_text("\n".join(lines), encoding="utf-8")
    told = {**group[0].options, "init": f"{_SYSTEM}_Init", "next": f"{_SYSTEM}_Next"}
    asked = [{"invariant": _name(k)} for k in range(len(group))]
    return _run(told, folder, asked, module="Together.tla", options=("-continue",))


def _name(k: int) -> str:
    return f"{_SYSTEM}_{k}"


def _alone(told: Mapping[str, Any], folder: Path) -> Judgement:
    found = _run(told, folder, [told])
    if found.verdict == "unknown":
        why = " ".join(" ".join(found.errors or (found.reason,)).split())
        raise ValueError(why[:300])
    return _judgement(told, found)


def _run(
    told: Mapping[str, Any],
    folder: Path,
    asked: Sequence[Mapping[str, Any]],
    *,
    module: str = "Checks.tla",
    options: Sequence[str] = (),
) -> TlcResult:
    threads = ", ".join(f'"{name}"' for name in "abcd"[: told.get("threads", 2)])
    init = told.get("init", "Init")
    config = folder / f"{init}-{told['next']}-{len(threads)}-{'-'.join(map(_asked, asked))[:60]}.cfg"
    lines = [f"CONSTANT Threads = {{{threads}}}", f"INIT {init}", f"NEXT {told['next']}"]
    lines += [f"INVARIANT {each['invariant']}" for each in asked if "invariant" in each]
    lines += [f"PROPERTY {each['steps']}" for each in asked if "steps" in each]
    config.write_text("\n".join([*lines, ""]), encoding="utf-8")
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
        return Judgement("not caught", f"{_asked(told)} holds in this system, which is wrong", outcome)
    if found.verdict == "violation":
        if "steps" in told:
            return Judgement("other steps", told["says"], outcome, _shown(found))
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
