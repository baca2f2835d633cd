"""Types as a user's project sees them: mypy and pyright, both strict, on the pages' examples and on stated types.

The project has an interpreter of its own that finds the packages as it finds installed ones.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
from doc_pages import PAGES, blocks

ROOT = Path(__file__).parents[2]
FLOORS = ("support", "impl", "model", "lincheck", "explore", "evidence", "teach", "fsck", "pipeline", "cli")
STATED = Path(__file__).parent / "stated_types.py"

#: Packages without types of their own: an example that imports one is not to blame.
UNTYPED = ("pyarrow", "pyspark", "pandas", "numba", "datasketches")
MYPY = (sys.executable, "-m", "mypy", "--strict", "--python-executable", "venv/bin/python", "--cache-dir", "cache")


def module_of(page: Path) -> str:
    """The Python blocks of a page, each at its own lines, so that an error names the line of the page."""
    lines = [""] * (page.read_text().count("\n") + 1)
    for block in blocks(page):
        if block.kind == "python" and not block.left_out:
            for number, line in enumerate(block.text.splitlines()):
                lines[block.line + bool(block.note) + number] = line
    return "\n".join(lines) + "\n"


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """A folder with the examples and the stated types, and an interpreter that has the packages installed."""
    home = tmp_path_factory.mktemp("project")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", home / "venv"], check=True)
    site = next(home.glob("venv/lib/python3*/site-packages"))
    paths = [*(str(ROOT / floor) for floor in FLOORS), sysconfig.get_path("purelib")]
    site.joinpath("packages.pth").write_text("\n".join(paths) + "\n")
    shutil.copy(STATED, home)
    for page in PAGES:
        module = module_of(page)
        if module.strip():
            home.joinpath(f"page_{re.sub(r'[^a-z]', '_', page.stem.lower())}.py").write_text(module)
    return home


def environment():
    """No path of this process: the project's interpreter says where packages are."""
    return {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "MYPYPATH")}


def test_the_examples_and_the_stated_types_pass_mypy_strict(project):
    ignored = "".join(f"[mypy-{package}.*]\nignore_missing_imports = True\n" for package in UNTYPED)
    project.joinpath("mypy.ini").write_text(f"[mypy]\n{ignored}")
    done = subprocess.run(
        [*MYPY, ".", "--exclude", "venv"],
        cwd=project,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_examples_and_the_stated_types_pass_pyright(project):
    settings = {"exclude": ["venv"], "pythonVersion": f"3.{sys.version_info.minor}", "strict": ["stated_types.py"]}
    project.joinpath("pyrightconfig.json").write_text(json.dumps(settings))
    done = subprocess.run(
        [sys.executable, "-m", "pyright", "--pythonpath", "venv/bin/python", "--outputjson"],
        cwd=project,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.startswith("{"), done.stdout + done.stderr
    found = json.loads(done.stdout)
    assert found["summary"]["filesAnalyzed"] > 10
    problems = [
        f"{Path(problem['file']).name}:{problem['range']['start']['line'] + 1}: {problem['message']}"
        for problem in found["generalDiagnostics"]
        if problem["severity"] == "error"
        and not problem["message"].endswith('is not a known attribute of module "datasketches"')  # which says no types
    ]
    assert problems == [], "\n".join(problems)


def test_a_wrong_type_is_found(project):
    wrong = project / "wrong.py"
    wrong.write_text("from latchfree import Ctrie\n\nx: str = Ctrie({'tea': 4}, keys=str, values=int)['tea']\n")
    try:
        done = subprocess.run(
            [*MYPY, "wrong.py"],
            cwd=project,
            env=environment(),
            capture_output=True,
            text=True,
            check=False,
        )
    finally:
        wrong.unlink()
    assert 'wrong.py:3: error: Incompatible types in assignment (expression has type "int"' in done.stdout, done.stdout
