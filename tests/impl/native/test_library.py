"""A library is used where it is of these sources and for this interpreter, and is not used elsewhere."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from native_symbols import NEEDED

import latchfree
from latchfree.arena.border import ARENA
from latchfree.border import Border
from latchfree.jit import lazy
from latchfree.native import library
from latchfree.native.library import LATCHFREE, SETTING, Library
from latchfree_support import library_keys

HOME = Path(latchfree.__file__).parent

needs_library = pytest.mark.skipif(LATCHFREE.load() is None, reason="no library was built, or it is switched off")


@pytest.fixture
def copied(tmp_path):
    """The package and its library, in another folder."""
    shutil.copytree(HOME, tmp_path / "latchfree", ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path / "latchfree"


def of(folder):
    """The library of a copy of the package."""
    return Library(folder, [folder / source.relative_to(HOME) for source in LATCHFREE.sources])


@needs_library
def test_a_copy_is_used(copied):
    assert of(copied).address("latchfree_arena_border__claim")
    assert of(copied).address("nothing_of_that_name") is None


@needs_library
@pytest.mark.parametrize("file", ["ctrie/kernels/insert.py", "atomics.py", "border/wrapper.py"])
def test_an_edit_of_a_source_makes_it_another(copied, file):
    with copied.joinpath(file).open("a") as source:
        source.write("\n")
    assert of(copied).load() is None


@needs_library
@pytest.mark.parametrize("file", ["ctrie/mapping.py", "arena/arena.py", "topics/engines/naive.py"])
def test_an_edit_of_a_file_without_kernels_leaves_it(copied, file):
    with copied.joinpath(file).open("a") as source:
        source.write("\n")
    assert of(copied).load() is not None


@needs_library
def test_another_layout_of_objects(copied, monkeypatch):
    monkeypatch.setattr(library_keys, "layout", lambda: "cpython 32 49")
    assert of(copied).load() is None


@needs_library
def test_another_processor(copied, monkeypatch):
    monkeypatch.setattr(library, "processor", lambda: None)
    assert of(copied).load() is None
    monkeypatch.setattr(library, "processor", lambda: "generic-aarch64")
    assert of(copied).load() is None


@needs_library
@pytest.mark.parametrize("size", [0, 7, 1000, -100, -8, -1])
def test_one_that_was_cut(copied, size):
    """The system's loader would end the process with a signal."""
    file = of(copied).file()
    file.write_bytes(file.read_bytes()[:size])
    assert of(copied).load() is None


@needs_library
def test_one_that_is_switched_off(copied, monkeypatch):
    monkeypatch.setenv(SETTING, "jit")
    assert of(copied).load() is None


@needs_library
@pytest.mark.parametrize(
    ("patched", "compiles"),
    [((), False), (("latchfree.ctrie.", "latchfree_other.kernels"), True), (("latchfree_other.kernels",), False)],
)
def test_a_process_that_patches_kernels_compiles_those_of_their_package(monkeypatch, patched, compiles):
    """A mutant of a kernel must not be judged by the code of the real one."""
    compiled = []

    class Watched(Border):
        def _made(self, name):
            compiled.append(name)
            return 1

    monkeypatch.setattr(lazy, "_varied", patched)
    Watched("latchfree.arena.border", ARENA.calls).definition("claim")
    assert compiled == (["claim"] if compiles else [])


WITHOUT = """
import sys
import latchfree
numbers = latchfree.Ctrie(keys=int, values=int)
numbers[1] = 2
numbers.put_many([3, 4], [5, 6])
texts = latchfree.Ctrie({"a": "b"}, keys=str, values=str)
ring = latchfree.RingBuffer(8)
ring.put_many([1, 2])
snapshot = numbers.snapshot()
numbers.clear()
assert (numbers.get(1), dict(snapshot), texts["a"]) == (None, {1: 2, 3: 5, 4: 6}, "b")
assert ring.get_many(9).tolist() == [1, 2]
from latchfree.topics import ConcurrentTrie, MaskIndex
trie = ConcurrentTrie("mqtt")
trie.subscribe("a/+", 7)
index = MaskIndex.build(["a/+", "#"], [1, 2], "mqtt")
assert (trie.match("a/b"), index.match("a/b")) == ({7}, {1, 2})
assert not {"numba", "llvmlite"} & set(sys.modules)
"""


@needs_library
def test_a_program_does_without_the_compiler():
    environment = {"PYTHONPATH": ":".join(sys.path), "HOME": "/nowhere", "PATH": "/usr/bin:/bin"}
    subprocess.run([sys.executable, "-c", WITHOUT], check=True, env=environment)


@needs_library
@pytest.mark.skipif(shutil.which("nm") is None, reason="nm is not installed")
def test_it_needs_the_interpreter_and_the_c_library_only():
    listing = ["nm", "-D", "--undefined-only", "--no-demangle", "--format=posix", str(LATCHFREE.file())]
    shown = subprocess.run(listing, check=True, capture_output=True, text=True).stdout
    symbols = {line.split()[0].partition("@")[0] for line in shown.splitlines()}
    assert {symbol for symbol in symbols if not symbol.startswith("Py")} <= NEEDED
