"""The rules of the tree: which way imports run, how large folders and parameter lists are, where compilation lives."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

#: Source root of each package, the lowest floors first.
FLOORS = {
    "latchfree_support": "support",
    "latchfree": "impl",
    "latchfree_model": "model",
    "latchfree_fsck": "fsck",
    "latchfree_lincheck": "lincheck",
    "latchfree_explore": "explore",
    "latchfree_evidence": "evidence",
    "latchfree_teach": "teach",
    "latchfree_spark": "pipeline",
    "latchfree_cli": "cli",
}


@cache
def tree_of(file: Path) -> ast.Module:
    return ast.parse(file.read_text())


def modules(root: Path = ROOT) -> dict[str, Path]:
    """All modules of the packages below a root, by name."""
    found = {}
    for folder in FLOORS.values():
        for file in (root / folder).rglob("*.py"):
            parts = file.relative_to(root / folder).with_suffix("").parts
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = file
    return found


def imports_of(file: Path, known: dict[str, Path]) -> Iterator[tuple[str, str]]:
    """Each module of ours that a file imports from, with the imported name ("" for the module itself)."""
    for node in ast.walk(tree_of(file)):
        if isinstance(node, ast.Import):
            yield from ((alias.name, "") for alias in node.names if alias.name in known)
        elif isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] in FLOORS:
            for alias in node.names:
                full = f"{node.module}.{alias.name}"
                yield (full, "") if full in known else (node.module, alias.name)


def taken_over(package: str, file: Path) -> dict[str, tuple[str, str]]:
    """For each name in the face of a package, the module that it comes from, and its name there."""
    stub, found = file.with_suffix(".pyi"), {}
    for node in ast.walk(ast.parse((stub if stub.exists() else file).read_text())):
        if isinstance(node, ast.ImportFrom):
            source = ".".join(filter(None, (package if node.level else "", node.module)))
            found |= {alias.asname or alias.name: (source, alias.name) for alias in node.names}
    return found


def circle_in(known: dict[str, Path]) -> list[str]:
    """A circle of files that import one another, [] if there is none; a face of a package only hands on."""
    faces = {module: taken_over(module, file) for module, file in known.items() if file.name == "__init__.py"}

    def behind(source: str, name: str) -> str:
        while name and source in faces:
            if f"{source}.{name}" in known:
                source, name = f"{source}.{name}", ""
            elif name in faces[source]:
                source, name = faces[source][name]
            else:
                break
        return source

    graph = {
        module: {
            source
            for source in (behind(*each) for each in imports_of(file, known))
            if source in known and (known[source].name != "__init__.py")
        }
        for module, file in known.items()
        if file.name != "__init__.py"
    }
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def folder_circle_in(known: dict[str, Path]) -> list[str]:
    """A circle of folders of one folder that import one another, through whichever of their files; [] if there is none.

    Lessons are left out: they are programs with a hole, which students fill.
    """
    graphs: dict[str, dict[str, set[str]]] = {}
    for module, file in known.items():
        if ".lessons." in module:
            continue
        mine = module.split(".") if file.name == "__init__.py" else module.split(".")[:-1]
        for source, _ in imports_of(file, known):
            if source in known:
                other = source.split(".") if known[source].name == "__init__.py" else source.split(".")[:-1]
                same = next((k for k, pair in enumerate(zip(mine, other, strict=False)) if pair[0] != pair[1]), None)
                if same:
                    parent = ".".join(mine[:same])
                    graphs.setdefault(parent, {}).setdefault(mine[same], set()).add(other[same])
    for parent, graph in graphs.items():
        try:
            TopologicalSorter(graph).prepare()
        except CycleError as error:
            return [f"{parent}.{folder}" for folder in error.args[1]]
    return []


def lint_imports(folder: Path, *paths: Path) -> subprocess.CompletedProcess[str]:
    """Run import-linter with the contracts of this project on the packages of some paths."""
    command = (
        "import sys; from importlinter.cli import lint_imports_command as run; sys.argv[0] = 'lint-imports'; run()"
    )
    return subprocess.run(
        [sys.executable, "-c", command, "--config", str(ROOT / "pyproject.toml"), "--no-cache"],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(map(str, paths))},
        capture_output=True,
        text=True,
        check=False,
    )


# imports -------------------------------------------------------------------------------------------------------------


def test_imports_keep_the_contracts():
    done = lint_imports(ROOT, *(ROOT / folder for folder in FLOORS.values()))
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("file", "statement", "broken"),
    [
        ("model/latchfree_model/one.py", "", 0),
        ("lincheck/latchfree_lincheck/one.py", "from latchfree.jit import kernel", 0),
        ("model/latchfree_model/one.py", "from latchfree_lincheck import two", 1),
        ("model/latchfree_model/one.py", "import latchfree.jit", 1),
        ("impl/latchfree/arena/one.py", "from latchfree.ctrie import two", 1),
        ("lincheck/latchfree_lincheck/one.py", "from latchfree.arena import two", 1),
        ("lincheck/latchfree_lincheck/one.py", "def late():\n    from latchfree import words", 1),
        ("explore/latchfree_explore/one.py", "from latchfree.ctrie import two", 1),
        ("explore/latchfree_explore/one.py", "from latchfree_evidence import two", 1),
        ("explore/latchfree_explore/one.py", "import latchfree_fsck.two", 1),
        ("fsck/latchfree_fsck/one.py", "from latchfree_model import two", 1),
        ("pipeline/latchfree_spark/one.py", "from latchfree_explore import two", 1),
        ("evidence/latchfree_evidence/one.py", "from latchfree_cli import two", 1),
        ("evidence/latchfree_evidence/one.py", "from latchfree_teach import two", 1),
        ("teach/latchfree_teach/one.py", "from latchfree_evidence import two", 0),
        ("teach/latchfree_teach/one.py", "from latchfree_cli import two", 1),
    ],
)
def test_the_contracts_can_be_broken(tmp_path, file, statement, broken):
    parts = {package: [""] for package in FLOORS}
    for contract in tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]:
        for container in contract.get("containers", ()):
            package, *inner = container.split(".")
            for layer in re.findall(r"\w+", " ".join(contract["layers"])):
                parts[package].append("/".join((*inner, layer)))
    for package, folder in FLOORS.items():
        for part in parts[package]:
            home = tmp_path / folder / package / part
            home.mkdir(parents=True, exist_ok=True)
            for name in ("__init__.py", "two.py"):
                home.joinpath(name).touch()
    tmp_path.joinpath("impl/latchfree/jit.py").touch()
    tmp_path.joinpath(file).write_text(statement + "\n")
    done = lint_imports(tmp_path, *(tmp_path / folder for folder in FLOORS.values()))
    assert done.returncode == (1 if broken else 0), done.stdout + done.stderr
    assert f"{'' if broken else 'no '}broken".replace("no broken", "0 broken") in done.stdout, done.stdout


def test_no_lower_floor_names_a_higher_one_in_a_string():
    """An import by name, such as ``import_module("latchfree_cli.app")``, is seen by no import linter."""
    order = list(FLOORS)
    for module, file in modules().items():
        package = module.split(".")[0]
        if package == "latchfree_cli":
            continue
        for node in ast.walk(tree_of(file)):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                top = node.value.split(".")[0].split(":")[0]
                if node.value != top and top in FLOORS and " " not in node.value:
                    assert order.index(top) <= order.index(package), f"{file}:{node.lineno} names {node.value}"


def test_no_package_imports_a_private_name_of_another():
    known = modules()
    for module, file in known.items():
        package = module.split(".")[0]
        for source, name in imports_of(file, known):
            private = [part for part in (*source.split("."), name) if part.startswith("_") and part[:2] != "__"]
            assert source.split(".")[0] == package or not private, f"{file} imports {source} {name}"


def test_no_package_reaches_a_private_name_through_a_module_of_another():
    known = modules()
    for module, file in known.items():
        foreign = {}
        for node in ast.walk(tree_of(file)):
            if isinstance(node, ast.ImportFrom) and node.module:
                for alias in node.names:
                    full = f"{node.module}.{alias.name}"
                    if full in known and full.split(".")[0] != module.split(".")[0]:
                        foreign[alias.asname or alias.name] = full
        for node in ast.walk(tree_of(file)):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in foreign:
                private = node.attr.startswith("_") and not node.attr.startswith("__")
                assert not private, f"{file}:{node.lineno} reaches {foreign[node.value.id]}.{node.attr}"


def test_no_files_import_one_another_in_a_circle():
    assert circle_in(modules()) == []


def test_no_folders_import_one_another_in_a_circle():
    assert folder_circle_in(modules()) == []


def test_a_circle_of_folders_is_found(tmp_path):
    for name, statement in (
        ("one/a", "from latchfree.two.b import x"),
        ("two/c", "from latchfree.three.d import x"),
        ("three/e", "from latchfree.one.f import x"),
    ):
        file = tmp_path / "impl" / "latchfree" / f"{name}.py"
        file.parent.mkdir(parents=True)
        file.write_text(statement)
    for name in ("two/b", "three/d", "one/f"):
        (tmp_path / "impl" / "latchfree" / f"{name}.py").write_text("x = 1")
    assert circle_in(modules(tmp_path)) == []
    assert set(folder_circle_in(modules(tmp_path))) == {"latchfree.one", "latchfree.two", "latchfree.three"}


@pytest.mark.parametrize("stub", [False, True])
def test_a_circle_through_a_face_is_found(tmp_path, stub):
    home = tmp_path / "impl" / "latchfree"
    home.joinpath("inner").mkdir(parents=True)
    home.joinpath("inner", "__init__.py").write_text("" if stub else "from latchfree.inner.one import x\n")
    if stub:
        home.joinpath("inner", "__init__.pyi").write_text("from .one import x as x\n")
    home.joinpath("inner", "one.py").write_text("from latchfree import two\n")
    home.joinpath("two.py").write_text("from latchfree.inner import x\n")
    assert set(circle_in(modules(tmp_path))) == {"latchfree.inner.one", "latchfree.two"}


def test_a_circle_is_found(tmp_path):
    home = tmp_path / "impl" / "latchfree"
    home.mkdir(parents=True)
    for name, other in (("one", "two"), ("two", "three"), ("three", "one")):
        home.joinpath(f"{name}.py").write_text(f"def late():\n    from latchfree.{other} import x\n")
    assert set(circle_in(modules(tmp_path))) == {"latchfree.one", "latchfree.two", "latchfree.three"}


# sizes ---------------------------------------------------------------------------------------------------------------


def test_a_folder_has_at_most_20_files_or_says_why():
    files = [*modules().values(), *(ROOT / "bench").rglob("*.py")]
    for folder, count in Counter(file.parent for file in files).items():
        if count > 20:
            face = folder / "__init__.py"
            reason = (face.exists() and ast.get_docstring(tree_of(face))) or ""
            assert "one file" in reason or "each file" in reason, f"{folder} has {count} files and gives no reason"


def test_a_function_has_at_most_12_positional_parameters():
    for file in modules().values():
        for node in ast.walk(tree_of(file)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
                count = len(node.args.posonlyargs) + len(node.args.args)
                assert count <= 12, f"{file}:{node.lineno} takes {count} positional parameters"


def test_no_folder_of_code_has_more_than_a_quarter_of_the_lines():
    lines = {
        folder: sum(file.read_text().count("\n") for file in (ROOT / folder).rglob("*.*") if file.suffix in SUFFIXES)
        for folder in (*FLOORS.values(), "bench", "spec")
    }
    largest = max(lines, key=lambda folder: lines[folder])
    assert lines[largest] <= sum(lines.values()) / 4, lines


SUFFIXES = {".py", ".pyi", ".tla", ".cfg", ".js", ".css", ".html", ".java", ".go", ".toml"}


# words ---------------------------------------------------------------------------------------------------------------

#: Words of our own for what the field has a word for: retire, retired, unpin or release, reaper, adopted.
RETIRED = re.compile(
    r"(?<![a-z])(bury|buries|buried|burials?|graves?|graveyard|hold_still|let_go|massacre|orphans?)(?![a-z_])", re.I
)


def test_the_words_of_the_sources_are_those_of_the_field():
    for folder in (*FLOORS.values(), "bench", "spec"):
        for file in (ROOT / folder).rglob("*.*"):
            if file.suffix in SUFFIXES or file.suffix == ".md":
                found = RETIRED.search(file.read_text())
                assert found is None, f"{file} says {found[0]!r}"


# compilation ---------------------------------------------------------------------------------------------------------


def test_only_atomics_emits_instructions():
    for file in (ROOT / "impl").rglob("*.py"):
        names = {
            name.split(".")[0]
            for node in ast.walk(tree_of(file))
            for name in (
                [alias.name for alias in node.names]
                if isinstance(node, ast.Import)
                else [node.module or ""]
                if isinstance(node, ast.ImportFrom)
                else []
            )
        }
        assert "llvmlite" not in names or file.name == "llvm.py" or file.parent.name in ("native", "libraries"), file


def test_kernels_are_compiled_through_the_cache_that_cannot_go_stale():
    for folder in ("support", "impl", "lincheck", "explore", "evidence", "teach", "fsck"):
        for file in (ROOT / folder).rglob("*.py"):
            if file.parent.name != "jit" and file.name != "comparing.py":  # stubs in functions: no cache may keep these
                assert "njit" not in file.read_text().replace("@njit function", ""), file
