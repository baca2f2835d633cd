"""Backups: the contents come back, all or nothing, and damage is found."""

import errno
import os
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from ctrie_exact import settle

from latchfree import Arena, ArenaFull, Ctrie, StructureExists
from latchfree.ctrie import backup
from latchfree.ctrie.backup_file import BackupInvalid
from latchfree.ctrie.codecs import BytesCodec

CONTENTS = {
    ("int", "int"): {n: -n for n in range(3000)},
    ("str", "bytes"): {f"schlüssel {n}": bytes(n % 40) for n in range(500)},
    ("bytes", "str"): {bytes([n % 256, n // 256]): "ä" * (n % 7) for n in range(600)},
    ("pickle", "pickle"): {(n, str(n)): [n, {"x": None}] for n in range(300)},
    ("int", "pickle"): {-n: {n} for n in range(100)},
}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "backup.parquet"


def saved(path, items, **options):
    trie = Ctrie(items, **options)
    assert trie.readonly_snapshot().save(path) == len(items)
    return trie


@pytest.mark.parametrize("codecs", CONTENTS, ids="-".join)
def test_round_trip(path, codecs):
    keys, values = codecs
    saved(path, CONTENTS[codecs], keys=keys, values=values, hash_mask=0xFF)
    loaded = Ctrie.load(path)
    assert dict(loaded) == CONTENTS[codecs]
    assert repr(loaded) == f"<Ctrie of {keys} to {values}>"
    assert loaded._store.hash_mask == 0xFF
    loaded.clear()
    assert len(loaded) == 0


def test_an_empty_ctrie(path):
    saved(path, {}, keys=str, values=int)
    assert len(Ctrie.load(path)) == 0


def test_several_row_groups(path, monkeypatch):
    monkeypatch.setattr(backup, "_GROUP_BYTES", 4096)
    monkeypatch.setattr(backup, "_GROUP_ENTRIES", 700)
    items = {f"{n}": b"v" * (n % 100) for n in range(5000)}
    saved(path, items, keys=str, values=bytes)
    assert pq.ParquetFile(path).num_row_groups > 20
    assert dict(Ctrie.load(path)) == items
    numbers = {n: n for n in range(5000)}
    saved(path, numbers, keys=int, values=int)
    assert pq.ParquetFile(path).num_row_groups == 8
    assert dict(Ctrie.load(path)) == numbers


def test_large_values(path):
    items = {n: bytes([n]) * (4 << 20) for n in range(6)}
    saved(path, items, keys=int, values=bytes)
    assert dict(Ctrie.load(path)) == items


def test_others_can_read_it(path):
    saved(path, {"a": 1, "b": 2}, keys=str, values=int)
    table = pq.read_table(path)
    assert table.schema.names == ["key", "value"]
    assert dict(zip(table["key"].to_pylist(), table["value"].to_pylist(), strict=True)) == {"a": 1, "b": 2}


def test_a_codec_of_ones_own(path):
    class Hex(BytesCodec):
        name = "hex"

        def encode(self, value):
            return bytes.fromhex(value)

        def decode(self, stored):
            return stored.hex()

    saved(path, {"00ff": "12"}, keys=Hex(), values=Hex())
    with pytest.raises(ValueError, match="no codec for 'hex'"):
        Ctrie.load(path)
    assert dict(Ctrie.load(path, keys=Hex(), values=Hex())) == {"00ff": "12"}


def test_other_codecs_are_refused(path):
    saved(path, {"a": 1}, keys=str, values=int)
    with pytest.raises(ValueError, match=r"backup\.parquet: saved with the key codec 'str', not 'bytes'; load it with"):
        Ctrie.load(path, keys=bytes)
    assert dict(Ctrie.load(path, keys=str, values=int)) == {"a": 1}


def test_while_writers_run(path):
    trie = Ctrie(dict.fromkeys(range(1000), 0), keys=int, values=int)
    stop = threading.Event()

    def write():
        batch = np.arange(1000)
        n = 0
        while not stop.is_set():
            n += 1
            trie.put_many(batch, np.full(1000, n))
            trie.remove_many(batch[::3])

    writers = [threading.Thread(target=write) for _ in range(2)]
    for writer in writers:
        writer.start()
    try:
        for _ in range(5):
            snapshot = trie.readonly_snapshot()
            snapshot.save(path)
            assert Ctrie.load(path) == snapshot
    finally:
        stop.set()
        for writer in writers:
            writer.join()


def test_a_closed_snapshot_is_not_saved(path):
    snapshot = Ctrie({1: 1}).readonly_snapshot()
    snapshot.close()
    with pytest.raises(ValueError, match="closed"):
        snapshot.save(path)
    assert not path.exists()


# where to ------------------------------------------------------------------------------------------------------------


def test_under_a_name(path, tmp_path):
    saved(path, {n: n * n for n in range(100)}, keys=int, values=int)
    with Arena.create(path=tmp_path / "arena", capacity=4 << 20) as arena:
        loaded = Ctrie.load(path, arena=arena, name="squares")
        assert Ctrie.open(arena, "squares") == loaded == {n: n * n for n in range(100)}
        used = arena.allocated
        with pytest.raises(StructureExists, match="structure 'squares' exists already"):
            Ctrie.load(path, arena=arena, name="squares")
        assert arena.allocated == used
    with Arena.open(tmp_path / "arena") as arena:
        assert len(Ctrie.open(arena, "squares")) == 100


def test_a_name_needs_an_arena(path):
    saved(path, {})
    with pytest.raises(TypeError, match="give arena="):
        Ctrie.load(path, name="a")


@pytest.mark.parametrize("name", [None, "large"])
def test_an_arena_too_small_is_left_as_it_was(path, tmp_path, name):
    saved(path, {n: bytes(1000) for n in range(5000)}, keys=int, values=bytes)
    with Arena.create(path=tmp_path / "arena", capacity=4 << 20) as arena:
        Ctrie.create(arena, "other", keys=int, values=int)[1] = 1
        settle(arena)
        before = arena.census().nodes
        with pytest.raises(ArenaFull):
            Ctrie.load(path, arena=arena, name=name)
        settle(arena)
        assert arena.census().nodes == before
        assert list(arena.structures()) == ["other"]


# damage --------------------------------------------------------------------------------------------------------------


def test_every_cut_is_found(path):
    saved(path, {f"k{n}": n for n in range(50)}, keys=str, values=int)
    whole = path.read_bytes()
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        with pytest.raises(BackupInvalid, match=r"backup\.parquet: .*nothing was loaded"):
            Ctrie.load(path)


def test_every_changed_byte_is_found_or_harmless(path):
    items = {f"k{n}": n for n in range(50)}
    saved(path, items, keys=str, values=int)
    whole = path.read_bytes()
    found = 0
    for at in range(len(whole)):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 1 << at % 8]) + whole[at + 1 :])
        try:
            loaded = Ctrie.load(path)
        except BackupInvalid:
            found += 1
        else:
            assert dict(loaded) == items
    assert found > len(whole) / 2


