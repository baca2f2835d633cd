"""A library has the key of the sources that its functions can reach by imports, and looks at few others.

Example: somebody edits the page of a counterexample. No kernel imports the page, so the library stays in use. Somebody
edits `latchfree.jit`: both libraries are of other sources, and functions are compiled afresh.
"""

import ast
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

import latchfree
import latchfree_lincheck
from latchfree.native.library import LATCHFREE
from latchfree_cli.histories import lane
from latchfree_lincheck.native import LINCHECK

OURS = (latchfree, latchfree_lincheck)
FOLDERS = {package.__name__: Path(next(iter(package.__path__))) for package in OURS}


def file_of(module: str) -> Path | None:
    """The file of a module of these packages."""
    top, *rest = module.split(".")
    if top not in FOLDERS:
        return None
    place = FOLDERS[top].joinpath(*rest)
    files = (place.with_suffix(".py"), place / "__init__.py")
    return next((file for file in files if file.is_file()), None)


def imported(tree: ast.AST) -> Iterator[str]:
    """The modules that a module imports anywhere, but for type checkers."""
    if isinstance(tree, ast.If) and isinstance(tree.test, ast.Name) and tree.test.id == "TYPE_CHECKING":
        return
    if isinstance(tree, ast.ImportFrom):
        assert tree.level == 0
        for each in tree.names:
            module = f"{tree.module}.{each.name}"
            yield module if file_of(module) else str(tree.module)
    elif isinstance(tree, ast.Import):
        yield from (each.name for each in tree.names)
    for child in ast.iter_child_nodes(tree):
        yield from imported(child)


def reached(start: str) -> set[Path]:
    """The files that a module reaches; a package's face, which runs on the way to a module of it, has no kernel."""
    found: set[Path] = set()
    left = [start]
    while left:
        file = file_of(left.pop())
        if file is not None and file not in found:
            found.add(file)
            left += imported(ast.parse(file.read_text()))
    return found


@pytest.mark.parametrize(
    ("library", "start", "least"),
    [(LATCHFREE, "latchfree.libraries.tables", 80), (LINCHECK, "latchfree_lincheck.engine.border", 50)],
)
def test_what_it_can_reach_is_among_its_sources(library, start, least):
    files = reached(start)
    assert len(files) > least
    outside = [file for file in files if not {file, *file.parents} & {*library.sources}]
    assert outside in ([], [LINCHECK.home / "native/__init__.py"])  # that file is the list of sources
    assert all(source.exists() for source in library.sources)


def test_what_only_python_runs_is_not_among_its_sources():
    home = LINCHECK.home
    plain = ("engine/smt/judge.py", "engine/decide.py", "engine/wgl/plain.py", "history/picture.py")
    for name in plain:
        file = home / name
        assert file.exists()
        assert not {file, *file.parents} & {*LINCHECK.sources}, name


def test_kernels_of_the_checker_reach_no_model():
    """Models are Python, and not among the sources: a constant of theirs must not get into a kernel."""
    assert find_spec("latchfree_model") is not None
    kernels = [file for file in reached("latchfree_lincheck.engine.border") if "@kernel" in file.read_text()]
    assert len(kernels) > 20
    for file in kernels:
        assert not [each for each in imported(ast.parse(file.read_text())) if each.startswith("latchfree_model")], file


def test_the_lane_looks_at_the_same_sources(monkeypatch, tmp_path):
    """It loads no module of the checker before it has answered, so it has a list of its own."""
    looked = []
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))  # nothing is noted there
    monkeypatch.setattr("latchfree_support.library_keys.key", lambda *places: looked.extend(map(Path, places)))
    monkeypatch.setattr("latchfree_support.library_keys.processor", lambda: "x86-64-v2")
    # A file that is there: where no library was made the lane looks no further.
    monkeypatch.setattr("latchfree_support.library_keys.library_name", lambda processor: "__init__.py")
    monkeypatch.setattr("latchfree_support.library_keys.is_sealed", lambda file, text: False)
    monkeypatch.delenv("LATCHFREE_COMPILED", raising=False)
    with pytest.raises(lane.NotUsual):
        lane.loaded()
    assert looked == LINCHECK.sources
