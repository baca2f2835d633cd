"""The rules of the tree: imports run one way, intrinsics and compilation live in one place each."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
ALLOWED = {
    "latchfree": set(),
    "latchfree_model": set(),
    "latchfree_lincheck": {"latchfree", "latchfree_model"},
    "latchfree_spark": {"latchfree", "latchfree_model", "latchfree_lincheck"},
    "latchfree_cli": {"latchfree", "latchfree_model", "latchfree_lincheck", "latchfree_spark"},
}
FOLDERS = {
    "latchfree": "impl",
    "latchfree_model": "model",
    "latchfree_lincheck": "lincheck",
    "latchfree_spark": "pipeline",
    "latchfree_cli": "cli",
}


def imported(file: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module.split(".")[0])
    return names


@pytest.mark.parametrize("package", ALLOWED)
def test_imports_run_one_way(package: str) -> None:
    files = list((ROOT / FOLDERS[package] / package).rglob("*.py"))
    assert files
    for file in files:
        ours = imported(file) & set(ALLOWED) - {package}
        assert ours <= ALLOWED[package], f"{file} imports {ours - ALLOWED[package]}"


def test_only_atomics_emits_instructions() -> None:
    for file in (ROOT / "impl").rglob("*.py"):
        if "llvmlite" in imported(file):
            assert file.name == "atomics.py", file


def test_kernels_are_compiled_through_the_cache_that_cannot_go_stale() -> None:
    for folder in ("impl", "lincheck"):
        for file in (ROOT / folder).rglob("*.py"):
            if file.name != "jit.py":
                assert "njit" not in file.read_text().replace("@njit function", ""), file
