"""Maps in files that several processes share, for `processes.py`: an arena file, lmdb, sqlite3, diskcache.

None of them waits for the disk when something is put: the arena and lmdb (``sync=False``) leave that to the kernel;
sqlite3 has a write-ahead log and ``synchronous=NORMAL``, as diskcache has by default, so that only a checkpoint waits.
A single call is a transaction. In bulk a batch is one transaction; diskcache reads one key a call all the same, since
its transactions keep out others that read in one, too.
"""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from peers.loops import Loops, mapping_look, mapping_loops
from peers.shared import Opened, Shared, listed, open_latchfree, open_lmdb

#: Seconds that one waits for the lock of another.
_WAIT: Final = 60
_PUT: Final = "INSERT INTO entries VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value"
_GET: Final = "SELECT value FROM entries WHERE key = ?"
_REMOVE: Final = "DELETE FROM entries WHERE key = ?"


def _make_folder(folder: str) -> tuple[str, Callable[[], object]]:
    made = tempfile.mkdtemp(dir=folder)
    return made, lambda: shutil.rmtree(made)


def _make_arena(folder: str) -> tuple[Any, Callable[[], object]]:
    from latchfree import Arena, Ctrie

    made = tempfile.mkdtemp(dir=folder)
    arena = Arena.create(path=Path(made, "map.arena"), capacity=1 << 30)
    trie = Ctrie.create(arena, "shared", keys=int, values=int)

    def remove() -> None:
        arena.unlink()
        arena.close()
        shutil.rmtree(made)

    return trie, remove


def _connect(folder: str) -> sqlite3.Connection:
    connection = sqlite3.connect(str(Path(folder, "map.db")), timeout=_WAIT, isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = NORMAL")
    return connection


def _make_sqlite3(folder: str) -> tuple[str, Callable[[], object]]:
    made, remove = _make_folder(folder)
    connection = _connect(made)
    connection.execute("CREATE TABLE entries (key INTEGER PRIMARY KEY, value INTEGER)")
    connection.close()
    return made, remove


def _open_sqlite3(folder: str, bulk: bool) -> Opened:
    connection = _connect(folder)

    def look(keys: list[int]) -> list[int | None]:
        rows = (connection.execute(_GET, (key,)).fetchone() for key in keys)
        return [None if row is None else row[0] for row in rows]

    return Opened(_batches(connection) if bulk else _singles(connection), listed, look)


def _singles(connection: sqlite3.Connection) -> Loops:
    def put(keys: list[int], values: list[int]) -> None:
        for pair in zip(keys, values, strict=True):
            connection.execute(_PUT, pair)

    def get(keys: list[int]) -> None:
        for key in keys:
            connection.execute(_GET, (key,)).fetchone()

    def remove(keys: list[int]) -> None:
        for key in keys:
            connection.execute(_REMOVE, (key,))

    return put, get, remove


@contextmanager
def _transaction(connection: sqlite3.Connection, begin: str) -> Iterator[None]:
    connection.execute(begin)
    yield
    connection.execute("COMMIT")


def _batches(connection: sqlite3.Connection) -> Loops:
    singles = _singles(connection)

    def put(keys: list[int], values: list[int]) -> None:
        with _transaction(connection, "BEGIN IMMEDIATE"):
            connection.executemany(_PUT, zip(keys, values, strict=True))

    def get(keys: list[int]) -> None:
        with _transaction(connection, "BEGIN"):
            singles[1](keys)

    def remove(keys: list[int]) -> None:
        with _transaction(connection, "BEGIN IMMEDIATE"):
            connection.executemany(_REMOVE, ((key,) for key in keys))

    return put, get, remove


def _open_diskcache(folder: str, bulk: bool) -> Opened:
    from diskcache import Cache  # type: ignore[import-not-found,import-untyped,unused-ignore]

    cache = Cache(folder, timeout=_WAIT)
    put, get, remove = mapping_loops(cache)
    if not bulk:
        return Opened((put, get, remove), listed, mapping_look(cache))

    def put_all(keys: list[int], values: list[int]) -> None:
        with cache.transact():
            put(keys, values)

    def remove_all(keys: list[int]) -> None:
        with cache.transact():
            remove(keys)

    return Opened((put_all, get, remove_all), listed, mapping_look(cache))


def _make_diskcache(folder: str) -> tuple[str, Callable[[], object]]:
    import diskcache  # type: ignore[import-not-found,import-untyped,unused-ignore]  # noqa: F401 -- or it is skipped

    return _make_folder(folder)


def _make_lmdb(folder: str) -> tuple[str, Callable[[], object]]:
    import lmdb  # noqa: F401 -- or it is skipped

    return _make_folder(folder)


ON_DISK: Final = {
    "latchfree-file": Shared("latchfree", _make_arena, open_latchfree, bulk=True),
    "lmdb-file": Shared("lmdb", _make_lmdb, open_lmdb, bulk=True),
    "sqlite3": Shared("sqlite3", _make_sqlite3, _open_sqlite3, bulk=True),
    "diskcache": Shared("diskcache", _make_diskcache, _open_diskcache, bulk=True),
}
