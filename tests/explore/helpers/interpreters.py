"""Other interpreters that are installed, with what the explorer imports."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
PACKAGES = ("support", "impl", "model", "lincheck", "explore")
NEEDED = ("greenlet>=3.1", "numpy", "lazy_loader")


def interpreter(version):
    """Return the path of an interpreter such as "3.12", None if there is none that runs."""
    if version == f"{sys.version_info[0]}.{sys.version_info[1]}":
        return sys.executable
    found = [*sorted(Path.home().glob(f".pyenv/versions/{version}.*/bin/python")), shutil.which(f"python{version}")]
    for each in filter(None, found):
        if subprocess.run([each, "--version"], capture_output=True, check=False).returncode == 0:
            return str(each)
    return None


def installed(python, folder, *packages):
    """Have pip install packages into a folder; skip the test if it cannot."""
    command = [python, "-m", "pip", "install", "-q", "--no-deps", "--disable-pip-version-check", "--target", folder]
    done = subprocess.run([*map(str, command), *packages], capture_output=True, text=True, check=False, timeout=600)
    if done.returncode:
        pytest.skip(f"pip cannot install {', '.join(packages)}: {done.stderr.strip()[-200:]}")


def environment(*folders):
    """Return the environment in which a program finds our packages and what is in some folders."""
    path = [*map(str, folders), str(Path(__file__).parent), *(str(ROOT / each) for each in PACKAGES)]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(path), "PYTHONHASHSEED": "random"}


def prepared(version, folder):
    """Return an interpreter and an environment with what the explorer needs; skip the test if there is none."""
    python = interpreter(version)
    if python is None:
        pytest.skip(f"Python {version} is not installed")
    if python == sys.executable:
        return python, environment()
    installed(python, folder, *NEEDED)
    return python, environment(folder)
