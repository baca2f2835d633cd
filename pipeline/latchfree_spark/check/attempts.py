"""Notes of the history being judged, which outlive their process and so name a history that kills its worker.

A worker judges many histories of a chunk at a time. If the worker dies or hangs (Spark kills a silent worker), the
next attempt at the chunk judges *carefully*: history by history, with a note before each. A history that killed its
worker `FATAL` times when judged alone is not tried again: its verdict is "unknown". Notes count within one run of the
driver only, so a killed driver makes no history suspicious.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Final

FATAL: Final = 2

_JUDGE: Final = "judge "
_DONE: Final = "done"


class Attempts:
    """The attempts at one chunk.

    Parameters
    ----------
    path : Path
        Where the notes are.

    Attributes
    ----------
    careful : bool
        Whether an attempt failed before.
    """

    def __init__(self, path: Path) -> None:
        lines = path.read_text().splitlines() if path.exists() else []
        self.careful = bool(lines)
        self._deaths: Counter[str] = Counter()
        for line, following in zip(lines, [*lines[1:], ""], strict=False):
            if line.startswith(_JUDGE) and following != _DONE:
                self._deaths[json.loads(line.removeprefix(_JUDGE))] += 1
        path.parent.mkdir(parents=True, exist_ok=True)
        self._path = path
        self._note("begin")

    def fatal(self, history: str) -> bool:
        """Return whether a history killed its workers too often to be tried again."""
        return self._deaths[history] >= FATAL

    def begin(self, history: str) -> None:
        """Note that a history is being judged."""
        self._note(_JUDGE + json.dumps(history))

    def end(self) -> None:
        """Note that its verdict is there."""
        self._note(_DONE)

    def forget(self) -> None:
        """Remove the notes: the chunk is done."""
        self._path.unlink(missing_ok=True)

    def _note(self, text: str) -> None:
        with self._path.open("a") as file:
            file.write(text + "\n")
