"""Every seeded bug of the compiled code is caught by the same run that the real code passes."""

import os
import subprocess
import sys
from collections.abc import Iterable

import pytest

from latchfree_evidence.exploring import explore
from latchfree_evidence.mutants import MUTANTS, apply_mutant

#: What the explorer finds; its last line says how many context switches the failure takes.
EXPLORE = """
import sys
from latchfree_evidence.exploring import explore
from latchfree_evidence.mutants import MUTANTS
name = sys.argv[1]
found = explore(MUTANTS[name].target, mutant=name, timeout=600, **MUTANTS[name].explore)
assert found.failure is not None, found.reason
print(found.reason)
print(found.failure.kind, found.failure.context_switches)
"""

#: Mutants that one thread alone meets, and what becomes of it.
SEQUENTIAL = {"L1a": "violation", "W1": "violation", "C2": "stuck"}

#: A stress run, judged, and what one thread does alone; its last line says what became of both.
RUN = """
import sys
from latchfree_evidence import mutants
from latchfree_lincheck import check
from latchfree_evidence.stress import run_stress
name, seed = sys.argv[1], int(sys.argv[2])
target = mutants.MUTANTS[name].target
result = run_stress(target, mutant=name, seed=seed, **mutants.MUTANTS[name].stress)
print(result.explain())
if result.failure is not None:
    model = {"ctrie": "map", "topic-trie": "topic-index:mqtt"}[target]
    assert check(result.failure, model).verdict == "violation", "the excerpt fails by itself"
from latchfree_evidence.stress.crew import Freed, Stuck
from latchfree_evidence.stress.phases import workload
load = workload(target)
try:
    shape = "list" if target == "ctrie" else "together"
    memory = mutants.MUTANTS[name].stress["memory"]
    recorded = load.record(shape, threads=1, operations=2_000, keys=4, seed=seed, memory=memory)
    alone = load.judge(recorded, None).verdict
except Stuck:
    alone = "stuck"
except Freed:
    alone = "freed"
print(result.verdict, alone)
"""


def run(program: str, name: str, seed: int = 11) -> str:
    """Return the last line that a program writes in a process of its own."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", program, name, str(seed)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=1200, check=False, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.splitlines()[-1]


#: A lost put, a sequential bug, the recorder's own, and four of sketches; `pytest -m slow` runs the others.
QUICK = ("S1", "L1a", "T1", "X1", "X9", "X11", "X25")
#: Stress takes long to meet L1a; the explorer finds it quickly. W2 is also stressed by `latchfree verify`.
QUICKLY_STRESSED = ("W2", "T1")


def some(names: Iterable[str], quick: tuple[str, ...] = QUICK) -> list[object]:
    """Return the names, the slow ones marked."""
    return [name if name in quick else pytest.param(name, marks=pytest.mark.slow) for name in names]


STRESSED = [name for name, mutant in MUTANTS.items() if mutant.stress is not None]
EXPLORED = [name for name, mutant in MUTANTS.items() if mutant.explore is not None]


@pytest.mark.parametrize("name", some(STRESSED, QUICKLY_STRESSED))
def test_stress_catches(name: str) -> None:
    """At the first attempt, unless the machine is so busy that the threads never meet where it is wrong."""
    alone = SEQUENTIAL.get(name, "ok")
    seeds = iter(range(11, 21))
    while (found := run(RUN, name, next(seeds))) == f"ok {alone}":
        continue
    assert found == f"violation {alone}"


@pytest.mark.parametrize("name", some(EXPLORED))
def test_the_explorer_finds(name: str) -> None:
    """It finds a failure of as few context switches as the argument for the mutant says."""
    assert run(EXPLORE, name) == f"{MUTANTS[name].failure} {MUTANTS[name].switches}"


@pytest.mark.parametrize("name", some(EXPLORED))
def test_the_real_code_passes_the_scenario(name: str) -> None:
    options = {**(MUTANTS[name].explore or {}), "bound": 2}
    found = explore(MUTANTS[name].target, **options)
    assert (found.verdict, found.schedules > 0) == ("ok", True), found.reason


@pytest.mark.slow
def test_the_real_code_passes_the_same_run() -> None:
    """What is left out together with every mutant is not what is caught."""
    control = """
from latchfree_evidence import mutants
workload = {"memory": "jittered", "operations": 1_000_000}
mutants.MUTANTS["control"] = mutants.Mutant("control", None, "", (), workload=workload)
"""
    assert run(control + RUN, "control") == "ok ok"


def test_a_mutant_is_known_by_its_name() -> None:
    assert all(name == mutant.id for name, mutant in MUTANTS.items())
    with pytest.raises(ValueError, match="unknown mutant 'S9'; there are: S1, S2, "):
        apply_mutant("S9")
