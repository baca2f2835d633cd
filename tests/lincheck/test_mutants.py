"""Every seeded bug of the compiled code is caught by the same run that the real code passes."""

import os
import subprocess
import sys

import pytest

from latchfree_lincheck.mutants import MUTANTS

RUN = """
import sys
from latchfree_lincheck.stress import run_stress
from latchfree_lincheck import check
result = run_stress(operations=1_000_000, seed=int(sys.argv[2]), mutant=sys.argv[1])
print(result.explain())
assert result.verdict == "violation"
again = check(result.failure, "map")
print(again.verdict)
assert again.verdict == "violation", "the excerpt fails by itself"
"""


@pytest.mark.parametrize("name", MUTANTS)
def test_stress_catches(name: str) -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    run = subprocess.run(
        [sys.executable, "-c", RUN, name, "11"],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        env=environment,
    )
    assert run.returncode == 0, run.stdout + run.stderr
