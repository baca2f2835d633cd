"""Where a job keeps what, and how a file of a job appears whole or not at all."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO, Final

import pyarrow as pa
import pyarrow.parquet as pq

from latchfree_support.publishing import publish_file

VERDICTS: Final = pa.schema(
    [
        ("history", pa.string()),
        ("source", pa.string()),
        ("verdict", pa.string()),
        ("reason", pa.string()),
        ("engine", pa.string()),
        ("operations", pa.int64()),
        ("states", pa.int64()),
        ("failing", pa.int64()),
        ("object", pa.string()),
        ("key", pa.string()),
        ("saved", pa.string()),
        ("reproduce", pa.string()),
    ]
)
"""The table of verdicts; rows of one chunk are in order of sources and names."""

SECONDS: Final = pa.schema([("history", pa.string()), ("source", pa.string()), ("seconds", pa.float64())])
"""Times depend on the machine: their own table keeps the table of verdicts the same on every machine."""


GIANTS: Final = -1
"""The chunk of the giants' verdicts."""


def chunk_file(folder: str | Path, kind: str, chunk: int) -> Path:
    """Return the file with the ``verdicts`` or the ``seconds`` of a chunk; the verdicts are written last."""
    return Path(folder) / kind / ("giants.parquet" if chunk == GIANTS else f"chunk-{chunk:05}.parquet")


def done_chunks(folder: str | Path) -> set[int]:
    """Return the chunks that are judged."""
    return {int(file.stem[6:]) for file in (Path(folder) / "verdicts").glob("chunk-*.parquet")}


def publish(path: Path, content: bytes | Callable[[BinaryIO], object]) -> None:
    """Write a file of a job whole or not at all, and make the folder of the file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    publish_file(path, content)


def publish_table(path: Path, table: Any) -> None:
    """Write a table as a Parquet file: the same rows give the same bytes."""
    publish(path, lambda file: pq.write_table(table, file, compression="zstd"))


def file_name(history: str, source: str = "") -> str:
    """Return a name for files about a history: readable, short, and different for different histories."""
    identity = f"{source}\0{history}" if source else history
    digest = hashlib.sha256(identity.encode("utf-8", "surrogatepass")).hexdigest()[:10]
    return f"{re.sub(r'[^A-Za-z0-9.-]+', '_', history)[-60:].lstrip('.')}-{digest}"
