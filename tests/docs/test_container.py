"""The Dockerfile of the installation page: its steps in a fresh environment, its command as a user without a home."""

import json
import os
import re
import shutil
import subprocess
import tempfile
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LINES = re.search(r"```dockerfile\n(.*?)```", (ROOT / "docs/installing.md").read_text(), re.DOTALL)


def steps(kind):
    assert LINES
    return [line.removeprefix(f"{kind} ") for line in LINES[1].splitlines() if line.startswith(f"{kind} ")]


@pytest.fixture
def home():
    """A folder that everybody may read, but only its owner may write."""
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("gcc") is None, reason="the page installs gcc")
def test_the_steps_and_the_command(home):
    venv.create(home / "venv", with_pip=True)
    copy = home / "src"
    shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(".git", "__pycache__", "*.so", "out", "states"))
    environment = {"PATH": f"{home / 'venv/bin'}:/usr/bin:/bin", "HOME": str(home)}
    for step in steps("RUN"):
        if not step.startswith("apt-get"):
            command = step.replace("/src[", f"{copy}[")
            done = subprocess.run(command, shell=True, env=environment, capture_output=True, text=True, cwd=home)
            assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
            if command == "latchfree compile":
                assert [line.split()[0] for line in done.stdout.splitlines()] == ["there", "there"]
    (command,) = steps("CMD")
    program = json.loads(command)
    assert program[0] == "python"
    nobody = {"user": 65534, "group": 65534, "extra_groups": []} if os.geteuid() == 0 else {}
    done = subprocess.run(
        [home / "venv/bin/python", *program[1:]],
        env={"HOME": "/nowhere"}, capture_output=True, text=True, cwd="/", check=True, **nobody,
    )  # fmt: skip
    assert (done.stdout, done.stderr) == ("4\n", "")
