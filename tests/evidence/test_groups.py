"""Bulk calls of one key, explored: each is linearizable beside updates and snapshots."""

import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

HELPERS = Path(__file__).parent / "helpers"
PROGRAM = """
import sys
from hashlib import blake2b
from pathlib import Path

from latchfree import jit

_, helpers, calls, wrong, *programs = sys.argv
sources = blake2b(Path(helpers, "grouped.py").read_bytes(), digest_size=8).hexdigest()
# Before any of these is loaded: what is compiled of them now is no code of the map as it is.
affected = "latchfree.ctrie.", "latchfree_evidence.targets.ctrie", "grouped"
jit.set_variant(f"grouped-{calls}-{wrong}-{sources}", affected)
sys.path.append(helpers)

import grouped
from latchfree.ctrie.kernels import groups
from latchfree_evidence import explore
from latchfree_evidence.targets import ctrie

for call in calls.split():
    setattr(ctrie, call, getattr(grouped, call))
if wrong == "any_main":
    groups._to_slots = grouped.any_main
elif wrong == "too_high":
    grouped.came_to = grouped.too_high
for scenario, bound in zip(programs[::2], programs[1::2]):
    found = explore("ctrie", scenario=scenario, strategy="bounded", bound=int(bound))
    print(found.verdict, found.schedules > 100)
"""
#: A put is pending when the snapshot comes: it fails, and is made again.
PENDING = "init: put(0, 1); put(1, 1) | put(0, 2) | snapshot() | get(0); get(0) | keys: pairs"
#: And the most preemptions: fewer where an operation makes many accesses.
SCENARIOS = {
    "updates": ("init: put(0, 1); put(1, 1); put(2, 1) | remove(1); put(1, 2) | get(0); get(1) | keys: pairs", 3),
    "a tomb": ("init: put(0, 1); put(2, 1); put(5, 1) | remove(2) | snapshot(); get(0); get(2) | keys: tree", 2),
    "clear": ("init: put(0, 1); put(1, 1) | clear(); put(0, 2) | get(0); get(1) | keys: pairs", 3),
    "collisions": ("init: put(0, 1); put(1, 1) | remove(1) | get(0) | keys: lists", 1),
    "a snapshot": (PENDING, 2),
}
#: While a thread is between its lookup and its write, the other makes a tomb, a branch or a snapshot, or clears.
WRITES = {
    "updates": ("init: put(0, 1); put(1, 1); put(2, 1) | remove(1); put(1, 2) | put(1, 3); get(0) | keys: pairs", 2),
    "a tomb": ("init: put(0, 1); put(2, 1); put(5, 1) | remove(2) | put(0, 2); remove(2); get(5) | keys: tree", 2),
    "both remove": ("init: put(0, 1); put(2, 1) | remove(2); get(0) | remove(0); put(2, 2) | keys: tree", 2),
    "clear": ("init: put(0, 1); put(1, 1) | clear(); put(0, 2) | put(0, 3); remove(1) | keys: pairs", 2),
    "collisions": ("init: put(0, 1); put(1, 1) | remove(1) | put(0, 2) | keys: lists", 1),
    "a snapshot": ("init: put(0, 1); put(1, 1) | put(0, 2); remove(1) | snapshot(); put(1, 2) | keys: pairs", 2),
}


#: And more of them, which takes a minute.
THOROUGH = {**SCENARIOS, "a tomb": (SCENARIOS["a tomb"][0], 3)}


def _run(calls: str, programs: Iterable[tuple[str, int]], wrong: str = "") -> list[str]:
    """Explore programs in one process, which compiles the map with these calls; return what becomes of each."""
    given = [str(each) for program in programs for each in program]
    command = [sys.executable, "-c", PROGRAM, str(HELPERS), calls, wrong, *given]
    done = subprocess.run(command, capture_output=True, text=True, timeout=1200, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.parametrize("scenarios", [SCENARIOS, pytest.param(THOROUGH, marks=pytest.mark.slow)], ids=["few", "more"])
def test_a_lookup_in_a_group_is_linearizable(scenarios: dict[str, tuple[str, int]]) -> None:
    found = dict(zip(scenarios, _run("lookup", scenarios.values()), strict=True))
    assert found == dict.fromkeys(scenarios, "ok True")


def test_a_group_that_takes_pending_updates_is_caught() -> None:
    (found,) = _run("lookup", [(PENDING, 3)], "any_main")
    assert found.startswith("violation")


def test_a_write_that_begins_where_its_key_has_come_to_is_linearizable() -> None:
    found = dict(zip(WRITES, _run("insert remove", WRITES.values()), strict=True))
    assert found == dict.fromkeys(WRITES, "ok True")


def test_a_write_that_begins_at_a_wrong_level_is_caught() -> None:
    (found,) = _run("insert remove", [WRITES["a tomb"]], "too_high")
    assert found.startswith("violation")
