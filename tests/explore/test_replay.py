"""Replay files run a failure again; emitted tests fail as long as the bug is there; users' files are targets."""

import copy
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from latchfree_evidence.mutants import MUTANTS
from latchfree_explore import explore, pytest_files, replay, replay_files
from latchfree_explore.sources import source_hash
from latchfree_explore.target_files import find_target

STRUCTURE = """
import numpy as np
from latchfree.atomics import fetch_add, load, store
from latchfree.jit import kernel
from latchfree_explore import Target
from latchfree_explore.examples.counter import CounterModel

@kernel
def increment(mem, root, thread):
    {body}

COUNTER = Target("mine", CounterModel(), {{"increment": increment}})
"""
WRONG = "n = load(mem, root); store(mem, root, n + np.uint64(1)); return n"
RIGHT = "return fetch_add(mem, root, np.uint64(1))"


def _document(path):
    result = explore(str(path), scenario="increment | increment; increment")
    assert result.verdict == "violation"
    source = source_hash(find_target(str(path)))
    return replay_files.to_json(result, target=str(path), source=source, plain=False), result.failure


@pytest.fixture
def structure(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(STRUCTURE.format(body=WRONG))
    return path


def test_a_replay_file_fails_again_and_says_when_the_code_has_changed(structure, tmp_path):
    document, failure = _document(structure)
    file = tmp_path / "case.json"
    file.write_text(json.dumps(document))
    again = replay(file)
    assert (again.verdict, again.failure.schedule) == ("violation", failure.schedule)
    assert again.failure.steps == failure.steps
    assert "have changed" not in again.reason
    structure.write_text(STRUCTURE.format(body=RIGHT))
    repaired = replay(file)
    assert repaired.verdict in ("ok", "unknown")
    assert "have changed" in repaired.reason


def _pytest(file):
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(file)],
        capture_output=True,
        text=True,
        check=False,
        cwd=file.parent,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )


def test_an_emitted_test_fails_until_the_bug_is_gone(structure, tmp_path):
    document, failure = _document(structure)
    file = tmp_path / "test_mine.py"
    file.write_text(pytest_files.pytest_file(document, failure.preemptions))
    wrong = _pytest(file)
    assert wrong.returncode == 1
    assert "2 failed" in wrong.stdout
    structure.write_text(STRUCTURE.format(body=RIGHT))
    right = _pytest(file)
    assert right.returncode == 0, right.stdout


EXPLORED = """
import sys
from latchfree_evidence.exploring import explore
from latchfree_explore import replay_files
from latchfree_explore import pytest_files
result = explore("ctrie", scenario=sys.argv[1], mutant="S1", strategy="bounded", bound=2)
document = replay_files.to_json(result, target="ctrie", source="", plain=False)
print(pytest_files.pytest_file(document, result.failure.preemptions, module="latchfree_evidence"))
"""


@pytest.mark.slow
def test_an_emitted_test_of_a_mutant_fails_on_it_and_passes_on_the_real_code(tmp_path):
    command = [sys.executable, "-c", EXPLORED, MUTANTS["S1"].scenario]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    emitted = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert emitted.returncode == 0, emitted.stderr
    file = tmp_path / "test_mutant.py"
    file.write_text(emitted.stdout)
    wrong = _pytest(file)
    assert wrong.returncode == 1, wrong.stdout
    assert "1 failed" in wrong.stdout
    file.write_text(emitted.stdout.replace("'mutant': 'S1'", "'mutant': None"))
    right = _pytest(file)
    assert right.returncode == 0, right.stdout


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda d: d.update(latchfree="trace"), "expected an object"),
        (lambda d: d.update(version=3), "version 3"),
        (lambda d: d.update(version=2), "'memory' must be a str"),
        (lambda d: d.update(version=2, memory="arm", races=True, choices=[]), "'memory' must be one of"),
        (lambda d: d.update(version=2, memory="sra", races=True, choices=[[9, 1]]), "names step 9"),
        (lambda d: d.update(version=2, memory="sra", races=True, choices=[[0]]), "list of"),
        (lambda d: d.pop("scenario"), "'scenario' must be a str"),
        (lambda d: d.update(schedule=[[0]]), "list of"),
        (lambda d: d.update(schedule=[[0, -1]]), "list of"),
        (lambda d: d.update(scenario="put("), "expected an operation"),
    ],
)
def test_malformed_documents(change, why):
    document = {
        "latchfree": "replay", "version": 1, "target": "ctrie", "mutant": None, "scenario": "get(1)",
        "schedule": [[0, 1]], "plain": False, "source": "", "kind": "", "message": "",
    }  # fmt: skip
    changed = copy.deepcopy(document)
    change(changed)
    with pytest.raises(replay_files.ReplayError, match=why):
        replay(changed)


def test_a_file_that_is_no_json(tmp_path):
    file = tmp_path / "case.json"
    file.write_text("{")
    with pytest.raises(replay_files.ReplayError, match=r"case\.json: expected JSON"):
        replay(file)


def test_targets_of_a_file(tmp_path):
    examples = Path(replay_files.__file__).parent / "examples"
    assert find_target(f"{examples / 'counter.py'}:lost_update").name == "lost_update"
    with pytest.raises(ValueError, match="declares 3 targets"):
        find_target(str(examples / "counter.py"))
    with pytest.raises(ValueError, match="no target 'x'"):
        find_target(f"{examples / 'counter.py'}:x")
