"""What a user sees of the packages: names at the top, help, and what is imported when."""

import importlib
import os
import pkgutil
import pydoc
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = ("latchfree", "latchfree_lincheck", "latchfree_explore")

#: Modules that are documented as a whole: `latchfree.atomics.load` is no name of its own at the top.
AS_MODULES = (
    "latchfree.atomics",
    "latchfree.kinds",
    "latchfree.words",
    "latchfree_explore.examples",
    "latchfree_explore.weak",
    "latchfree_lincheck.record",
    "latchfree_lincheck.transactions",
)

FOLDERS = ("support", "impl", "model", "lincheck", "explore", "evidence", "teach")

#: What no user of the map alone has installed.
OF_EXTRAS = (
    "pyarrow",
    "pyroaring",
    "z3",
    "networkx",
    "rich",
    "typer",
    "hypothesis",
    "pyspark",
    "pandas",
    "datasketches",
)

_IMPORT = re.compile(r"^[ >.]*from (latchfree\w*)((?:\.\w+)*) import (\([^)]*\)|[^\n#]+)", re.MULTILINE)


def documented():
    """Each name that a page imports from one of the packages or from below: page, package, module, name."""
    for page in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))):
        for package, inner, names in _IMPORT.findall(page.read_text()):
            if package in PACKAGES:
                for name in names.strip("()").split(","):
                    if name.split():
                        yield page.name, package, package + inner, name.split()[0]


