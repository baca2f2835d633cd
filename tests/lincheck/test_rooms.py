"""The rooms of the checker: who may import whom, and where compiled code stands."""

import ast
from pathlib import Path

import pytest

import latchfree_lincheck

ROOT = Path(latchfree_lincheck.__file__).parent

#: What each room may import at import time, besides itself.
BELOW = {
    "native": set(),
    "history": {"native"},
    "record": {"checking", "formats", "history", "show"},
    "engine": {"history", "native"},
    "checking": {"engine", "history"},
    "formats": {"history"},
    "criteria": {"checking", "engine", "history"},
    "shrinking": {"checking", "engine", "history"},
    "show": {"checking", "history"},
    "transactions": {"formats"},
    "testing": {"checking", "criteria", "failures", "history", "pairs", "show"},
    "watching": {"formats", "history"},
}
FROM_IMPL = {
    "latchfree.atomics",
    "latchfree.border",
    "latchfree.jit",
    "latchfree.kinds",
    "latchfree.native.library",
    "latchfree.sorting",
}


def imports(file):
    """Return the modules of ours that a file imports; a module taken from a package is that module."""
    nodes = [node for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, ast.ImportFrom) and node.module]
    ours = [node for node in nodes if node.module.split(".")[0].startswith("latchfree")]
    return {name for node in ours for name in taken(node)}


def taken(node):
    """Return the modules of one import: the module itself, or what is a module among the names taken from it."""
    folder = ROOT.joinpath(*node.module.split(".")[1:])
    modules = {name.name for name in node.names if (folder / f"{name.name}.py").is_file()}
    named = {f"{node.module}.{name}" for name in modules}
    return named if len(modules) == len(node.names) else named | {node.module}


def is_compiled(file):
    """Return whether a file stands where compiled code stands."""
    place = file.relative_to(ROOT)
    rooms = {"kernels", "compiled_models", "logs", "monitors"}
    return file.name != "__init__.py" and (place.stem == "kernels" or not rooms.isdisjoint(place.parts[:-1]))


@pytest.mark.parametrize("room", BELOW)
def test_a_room_imports_only_rooms_below_it(room):
    assert {each.name for each in ROOT.iterdir() if (each / "__init__.py").is_file()} == set(BELOW)
    for file in (ROOT / room).rglob("*.py"):
        rooms = {name.split(".")[1] for name in imports(file) if name.startswith("latchfree_lincheck.")}
        assert rooms <= BELOW[room] | {room}, file


def test_no_structure_is_imported():
    for file in ROOT.rglob("*.py"):
        assert {name for name in imports(file) if name.split(".")[0] == "latchfree"} <= FROM_IMPL, file


def test_compiled_code_stands_in_its_own_rooms():
    compiled = [file for file in ROOT.rglob("*.py") if "\n@kernel\n" in file.read_text()]
    assert compiled
    assert all(map(is_compiled, compiled)), [str(file) for file in compiled if not is_compiled(file)]


def test_compiled_code_reaches_no_python_face():
    data = {"latchfree_lincheck.history.codes", "latchfree_lincheck.history.timeline"}
    compiled = [*filter(is_compiled, ROOT.rglob("*.py"))]
    assert len(compiled) > 10
    for file in compiled:
        ours = {name for name in imports(file) if name.startswith("latchfree_lincheck.")} - data
        faces = {name for name in ours if not is_compiled((ROOT / Path(*name.split(".")[1:])).with_suffix(".py"))}
        assert not faces, file
