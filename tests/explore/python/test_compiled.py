"""The inner parts of the explorer, compiled: optional, and with the same results."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("greenlet")

from latchfree_explore.python import COMPILED, extension

HERE = Path(__file__).parent
AGREE = (
    "test_gallery.py",
    "test_objects.py",
    "test_threads.py",
    "test_async.py",
    "test_reduction.py",
    "test_time.py",
    "test_whole_objects.py",
)


def test_the_tests_run_the_sources():
    assert not COMPILED


def test_without_an_extension_the_sources_are_used(monkeypatch, tmp_path):
    monkeypatch.delenv(extension.SETTING, raising=False)
    monkeypatch.setattr(extension, "cache_root", lambda: tmp_path)
    assert not extension.use()
    (tmp_path / "explorer").mkdir()
    assert not extension.use()
    monkeypatch.setenv(extension.SETTING, "0")
    extension.folder().mkdir()
    (extension.folder() / "x__mypyc.so").write_bytes(b"")
    assert not extension.use()


@pytest.mark.slow
def test_compiled_parts_find_the_same(tmp_path):
    pytest.importorskip("mypyc")
    given = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path), extension.SETTING: "1"}
    command = [sys.executable, "-m", "latchfree_explore.python.compiling"]
    made = subprocess.run(command, capture_output=True, text=True, check=False, env=given, timeout=1_200)
    assert made.returncode == 0, made.stderr
    tell = "from latchfree_explore.python.core import run; print(run.__file__)"
    told = subprocess.run([sys.executable, "-c", tell], capture_output=True, text=True, check=True, env=given)
    assert told.stdout.strip().startswith(made.stdout.strip())
    files = [str(HERE / name) for name in AGREE]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *files],
        capture_output=True, text=True, check=False, env=given, timeout=1_200,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-4000:]