def program(code, *flags):
    """Output of a program in a process that has the sources and nothing compiled."""
    path = os.pathsep.join(str(ROOT / folder) for folder in FOLDERS)
    done = subprocess.run(
        [sys.executable, *flags, "-c", code],
        env=os.environ | {"PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.parametrize("package", PACKAGES)
def test_an_import_of_a_package_loads_nothing_heavy(package):
    heavy = ("numba", "llvmlite", "numpy", *OF_EXTRAS)
    code = f"import sys, {package}; print([name for name in {heavy} if name in sys.modules])"
    assert program(code) == "[]"


@pytest.mark.parametrize("package", PACKAGES)
def test_every_name_is_listed_and_loads(package):
    face = importlib.import_module(package)
    assert dir(face) == sorted(face.__all__)
    for name in dir(face):
        assert getattr(face, name) is not None
    with pytest.raises(AttributeError):
        face.nothing_of_this_name  # noqa: B018


@pytest.mark.parametrize("package", PACKAGES)
def test_help_shows_every_class_and_function(package):
    face = importlib.import_module(package)
    text = pydoc.plain(pydoc.render_doc(face))
    for name in dir(face):
        assert re.search(rf"\b{name}\b", text), f"help({package}) does not show {name}"


def test_what_the_pages_import_is_at_the_top():
    found = list(documented())
    assert len(found) > 40
    for page, package, module, name in found:
        if module.startswith(AS_MODULES):
            continue
        assert name in dir(importlib.import_module(package)), f"{page}: {module}.{name} is not at the top of {package}"


def test_what_the_pages_name_is_reached_from_the_top():
    """`latchfree_lincheck.record` in a text: ``import latchfree_lincheck`` is enough to get there."""
    named = {
        (page.name, found)
        for page in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
        for found in re.findall(rf"\b(?:{'|'.join(PACKAGES)})(?:\.[A-Za-z]\w*)+", page.read_text())
    }
    assert len(named) > 10
    for page, found in named:
        package, *path = found.split(".")
        assert path[0] in dir(importlib.import_module(package)), f"{page}: {found}"
        assert pkgutil.resolve_name(found) is not None


@pytest.mark.parametrize("module", AS_MODULES)
def test_a_module_that_is_documented_as_a_whole_is_at_the_top(module):
    package, name = module.split(".")
    assert name in dir(importlib.import_module(package))


def test_the_names_of_the_issue_are_there():
    from latchfree import DirectoryFull, RingBuffer

    assert issubclass(DirectoryFull, Exception)
    assert RingBuffer.__module__.startswith("latchfree.streams")


_BLOCKED = f"""
import sys
class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {OF_EXTRAS}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Missing())
"""


def test_the_map_needs_numba_and_numpy_only():
    code = """
import pydoc
import numpy as np
import latchfree
from latchfree import Ctrie, Snapshot, RingBuffer
for name in dir(latchfree):
    getattr(latchfree, name)
pydoc.render_doc(latchfree)
words = Ctrie({"tea": 4, "oat": 5}, keys=str, values=int)
assert words.get_many(["tea", "gin"]) == [4, None]
assert words.put_many(["rye", "tea"], np.array([7, 8])) is None
assert sorted(words.items()) == [("oat", 5), ("rye", 7), ("tea", 8)]
numbers = Ctrie(keys=int, values=int)
numbers.put_many(np.arange(5), np.arange(5) * 2)
assert numbers.get_many(np.array([1, 9])).tolist() == [2, None]
numbers.remove_many([1, 2])
assert len(numbers) == 3 and len(numbers.readonly_snapshot()) == 3
objects = Ctrie({(1, "a"): [2]})
assert objects[1, "a"] == [2] and objects.get_many([(1, "a"), 3]) == [[2], None]
texts = Ctrie({b"k": "v"}, keys=bytes, values=str)
assert texts.get_many([b"k"]) == ["v"]
assert texts.get_many(np.array([b"k", b"l"], dtype=object)).tolist() == ["v", None]
print("done", sorted(set(sys.modules) & {"pyarrow", "rich", "typer"}))
"""
    assert program(_BLOCKED + code, "-W", "error") == "done []"


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("from latchfree.extras import require; require('pyarrow.parquet', 'check')", "pyarrow.*latchfree.check."),
        (
            "from latchfree import OptimizedInvertedBitmap; OptimizedInvertedBitmap('mqtt')",
            "pyroaring.*latchfree.topics.",
        ),
        ("from latchfree_lincheck import linearizable", "hypothesis.*latchfree.check."),
        ("sys.modules['numba'] = None; from latchfree_explore import explore", "numba.*latchfree.jit."),
        ("sys.modules['numba'] = None; from latchfree_evidence import explore", "numba.*latchfree.jit."),
        ("from latchfree_evidence import LEMMAS", "z3.*latchfree.verify."),
        ("from latchfree_evidence import replay_model", "networkx.*latchfree.check."),
        ("sys.modules['numba'] = None; from latchfree_teach import play_page", "numba.*latchfree.jit."),
        ("from latchfree_lincheck.transactions.levels import level_graph; level_graph()", "networkx.*latchfree.check."),
    ],
)
def test_a_missing_package_is_named_with_its_extra(code, message):
    attempt = f"try:\n    {code}\nexcept ImportError as error:\n    print(str(error))"
    said = program(_BLOCKED + attempt)
    assert "\n" not in said
    assert re.search(message, said), said


def test_an_optional_package_loads_at_first_use():
    from latchfree.errors import MissingExtra
    from latchfree.extras import is_arrow, optional, require

    json = optional("json", "check")
    assert json.dumps([1]) == "[1]"
    missing = optional("no_such_package", "check")
    with pytest.raises(MissingExtra, match=r'no_such_package is not installed; fix: pip install "latchfree\[check\]"'):
        missing.anything  # noqa: B018
    with pytest.raises(ImportError) as caught:
        require("no_such_package.inner", "verify")
    assert (caught.value.name, caught.value.extra) == ("no_such_package", "verify")
    assert not is_arrow([1])


def test_whether_something_is_an_arrow_array():
    import pyarrow as pa

    from latchfree.extras import is_arrow

    assert is_arrow(pa.array([1]))
    assert is_arrow(pa.chunked_array([[1]]))
    assert not is_arrow(pa.scalar(1))
