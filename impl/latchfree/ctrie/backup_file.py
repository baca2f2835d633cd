"""The file of a backup: a snapshot of a Ctrie as Parquet, which shows every change of a byte that matters.

The file has the columns ``key`` and ``value``: int64 for integers, strings for ``str`` and ``json``, the
encoded bytes for all other codecs. Its metadata holds two entries:

===================  ======================================================================================
entry                content
===================  ======================================================================================
``latchfree``        a JSON object: names of the codecs, hash mask, number of entries, and a digest of the
                     content in the order of the file
``latchfree.check``  a digest of that object
===================  ======================================================================================

Row groups are small, and neither writing nor reading holds more than one in memory.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, Final

import numpy as np

from latchfree.errors import LatchfreeError
from latchfree.extras import optional

pa = optional("pyarrow", "check")
pq = optional("pyarrow.parquet", "check")

VERSION: Final = 1

_METADATA: Final = b"latchfree"
_CHECK: Final = b"latchfree.check"


class BackupInvalid(LatchfreeError, ValueError):
    """A file is no backup, or a damaged one; nothing was loaded."""


def column_type(name: str) -> Any:
    """Return the Arrow type of the column for a codec of that name."""
    if name == "int":
        return pa.int64()
    return pa.large_string() if name in ("str", "json") else pa.large_binary()


def _schema(keys: str, values: str) -> Any:
    return pa.schema([("key", column_type(keys)), ("value", column_type(values))])


def _digest(digest: Any, columns: list[Any]) -> None:
    """Add the columns of a row group to a digest."""
    for column in columns:
        digest.update(len(column).to_bytes(8, "little"))
        if pa.types.is_int64(column.type):
            digest.update(np.ascontiguousarray(column.to_numpy(zero_copy_only=False)).data)
        else:
            raw = column.cast(pa.large_binary())
            _, offsets, data = raw.buffers()
            ends = np.frombuffer(offsets, np.int64, count=raw.offset + len(raw) + 1)[raw.offset :]
            digest.update(np.diff(ends).data)
            if data is not None:
                digest.update(memoryview(data)[int(ends[0]) : int(ends[-1])])


def _checksum(text: bytes) -> bytes:
    return hashlib.blake2b(text, digest_size=16).hexdigest().encode()


class Writer:
    """Writes the row groups of a backup to a file that is open.

    Parameters
    ----------
    file : binary file
    keys, values : str
        Names of the codecs.
    hash_mask : int
    """

    def __init__(self, file: IO[bytes], keys: str, values: str, hash_mask: int) -> None:
        self._about = {"version": VERSION, "keys": keys, "values": values, "hash_mask": hash_mask}
        self._schema = _schema(keys, values)
        self._digest = hashlib.blake2b(digest_size=16)
        self._entries = 0
        self._writer = pq.ParquetWriter(
            file,
            self._schema,
            compression="zstd",
            write_page_checksum=True,
            write_statistics=False,
            use_dictionary=False,
        )

    def write(self, keys: list[Any], values: list[Any]) -> int:
        """Write a row group of encoded keys and values; return the number of entries so far."""
        columns = [self._column(keys, "keys"), self._column(values, "values")]
        _digest(self._digest, columns)
        self._writer.write_table(pa.table(columns, schema=self._schema), row_group_size=len(keys))
        self._entries += len(keys)
        return self._entries

    def _column(self, items: list[Any], role: str) -> Any:
        kind = column_type(str(self._about[role]))
        if pa.types.is_int64(kind):
            return pa.array(items, kind)
        return pa.array(items, pa.large_binary()).cast(kind)

    def __enter__(self) -> Writer:
        return self

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        if kind is not None:
            with suppress(Exception):
                self._writer.close()
            return
        about = {**self._about, "entries": self._entries, "digest": self._digest.hexdigest()}
        text = json.dumps(about).encode()
        self._writer.add_key_value_metadata({_METADATA: text, _CHECK: _checksum(text)})
        self._writer.close()


class Backup:
    """A backup that has been read once and found whole.

    Parameters
    ----------
    path : path-like

    Attributes
    ----------
    keys, values : str
        Names of the codecs.
    hash_mask : int
    entries : int
        Number of entries.

    Raises
    ------
    BackupInvalid
        If the file is foreign, truncated or corrupted.
    FileNotFoundError
        If there is no file.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = path
        self._file = Path(path).open("rb")  # noqa: SIM115 -- read again by `groups`
        try:
            self._open()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def __enter__(self) -> Backup:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def _fail(self, text: str) -> BackupInvalid:
        return BackupInvalid(f"{os.fspath(self._path)}: {text}; nothing was loaded")

    @contextmanager
    def _reading(self) -> Iterator[None]:
        """Have an error of Arrow name the file."""
        try:
            yield
        except (pa.ArrowException, OSError, OverflowError, ValueError) as error:
            if isinstance(error, OSError) and error.errno is not None:
                raise
            raise self._fail(f"not a Parquet file, cut short or corrupted ({error})") from None

    def _open(self) -> None:
        with self._reading():
            self._parquet = pq.ParquetFile(self._file, page_checksum_verification=True)
            metadata = self._parquet.metadata.metadata or {}
            schema = self._parquet.schema_arrow
        text = metadata.get(_METADATA)
        if text is None:
            raise self._fail("a Parquet file, but not a backup of a Ctrie")
        if metadata.get(_CHECK) != _checksum(text):
            raise self._fail("corrupted: the checksum of its description does not match")
        about = json.loads(text)
        if about["version"] != VERSION:
            raise self._fail(f"a backup of version {about['version']}, this latchfree knows version {VERSION}")
        self.keys: str = about["keys"]
        self.values: str = about["values"]
        self.hash_mask: int = about["hash_mask"]
        self.entries: int = about["entries"]
        expected = _schema(self.keys, self.values)
        if not schema.remove_metadata().equals(expected):
            raise self._fail(f"corrupted: its columns are {schema.names} of {schema.types}, expected {expected.types}")
        self._verify(about["digest"])

    def _verify(self, expected: str) -> None:
        digest = hashlib.blake2b(digest_size=16)
        count = 0
        for group in self.groups():
            _digest(digest, group)
            count += len(group[0])
        if count != self.entries:
            raise self._fail(f"corrupted: it has {count} entries and says that they are {self.entries}")
        if digest.hexdigest() != expected:
            raise self._fail("corrupted: the digest of its entries does not match")

    def groups(self) -> Iterator[list[Any]]:
        """Yield the keys and the values of each row group, as Arrow arrays."""
        for k in range(self._parquet.num_row_groups):
            with self._reading():
                table = self._parquet.read_row_group(k, columns=["key", "value"])
                columns = [pa.concat_arrays(column.chunks) for column in table.columns if column.num_chunks]
                for column in columns:
                    column.validate(full=True)
            if len(columns) != 2 or any(column.null_count for column in columns):
                raise self._fail(f"corrupted: row group {k} has missing keys or values")
            yield columns
