"""Backups: a snapshot in a Parquet file, and back.

Invariant: a file appears under its name whole and on disk, or not at all; what was there before stays until then. A
trie loaded from one appears whole or not at all, too.

The file has the columns ``key`` and ``value``: int64 for integers, strings for ``str``, the encoded bytes for all
other codecs. Its metadata holds, under ``latchfree``, a JSON object with the names of the codecs, the hash mask, the
number of entries and a digest of the content in the order of the file, and under ``latchfree.check`` a digest of that
object; so a change of any byte that matters is found. Row groups are small, and neither saving nor loading holds
more than one in memory.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from latchfree.arena import Arena
from latchfree.ctrie.codecs import BytesCodec, Codec, IntCodec, codec_for
from latchfree.ctrie.holds import Hold, Lineage
from latchfree.ctrie.kernels.entrypoints import call
from latchfree.ctrie.mapping import Ctrie
from latchfree.ctrie.store import Store
from latchfree.errors import LatchfreeError, StructureExists
from latchfree.publishing import published_file
from latchfree.structures import CTRIE

VERSION = 1

#: A row group ends at this many entries or encoded bytes, whichever comes first.
_GROUP_ENTRIES = 1 << 16
_GROUP_BYTES = 16 << 20

_METADATA = b"latchfree"
_CHECK = b"latchfree.check"

Progress = Callable[[int], None]


class BackupInvalid(LatchfreeError, ValueError):
    """A file is no backup, or a damaged one; nothing was loaded."""


def _no_progress(done: int) -> None:
    pass


# saving ------------------------------------------------------------------------------------------------------------


def save(store: Store, root: int, hold: Hold, path: str | os.PathLike[str], progress: Progress = _no_progress) -> int:
    """Write everything below a frozen root I-node, which `hold` keeps readable; returns the number of entries.

    Raises
    ------
    OSError
        If the file cannot be written; what was at `path` is as it was.
    """
    schema = pa.schema([("key", _type_of(store.keys)), ("value", _type_of(store.values))])
    digest = hashlib.blake2b(digest_size=16)
    count = 0
    with _publishing(path) as file, _writing(file, schema) as writer:
        for keys, values in _groups(store, store.batches(root, hold)):
            columns = [_array(keys, store.keys), _array(values, store.values)]
            _digest(digest, columns)
            writer.write_table(pa.table(columns, schema=schema), row_group_size=len(keys))
            count += len(keys)
            progress(count)
        about = {
            "version": VERSION,
            "keys": store.keys.name,
            "values": store.values.name,
            "hash_mask": store.hash_mask,
            "entries": count,
            "digest": digest.hexdigest(),
        }
        text = json.dumps(about).encode()
        writer.add_key_value_metadata({_METADATA: text, _CHECK: _checksum(text)})
    return count


def _type_of(codec: Codec) -> Any:
    if codec.word:
        return pa.int64()
    return pa.large_string() if codec.name == "str" else pa.large_binary()


def _array(items: list[Any], codec: Codec) -> Any:
    """A column of encoded keys or values."""
    if codec.word:
        return pa.array(items, pa.int64())
    encoded = pa.array(items, pa.large_binary())
    return encoded.cast(pa.large_string()) if codec.name == "str" else encoded


def _groups(store: Store, batches: Iterable[tuple[list[Any], list[Any]]]) -> Iterator[tuple[list[Any], list[Any]]]:
    """The same entries in lists as long as a row group."""
    keys: list[Any] = []
    values: list[Any] = []
    weight = 0
    for more_keys, more_values in batches:
        for key, value in zip(more_keys, more_values, strict=True):
            keys.append(key)
            values.append(value)
            weight += (0 if store.keys.word else len(key)) + (0 if store.values.word else len(value))
            if len(keys) >= _GROUP_ENTRIES or weight >= _GROUP_BYTES:
                yield keys, values
                keys, values, weight = [], [], 0
    if keys:
        yield keys, values


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


@contextmanager
def _writing(file: IO[bytes], schema: Any) -> Iterator[Any]:
    writer = pq.ParquetWriter(
        file, schema, compression="zstd", write_page_checksum=True, write_statistics=False, use_dictionary=False
    )
    try:
        yield writer
    except BaseException:
        with suppress(Exception):
            writer.close()
        raise
    writer.close()


@contextmanager
def _publishing(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Yield a file that takes the place of `path` when all has gone well; an error says that there is no backup."""
    try:
        with published_file(path) as file:
            yield file
    except OSError as error:
        if error.errno is None:
            raise
        raise OSError(error.errno, f"{error.strerror}; no backup was written", os.fspath(path)) from None


