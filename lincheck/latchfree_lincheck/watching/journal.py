"""A file of events that somebody else follows: ``latchfree check --follow events.jsonl``."""

from __future__ import annotations

from pathlib import Path

from latchfree_lincheck.watching.events import Event, event_line
from latchfree_lincheck.watching.live import LiveCalls


class Journal(LiveCalls):
    """Writes the events of calls into a file, a line each, at once.

    Parameters
    ----------
    path : str or Path
        The file, which is added to, or a named pipe.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "events.jsonl"
    >>> with Journal(path) as journal, journal.call(0, "write", 1) as call:
    ...     call.result = None
    >>> print(path.read_text(), end="")
    {"type": "invoke", "process": 0, "f": "write", "arguments": [1]}
    {"type": "ok", "process": 0, "result": null}
    """

    def __init__(self, path: str | Path) -> None:
        super().__init__()
        self._file = Path(path).open("ab", buffering=0)  # noqa: SIM115 (until `close`)

    def feed(self, event: Event) -> None:
        """Write the line of an event.

        Raises
        ------
        ValueError
            If JSON has no text for an argument or the result; nothing is written then.
        OSError
            If it cannot be written.
        """
        line = f"{event_line(event)}\n".encode()
        with self._lock:
            while line:
                line = line[self._file.write(line) or 0 :]

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()
