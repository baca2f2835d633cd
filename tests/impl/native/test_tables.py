"""Each table of calls is in a library, and with the library alone every structure works.

Example: somebody writes a structure with a `border.py`, and forgets `latchfree.libraries.tables`. Nobody with numba
notices. Whoever has a wheel and no numba gets MissingExtra at the first call.
"""

import ast
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

import latchfree
import latchfree_lincheck
from latchfree.border import Border
from latchfree.jit.lazy import Kernel
from latchfree.libraries.tables import BORDERS
from latchfree.native.library import LATCHFREE
from latchfree_lincheck.engine.border import BORDERS as CHECKER

HOMES = {package.__name__: Path(next(iter(package.__path__))) for package in (latchfree, latchfree_lincheck)}

#: Tables that no library has, each with the reason.
LEFT_OUT: dict[tuple[str, str], str] = {}

needs_library = pytest.mark.skipif(LATCHFREE.load() is None, reason="no library was built, or it is switched off")


def is_border(node):
    """Whether an expression makes a table."""
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name | ast.Attribute) and "Border" in {
        getattr(node.func, "id", None), getattr(node.func, "attr", None)
    }  # fmt: skip


def made(home, package):
    """Each table that a module of a package makes, by the module and the name that the module gives the table."""
    for file in sorted(home.rglob("*.py")):
        tree = ast.parse(file.read_text())
        calls = [node for node in ast.walk(tree) if is_border(node)]
        named = [
            (node, target.id)
            for node in tree.body
            if isinstance(node, ast.Assign | ast.AnnAssign) and is_border(node.value)
            for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
        ]
        assert len(calls) == len(named), f"{file} makes a table that has no name at the top of the file"
        for _, name in named:
            yield ".".join([package, *file.relative_to(home).with_suffix("").parts]), name


@pytest.mark.parametrize(("package", "tables"), [("latchfree", BORDERS), ("latchfree_lincheck", CHECKER)])
def test_each_table_is_in_the_library(package, tables):
    found = list(made(HOMES[package], package))
    for module, name in found:
        table = getattr(import_module(module), name)
        assert isinstance(table, Border)
        assert table.module == module
        assert ((module, name) in LEFT_OUT) != (table in tables), (
            f"{module}.{name}: add it to the library's tables, and its folder to the library's sources; "
            "or name it here with the reason"
        )
    assert len(found) >= len(tables) > 1
    assert set(LEFT_OUT) <= {each for package, home in HOMES.items() for each in made(home, package)}


def test_no_two_calls_have_one_symbol():
    symbols = [table.symbol(name) for table in (*BORDERS, *CHECKER) for name in table.calls]
    assert len(symbols) == len(set(symbols)) > 200


BLOCKED = "import sys; sys.modules['numba'] = sys.modules['llvmlite'] = None\n"


def without_numba(source, *arguments):
    """Run a program that cannot import numba, and return what it prints."""
    environment = {"PYTHONPATH": ":".join(sys.path), "HOME": "/nowhere", "PATH": "/usr/bin:/bin"}
    command = [sys.executable, "-W", "error", "-c", BLOCKED + source, *map(str, arguments)]
    run = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert (run.returncode, run.stderr) == (0, "")
    return run.stdout


@needs_library
def test_each_call_is_in_the_library():
    """A call that is not would raise MissingExtra."""
    source = """
from latchfree.jit.lazy import Kernel
from latchfree.libraries.tables import BORDERS
print(sum(bool(table.address_of(name)) for table in BORDERS for name in table.calls))
"""
    assert int(without_numba(source)) == sum(len(table.calls) for table in BORDERS)


STRUCTURES = """
import sys
from pathlib import Path
from types import ModuleType
from latchfree import Arena, MessageRing, RateLimiter, RingBuffer
from latchfree.sketches import *
from latchfree.topics import ConcurrentTrie

arena = Arena.create(path=Path(sys.argv[1]), capacity=16 << 20)
def both(cls, *given, **named):
    return cls(*given, **named), cls.create(arena, cls.__name__, *given, **named)

for each in both(RingBuffer, 8) + both(MessageRing, 8, "str"):
    value = "tea" if isinstance(each, MessageRing) else 7
    each.put(value), each.put_many([value] * 2)
    assert each.get() == value and list(each.get_many(9)) == [value] * 2
for each in both(ConcurrentTrie):
    each.subscribe("a.*", 1)
    assert each.match("a.b") == {1}

filters = Bloom, PartitionedBloom, CountingBloom, InverseBloom, ScalableBloom, StableBloom
for cls in filters:
    for each in both(cls, 640):
        each.add("tea"), each.add_many(["tea", "oat"]), each.add_many([1, 2])
        assert "tea" in each and each.contains_many(["tea"]) == [True], each
for each in both(CountMin, 0.01) + both(TopK, 3, 0.01):
    each.add("tea"), each.add_many(["tea", "oat"])
    assert each.estimate("tea") == 2, each
    with each.buffered() as buffer:
        buffer.add("tea")
    assert each.estimate("tea") == 3, each
for each in both(HyperLogLog) + both(MinHash, 8):
    each.add("tea"), each.add_many(["tea", "oat"])
    each.merge(each.copy())
    assert each.added == 6, each
for each in both(KLL, 0.1):
    each.add(1.5), each.add_many([2.5, 3.5])
    assert each.quantile(0.5) == 2.5
for each in both(RateLimiter, 1.0):
    assert each.try_acquire()
for cls in (*filters, CountMin, TopK, HyperLogLog, MinHash, KLL):
    again = cls.open(arena, cls.__name__)
    assert cls.from_bytes(again.to_bytes()).added == again.added if cls is not KLL else again.copy().count
    cls.unlink(arena, cls.__name__)
arena.close()
print("done")
"""