# loading -----------------------------------------------------------------------------------------------------------


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

    Raises
    ------
    BackupInvalid
        If it is not: foreign, truncated or corrupted.
    FileNotFoundError
        If there is none.
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
        """Say of which file an error of Arrow is."""
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
        expected = pa.schema([("key", _type_named(self.keys)), ("value", _type_named(self.values))])
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
        """Arrow arrays of keys and of values, a row group at a time."""
        for k in range(self._parquet.num_row_groups):
            with self._reading():
                table = self._parquet.read_row_group(k, columns=["key", "value"])
                columns = [pa.concat_arrays(column.chunks) for column in table.columns if column.num_chunks]
                for column in columns:
                    column.validate(full=True)
            if len(columns) != 2 or any(column.null_count for column in columns):
                raise self._fail(f"corrupted: row group {k} has missing keys or values")
            yield columns


def _type_named(name: str) -> Any:
    if name == "int":
        return pa.int64()
    return pa.large_string() if name == "str" else pa.large_binary()


def recorded(name: str) -> Codec:
    """A codec that goes by a recorded name and leaves what is not an integer encoded."""
    if name == "int":
        return IntCodec()
    codec: Codec = type("Recorded", (BytesCodec,), {"name": name})()
    return codec


def load(
    path: str | os.PathLike[str],
    *,
    arena: Arena | None,
    name: str | None,
    keys: type | str | Codec | None,
    values: type | str | Codec | None,
) -> Ctrie[Any, Any]:
    """See `latchfree.Ctrie.load`."""
    if arena is None:
        if name is not None:
            raise TypeError("a name is of use only in an arena: give arena=, too")
        arena = Arena.anonymous()
    with Backup(path) as backup:
        key_codec = _codec(path, "key", backup.keys, codec_for(backup.keys if keys is None else keys, keys=True))
        value_codec = _codec(path, "value", backup.values, codec_for(backup.values if values is None else values))
        if name is not None and name in arena.structures():
            raise StructureExists(f"structure {name!r} exists already; remove it, or choose another name")
        store = Store(arena, 0, recorded(backup.keys), recorded(backup.values), backup.hash_mask)
        store.settle(store.new_trie())
        if name is None:
            owner = Lineage(arena, store.trie)
            _fill(store, backup)
            store = Store(arena, store.trie, key_codec, value_codec, backup.hash_mask, owner=owner)
            return Ctrie._of(store)
        try:
            _fill(store, backup)
            arena.directory.create(
                name,
                kind=CTRIE,
                keys=backup.keys,
                values=backup.values,
                hash_mask=backup.hash_mask,
                build=lambda: store.trie,
            )
        except BaseException:
            call("destroy")(arena.base, store.trie, arena.interpreter_participant(), 0)
            raise
    return Ctrie.open(arena, name, keys=key_codec, values=value_codec)


def _codec(path: str | os.PathLike[str], role: str, stored: str, codec: Codec) -> Codec:
    if codec.name != stored:
        raise ValueError(
            f"{os.fspath(path)}: saved with the {role} codec {stored!r}, not {codec.name!r}; load it with {stored!r}"
        )
    return codec


def _fill(store: Store, backup: Backup) -> None:
    """Put all entries of a backup into a trie that nobody else sees."""
    trie: Ctrie[Any, Any] = Ctrie._of(store)
    for group in backup.groups():
        trie.put_many(
            *(
                column if codec.word else column.cast(pa.large_binary())
                for column, codec in zip(group, (store.keys, store.values), strict=True)
            )
        )
