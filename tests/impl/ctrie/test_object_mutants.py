"""Wrong versions of the code that holds objects: `test_objects.py` fails on each, and so would a user's program."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import latchfree

IMPL = Path(latchfree.__file__).parent
HERE = Path(__file__).parent

#: What is wrong, the file, and what is replaced by what.
MUTANTS = {
    "a reference is dropped before the node is off the list": (
        "ctrie/kernels/references.py",
        """        poke(mem, me + P_HOLDERS, peek(mem, node + _1))
        barrier(mem)
        key, value = peek(mem, node + HELD_KEY), peek(mem, node + HELD_VALUE)
        free(mem, me, node)
        barrier(mem)
        drop_pair(key, value)
""",
        """        below = peek(mem, node + _1)
        drop_pair(peek(mem, node + HELD_KEY), peek(mem, node + HELD_VALUE))
        poke(mem, me + P_HOLDERS, below)
        free(mem, me, node)
""",
    ),
    "an insert that wrote nothing keeps its references": (
        "ctrie/kernels/by_reference.py",
        "        drop_pair(thing, value)  # which the caller has, too\n",
        "",
    ),
    "references are taken by nobody when a value is replaced": (
        "ctrie/kernels/by_reference.py",
        "        _incref(value)\n        pin(mem, me)\n",
        "        pin(mem, me)\n",
    ),
    "a tree that is cleared forgets what it holds": (
        "ctrie/kernels/trees.py",
        "    if kind_of(mem, node) == PAIR:\n",
        "    if False:\n",
    ),
    "the collector is shown what a snapshot reads": (
        "ctrie/kernels/visiting.py",
        "peek(mem, trie + REGISTERED) > idle or ",
        "",
    ),
    "the collector is shown what the parent owns": (
        "ctrie/kernels/visiting.py",
        "    oldest = gen_of(mem, trie)\n",
        "    oldest = _0\n",
    ),
    "the collector is shown each pair twice": (
        "ctrie/kernels/visiting.py",
        "    return _call_2(visit, peek(mem, snode + HELD_VALUE), argument) & _INT\n",
        "    _call_2(visit, peek(mem, snode + HELD_VALUE), argument)\n"
        "    return _call_2(visit, peek(mem, snode + HELD_VALUE), argument) & _INT\n",
    ),
    "a key that is a tuple becomes the arguments of the error": (
        "ctrie/kernels/by_reference.py",
        "KEY_ERROR), arguments)\n",
        "KEY_ERROR), key)\n",
    ),
    "finalizers let go of more, and so on": (
        "ctrie/kernels/references.py",
        "    if peek(mem, me + P_DROPPER) == thread:\n        return\n",
        "",
    ),
    "a pair is replaced whatever it is by now": (
        "ctrie/kernels/snode.py",
        "            return there and peek(mem, snode + HELD_VALUE) == value[0][1]\n",
        "            return there or peek(mem, snode + HELD_VALUE) != value[0][1] or True\n",
    ),
}


def run(folder, tmp_path):
    """Run the tests with the package in a folder; return the exit code and what was printed."""
    others = [path for path in sys.path if path and Path(path).resolve() != IMPL.parent.resolve()]
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(folder), *others]),
        "NUMBA_CACHE_DIR": str(tmp_path / "cache"),
        "LATCHFREE_COMPILED": "jit",
        "LATCHFREE_QUIET": "1",
        "LATCHFREE_TEST_SEED": "1",
    }
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-x",
        "-q",
        "-p",
        "no:cacheprovider",
        "-o",
        "pythonpath=",
        "--confcutdir",
    ]
    command += [str(HERE.parents[1]), str(HERE / "test_objects.py")]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, cwd=tmp_path)
    return done.returncode, done.stdout[-3000:] + done.stderr[-1000:]


def copied(tmp_path):
    shutil.copytree(IMPL, tmp_path / "impl" / "latchfree", ignore=shutil.ignore_patterns("*.so", "__pycache__"))
    return tmp_path / "impl"


@pytest.mark.parametrize("what", MUTANTS)
def test_a_mutant_replaces_code_that_is_there(what):
    file, right, _ = MUTANTS[what]
    assert (IMPL / file).read_text().count(right) == 1, "the code has changed: change the mutant"


@pytest.mark.slow
def test_the_copy_is_right(tmp_path):
    code, said = run(copied(tmp_path), tmp_path)
    assert code == 0, said


@pytest.mark.slow
@pytest.mark.parametrize("what", MUTANTS)
def test_a_mutant_is_caught(what, tmp_path):
    file, right, wrong = MUTANTS[what]
    changed = copied(tmp_path) / "latchfree" / file
    text = changed.read_text()
    assert right in text
    changed.write_text(text.replace(right, wrong))
    code, said = run(tmp_path / "impl", tmp_path)
    assert code != 0, said
    assert "FAILED" in said or code < 0, said  # it is the assertions that fail, not the start
