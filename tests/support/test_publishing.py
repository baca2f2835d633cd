"""Publishing: a name refers to complete content at every instant, whoever saves, fails or is killed."""

import errno
import os
import signal
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from latchfree_support import publishing, replacing
from latchfree_support.publishing import publish_file, publish_filled, publish_folder
from latchfree_support.replacing import replace_file

OLD, NEW = b"what was there", b"what comes"


def names(folder):
    return sorted(each.name for each in folder.iterdir())


def killed(code, *arguments):
    """Run code in a process that kills itself, and return whether it did."""
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", code, *map(str, arguments)], env=env, check=False, timeout=300)
    return done.returncode == -signal.SIGKILL


# files ---------------------------------------------------------------------------------------------------------------


def test_a_file_from_bytes_and_from_a_writer(tmp_path):
    publish_file(tmp_path / "a", NEW)
    publish_file(str(tmp_path / "b"), lambda file: file.write(NEW))
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes() == NEW
    assert names(tmp_path) == ["a", "b"]


def test_a_file_that_can_be_made_again_is_not_brought_to_disk(tmp_path, monkeypatch):
    def fail(fd):
        raise AssertionError

    monkeypatch.setattr(publishing.os, "fsync", fail)
    (tmp_path / "a").write_bytes(OLD)
    publish_file(tmp_path / "a", NEW, synchronised=False)
    assert (tmp_path / "a").read_bytes() == NEW
    assert names(tmp_path) == ["a"]
    with pytest.raises(AssertionError):
        publish_file(tmp_path / "a", OLD)
    assert (tmp_path / "a").read_bytes() == NEW


def test_a_new_file_has_the_permissions_of_any_new_file(tmp_path):
    publish_file(tmp_path / "published", NEW)
    (tmp_path / "written").write_bytes(NEW)
    assert (tmp_path / "published").stat().st_mode == (tmp_path / "written").stat().st_mode


@pytest.mark.parametrize("mode", [0o640, 0o600, 0o755])
def test_permissions_stay(tmp_path, mode):
    target = tmp_path / "file"
    target.write_bytes(OLD)
    target.chmod(mode)
    during = []

    def write(file):
        during.append(os.fstat(file.fileno()).st_mode & 0o777)
        file.write(NEW)

    publish_file(target, write)
    assert during == [mode]
    assert target.stat().st_mode & 0o777 == mode


@pytest.mark.parametrize("there", [True, False])
def test_a_link_is_followed(tmp_path, there):
    (tmp_path / "else").mkdir()
    target, link = tmp_path / "else" / "target", tmp_path / "link"
    if there:
        target.write_bytes(OLD)
    link.symlink_to(target)
    publish_file(link, NEW)
    assert link.is_symlink()
    assert target.read_bytes() == NEW
    assert names(target.parent) == ["target"]


def test_a_name_as_long_as_the_file_system_allows(tmp_path):
    publish_file(tmp_path / ("x" * 255), NEW)
    publish_folder(tmp_path / ("y" * 255), lambda folder: (folder / "file").write_bytes(NEW))
    assert len(names(tmp_path)) == 2


@pytest.mark.parametrize(
    "error", [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt(), ValueError("no")]
)
@pytest.mark.parametrize("there", [True, False])
def test_a_failing_writer_leaves_what_was_there(tmp_path, error, there):
    target = tmp_path / "file"
    if there:
        target.write_bytes(OLD)

    def write(file):
        file.write(NEW)
        raise error

    with pytest.raises(type(error)) as caught:
        publish_file(target, write)
    if isinstance(error, OSError):
        assert (caught.value.errno, caught.value.filename) == (errno.ENOSPC, str(target))
    assert names(tmp_path) == (["file"] if there else [])
    assert not there or target.read_bytes() == OLD


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_failing_step_leaves_what_was_there(tmp_path, monkeypatch, step):
    target = tmp_path / "file"
    target.write_bytes(OLD)

    def fail(*arguments):
        raise OSError(errno.EIO, "Input/output error")

    with monkeypatch.context() as patch:
        patch.setattr(*((publishing.os, "fsync") if step == "fsync" else (Path, "replace")), fail)
        with pytest.raises(OSError, match="Input/output error") as caught:
            publish_file(target, NEW)
    assert caught.value.filename == str(target)
    assert names(tmp_path) == ["file"]
    assert target.read_bytes() == OLD


