"""Lines of a stream, as they come: what has arrived is handled at once, however slowly the rest follows."""

import select
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, Final

from latchfree_cli import exits
from latchfree_support.standard import standard_input

CHUNK: Final = 1 << 20
"""Bytes read at once, if they are there."""
LONGEST_LINE: Final = 1 << 20
"""Bytes of a line at most."""


class Lines:
    """The lines of a stream, as bytes, read as they come.

    Parameters
    ----------
    source : str
        The name of the stream, for messages.
    stream : binary file
    """

    def __init__(self, source: str, stream: BinaryIO) -> None:
        self._source = source
        self._stream = stream
        self._chunks = self.chunks()
        self._lines: list[bytes] = []
        self._at = 0
        self.number = 0
        """The number of the last line read."""

    @property
    def waiting(self) -> bool:
        """Whether the next line may have to be waited for."""
        return self._at == len(self._lines)

    def __iter__(self) -> "Lines":
        return self

    def __next__(self) -> bytes:
        if self.waiting:
            self._lines, self._at = next(self._chunks).split(b"\n")[:-1], 0
        line = self._lines[self._at]
        self._at += 1
        self.number += 1
        return line + b"\n"

    def chunks(self) -> Iterator[bytes]:
        """Yield whole lines, as many as have arrived; the last one gets its end if it has none.

        Raises
        ------
        Stop
            If a line is too long.
        """
        stream: Any = self._stream
        rest, lines, first = b"", 0, True
        while data := stream.read1(CHUNK):
            while len(data) < CHUNK and _is_ready(stream) and (more := stream.read1(CHUNK)):
                data += more
            if first:
                data, first = data.removeprefix(b"\xef\xbb\xbf"), False
            cut = data.rfind(b"\n") + 1
            if len(rest) + (len(data) if not cut else 0) > LONGEST_LINE:
                raise exits.Stop(exits.USAGE, f"{self._source}, line {lines + 1:,}: it has over {LONGEST_LINE:,} bytes")
            if not cut:
                rest += data
                continue
            whole, rest = rest + data[:cut], data[cut:]
            lines += whole.count(b"\n")
            yield whole
        if rest:
            yield rest.removesuffix(b"\r") + b"\n"


def _is_ready(stream: Any) -> bool:
    """Return whether a stream has more to read at once."""
    try:
        return bool(select.select([stream], [], [], 0)[0])
    except (OSError, ValueError):  # no descriptor
        return False


@contextmanager
def opened(path: str) -> Iterator[tuple[str, BinaryIO]]:
    """Open a file for reading, ``-`` being standard input; give its name for messages, too."""
    if path == "-":
        yield "standard input", standard_input().buffer
    else:
        with Path(path).open("rb") as stream:
            yield path, stream
