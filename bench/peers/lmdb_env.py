"""``lmdb`` on tmpfs without syncing: a transaction per operation, or in bulk one per batch.

A snapshot is a read transaction.
"""

from __future__ import annotations

import importlib.metadata
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

import lmdb

from peers import Unavailable
from peers.base import Ints, Plan, Subject
from peers.loops import count

TITLE = "lmdb"

Loops = tuple[Callable[[list[bytes], list[bytes]], None], Callable[[list[bytes]], None], Callable[[list[bytes]], None]]

_TMPFS = Path("/dev/shm")


def version() -> str:
    return importlib.metadata.version("lmdb")


def new_folder() -> str:
    """A folder for a database, on a tmpfs."""
    if not _TMPFS.is_dir():
        raise Unavailable(f"{_TMPFS} is not there (a tmpfs keeps the disk out of the comparison)")
    return tempfile.mkdtemp(dir=_TMPFS)


def open_env(folder: str) -> lmdb.Environment:
    """The database in a folder."""
    return lmdb.open(folder, map_size=1 << 30, sync=False, metasync=False, writemap=True)


def loops_of(env: lmdb.Environment, *, bulk: bool) -> Loops:
    """Put, get and remove keys and values that `encode` made."""
    return _batches(env) if bulk else _singles(env)


def subject(plan: Plan) -> Subject:
    folder = new_folder()
    env = open_env(folder)
    put, get, remove = loops_of(env, bulk=plan.call == "bulk")

    def entries() -> int:
        with env.begin() as transaction:
            return count(transaction.cursor())

    def snapshots(times: int) -> None:
        for _ in range(times):
            env.begin().abort()

    def close() -> None:
        env.close()
        shutil.rmtree(folder)

    mix, look = mix_of(env), look_of(env)
    return Subject(put, get, remove, entries, snapshots, convert=encode, close=close, mix=mix, look=look)


def encode(ints: Ints) -> list[bytes]:
    """Keys or values as lmdb takes them."""
    data = ints.astype(">i8").tobytes()
    return [data[at : at + 8] for at in range(0, len(data), 8)]


def mix_of(env: lmdb.Environment) -> Callable[[list[bytes], list[bytes | None]], None]:
    """A loop of transactions: each reads a key where the value is None, and puts it elsewhere."""

    def mix(keys: list[bytes], values: list[bytes | None]) -> None:
        for key, value in zip(keys, values, strict=True):
            if value is None:
                with env.begin() as transaction:
                    transaction.get(key)
            else:
                with env.begin(write=True) as transaction:
                    transaction.put(key, value)

    return mix


def look_of(env: lmdb.Environment) -> Callable[[list[int]], list[int | None]]:
    """The values of keys, None where a key is absent."""

    def look(keys: list[int]) -> list[int | None]:
        with env.begin() as transaction:
            found = [transaction.get(key.to_bytes(8, "big")) for key in keys]
        return [None if value is None else int.from_bytes(value, "big") for value in found]

    return look


def _singles(env: lmdb.Environment) -> Loops:
    def put(keys: list[bytes], values: list[bytes]) -> None:
        for key, value in zip(keys, values, strict=True):
            with env.begin(write=True) as transaction:
                transaction.put(key, value)

    def get(keys: list[bytes]) -> None:
        for key in keys:
            with env.begin() as transaction:
                transaction.get(key)

    def remove(keys: list[bytes]) -> None:
        for key in keys:
            with env.begin(write=True) as transaction:
                transaction.delete(key)

    return put, get, remove


def _batches(env: lmdb.Environment) -> Loops:
    def put(keys: list[bytes], values: list[bytes]) -> None:
        with env.begin(write=True) as transaction:
            transaction.cursor().putmulti(zip(keys, values, strict=True))

    def get(keys: list[bytes]) -> None:
        with env.begin() as transaction:
            transaction.cursor().getmulti(keys)

    def remove(keys: list[bytes]) -> None:
        with env.begin(write=True) as transaction:
            for key in keys:
                transaction.delete(key)

    return put, get, remove
