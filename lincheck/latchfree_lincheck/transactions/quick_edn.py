"""Maps of EDN, a line at a time and by way of JSON: several times as fast as a reader in Python.

Example: ``{:type :ok, :value [[:r :x nil]]}`` is rewritten as ``[":type",":ok",":value",[[":r",":x",null]]]``, which
`json` reads in compiled code.

Invariant: the values are those of `latchfree_lincheck.formats.edn.read_edn`. A line that is more than one map of
vectors, numbers, keywords, nil, true and false is read by `read_edn`; if a line is not whole by itself, the whole text
is. So nothing that is malformed is accepted: each part of a text that goes over several lines begins on a line that is
not whole.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, Final

from latchfree_lincheck.formats.edn import EdnError, Keyword, read_edn

_MAP: Final = re.compile(r"\s*\{([^\"#;\\{}()]*)\}\s*")
_KEYWORD: Final = re.compile(r":([^\s\[\]]+)")
_NIL: Final = re.compile(r"(?<![^\s\[])nil(?![^\s\]])")
_BETWEEN: Final = re.compile(r"(?<=[^\s\[])\s*(?=\[)|(?<=\])\s*(?=[^\s\]])|(?<=[^\s\[])\s+(?=[^\s\]])")


def read_maps(text: str) -> Iterator[tuple[int, Any]]:
    """Yield each value of a text, or of a vector around all of it, with its line.

    Raises
    ------
    EdnError
        If the text is not EDN.
    """
    try:
        found = list(_by_lines(text))
    except EdnError:
        yield from read_edn(text, inside=True)
    else:
        yield from found


def _by_lines(text: str) -> Iterator[tuple[int, Any]]:
    """Yield the maps of each line; raise EdnError if a line is not whole."""
    keywords: dict[str, Keyword] = {}
    for number, line in enumerate(text.split("\n"), start=1):
        if not line or line.isspace():
            continue
        value = _quick(line, keywords)
        if value is not None:
            yield number, value
        elif line.strip()[0] in "[(":
            raise EdnError(number, "a map", "a vector")  # around maps or a value of its own: `read_edn` knows
        else:
            for _, each in read_edn(line):
                if isinstance(each, tuple):
                    raise EdnError(number, "a map", "a vector")
                yield number, each


def _quick(line: str, keywords: dict[str, Keyword]) -> dict[Any, Any] | None:
    """Return the map that a line is, or None if it takes more to read it."""
    inside = _MAP.fullmatch(line)
    if inside is None or "null" in line:
        return None
    text = _BETWEEN.sub(",", _NIL.sub("null", _KEYWORD.sub(r'":\1"', f"[{inside[1].replace(',', ' ').strip()}]")))
    try:
        values = [_value(each, keywords) for each in json.loads(text, parse_constant=_refuse)]
        found = dict(zip(values[::2], values[1::2], strict=True))
    except (ValueError, RecursionError, TypeError):
        return None
    return found if 2 * len(found) == len(values) else None


def _value(item: Any, keywords: dict[str, Keyword]) -> Any:
    if isinstance(item, str):
        if item not in keywords:
            keywords[item] = Keyword(item[1:])
        return keywords[item]
    if isinstance(item, list):
        return tuple([_value(each, keywords) for each in item])
    return item


def _refuse(constant: str) -> None:
    raise ValueError(constant)
