"""The rules of the tree: intrinsics and compilation live in one place each."""

import ast
from pathlib import Path

ROOT = Path(__file__).parents[1]


def imported(file: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module.split(".")[0])
    return names


def test_only_atomics_emits_instructions() -> None:
    for file in (ROOT / "impl").rglob("*.py"):
        if "llvmlite" in imported(file):
            assert file.name == "atomics.py", file


def test_kernels_are_compiled_through_the_cache_that_cannot_go_stale() -> None:
    for folder in ("impl", "lincheck", "explore", "evidence", "fsck"):
        for file in (ROOT / folder).rglob("*.py"):
            if file.name != "jit.py":
                assert "njit" not in file.read_text().replace("@njit function", ""), file
