"""Topics as they come, in columns with the place of each."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from latchfree_cli import exits
from latchfree_cli.matching.files import batches, format_of
from latchfree_cli.matching.lines import Lines, opened


@dataclass
class Topics:
    """Topics that have arrived.

    Parameters
    ----------
    source, unit : str
        The file, and what its places are: lines or rows.
    texts : pyarrow.Array
        Strings, or bytes that may be no UTF-8.
    places : sequence of int
        The line or row of each.
    malformed : Stop or None
        What is wrong with the row after these.
    """

    source: str
    unit: str
    texts: Any
    places: Sequence[int]
    malformed: exits.Stop | None = None

    def stop(self, row: int, problem: object) -> exits.Stop:
        """Return the error that names a row."""
        return exits.Stop(exits.USAGE, f"{self.source}, {self.unit} {self.places[row]:,}: {problem}")

    def part(self, rows: Any) -> "Topics":
        """Return only some of the topics: an array of their rows."""
        return Topics(self.source, self.unit, self.texts.take(pa.array(rows)), np.asarray(self.places)[rows].tolist())


def arriving(path: str) -> Iterator[Topics]:
    """Yield the topics of a file, or of standard input (``-``), as they come."""
    if format_of(path) == "lines":
        with opened(path) as (source, stream):
            line = 1
            for chunk in Lines(source, stream).chunks():
                texts = _split(chunk)
                yield Topics(source, "line", texts, range(line, line + len(texts)))
                line += len(texts)
        return
    for batch in batches(path, "topic"):
        texts = pa.array([each.encode("utf-8", "surrogatepass") for each in batch.columns["topic"]], pa.large_binary())
        yield Topics(batch.source, batch.unit, texts, batch.places, batch.malformed)


def _split(chunk: bytes) -> Any:
    """Return the lines of a chunk, each of which ends, as an Arrow array without their ends."""
    if b"\r\n" in chunk:
        chunk = chunk.replace(b"\r\n", b"\n")
    ends = np.flatnonzero(np.frombuffer(chunk, np.uint8) == 10)
    offsets = np.zeros(len(ends) + 1, np.int64)
    offsets[1:] = ends - np.arange(len(ends))
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(chunk.replace(b"\n", b""))]
    return pa.Array.from_buffers(pa.large_binary(), len(ends), buffers)
