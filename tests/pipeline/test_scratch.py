"""Folders of drivers: kept while their driver lives, removed by the next one."""

import os
import signal
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import pytest

from latchfree_spark.scratch import LONGEST, clean, scratch_folder

DRIVER = """
import time
from latchfree_spark.scratch import scratch_folder
folder = scratch_folder()
(folder / "blockmgr").mkdir()
(folder / "blockmgr" / "shuffle").write_text("x")
print(folder, flush=True)
time.sleep(600)
"""


@pytest.fixture
def temporary(monkeypatch):
    """A temporary directory with a short name."""
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        monkeypatch.setattr("tempfile.tempdir", folder)
        yield Path(folder)


def start(temporary):
    """Start a driver; return it and its folder."""
    path = os.pathsep.join(folder for folder in sys.path if folder)
    driver = subprocess.Popen(
        [sys.executable, "-c", DRIVER], env={**os.environ, "TMPDIR": str(temporary), "PYTHONPATH": path},
        stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    return driver, Path(driver.stdout.readline().strip())


def test_the_folder_of_a_killed_driver_is_removed_and_that_of_a_living_one_is_not(temporary):
    (killed, gone), (living, kept) = start(temporary), start(temporary)
    try:
        mine = scratch_folder()
        assert gone.is_dir()
        killed.send_signal(signal.SIGKILL)
        killed.wait()
        another = scratch_folder()
        assert sorted(mine.parent.iterdir()) == sorted([mine, another, kept])
        assert (kept / "blockmgr" / "shuffle").exists()
    finally:
        for driver in (killed, living):
            driver.kill()
            driver.wait()
            driver.stdout.close()


def test_drivers_that_start_at_the_same_time(temporary):
    start, folders = threading.Barrier(8), []

    def work():
        start.wait()
        for _ in range(5):
            folders.append(scratch_folder())

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(folders)) == 40
    assert all(folder.is_dir() for folder in folders)


def test_a_path_that_is_too_long_for_sockets_is_not_used(temporary, monkeypatch):
    deep = temporary / ("x" * LONGEST)
    deep.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(deep))
    assert scratch_folder() is None
    assert list(deep.glob("latchfree-*/spark/*")) == []


def test_a_path_that_the_launcher_would_split_is_not_used(temporary, monkeypatch):
    (temporary / "a b").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(temporary / "a b"))
    assert scratch_folder() is None


def test_a_link_is_left_alone(temporary):
    (temporary / "root").mkdir()
    (temporary / "precious").mkdir()
    (temporary / "root" / "link").symlink_to(temporary / "precious")
    clean(temporary / "root")
    assert (temporary / "precious").is_dir()
