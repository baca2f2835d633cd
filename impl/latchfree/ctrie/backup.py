"""Backups: save a snapshot to a file, and load a Ctrie from a file.

Example: ``trie.readonly_snapshot().save("stock.parquet")`` while other threads go on writing, and after a crash
``Ctrie.load("stock.parquet")``.

Invariant: a file appears under its name complete and on disk, or not at all; a file that was there before stays until
then. A trie appears in the directory of its arena complete, or not at all, too.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import IO, Any, Final

from latchfree.arena import Arena
from latchfree.ctrie import many
from latchfree.ctrie.backup_file import Backup, Writer
from latchfree.ctrie.codecs import BytesCodec, Codec, IntCodec, codec_for
from latchfree.ctrie.holds import Hold, new_owner
from latchfree.ctrie.store import Store
from latchfree.errors import StructureExists
from latchfree.extras import optional
from latchfree.structures import CTRIE
from latchfree_support.publishing import published_file

pa = optional("pyarrow", "check")

#: A row group ends at this many entries or encoded bytes, whichever comes first.
_GROUP_ENTRIES: Final = 1 << 16
_GROUP_BYTES: Final = 16 << 20

Progress = Callable[[int], None]


def _no_progress(done: int) -> None:
    pass


def save(store: Store, hold: Hold, path: str | os.PathLike[str], progress: Progress = _no_progress) -> int:
    """Write a snapshot of a trie to a file.

    Parameters
    ----------
    store : Store
        The trie.
    hold : Hold
        The snapshot.
    path : path-like
        The file to write; what was there stays until the new file is complete.
    progress : callable, optional
        Called with the number of entries written so far.

    Returns
    -------
    int
        Number of entries.

    Raises
    ------
    OSError
        If the file cannot be written; a file that was at `path` stays as it was.
    MissingExtra
        If Arrow is not installed.
    """
    count = 0
    names = ("pickle", "pickle") if store.references else (store.keys.name, store.values.name)
    with (
        _publishing(path) as file,
        Writer(file, *names, store.hash_mask) as writer,
    ):
        batches = store.batches(hold)
        for keys, values in _groups(store, _pickled(batches) if store.references else batches):
            count = writer.write(keys, values)
            progress(count)
    return count


def _pickled(batches: Iterable[tuple[list[Any], list[Any]]]) -> Iterator[tuple[list[Any], list[Any]]]:
    """Yield the same entries, objects, as the codec "pickle" encodes them."""
    of_keys: Codec[Any] = codec_for("pickle", keys=True)
    of_values: Codec[Any] = codec_for("pickle")
    for keys, values in batches:
        yield [of_keys.encode(key) for key in keys], [of_values.encode(value) for value in values]


def _groups(store: Store, batches: Iterable[tuple[list[Any], list[Any]]]) -> Iterator[tuple[list[Any], list[Any]]]:
    """Yield the same entries in lists as long as a row group."""
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


def recorded(name: str) -> Codec[Any]:
    """Return a codec of a recorded name that leaves everything but integers encoded."""
    if name == "int":
        return IntCodec()
    codec: Codec[Any] = type("Recorded", (BytesCodec,), {"name": name})()
    return codec


def load(
    path: str | os.PathLike[str],
    *,
    arena: Arena | None,
    name: str | None,
    keys: type | str | Codec[Any] | None,
    values: type | str | Codec[Any] | None,
) -> Store:
    """Make a trie with the contents of a file; see `latchfree.Ctrie.load`.

    Returns
    -------
    Store
        The trie: private, or in the directory of `arena` under `name`.
    """
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

        def build() -> int:
            maker = arena.identity
            store.settle(store.new_trie())
            try:
                _fill(store, backup)
            except BaseException:
                store.destroy(store.trie, maker=maker)
                raise
            return store.trie

        if name is None:
            maker = arena.identity
            owner = new_owner(arena, build(), maker)
        else:
            owner = None
            arena.directory.create(
                name,
                kind=CTRIE,
                keys=backup.keys,
                values=backup.values,
                hash_mask=backup.hash_mask,
                build=build,
                dismantle=partial(store.destroy, maker=arena.identity),
            )
        return Store(arena, store.trie, key_codec, value_codec, backup.hash_mask, owner=owner, name=name)


def _codec(path: str | os.PathLike[str], role: str, stored: str, codec: Codec[Any]) -> Codec[Any]:
    if codec.name != stored:
        raise ValueError(
            f"{os.fspath(path)}: saved with the {role} codec {stored!r}, not {codec.name!r}; load it with {stored!r}"
        )
    return codec


def _fill(store: Store, backup: Backup) -> None:
    """Put all entries of a backup into a trie that nobody else sees."""
    for group in backup.groups():
        many.put_many(
            store,
            *(
                column if codec.word else column.cast(pa.large_binary())
                for column, codec in zip(group, (store.keys, store.values), strict=True)
            ),
        )