@needs_library
def test_each_structure_in_private_memory_and_in_an_arena(tmp_path):
    assert without_numba(STRUCTURES, tmp_path / "arena") == "done\n"


LIMITER = """
import asyncio, sys
from pathlib import Path
from types import ModuleType
from latchfree import Arena, RateCounts, RateLimited, RateLimiter
if sys.argv[1:]:
    arena = Arena.create(path=Path(sys.argv[1]), capacity=8 << 20)
    fast = RateLimiter.create(arena, "fast", 100)
    slow = RateLimiter.create(arena, "slow", 1e-6, 3, when_empty="reject")
else:
    fast, slow = RateLimiter(100), RateLimiter(1e-6, 3, when_empty="reject")
assert fast.acquire() and fast.acquire() and asyncio.run(fast.aacquire())
assert slow.try_acquire(2) and not slow.try_acquire(2)
slow.acquire()
try:
    slow.acquire()
except RateLimited:
    assert slow.counts() == RateCounts(3, 3)
RateLimiter._clock = staticmethod(lambda: 10**17)  # long ago, before the machine was started anew
assert slow.try_acquire(3)
RateLimiter._clock = staticmethod(lambda: 0)  # the word is set back
assert (slow.try_acquire(), slow.available()) == (False, 0.0)
if sys.argv[1:]:
    assert RateLimiter.open(arena, "slow").counts() == RateCounts(6, 4)
    RateLimiter.unlink(arena, "slow")
    arena.close()
print(fast.counts() if not sys.argv[1:] else "closed")
"""


@needs_library
def test_a_rate_limiter(tmp_path):
    assert without_numba(LIMITER) == "RateCounts(granted=3, refused=0)\n"
    assert without_numba(LIMITER, tmp_path / "arena") == "closed\n"


#: What makes a sketch of each hash of another library, how it is read, what that gives, and whose bytes it writes.
COUNTED = "made.estimate_many(['tea', 'oat', 'rye']) + [made.estimate(7)]", [3, 1, 2, 1]
SET = "made.contains_many(['tea', 'oat', 'rye']) + [7 in made, 8 in made]", [True, True, True, True, False]
FOREIGN = {
    "HyperLogLog(0.05, hash='datasketches')": ("round(made.estimate())", 5, "datasketches"),
    "CountMin(0.01, hash='datasketches')": (*COUNTED, "datasketches"),
    "CountMin(0.01, hash='spark')": (*COUNTED, "spark"),
    "Bloom(100, hash='spark-v1')": (*SET, "spark"),
    "Bloom(100, hash='spark-v2')": (*SET, "spark"),
}


@needs_library
@pytest.mark.parametrize("maker", FOREIGN)
def test_hashes_of_other_libraries(maker):
    read, expected, other = FOREIGN[maker]
    source = f"""
from latchfree.sketches import Bloom, CountMin, HyperLogLog
made = {maker}
made.add_many(["tea", "oat", "rye"])
made.add_many([b"tea", b"tea"])
made.add_many([7, -1])
made.add("rye")
print({read})
made = type(made).from_{other}(made.to_{other}())
print({read})
"""
    assert without_numba(source) == f"{expected}\n" * 2


def called(file, module):
    """What the Python of a module calls by a name that is, or leads to, a kernel; builtins of tables are none."""
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Call):
            first, *rest = ast.unparse(node.func).split(".")
            found = vars(module).get(first)
            for name in rest:
                found = getattr(found, name, None) if isinstance(found, ModuleType) else None
            if isinstance(found, Kernel):
                yield ast.unparse(node.func)


@pytest.mark.parametrize("package", HOMES)
def test_python_calls_kernels_through_tables_only(package):
    """A kernel that Python calls by itself is compiled by numba, whatever the library has.

    Every named sketch did: the size of its memory was rounded by a kernel. Modules with kernels are left out, where
    kernels call each other.
    """
    plain = 0
    for file in HOMES[package].rglob("*.py"):
        text = file.read_text()
        if not re.search(r"^@(kernel|entry|overload)|import kernel\b|\bBody\(|\bBare\(", text, re.M):
            name = ".".join([package, *file.relative_to(HOMES[package]).with_suffix("").parts])
            plain += 1
            if "__main__" not in name:
                assert list(called(file, import_module(name.removesuffix(".__init__")))) == [], file
    assert plain > 50
