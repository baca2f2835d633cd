"""The user's own folder in the temporary directory."""

import os
import subprocess
import sys

import pytest

from latchfree import jit
from latchfree_support.private import private_folder


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return tmp_path / f"latchfree-{os.geteuid()}"


def test_it_is_made_for_this_user_only(folder):
    assert private_folder() == folder
    assert folder.stat().st_mode & 0o777 == 0o700
    assert private_folder() == folder


def test_a_link_or_a_folder_open_to_others_is_not_used(folder, tmp_path):
    (tmp_path / "theirs").mkdir()
    folder.symlink_to(tmp_path / "theirs")
    assert private_folder() is None
    folder.unlink()
    folder.mkdir()
    folder.chmod(0o770)
    assert private_folder() is None


def test_the_folder_of_another_user_is_not_used(folder):
    folder.mkdir(mode=0o700)
    try:
        os.chown(folder, 12345, -1)
    except PermissionError:
        pytest.skip("this user cannot give files away")
    assert private_folder() is None


def test_compiled_code_is_kept_there_without_a_home(folder, monkeypatch, tmp_path):
    (tmp_path / "file").touch()
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert jit.cache_root() == folder
    program = "from latchfree.jit import cache_root; print(cache_root())"
    environment = {**os.environ, "TMPDIR": str(tmp_path), "PYTHONPATH": os.pathsep.join(sys.path)}
    del environment["XDG_CACHE_HOME"]
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**environment, "HOME": "/dev/null"}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.strip() == str(folder)
