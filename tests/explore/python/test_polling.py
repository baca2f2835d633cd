"""The model "gil" says what the interpreter does: the same counters explored, and added to by real threads."""

import subprocess
from pathlib import Path

import pytest

pytest.importorskip("greenlet")

import polling_snippets
from interpreters import interpreter
from polling_snippets import LOSES, SNIPPETS

from latchfree_explore import explore_threads
from latchfree_explore.python.facts import polling

PROGRAM = Path(polling_snippets.__file__)


@pytest.mark.parametrize("kind", SNIPPETS)
def test_what_the_models_say(kind):
    def total(it):
        return (it.d["n"] if hasattr(it, "d") else it.n) == 2

    threads = [lambda it: it.add()] * 2
    gil = explore_threads(*threads, setup=kind, check=total, switches="gil", strategy="dpor", raises=False)
    assert (gil.verdict == "violation") == LOSES[kind.__name__], gil.explain()
    free = explore_threads(*threads, setup=kind, check=total, strategy="dpor", raises=False)
    assert free.verdict == "violation"


@pytest.mark.slow
@pytest.mark.parametrize("version", sorted(polling.TABLE))
def test_what_real_threads_do(version):
    """Two real threads add 400,000 times: additions are lost exactly where the table says that they can be."""
    name = f"{version[0]}.{version[1]}"
    python = interpreter(name)
    if python is None:
        pytest.skip(f"Python {name} is not installed")
    done = subprocess.run([python, str(PROGRAM)], capture_output=True, text=True, check=True, timeout=1200)
    losses = {name: int(count) > 0 for name, count in map(str.split, done.stdout.splitlines())}
    assert losses == LOSES
