"""Lesson 7: a module of TLA+, model-checked by TLC: the student's steps, and the student's invariant on wrong systems.

Example: the lesson's ``checks.tla`` extends the student's module and has a ``LostNext`` in which a thread stores where
it should compare. The student's invariant has to be violated there, and to hold where the steps are right.

The text is the wall here: a module is admitted if it defines operators only, and uses no word by which TLC can do
anything but compute. TLC runs in a process of its own, stopped when its time is over.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from latchfree_model.tlc.manifest import SpecModel
from latchfree_model.tlc.result import TlcResult
from latchfree_model.tlc.run import run_model
from latchfree_teach.course.lesson import Check, Lesson
from latchfree_teach.grading.judging import Judgement
from latchfree_teach.grading.syntax import MOST_BYTES, Refused

SECONDS: Final = 60.0
_MODULE: Final = "Answer"
_COMMENT: Final = re.compile(r"\(\*.*?\*\)|\\\*[^\n]*", re.DOTALL)
_FRAME: Final = re.compile(r"^-{4,}\s*MODULE\s+\w+\s*-{4,}[^\n]*\n(.*?)^={4,}", re.DOTALL | re.MULTILINE)
_DEFINITION: Final = re.compile(r"^(\w+)(?:\([^)\n]*\))?\s*==", re.MULTILINE)
_CLOSED: Final = re.compile(
    r"\b(EXTENDS|INSTANCE|LOCAL|RECURSIVE|LAMBDA|ASSUME|ASSUMPTION|AXIOM|THEOREM|MODULE|CONSTANTS?|VARIABLES?"
    r"|Print\w*|Assert|TLC\w*|Java\w*|IO\w*|Random\w*)\b|!(?!\s*[\[.])"
)


def judgements(lesson: Lesson, text: str, folder: Path) -> Iterator[tuple[Check, Judgement]]:
    """Admit a submission, and have TLC judge each check of the lesson.

    Raises
    ------
    Refused
        If the text is no module of definitions.
    ValueError
        If TLC cannot parse or evaluate it.
    """
    module = admitted(lesson, text)
    (folder / f"{_MODULE}.tla").write_text(module, encoding="utf-8")
    checks = (lesson.folder / "checks.tla").read_text(encoding="utf-8")
    (folder / "Checks.tla").write_text(checks, encoding="utf-8")
    return _judged(lesson.checks, folder)


def admitted(lesson: Lesson, text: str) -> str:
    """Return the module that a submission makes: itself if it is a whole one, else the hole with its definitions."""
    if len(text.encode(errors="replace")) > MOST_BYTES:
        raise Refused(f"the file has more than {MOST_BYTES >> 10} kB; a lesson's answer is short")
    given_head, given = _parts(lesson.hole)
    head, own = _parts(text)
    whole = bool(head)
    if whole and head != given_head:
        raise Refused("the lines before the first definition are given, and may not be changed")
    for name, body in own.items():
        if name in given and name not in lesson.holes:
            if given[name] != body:
                raise Refused(f"{name} is given, and may not be changed")
        elif found := _CLOSED.search(body):
            raise Refused(f"{name}: {found[0]} is not used here")
    for name in (*lesson.holes, *(given if whole else ())):
        if name not in own:
            raise Refused(f"there is no {name}: the lesson asks for it")
    if whole:
        return re.sub(r"(?m)^-{4,}\s*MODULE\s+\w+", f"---- MODULE {_MODULE}", text, count=1)
    definitions = [body for name, body in given.items() if name not in lesson.holes]
    own_first = [body for name, body in own.items() if name not in given or name in lesson.holes]
    return "\n".join([f"---- MODULE {_MODULE} ----", given_head, *definitions, *own_first, "====", ""])


def _parts(text: str) -> tuple[str, dict[str, str]]:
    """Return what stands before the first definition, and the definitions by name; comments are left out."""
    plain = _COMMENT.sub("", text)
    framed = _FRAME.search(plain)
    inside = framed[1] if framed else plain
    places = list(_DEFINITION.finditer(inside))
    if not places:
        raise Refused("there is no definition, such as Next == ... at the beginning of a line")
    head = " ".join(inside[: places[0].start()].split())
    if head and not framed:
        raise Refused("this is no module: begin with a definition, or hand in the whole file")
    found: dict[str, str] = {}
    for place, after in zip(places, [*places[1:], None], strict=True):
        if place[1] in found:
            raise Refused(f"{place[1]} is defined twice")
        found[place[1]] = inside[place.start() : after.start() if after else None].rstrip()
    return head, found


def _judged(checks: Sequence[Check], folder: Path) -> Iterator[tuple[Check, Judgement]]:
    for check in checks:
        yield check, _judgement(check.options, _run(check.options, folder))


def _run(told: Any, folder: Path) -> TlcResult:
    threads = ", ".join(f'"{name}"' for name in "abcd"[: told.get("threads", 2)])
    config = (
        f"CONSTANT Threads = {{{threads}}}\nINIT {told.get('init', 'Init')}\nNEXT {told['next']}\n"
        f"INVARIANT {told['invariant']}\n"
    )
    (folder / "Checks.cfg").write_text(config, encoding="utf-8")
    spec = SpecModel(folder, "answer", "Checks.tla", "Checks.cfg", "quick", "ok", "Right", "", distinct=1)
    found = run_model(spec, timeout=SECONDS, options=("-deadlock",))
    if found.verdict == "unknown" and not found.reason.startswith("timeout"):
        told_by_tlc = " ".join(" ".join(found.errors or (found.reason,)).split())
        raise ValueError(told_by_tlc[:300])
    return found


def _judgement(told: Any, found: TlcResult) -> Judgement:
    if found.verdict == "unknown":
        return Judgement("too large", found.reason, "too large")
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
