"""How answers are written: JSON lines, rows for ``--json``, or columns in a file of Parquet or Arrow.

Whole columns are turned into text at once: a million answers take as many calls as a thousand.
"""

import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from latchfree_cli import exits
from latchfree_support.publishing import published_file

COLUMNS = (".parquet", ".arrow")
"""The suffixes of files of columns."""

MOST_NUMBERS = 1 << 20
"""Subscribers written at once."""


class Writer(Protocol):
    """What takes answers."""

    def __call__(self, topics: Any, offsets: NDArray[np.int64], numbers: NDArray[np.int64]) -> None:
        """Take the answers to some topics, a column of bytes: row k has ``numbers[offsets[k] : offsets[k + 1]]``."""


class JsonLines:
    """One JSON object on a line of standard output for each topic.

    Parameters
    ----------
    names : sequence of int or str
        The subscribers, by number.
    """

    def __init__(self, names: Sequence[Any]) -> None:
        self._names = pa.array([_json(name) for name in names], pa.large_string())

    def __call__(self, topics: Any, offsets: NDArray[np.int64], numbers: NDArray[np.int64]) -> None:
        """Write and flush."""
        if len(topics) > 1 and len(numbers) > MOST_NUMBERS:  # the text of one column has less than 2 GiB
            half = len(topics) // 2
            self(topics[:half], offsets[: half + 1], numbers[: offsets[half]])
            self(topics[half:], offsets[half:] - offsets[half], numbers[offsets[half] :])
            return
        texts = topics.cast(pa.large_binary()).view(pa.large_string())
        special = pc.match_substring_regex(texts, r'["\\\x00-\x1f]')
        if pc.any(special).as_py():
            texts = pa.array([_json(text)[1:-1] for text in texts.to_pylist()], pa.large_string())
        said = pc.binary_join(
            pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), self._names.take(pa.array(numbers))), _text(", ")
        )
        parts = ['{"topic": "', texts, '", "subscribers": [', said, "]}\n"]
        lines = pc.binary_join_element_wise(*[_text(part) for part in parts], _text(""))
        sys.stdout.write(_whole(lines))
        sys.stdout.flush()


class Rows:
    """Rows in a list, for ``--json``."""

    def __init__(self, names: Sequence[Any]) -> None:
        self._names = names
        self.rows: list[dict[str, Any]] = []
        """The answers so far."""

    def __call__(self, topics: Any, offsets: NDArray[np.int64], numbers: NDArray[np.int64]) -> None:
        """Keep the answers."""
        for row, topic in enumerate(topics.to_pylist()):
            found = [self._names[each] for each in numbers[offsets[row] : offsets[row + 1]].tolist()]
            self.rows.append({"topic": topic if isinstance(topic, str) else topic.decode(), "subscribers": found})


class Columns:
    """A table of the columns topic and subscribers, written as it grows."""

    def __init__(self, names: Sequence[Any], file: BinaryIO, *, parquet: bool) -> None:
        kind = pa.large_string() if names and isinstance(names[0], str) else pa.int64()
        self._names = pa.array(names, kind)
        self._schema = pa.schema({"topic": pa.large_string(), "subscribers": pa.large_list(kind)})
        if parquet:
            import pyarrow.parquet as pq

            self._writer: Any = pq.ParquetWriter(file, self._schema)
        else:
            self._writer = pa.ipc.new_stream(file, self._schema)

    def __call__(self, topics: Any, offsets: NDArray[np.int64], numbers: NDArray[np.int64]) -> None:
        """Write a batch."""
        texts = topics.cast(pa.large_binary()).view(pa.large_string())
        lists = pa.LargeListArray.from_arrays(pa.array(offsets), self._names.take(pa.array(numbers)))
        self._writer.write_batch(pa.record_batch([texts, lists], schema=self._schema))

    def close(self) -> None:
        """Write what ends the file."""
        self._writer.close()


@contextmanager
def columns(path: str, names: Sequence[Any]) -> Iterator[Columns]:
    """Yield what writes a file of columns, which appears complete or not at all.

    Raises
    ------
    Stop
        If the suffix is none of `COLUMNS`, or some subscribers are numbers and others are texts.
    """
    suffix = Path(path).suffix.lower()
    if suffix not in COLUMNS:
        raise exits.Stop(exits.USAGE, f"--to {path}: the suffix must be one of {', '.join(COLUMNS)}")
    if len({isinstance(each, str) for each in names}) > 1:
        says = "some subscribers are numbers and others are texts, and a column has one type; name all or none"
        raise exits.Stop(exits.USAGE, f"--to {path}: {says}")
    with published_file(path) as file:
        writer = Columns(names, file, parquet=suffix == ".parquet")
        try:
            yield writer
        except BaseException:
            with suppress(Exception):  # the file goes away; only what opened it must know that it is over
                writer.close()
            raise
        writer.close()


def _json(value: Any) -> str:
    """Return a value as JSON, with escapes for what UTF-8 cannot say."""
    said = json.dumps(value, ensure_ascii=False)
    return json.dumps(value) if any("\ud800" <= each <= "\udfff" for each in said) else said


def _text(part: Any) -> Any:
    return pa.scalar(part, pa.large_string()) if isinstance(part, str) else part


def _whole(lines: Any) -> str:
    """Return the texts of a column, one after another."""
    _, offsets, data = lines.buffers()
    ends = np.frombuffer(offsets, np.int64)
    first, last = int(ends[lines.offset]), int(ends[lines.offset + len(lines)])
    return str(memoryview(data)[first:last], "utf-8")
