"""Maps that several processes share, for `processes.py`: made once, then opened in every process.

`Shared` says what each of them offers. Keys and values are integers.
"""

from __future__ import annotations

import importlib
import os
import shutil
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.managers import SyncManager
from typing import Any

from peers.base import Ints
from peers.loops import Loops, mapping_look, mapping_loops


@dataclass(frozen=True, slots=True)
class Opened:
    """A shared map as one process sees it: loops over keys (and values) that `convert` gives, and values of keys."""

    loops: Loops
    convert: Callable[[Ints], Any]
    look: Callable[[list[int]], list[int | None]]


@dataclass(frozen=True, slots=True)
class Shared:
    """A kind of shared map.

    Attributes
    ----------
    title : str
    make : callable
        Makes an empty one, whose files, if it has any, are in a folder; returns what `open` takes in another process,
        and what removes it.
    open : callable
        Opens it; the second argument asks for loops that are compiled, or one transaction a batch.
    bulk : bool
        Whether it has those.
    """

    title: str
    make: Callable[[str], tuple[Any, Callable[[], object]]]
    open: Callable[[Any, bool], Opened]
    bulk: bool


def listed(ints: Ints) -> Any:
    return ints.tolist()


def _make_latchfree(_folder: str) -> tuple[Any, Callable[[], object]]:
    from latchfree import Arena, Ctrie

    arena = Arena.create(name=f"bench-{os.getpid()}-{uuid.uuid4().hex[:12]}", capacity=2 << 30)
    trie = Ctrie.create(arena, "shared", keys=int, values=int)

    def remove() -> None:
        arena.unlink()
        arena.close()

    return trie, remove


def open_latchfree(trie: Any, bulk: bool) -> Opened:
    if bulk:
        return Opened((trie.put_many, trie.get_many, trie.remove_many), lambda ints: ints.copy(), mapping_look(trie))
    return Opened(mapping_loops(trie), listed, mapping_look(trie))


def _make_lmdb(_folder: str) -> tuple[Any, Callable[[], object]]:
    from peers import lmdb_env

    folder = lmdb_env.new_folder()
    return folder, lambda: shutil.rmtree(folder)


def open_lmdb(folder: str, bulk: bool) -> Opened:
    from peers import lmdb_env

    env = lmdb_env.open_env(folder)
    return Opened(lmdb_env.loops_of(env, bulk=bulk), lmdb_env.encode, lmdb_env.look_of(env))


def _make_ultradict(_folder: str) -> tuple[Any, Callable[[], object]]:
    made = importlib.import_module("UltraDict").UltraDict(
        buffer_size=1 << 20, full_dump_size=1 << 23, shared_lock=True, auto_unlink=False
    )
    return made.name, made.unlink


def _open_ultradict(name: str, bulk: bool) -> Opened:
    opened = importlib.import_module("UltraDict").UltraDict(name=name, shared_lock=True, auto_unlink=False)
    return Opened(mapping_loops(opened), listed, mapping_look(opened))


def _make_manager(_folder: str) -> tuple[Any, Callable[[], object]]:
    from multiprocessing import Manager

    manager: SyncManager = Manager()
    return manager.dict(), manager.shutdown


def _open_manager(proxy: Any, bulk: bool) -> Opened:
    return Opened(mapping_loops(proxy), listed, mapping_look(proxy))


SHARED = {
    "latchfree": Shared("latchfree", _make_latchfree, open_latchfree, bulk=True),
    "lmdb": Shared("lmdb", _make_lmdb, open_lmdb, bulk=True),
    "ultradict": Shared("UltraDict", _make_ultradict, _open_ultradict, bulk=False),
    "manager": Shared("Manager().dict", _make_manager, _open_manager, bulk=False),
}