def test_a_full_disk(tmp_path):
    if not Path("/dev/full").exists():
        pytest.fail("this test needs /dev/full")
    target = tmp_path / "file"
    target.write_bytes(OLD)

    def write(file):
        full = os.open("/dev/full", os.O_WRONLY)
        os.dup2(full, file.fileno())
        os.close(full)
        file.write(NEW)  # stays in the buffer: the flush fails

    with pytest.raises(OSError, match="No space left on device") as caught:
        publish_file(target, write)
    assert caught.value.filename == str(target)
    assert names(tmp_path) == ["file"]
    assert target.read_bytes() == OLD


def test_a_write_protected_file_stays(tmp_path, monkeypatch):
    target = tmp_path / "file"
    target.write_bytes(OLD)
    target.chmod(0o444)
    monkeypatch.setattr(os, "access", lambda path, mode: False)  # the superuser may write everything
    with pytest.raises(PermissionError, match="write-protected") as caught:
        publish_file(target, NEW)
    assert caught.value.filename == str(target)
    assert target.read_bytes() == OLD
    assert names(tmp_path) == ["file"]


def test_only_a_regular_file_is_replaced(tmp_path):
    with pytest.raises(IsADirectoryError, match="not a regular file"):
        publish_file(tmp_path, NEW)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="not a regular file"):
        publish_file(tmp_path / "pipe", NEW)
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    with pytest.raises(OSError, match="loop") as caught:
        publish_file(tmp_path / "loop", NEW)
    assert caught.value.errno == errno.ELOOP
    assert names(tmp_path) == ["loop", "pipe"]


def test_no_folder_to_put_it_in(tmp_path):
    for publish in (publish_file, publish_folder):
        with pytest.raises(FileNotFoundError) as caught:
            publish(tmp_path / "none" / "file", lambda _: None)
        assert caught.value.filename == str(tmp_path / "none" / "file")


def test_an_error_about_another_file_names_that_file(tmp_path):
    def write(file):
        file.write((tmp_path / "source").read_bytes())

    with pytest.raises(FileNotFoundError) as caught:
        publish_file(tmp_path / "file", write)
    assert caught.value.filename == str(tmp_path / "source")
    assert names(tmp_path) == []


def test_two_savers_and_readers(tmp_path):
    """Readers find one of two contents, whole; each has a length that tells a mixture or a part."""
    target = tmp_path / "file"
    contents = [b"a" * 300_000, b"b" * 500_000]
    publish_file(target, contents[0])
    stop = threading.Event()
    read, wrong = [0] * 3, []

    def reader(k):
        while not stop.is_set() or read[k] == 0:
            if target.read_bytes() not in contents:
                wrong.append(k)
            read[k] += 1

    def saver(content):
        for _ in range(100):
            publish_file(
                target, lambda file: [file.write(content[n : n + 65536]) for n in range(0, len(content), 65536)]
            )

    readers = [threading.Thread(target=reader, args=(k,)) for k in range(3)]
    savers = [threading.Thread(target=saver, args=(content,)) for content in contents]
    for thread in [*readers, *savers]:
        thread.start()
    for thread in savers:
        thread.join()
    stop.set()
    for thread in readers:
        thread.join()
    assert wrong == []
    assert min(read) > 0
    assert names(tmp_path) == ["file"]


KILLED_BEFORE_THE_RENAME = """
import os, pathlib, signal, sys
from latchfree_support.publishing import publish_file, publish_folder
die = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
pathlib.Path.replace = pathlib.Path.rename = die
kind, target = sys.argv[1:]
if kind == "file":
    publish_file(target, b"new")
else:
    publish_folder(target, lambda folder: (folder / "file").write_bytes(b"new"))
"""


@pytest.mark.parametrize("kind", ["file", "folder"])
def test_killed_before_the_rename(tmp_path, kind):
    target = tmp_path / "target"
    if kind == "file":
        target.write_bytes(OLD)
    assert killed(KILLED_BEFORE_THE_RENAME, kind, target)
    left = [name for name in names(tmp_path) if name != "target"]
    assert [name[:11] for name in left] == [".latchfree-"]
    assert target.read_bytes() == OLD if kind == "file" else not target.exists()
    # what is left stands in nobody's way
    if kind == "file":
        publish_file(target, NEW)
    else:
        publish_folder(target, lambda folder: (folder / "file").write_bytes(NEW))
    assert target.exists()


