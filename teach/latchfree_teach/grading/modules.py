"""The text of a module of TLA+ that a student hands in: what of it is definitions, and whether TLC may have it.

The text is the wall here: a module is admitted if it defines operators only, and uses no word by which TLC can do
anything but compute.

Invariant: TLC gets what was looked at, and nothing else. Comments are taken out first, by the rules of TLA+ (they nest,
and a string holds none), so there is no text that is a comment for one reader and a definition for the other.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from latchfree_teach.course.lesson import Lesson
from latchfree_teach.grading.syntax import MOST_BYTES, Refused

MODULE: Final = "Answer"
_FRAME: Final = re.compile(r"^-{4,}\s*MODULE\s+\w+\s*-{4,}[ \t]*\n(.*?)^={4,}", re.DOTALL | re.MULTILINE)
_DEFINITION: Final = re.compile(r"^(\w+)(?:\([^)\n]*\))?\s*==", re.MULTILINE)
_STRING: Final = re.compile(r'"[A-Za-z0-9_ ]*"')
_CLOSED: Final = re.compile(
    r"\b(EXTENDS|INSTANCE|LOCAL|RECURSIVE|LAMBDA|ASSUME|ASSUMPTION|AXIOM|THEOREM|MODULE|CONSTANTS?|VARIABLES?"
    r"|Print\w*|Assert|TLC\w*|Java\w*|IO\w*|Random\w*)\b|!(?!\s*[\[.])|={4,}|-{4,}"
)


class Text(NamedTuple):
    """A module: the line that it begins at, what stands before its first definition, its definitions, all of it.

    `start` is -1 where the text is definitions alone.
    """

    start: int
    head: str
    definitions: dict[str, str]
    inside: str


def admitted(lesson: Lesson, text: str) -> str:
    """Return the module that a submission makes: itself if it is a whole one, else the hole with its definitions."""
    if len(text.encode(errors="replace")) > MOST_BYTES:
        raise Refused(f"the file has more than {MOST_BYTES >> 10} kB; a lesson's answer is short")
    given, own = _parts(lesson.hole), _parts(text)
    whole = own.start >= 0
    if whole and own.head != given.head:
        raise Refused("the lines before the first definition are given, and may not be changed")
    for name, body in own.definitions.items():
        if name in given.definitions and name not in lesson.holes:
            if _lines(given.definitions[name]) != _lines(body):
                raise Refused(f"{name} is given, and may not be changed")
        elif found := _CLOSED.search(body):
            raise Refused(f"{name}: {found[0]} is not used here")
    for name in own.definitions:
        if name in _taken(lesson):
            raise Refused(f"{name} is a name of the checks of this lesson: choose another one")
    for name in (*lesson.holes, *(given.definitions if whole else ())):
        if name not in own.definitions:
            raise Refused(f"there is no {name}: the lesson asks for it")
    if whole:  # on the lines that the student knows
        return "\n" * own.start + f"---- MODULE {MODULE} ----\n{own.inside}\n====\n"
    definitions = [body for name, body in given.definitions.items() if name not in lesson.holes]
    own_first = [
        body for name, body in own.definitions.items() if name not in given.definitions or name in lesson.holes
    ]
    return "\n".join([f"---- MODULE {MODULE} ----", given.head, *definitions, *own_first, "====", ""])


def _taken(lesson: Lesson) -> set[str]:
    """Return the names that the module of the checks defines, which extends the student's."""
    checks = (lesson.folder / "checks.tla").read_text(encoding="utf-8")
    return {place[1] for place in _DEFINITION.finditer(checks)}


def _parts(text: str) -> Text:
    plain = _without_comments(text.replace("\r\n", "\n"))
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
    return Text(plain.count("\n", 0, framed.start()) if framed else -1, head, found, inside)


def _lines(body: str) -> list[str]:
    """Return the lines of a definition; what comments leave behind is no part of it."""
    return [line.rstrip() for line in body.splitlines() if line.strip()]


def _without_comments(text: str) -> str:
    """Return a text with a blank for each character of a comment, so that lines and columns stay what they are."""
    out: list[str] = []
    at = depth = 0
    while at < len(text):
        pair = text[at : at + 2]
        if pair == "(*":
            depth += 1
            out.append("  ")
            at += 2
        elif pair == "*)":
            depth -= 1
            if depth < 0:
                raise Refused(f"line {_line(text, at)}: a comment ends that has not begun")
            out.append("  ")
            at += 2
        elif depth:
            out.append("\n" if text[at] == "\n" else " ")
            at += 1
        elif pair == "\\*":
            end = text.find("\n", at)
            end = end if end >= 0 else len(text)
            out.append(" " * (end - at))
            at = end
        elif text[at] == '"':
            string = _STRING.match(text, at)
            if string is None:
                raise Refused(f"line {_line(text, at)}: a string here has letters, digits and blanks")
            out.append(string[0])
            at = string.end()
        else:
            out.append(text[at])
            at += 1
    if depth:
        raise Refused("a comment does not end")
    return "".join(out)


def _line(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1
