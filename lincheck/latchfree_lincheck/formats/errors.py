"""The error of malformed history files."""

from __future__ import annotations

from pathlib import Path


class HistoryFormatError(ValueError):
    """A history file is malformed; its text is ``file:line: expected ..., got ...``.

    Attributes
    ----------
    file : str
        The file.
    line : int
        The line, or the row of a table, from 1.
    expected, got : str
        What should have been there, and what is.
    """

    def __init__(self, file: str | Path, line: int, expected: str, got: str) -> None:
        super().__init__(f"{file}:{line}: expected {expected}, got {got}")
        self.file = str(file)
        self.line = line
        self.expected = expected
        self.got = got

    def __reduce__(self) -> tuple[type[HistoryFormatError], tuple[str, int, str, str]]:
        return HistoryFormatError, (self.file, self.line, self.expected, self.got)
