"""JSON Lines: one operation a line, histories told apart by name.

``{"history": "h", "process": 0, "f": "put", "arguments": ["k", 1], "result": null, "invoke": 1, "return": 2}``

``"return": null`` is a pending operation; without ``"result"`` the result is unknown; ``"object"`` and ``"model"``
are optional. Blank lines are skipped.
"""

from __future__ import annotations

from pathlib import Path

from latchfree_lincheck.formats.errors import HistoryFormatError
from latchfree_lincheck.formats.record import Collector, dumps, loads, records
from latchfree_lincheck.formats.text import read_lines
from latchfree_lincheck.history import History
from latchfree_support.publishing import publish_file


def read(path: Path, model: str | None = None) -> list[History]:
    """Read all histories of a JSON Lines file."""
    collector = Collector(path, model)
    for line, text in read_lines(path, ends=True):
        if not text.strip():
            continue
        try:
            record = loads(path, line, text.rstrip("\r\n"), "a JSON object")
        except HistoryFormatError:
            if text.endswith("\n"):
                raise
            expected = "a JSON object on the last line, ended by a newline"
            raise HistoryFormatError(path, line, expected, f"{text[-60:]!r}, which is cut off") from None
        if not isinstance(record, dict):
            raise HistoryFormatError(path, line, "a JSON object", repr(record)[:60])
        collector.add(line, record)
    return collector.histories()


def write(path: Path, histories: list[History]) -> None:
    """Write histories to a JSON Lines file, whole or not at all."""
    lines = [dumps(record) for history in histories for record in records(history)]
    publish_file(path, "".join(f"{line}\n" for line in lines).encode())
