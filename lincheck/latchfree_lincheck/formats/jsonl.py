"""JSON Lines: one operation a line, histories told apart by name.

``{"history": "h", "process": 0, "f": "put", "arguments": ["k", 1], "result": null, "invoke": 1, "return": 2}``

``"return": null`` is a pending operation; without ``"result"`` the result is unknown; ``"object"`` and ``"model"``
are optional, and so is ``"history"``, which is the file's name then. Blank lines are skipped.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from latchfree_lincheck.formats.errors import HistoryFormatError
from latchfree_lincheck.formats.record import Collector, dumps, loads, records
from latchfree_lincheck.formats.source import Source
from latchfree_lincheck.history import History
from latchfree_support.publishing import publish_file


def read(source: Source, model: str | None = None) -> list[History]:
    """Read all histories of a file of JSON Lines."""
    collector = Collector(source.path, model, source.stem)
    for line, record in read_maps(source):
        collector.add(line, record)
    return collector.histories()


def read_maps(source: Source) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the object of each line, with its number.

    Raises
    ------
    HistoryFormatError
        If a line is no JSON object, or the last one is cut off.
    """
    begun = False
    for line, text in source.lines():
        if text.isspace():
            continue
        if not begun and text.lstrip().startswith("["):
            fix = f"a JSON array; fix: jq -c '.[]' {source.path} > lines.jsonl"
            raise HistoryFormatError(source.path, line, "JSON Lines, an object on each line", fix)
        begun = True
        try:
            record = loads(source.path, line, text.rstrip("\r\n"), "a JSON object")
        except HistoryFormatError:
            if text.endswith("\n"):
                raise
            expected = "a JSON object on the last line, ended by a newline"
            raise HistoryFormatError(source.path, line, expected, f"{text[-60:]!r}, which is cut off") from None
        if not isinstance(record, dict):
            raise HistoryFormatError(source.path, line, "a JSON object", repr(record)[:60])
        yield line, record


def write(path: Path, histories: list[History]) -> None:
    """Write histories to a JSON Lines file, whole or not at all."""
    lines = [dumps(record) for history in histories for record in records(history)]
    publish_file(path, "".join(f"{line}\n" for line in lines).encode())
