"""On other systems private maps and the checker work, and what needs Linux says so. Simulated: see `elsewhere`."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

IMPORTS = """
import pkgutil, importlib
import latchfree, latchfree_lincheck
LEFT = ("llvm", "call_step", "pytest_", ".record", "__main__", "kernels-", ".smt")
for package in (latchfree, latchfree_lincheck):
    for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        if not any(part in module.name for part in LEFT):
            importlib.import_module(module.name)
"""
REFUSED = """
from latchfree import Arena, Ctrie
for make in (lambda: Arena.create(path="x", capacity=1 << 24), lambda: Arena.open("x")):
    try:
        make()
    except OSError as error:
        print(error)
"""
WORKS = """
from latchfree import Ctrie, RingBuffer
trie = Ctrie()
trie[1], trie["a"] = 2, [3]
snapshot = trie.snapshot()
trie.clear()
assert (dict(snapshot), len(trie)) == ({1: 2, "a": [3]}, 0)
numbers = Ctrie(keys=int, values=int)
numbers.put_many([1, 2], [3, 4])
assert list(numbers.get_many([1, 2])) == [3, 4]
ring = RingBuffer(8)
assert ring.try_put(3) and ring.try_get() == 3
from latchfree.topics import ConcurrentTrie
topics = ConcurrentTrie("mqtt")
topics.subscribe("a/+", 7)
assert topics.match("a/b") == {7}
from latchfree_lincheck import History, Operation, check
history = History("h", [Operation(0, "write", (1,), None, 0, 1), Operation(0, "read", (), 2, 2, 3)])
assert check(history, "register").verdict == "violation"
"""


def run(system, program):
    command = [sys.executable, str(Path(__file__).parent / "helpers/elsewhere.py"), system, program]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("system", ["darwin", "win32"])
def test_modules_are_imported_and_shared_arenas_refused(system):
    said = run(system, IMPORTS + REFUSED).splitlines()
    text = f"shared arenas need Linux (open file description locks), this is {system}; private maps work here"
    assert said == [text, text]


@pytest.mark.slow
@pytest.mark.parametrize("system", ["darwin", "win32"])
def test_what_is_private_works(system):
    run(system, WORKS)
