"""An editable installation over another makes the libraries as the first did."""

import shutil
import subprocess
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("gcc") is None, reason="there is no linker")
def test_the_second_installation_makes_the_libraries(tmp_path):
    copy = tmp_path / "src"
    shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(".git", "__pycache__", "*.so", "out", "states"))
    venv.create(tmp_path / "venv", with_pip=True)
    for _ in range(2):
        command = [tmp_path / "venv/bin/python", "-m", "pip", "install", "-v", "--no-deps", "-e", copy]
        done = subprocess.run(command, env={"PATH": "/usr/bin:/bin"}, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
        made = sorted(copy.glob("*/*/native/*.so"))
        assert len(made) == 2, done.stdout
        for file in made:
            file.unlink()
