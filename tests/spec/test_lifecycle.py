"""Lives of processes: specification, labels and the table of CONFORMANCE.md agree; every action is taken."""

import ast
import re
from pathlib import Path

import pytest

from latchfree_model.tlc import agree, load_manifest, run_model, spec_dir

ROOT = Path(__file__).resolve().parents[2]
ARENA = ROOT / "impl" / "latchfree" / "arena"
SPEC = (ROOT / "spec" / "Lifecycle.tla").read_text()
TEXT = (ROOT / "spec" / "CONFORMANCE.md").read_text()
MODELS = {model.name: model for model in load_manifest(spec_dir() / "manifest.toml")}

ELSEWHERE = {"Pin", "Write", "Fork", "Exec", "End", "AdoptEnd", "FinalBegin"}
"""Actions of other specifications, of the system, or of private memory alone."""


def actions() -> set[str]:
    """Return the actions that a thread may take."""
    step = re.search(r"^Step\(t\) ==(.*?)^World ==", SPEC, re.MULTILINE | re.DOTALL)
    assert step
    return set(re.findall(r"(\w+)\(t\)", step[1]))


def labelled() -> dict[str, set[str]]:
    """Return, for each action that a label names, the modules and functions with such a label."""
    found: dict[str, set[str]] = {}
    for file in ARENA.rglob("*.py"):
        source = file.read_text()
        functions = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef)]
        for number, line in enumerate(source.splitlines(), 1):
            for action in re.findall(r"Lifecycle!(\w+)", line):
                inside = [each.name for each in functions if each.lineno <= number <= (each.end_lineno or 0)]
                found.setdefault(action, set()).add(f"{file.stem}.{inside[-1]}")
    return found


def table(heading: str) -> dict[str, set[str]]:
    """Return the rows of a table: its first column, and what stands in backquotes in the second."""
    rows = TEXT.partition(f"| {heading} |")[2].partition("\n\n")[0].splitlines()[2:]
    return {row.split("|")[1].strip().strip("`"): set(re.findall(r"`([^`]+)`", row.split("|")[2])) for row in rows}


def test_the_table_of_actions() -> None:
    assert table("action of a life") == labelled()


def test_every_action_has_its_place() -> None:
    assert set(table("action of a life")) | ELSEWHERE == actions()
    assert not set(table("action of a life")) & ELSEWHERE


def test_the_variables_of_the_table_exist() -> None:
    assert len(table("state of a life")) > 5
    for name in table("state of a life"):
        record, _, field = name.partition(".")
        assert re.search(rf"\b{record} += \[", SPEC), record
        assert not field or re.search(rf"\b{field} +\|->", SPEC), name


@pytest.mark.parametrize("name", ["mutant_o1", "mutant_o6", "mutant_o9", "mutant_o15"])
def test_the_depth_of_a_violation_is_the_length_of_its_trace(name: str) -> None:
    result = run_model(MODELS[name])
    assert agree(MODELS[name], result) == []
    assert result.trace is not None
    assert len(result.trace) == MODELS[name].depth


@pytest.mark.slow
def test_every_action_is_taken() -> None:
    taken: dict[str, int] = {}
    for name in ("lifecycle_exit", "lifecycle_exec", "lifecycle_fork", "lifecycle_descriptors", "lifecycle_disk",
                 "lifecycle_stopped", "lifecycle_closers", "mutant_o5_fixed"):  # fmt: skip
        result = run_model(MODELS[name], coverage=True)
        assert agree(MODELS[name], result) == []
        for action, (_, generated) in result.coverage.items():
            taken[action] = taken.get(action, 0) + generated
    assert actions() - {action for action, generated in taken.items() if generated} == set()
    assert {"Kill", "Stop", "CloseDescriptors", "WriteBackHeader", "WriteBackContent"} <= set(taken)
