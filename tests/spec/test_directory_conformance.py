"""The directory: actions of the specification, labels of the code and the table of CONFORMANCE.md are the same."""

import ast
import re
from pathlib import Path

from latchfree_evidence.refinement.labels import accesses

ROOT = Path(__file__).resolve().parents[2]
ARENA = ROOT / "impl" / "latchfree" / "arena"
KERNELS = (ARENA / "kernels" / "directory.py").read_text()
FACE = (ARENA / "directory.py").read_text()
SPEC = (ROOT / "spec" / "Directory.tla").read_text()
TEXT = (ROOT / "spec" / "CONFORMANCE.md").read_text()


def table() -> dict[str, list[str]]:
    """Return, for each action of the table, the functions it names."""
    rows = TEXT.partition("| action of the directory |")[2].partition("\n\n")[0].splitlines()[2:]
    cells = [[re.findall(r"`(\w+)`", cell) for cell in row.split("|")[1:3]] for row in rows]
    return {action: functions for actions, functions in cells for action in actions}


def function_at(source: str, line: int) -> str:
    """Return the function of a module that has the line."""
    functions = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef)]
    [name] = [each.name for each in functions if each.lineno <= line <= (each.end_lineno or 0)]
    return name


def labels_of_the_face() -> dict[str, str]:
    """Return, for each action that a comment of the Python face names, the method."""
    found = {}
    for number, line in enumerate(FACE.splitlines(), 1):
        for action in re.findall(r"# spec: Directory!(\w+)", line):
            assert action not in found, f"{action} has two places"
            found[action] = function_at(FACE, number)
    return found


def test_every_action_is_one_access_of_the_code() -> None:
    step = re.search(r"^Step\(p\) ==(.*?)\n\n", SPEC, re.MULTILINE | re.DOTALL)
    assert step
    named = [label.removeprefix("Directory!") for access in accesses(KERNELS) for label in access.labels]
    assert sorted(named) == sorted(re.findall(r"(\w+)\(p\)", step[1]))


def test_the_table_of_actions() -> None:
    kernels: dict[str, str] = {}
    for access in accesses(KERNELS):
        for label in access.labels:
            kernels[label.removeprefix("Directory!")] = function_at(KERNELS, access.line)
    callers = labels_of_the_face()
    assert table() == {action: [kernel, *filter(None, [callers.get(action)])] for action, kernel in kernels.items()}


def test_every_change_of_a_state_is_a_labelled_one() -> None:
    """All callers of the kernels that change a state say which step theirs is."""
    lines = FACE.splitlines()
    used = [number for number, line in enumerate(lines, 1) if "self._change(" in line or "self._take(" in line]
    assert len(used) == len(labels_of_the_face())
