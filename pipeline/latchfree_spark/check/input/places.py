"""Where in a file something is: its row, its line, or the byte at which its line begins.

Example: a file of 200 MB is read by seven workers. The fifth sees a line that is malformed, and knows where the line
begins, not how many lines are before it. So it says ``big.jsonl:@161061273: expected a JSON object``. The driver counts
the lines of the first such places at the end, in one pass over each file: ``big.jsonl:1208771: expected ...``.

No worker ever counts lines before its unit: that would read the beginning of a file once for each problem.
"""

from __future__ import annotations

import heapq
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

NAMED: Final = 100
"""Problems that are named, of each unit and in the end; others are counted."""

_PLACE: Final = re.compile(r"(.*?):(@?)(\d+): ", re.DOTALL)
_BYTE: Final = re.compile(r"(?<=:)@(\d+)(?=: )|(?<= line )@(\d+)(?=\b)")
_MORE: Final = re.compile(r"(.*?):@?\d+: ([\d,]+) more$", re.DOTALL)
_READ: Final = 1 << 20


class Byte(int):
    """The byte at which a line begins, in a text where the number of a line would be."""

    def __str__(self) -> str:
        return f"@{int(self)}"


def more(path: str | Path, place: int, count: int) -> str:
    """Return the text for problems of a unit that are counted only; `place` is that of the last one named."""
    return f"{path}:{place}: {count:,} more"


def lines_of(path: str | Path, places: Iterable[int]) -> list[int]:
    """Return the numbers of the lines that begin at some bytes, in order: one pass over the file."""
    found = []
    line, at = 1, 0
    with Path(path).open("rb") as file:
        for place in sorted(places):
            while at < place:
                read = file.read(min(_READ, place - at))
                if not read:
                    break
                line += read.count(b"\n")
                at += len(read)
            found.append(line)
    return found


def first_problems(texts: Iterable[str], cut: Sequence[str], most: int = NAMED) -> tuple[list[str], int]:
    """Return the problems that come first, each once and by line, and how many there are in all.

    Parameters
    ----------
    texts : iterable of str
        Problems in any order, the same one perhaps many times.
    cut : sequence of str
        The files whose places are bytes.
    most : int
        How many to return.
    """
    counted = 0
    named: set[str] = set()
    for text in dict.fromkeys(texts):
        rest = _MORE.match(text)
        if rest:
            counted += int(rest[2].replace(",", ""))
        else:
            named.add(text)
    return with_lines(heapq.nsmallest(most, named, key=_order), cut), counted + len(named)


def earliest(texts: Iterable[str], most: int) -> list[str]:
    """Return the problems that come first, by line; counts of others come before all."""
    return heapq.nsmallest(most, texts, key=lambda text: ("", 0, text) if _MORE.match(text) else _order(text))


def _order(text: str) -> tuple[str, int, str]:
    found = _PLACE.match(text)
    return (found[1], int(found[3]), text) if found else (text, 0, text)


def with_lines(texts: Sequence[str], cut: Sequence[str]) -> list[str]:
    """Return texts with the numbers of lines where they have bytes of the files `cut`, if those can be read."""
    known = set(cut)
    wanted: dict[str, set[int]] = {}
    for text in texts:
        found = _PLACE.match(text)
        if found and found[2] and found[1] in known:
            wanted.setdefault(found[1], set()).update(int(place[1] or place[2]) for place in _BYTE.finditer(text))
    lines: dict[str, Mapping[int, int]] = {}
    for file, places in wanted.items():
        try:
            lines[file] = dict(zip(sorted(places), lines_of(file, places), strict=True))
        except OSError:
            continue
    return [_with_lines(text, lines) for text in texts]


def _with_lines(text: str, lines: Mapping[str, Mapping[int, int]]) -> str:
    found = _PLACE.match(text)
    if not found or not found[2] or found[1] not in lines:
        return text
    mine = lines[found[1]]
    return _BYTE.sub(lambda place: str(mine[int(place[1] or place[2])]), text)
