"""Published bugs of public packages: found in the version that has the bug, absent from the one that has not."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("greenlet")

import public_bugs
from interpreters import environment, installed
from public_bugs import BUGS

PAGE = Path(__file__).parents[3] / "docs" / "exploring-gallery.md"


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    """Return the folder of a released package, which pip installs; the test is skipped if it cannot."""
    folders = {}

    def package(*requirements):
        if requirements not in folders:
            folders[requirements] = folder = tmp_path_factory.mktemp("package")
            installed(sys.executable, folder, *requirements)
        return folders[requirements]

    return package


def explored(name, folder, *options):
    command = [sys.executable, public_bugs.__file__, name, *options]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=300, env=environment(folder), cwd=Path.home()
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in BUGS if BUGS[name].wrong])
def test_a_published_bug_is_found_and_absent_from_the_correction(name, package):
    bug = BUGS[name]
    wrong = explored(name, package(bug.wrong, *bug.needs))
    assert (wrong["verdict"], wrong["kind"]) == ("violation", bug.kind), wrong
    right = (
        explored(name, package(bug.right, *bug.needs))
        if bug.right
        else explored(name, package(bug.wrong, *bug.needs), "--locked")
    )
    assert right["verdict"] == "ok", right
    assert right["complete"]


def test_the_page_names_each_bug():
    rows = [
        line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("|") and "https://" in line
    ]
    assert len(rows) == len(BUGS)
    for bug, row in zip(BUGS.values(), rows, strict=True):
        name, _, version = bug.wrong.partition("==")
        assert row.startswith(f"| {name or 'Python'} {version}")
        assert bug.issue in row
        fixed = bug.until or bug.right.partition("==")[2] or "calls under a lock"
        assert row.endswith(f"| {fixed} |")


@pytest.mark.parametrize("name", [name for name in BUGS if BUGS[name].until])
def test_a_bug_of_the_library_itself(name):
    bug = BUGS[name]
    result = bug.explore(False)
    if sys.version_info[:2] == (3, 11):
        assert result.wrong is not None
        assert result.wrong.kind == bug.kind
    elif sys.version_info >= (3, 13):
        assert (result.verdict, result.complete) == ("ok", True)