def test_foreign_files(path):
    path.write_bytes(b"")
    with pytest.raises(BackupInvalid, match="not a Parquet file"):
        Ctrie.load(path)
    path.write_text("key,value\n1,2\n" * 100)
    with pytest.raises(BackupInvalid, match="not a Parquet file"):
        Ctrie.load(path)
    pq.write_table(pa.table({"key": [1], "value": [2]}), path)
    with pytest.raises(BackupInvalid, match="not a backup of a Ctrie"):
        Ctrie.load(path)
    with pytest.raises(FileNotFoundError):
        Ctrie.load(path.with_name("none"))


# failures ------------------------------------------------------------------------------------------------------------


class Interrupted:
    """A file that fails after some bytes."""

    def __init__(self, file, room, error):
        self._file, self._room, self._error = file, room, error

    def write(self, data):
        self._room -= len(memoryview(data).cast("B"))
        if self._room < 0:
            raise self._error
        return self._file.write(data)

    def __getattr__(self, name):
        return getattr(self._file, name)

    def __enter__(self):
        self._file.__enter__()
        return self

    def __exit__(self, *exception):
        return self._file.__exit__(*exception)


@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt()])
@pytest.mark.parametrize("room", [0, 3, 2000])
@pytest.mark.parametrize("there", [None, b"what was there"])
def test_a_failure_leaves_no_trace(path, monkeypatch, error, room, there):
    trie = Ctrie({n: os.urandom(8) for n in range(2000)}, keys=int, values=bytes)
    if there is not None:
        path.write_bytes(there)
    real = os.fdopen
    with monkeypatch.context() as patch:
        patch.setattr(backup.os, "fdopen", lambda fd, mode: Interrupted(real(fd, mode), room, error))
        with pytest.raises(type(error)) as caught:
            trie.readonly_snapshot().save(path)
    if isinstance(error, OSError):
        assert (caught.value.errno, caught.value.filename) == (errno.ENOSPC, str(path))
    assert [file.name for file in path.parent.iterdir()] == ([] if there is None else [path.name])
    assert there is None or path.read_bytes() == there
    trie.readonly_snapshot().save(path)
    assert len(Ctrie.load(path)) == 2000


def test_a_full_disk(tmp_path):
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", disk], capture_output=True, check=False)
    if mount.returncode:
        pytest.skip("mounting a small file system needs root")
    try:
        Ctrie({1: 1}).readonly_snapshot().save(disk / "backup")
        before = (disk / "backup").read_bytes()
        trie = Ctrie({n: os.urandom(100) for n in range(3000)}, keys=int, values=bytes)
        with pytest.raises(OSError, match="No space left on device; no backup was written") as caught:
            trie.readonly_snapshot().save(disk / "backup")
        assert caught.value.filename == str(disk / "backup")
        assert (disk / "backup").read_bytes() == before
        assert [file.name for file in disk.iterdir()] == ["backup"]
    finally:
        subprocess.run(["umount", disk], check=True)


def test_what_is_no_regular_file_is_not_replaced(tmp_path):
    snapshot = Ctrie({1: 1}).readonly_snapshot()
    with pytest.raises(IsADirectoryError):
        snapshot.save(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="no backup was written"):
        snapshot.save(tmp_path / "pipe")
    assert (tmp_path / "pipe").is_fifo()
    with pytest.raises(FileNotFoundError):
        snapshot.save(tmp_path / "none" / "backup")


def test_a_link_is_followed_and_permissions_stay(tmp_path):
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_bytes(b"")
    target.chmod(0o640)
    link.symlink_to(target)
    Ctrie({1: 1}).readonly_snapshot().save(link)
    assert link.is_symlink()
    assert target.stat().st_mode & 0o777 == 0o640
    assert dict(Ctrie.load(target)) == {1: 1}


def test_a_map_does_not_load_arrow():
    code = (
        "import sys; from latchfree import Ctrie; t = Ctrie({'a': 1}, keys=str, values=int); t.put_many(['b'], [2]); "
        "assert t.get_many(['a', 'c']) == [1, None]; sys.exit('pyarrow' in sys.modules)"
    )
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    assert subprocess.run([sys.executable, "-c", code], env=env, check=False).returncode == 0
    assert Path(backup.__file__).name == "backup.py"
