"""The archive on a worker: unpacked once and completely, wherever there is a place, and nothing else is loaded."""

import hashlib
import os
import shutil
import subprocess
import sys
import threading
import zipfile
from pathlib import Path

import pyspark
import pytest

from latchfree_spark.unpacking import bootstrap

NAMES = ("mine/__init__.py", "mine/code.py", "mine/data.json")


@pytest.fixture
def archive(tmp_path, monkeypatch):
    """Make an archive that Spark has brought, and a host with a cache and a temporary directory of its own."""
    made = tmp_path / "made.zip"
    with zipfile.ZipFile(made, "w") as packed:
        for name in NAMES:
            packed.writestr(name, f"'{name}'\n" * 2000)
    brought = tmp_path / "brought" / f"latchfree-{hashlib.sha256(made.read_bytes()).hexdigest()[:16]}.zip"
    brought.parent.mkdir()
    made.rename(brought)
    monkeypatch.setattr(pyspark.SparkFiles, "get", lambda name: str(brought.parent / name))
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    return brought


def run(archive):
    """Run a task of a new worker process; return the folder that it imports from."""
    known = list(sys.path)
    assert list(bootstrap(archive.name, (), "builtins:iter", b"\x80\x04).")([1, 2])) == [1, 2]
    (home,) = [Path(folder) for folder in sys.path if folder not in known]
    sys.path[:] = known
    assert home.name == archive.stem
    assert sorted(str(file.relative_to(home)) for file in home.rglob("*.*")) == sorted(NAMES)
    with zipfile.ZipFile(archive) as packed:
        assert all((home / name).read_bytes() == packed.read(name) for name in NAMES)
    assert [each.name for each in home.parent.iterdir()] == [home.name]
    return home


def usual(tmp_path, archive):
    return tmp_path / "cache" / "latchfree" / "packages" / archive.stem


def own(tmp_path):
    return tmp_path / "temporary" / f"latchfree-{os.geteuid()}"


def test_it_is_unpacked_once(archive, tmp_path):
    home = run(archive)
    assert home == usual(tmp_path, archive)
    made = home.stat().st_ino
    assert run(archive).stat().st_ino == made
    assert "NUMBA_CACHE_DIR" not in os.environ


def test_many_workers_at_once(archive, tmp_path):
    start, failed = threading.Barrier(8), []

    def work():
        start.wait()
        try:
            list(bootstrap(archive.name, (), "builtins:iter", b"\x80\x04).")([]))
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    sys.path[:] = [folder for folder in sys.path if not folder.startswith(str(tmp_path))]
    assert run(archive) == usual(tmp_path, archive)


@pytest.mark.parametrize("harm", ["missing", "short", "changed"])
def test_a_folder_that_is_not_complete_is_replaced(archive, harm):
    """A machine that loses power keeps the names of files, and not always what was in them."""
    file = run(archive) / NAMES[1]
    text = file.read_bytes()
    if harm == "missing":
        file.unlink()
    else:
        file.write_bytes(text[:-1] if harm == "short" else text[:-1] + b"#")
    run(archive)


def test_what_a_killed_worker_left_behind_is_removed(archive, tmp_path):
    left = usual(tmp_path, archive).parent / ".0123456789abcdef"
    left.mkdir(parents=True)
    (left / "half").write_text("x")
    run(archive)


@pytest.mark.parametrize("variable", ["XDG_CACHE_HOME", "NUMBA_CACHE_DIR", "HOME"])
def test_a_home_that_cannot_be_written(archive, tmp_path, monkeypatch, variable):
    (tmp_path / "file").touch()
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv(variable, str(tmp_path / "file"))
    home = run(archive)
    assert home == own(tmp_path) / "latchfree" / "packages" / archive.stem
    assert own(tmp_path).stat().st_mode & 0o777 == 0o700
    assert os.environ["NUMBA_CACHE_DIR"] == str(own(tmp_path))


def test_no_home_at_all(archive, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", "~")
    assert run(archive).is_relative_to(own(tmp_path))
    assert not (tmp_path / "~").exists()


@pytest.mark.parametrize("trap", ["a link", "open to all", "a file"])
def test_a_folder_in_the_temporary_directory_that_somebody_else_may_have_made(archive, tmp_path, monkeypatch, trap):
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    if trap == "a link":
        (tmp_path / "theirs").mkdir()
        own(tmp_path).symlink_to(tmp_path / "theirs")
    elif trap == "a file":
        own(tmp_path).touch()
    else:
        own(tmp_path).mkdir()
        own(tmp_path).chmod(0o777)
    assert run(archive) == archive.parent / "latchfree" / "packages" / archive.stem


def test_nothing_can_be_written(archive, tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "file"))
    own(tmp_path).touch()
    (archive.parent / "latchfree").touch()
    with pytest.raises(OSError, match=r"cannot be unpacked: .*file.*--conf spark.executorEnv.NUMBA_CACHE_DIR=FOLDER"):
        run(archive)


def test_a_damaged_archive(archive, tmp_path):
    content = archive.read_bytes()
    archive.write_bytes(content[:-100])
    with pytest.raises(OSError, match=rf"{archive.name} is damaged: {len(content) - 100:,} bytes"):
        run(archive)
    assert not usual(tmp_path, archive).exists()


def test_a_full_disk(archive, tmp_path, monkeypatch):
    full = tmp_path / "full"
    full.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=40k", "tmpfs", str(full)]
    if not shutil.which("mount") or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("this user may not mount a small disk")
    try:
        monkeypatch.setenv("NUMBA_CACHE_DIR", str(full))
        assert run(archive).is_relative_to(own(tmp_path))
        assert list((full / "latchfree" / "packages").iterdir()) == []
    finally:
        subprocess.run(["umount", str(full)], check=True)
