"""What the project declares: packages, dependencies, extras, Python versions, and what its CI runs."""

import ast
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
FLOORS = ("support", "impl", "model", "lincheck", "explore", "evidence", "teach", "fsck", "pipeline", "cli")
EXTRAS = PROJECT["project"]["optional-dependencies"]

#: Modules that do not have the name of what is installed.
DISTRIBUTIONS = {"z3": "z3-solver", "llvmlite": "numba", "importlinter": "import-linter"}


def required(extra):
    """The names of what an extra brings, those of the extras it is made of included."""
    names = set()
    for text in EXTRAS[extra]:
        requirement = Requirement(text)
        if requirement.name == "latchfree":
            names = names.union(*map(required, requirement.extras))
        else:
            names.add(requirement.name.lower())
    return names


def imported():
    """Each package that is not ours and not Python's, with a file that imports it."""
    for floor in FLOORS:
        for file in (ROOT / floor).rglob("*.py"):
            for node in ast.walk(ast.parse(file.read_text())):
                names = []
                if isinstance(node, ast.Import):
                    names = [alias.name for alias in node.names]
                elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                    names = [node.module]
                for name in names:
                    top = name.split(".")[0]
                    if not top.startswith("latchfree") and top not in sys.stdlib_module_names:
                        yield DISTRIBUTIONS.get(top, top), file


def test_the_map_needs_two_packages_where_there_is_a_wheel():
    needed = {each.name: str(each.marker) for each in map(Requirement, PROJECT["project"]["dependencies"])}
    assert needed.pop("numba") == 'sys_platform != "linux" or platform_machine != "x86_64"'
    assert needed == {"numpy": "None", "lazy_loader": "None"}


def test_every_package_that_is_imported_is_in_an_extra():
    core = {"numpy", "lazy_loader"}
    known = core.union(*(required(extra) for extra in EXTRAS if extra not in ("dev", "bench")))
    # pytest is there where its plugin is loaded, click and py4j come with typer and pyspark, two are for type checkers
    for name, file in imported():
        assert name in known | {"pytest", "click", "py4j", "_typeshed", "typing_extensions"}, (
            f"{file} imports {name}, which no extra brings"
        )


@pytest.mark.parametrize("extra", [extra for extra in EXTRAS if extra != "all"])
def test_all_has_every_extra(extra):
    assert required(extra) <= required("all")


def test_the_size_of_every_extra_is_stated():
    """The table of docs/installing.md has a row for each extra, with the extras that it is made of."""
    rows = re.findall(
        r"^\| `(\w+)` \|[^|]*\| ([^|]*) \| [\d,]+ \| [\d,]+ \|$", (ROOT / "docs/installing.md").read_text(), re.M
    )
    assert {extra for extra, _ in rows} == set(EXTRAS)
    for extra, brings in rows:
        if extra != "all":
            needed = [each for each in map(Requirement, EXTRAS[extra]) if each.name == "latchfree"]
            made_of = {name for each in needed for name in each.extras}
            assert set(re.findall(r"`(\w+)`", brings)) == made_of, extra


def test_every_package_is_in_the_wheel_with_its_types():
    targets = PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]
    packages = sorted(
        str(file.parent.relative_to(ROOT)) for floor in FLOORS for file in (ROOT / floor).glob("*/py.typed")
    )
    assert sorted(targets["packages"]) == packages
    assert len(packages) == len(FLOORS)
    assert targets["force-include"] == {"spec": "latchfree_model/spec"}


def test_the_workflow_runs_every_version_that_is_declared():
    classifiers = PROJECT["project"]["classifiers"]
    declared = [text.rpartition(" ")[2] for text in classifiers if re.search(r":: 3\.\d+$", text)]
    workflow = (ROOT / ".github/workflows/ci.yml").read_text()
    matrix = re.search(r"python: \[(.*)\]", workflow)[1]
    assert re.findall(r"3\.\d+", matrix) == declared
    assert "ubuntu-24.04-arm" in workflow
    assert "run: .ci/run" in workflow


def test_ci_runs_every_check():
    script = (ROOT / ".ci/run").read_text()
    steps = ["pip install", "ruff check", "ruff format --check", "lint-imports", "latchfree verify"]
    places = [script.index(f"\n{step}") for step in steps]
    assert places == sorted(places)
    assert places[-1] < script.index("pytest -q")


def test_ci_waits_for_what_runs_beside_the_tests():
    script = (ROOT / ".ci/run").read_text()
    end = script[script.rindex("pytest -q") :]
    for command, name in (("mypy", "types"), (".ci/wheel", "wheel")):
        assert re.search(rf"^{re.escape(command)} > .* & {name}=\$!$", script, re.MULTILINE)
        assert f"wait ${name} || failed=1" in end
    assert end.endswith("exit $failed\n")


def test_the_links_of_the_project_are_there():
    assert {"Source", "Documentation", "Changelog", "Issues"} <= set(PROJECT["project"]["urls"])


def test_the_command_is_a_script_that_loads_little():
    """Whoever installs the wheel puts an interpreter into the first line of a script that names Python there."""
    ((source, name),) = PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["shared-scripts"].items()
    assert (name, "scripts" in PROJECT["project"]) == ("latchfree", False)
    script = ROOT / source
    assert script.read_text().startswith("#!/usr/bin/env python3\n")
    imports = [
        node for node in ast.walk(ast.parse(script.read_text())) if isinstance(node, ast.Import | ast.ImportFrom)
    ]
    assert [each.module for each in imports] == ["latchfree_cli.main"]
    paths = os.pathsep.join(str(ROOT / floor) for floor in FLOORS)
    done = subprocess.run(
        [sys.executable, script, "check", "nowhere.log"],
        capture_output=True, text=True, env={**os.environ, "PYTHONPATH": paths}, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (2, "")
    assert "cannot read nowhere.log" in done.stderr
