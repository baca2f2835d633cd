"""Wrong view machines: each differs from the axioms on some litmus program, or raises a false alarm on a register."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import latchfree_explore

PACKAGE = Path(latchfree_explore.__file__).parent
TESTS = Path(__file__).parents[1]

#: Each: the file, the right text, the wrong one.
MUTANTS = {
    "a relaxed load acquires": ("views/accesses.py", "reads and how != RELAXED", "reads"),
    "a relaxed store releases": ("views/accesses.py", "writes and how != RELAXED", "writes"),
    "what is known may be overlooked": (
        "views/choosing.py",
        "(seq and sort == SEQ) or _known(board, m)",
        "(seq and sort == SEQ)",
    ),
    "a seq_cst load reads behind seq_cst writes": ("views/choosing.py", "(seq and sort == SEQ) or ", ""),
    "a release sequence ends at an update": (
        "views/accesses.py",
        "        join(board, m + 8 * M_VIEW, before + 8 * M_VIEW)\n",
        "",
    ),
    "two updates read one message": ("views/choosing.py", "get(m, M_UPDATED) == 0 and ", ""),
    "a store comes between an update and what that read": (
        "views/choosing.py",
        "if get(message(board, k), M_IS_UPDATE) == 0:\n            choices",
        "if get(message(board, k), M_IS_UPDATE) < 2:\n            choices",
    ),
    "stores come last": ("views/choosing.py", "!= b.WEAK:\n        return newest", "!= 99:\n        return newest"),
    "a poke after a release is published by it": ("views/races.py", "now = get(mine, me) + 1", "now = get(mine, me)"),
    "a plain read does not count": ("views/races.py", "look(board, row, at, kind, site, PLAIN_READS)", "pass"),
    "a fence passes nothing on": ("views/clocks.py", "join(board, clock(board, thread), clock(board, FENCES))", "pass"),
    "choices are not tried": ("strategies/dpor.py", "if next_choice(board, k):", "if False and next_choice(board, k):"),
    "choices are not forgotten": ("machine/scheduler.py", "        put(mine, b.S_CHOICE, 0)\n", "        pass\n"),
    "who begins does not know what was returned": (
        "views/clocks.py",
        "        join(board, clock(board, thread), clock(board, CLIENT))\n",
        "        pass\n",
    ),
}

CHECK = """
import random
from random_fiber_litmus import random_plain_program, random_program
from test_views import KNOWN, RACES, RELAXED, check_register, compare, compare_exactly, compare_races, compare_weakened
from test_views import RUNNABLE, parse_program, races, test_the_verdicts_of_the_literature as verdict
from test_views import test_schedules_that_no_model_allows_are_few as few

check_register()
few()
for text in KNOWN:
    compare(parse_program(text))
for text in RELAXED:
    compare_exactly(text)
for text in RACES:
    assert races(parse_program(text), "rc11") == RACES[text], text
for test in RUNNABLE:
    verdict(test)
for number in range(150):
    compare(random_program(random.Random(f"mutants/{number}"), weakened=False, most=6))
    compare_weakened(random_program(random.Random(f"mutants/relaxed/{number}"), weakened=True, most=6))
    compare_races(random_plain_program(random.Random(f"mutants/plain/{number}"), most=6))
"""


def run(tmp_path: Path, mutant: tuple[str, str, str] | None) -> subprocess.CompletedProcess[str]:
    copy = tmp_path / PACKAGE.name
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    if mutant is not None:
        file, right, wrong = mutant
        text = (copy / file).read_text()
        assert text.count(right) == 1, f"{file} has {text.count(right)} times: {right}"
        (copy / file).write_text(text.replace(right, wrong))
    path = [str(tmp_path), str(TESTS / "helpers"), str(TESTS / "views"), *sys.path]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(part for part in path if part)}
    command = [sys.executable, "-c", CHECK]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600, check=False)


@pytest.mark.slow
def test_the_right_machine_passes(tmp_path: Path) -> None:
    ran = run(tmp_path, None)
    assert ran.returncode == 0, ran.stderr


@pytest.mark.slow
@pytest.mark.parametrize("name", MUTANTS)
def test_a_wrong_machine_is_caught(name: str, tmp_path: Path) -> None:
    ran = run(tmp_path, MUTANTS[name])
    assert ran.returncode == 1
    assert "AssertionError" in ran.stderr, ran.stderr


@pytest.mark.parametrize("name", MUTANTS)
def test_each_wrong_machine_is_one_change(name: str) -> None:
    file, right, wrong = MUTANTS[name]
    assert (PACKAGE / file).read_text().count(right) == 1
    assert right != wrong
