"""The bytes of a history file: opened once, read to the end, decompressed.

Example: ``latchfree check <(zstd -dc run.jsonl.zst)`` names a pipe. A pipe can be read once, so the format is told from
the bytes that were read, and the reader gets the same bytes.

Invariant: a `Source` holds all bytes of the file, or there is no `Source`: compressed bytes that end too early, or do
not fit their checksum, are malformed.
"""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from latchfree_lincheck.formats.errors import HistoryFormatError
from latchfree_support.standard import standard_input

STANDARD_INPUT: Final = Path("-")
"""The path that stands for standard input."""

TOLD_BY: Final = 1 << 16
"""How many bytes at the beginning of a file tell what it holds."""

_PACKED: Final = frozenset({".gz", ".zst"})
_OTHERS: Final = {b"BZh": "bzip2", b"\xfd7zXZ\x00": "xz", b"\x04\x22\x4d\x18": "lz4", b"PK\x03\x04": "unzip"}


@dataclass(frozen=True)
class Source:
    """A file that was read.

    Parameters
    ----------
    path : Path
        What the file is called in errors.
    data : bytes
        All of it, decompressed.
    """

    path: Path
    data: bytes

    @property
    def stem(self) -> str:
        """The file's name without endings: the name of a history that has none of its own."""
        return stem_of(self.path)

    @property
    def start(self) -> str:
        """How the file begins, as text, to tell what it holds; it is read as a whole afterwards."""
        return self.data[:TOLD_BY].decode("utf-8", "replace")

    @cached_property
    def text(self) -> str:
        """The file as text, without a byte order mark.

        Raises
        ------
        HistoryFormatError
            If the file is not UTF-8.
        """
        try:
            return self.data.decode("utf-8-sig")
        except UnicodeDecodeError:
            for _ in self.lines():  # raises the error of the first line that is no text
                pass
            raise

    def lines(self) -> Iterator[tuple[int, str]]:
        """Yield the lines with their numbers and their ends, without holding all of the text.

        Raises
        ------
        HistoryFormatError
            If a line is not UTF-8.
        """
        for number, line in enumerate(io.BytesIO(self.data), 1):
            try:
                yield number, line.decode("utf-8-sig" if number == 1 else "utf-8")
            except UnicodeDecodeError as error:
                raise HistoryFormatError(self.path, number, "UTF-8 text", str(error)) from None


def stem_of(path: Path) -> str:
    """Return a file's name without endings, also that of gzip or zstd; "stdin" for standard input."""
    if path == STANDARD_INPUT:
        return "stdin"
    name = Path(path.name)
    return (Path(name.stem) if name.suffix in _PACKED else name).stem


def read_source(path: str | Path | Source) -> Source:
    """Read a file to its end; ``-`` is standard input. A file that was read before is returned as it is.

    Raises
    ------
    HistoryFormatError
        If the file is compressed and damaged, or compressed in a way that is not known here.
    OSError
        If the file cannot be read.
    """
    if isinstance(path, Source):
        return path
    path = Path(path)
    raw = standard_input().buffer.read() if path == STANDARD_INPUT else path.read_bytes()
    for magic, unpack in _UNPACKERS.items():
        if raw.startswith(magic):
            return Source(path, unpack(path, raw))
    for magic, program in _OTHERS.items():
        if raw.startswith(magic):
            way = f"{program} {'-p' if program == 'unzip' else '-dc'} {path} | latchfree check -"
            raise HistoryFormatError(
                path, 1, "a file that is plain, or packed by gzip or zstd", f"{program}; fix: {way}"
            )
    return Source(path, raw)


def _gunzip(path: Path, raw: bytes) -> bytes:
    try:
        return gzip.decompress(raw)
    except (EOFError, OSError, zlib.error) as error:
        what = "the file ends too early" if isinstance(error, EOFError) else str(error)
        raise HistoryFormatError(path, 1, "a whole gzip file", what) from None


def _unzstd(path: Path, raw: bytes) -> bytes:
    import pyarrow as pa

    try:
        stream: Any = pa.CompressedInputStream(pa.BufferReader(raw), "zstd")
        return io.BufferedReader(stream).read()
    except (pa.ArrowException, OSError) as error:
        raise HistoryFormatError(path, 1, "a whole zstd file", str(error)) from None


_UNPACKERS: Final[dict[bytes, Callable[[Path, bytes], bytes]]] = {b"\x1f\x8b": _gunzip, b"\x28\xb5\x2f\xfd": _unzstd}