# folders -------------------------------------------------------------------------------------------------------------


def fill(folder):
    (folder / "a").write_bytes(NEW)
    (folder / "below").mkdir()
    (folder / "below" / "b").write_bytes(NEW)


def test_a_folder(tmp_path):
    publish_folder(tmp_path / "out", fill)
    assert names(tmp_path) == ["out"]
    assert names(tmp_path / "out") == ["a", "below"]
    (tmp_path / "made").mkdir()
    assert (tmp_path / "out").stat().st_mode == (tmp_path / "made").stat().st_mode


def test_an_empty_folder_is_replaced_and_nothing_else(tmp_path):
    (tmp_path / "empty").mkdir()
    publish_folder(tmp_path / "empty", fill)
    (tmp_path / "file").write_bytes(OLD)
    for there in ("empty", "file"):
        with pytest.raises(FileExistsError, match="exists already") as caught:
            publish_folder(tmp_path / there, lambda _: pytest.fail("nothing is to be filled"))
        assert caught.value.filename == str(tmp_path / there)
    assert (tmp_path / "file").read_bytes() == OLD
    assert names(tmp_path) == ["empty", "file"]


@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt()])
def test_a_folder_that_fails_leaves_nothing(tmp_path, error):
    def fail(folder):
        fill(folder)
        raise error

    with pytest.raises(type(error)) as caught:
        publish_folder(tmp_path / "out", fail)
    if isinstance(error, OSError):
        assert (caught.value.errno, caught.value.filename) == (errno.ENOSPC, str(tmp_path / "out"))
    assert names(tmp_path) == []


@pytest.mark.parametrize("first", ["folder", "file"])
def test_somebody_else_was_faster(tmp_path, first):
    def late(folder):
        fill(folder)
        if first == "folder":
            publish_folder(tmp_path / "out", lambda other: (other / "theirs").write_bytes(OLD))
        else:
            publish_file(tmp_path / "out", OLD)

    with pytest.raises(FileExistsError) as caught:
        publish_folder(tmp_path / "out", late)
    assert caught.value.filename == str(tmp_path / "out")
    assert names(tmp_path) == ["out"]
    assert first == "file" or names(tmp_path / "out") == ["theirs"]


def test_a_filled_folder_gets_its_name_when_all_is_on_disk(tmp_path, monkeypatch):
    work, out = tmp_path / "out.partial", tmp_path / "out"
    (work / "deep").mkdir(parents=True)
    (work / "deep" / "file").write_bytes(b"content")
    synced = []
    real = os.fsync

    def fsync(fd):
        synced.append(Path(f"/proc/self/fd/{fd}").readlink().name)
        assert not out.exists() or synced[-1] == tmp_path.name
        real(fd)

    monkeypatch.setattr(publishing.os, "fsync", fsync)
    publish_filled(work, out)
    assert synced == ["out.partial", "file", "deep", tmp_path.name]
    assert (out / "deep" / "file").read_bytes() == b"content"
    assert not work.exists()


def test_a_filled_folder_does_not_take_the_place_of_another(tmp_path):
    work, out = tmp_path / "out.partial", tmp_path / "out"
    for folder in (work, out):
        folder.mkdir()
        (folder / folder.name).touch()
    with pytest.raises(FileExistsError):
        publish_filled(work, out)
    assert names(work) == ["out.partial"]
    assert names(out) == ["out"]


@pytest.mark.parametrize("mode", [None, 0o640])
def test_a_file_is_replaced_with_nothing_but_os(tmp_path, mode):
    target = tmp_path / "file"
    target.write_bytes(b"before")
    replace_file(str(target), b"after" * 100_000, mode)
    assert target.read_bytes() == b"after" * 100_000
    assert mode is None or stat.S_IMODE(target.stat().st_mode) == mode
    assert names(tmp_path) == ["file"]


@pytest.mark.parametrize("step", ["write", "replace"])
def test_a_file_stays_where_it_cannot_be_replaced(tmp_path, monkeypatch, step):
    def fail(*_):
        raise OSError(errno.ENOSPC, "no space left")

    target = tmp_path / "file"
    target.write_bytes(b"before")
    with monkeypatch.context() as patch:
        patch.setattr(replacing.os, step, fail)
        with pytest.raises(OSError, match="no space"):
            replace_file(str(target), b"after")
    assert target.read_bytes() == b"before"
    assert names(tmp_path) == ["file"]
