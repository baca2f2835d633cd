"""The tables of spec/CONFORMANCE.md hold exactly what the specification and the code hold."""

import ast
import re
from pathlib import Path

import pytest

from latchfree_evidence.refinement.labels import accesses

ROOT = Path(__file__).resolve().parents[2]
CODE = ROOT / "impl" / "latchfree" / "ctrie" / "kernels"
TEXT = (ROOT / "spec" / "CONFORMANCE.md").read_text()
MADE = re.MULTILINE | re.DOTALL
SPEC = "\n".join((ROOT / "spec" / f"{name}.tla").read_text() for name in ("Heap", "Steps", "Rdcss", "Gcas", "Ctrie"))


def table(heading: str) -> dict[str, str]:
    """Return the rows of the table under a heading: its first column, and the second."""
    rows = TEXT.partition(f"| {heading} |")[2].partition("\n\n")[0].splitlines()[2:]
    return {first.strip().strip("`"): second.strip() for first, second, *_ in (row.split("|")[1:] for row in rows)}


def quoted(cell: str) -> set[str]:
    """Return what stands in backquotes."""
    return set(re.findall(r"`([^`]+)`", cell))


def functions(file: Path) -> dict[str, tuple[int, int]]:
    """Return the first and the last line of each function of a module."""
    tree = ast.parse(file.read_text())
    return {
        node.name: (node.lineno, node.end_lineno or node.lineno)
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef)
    }


def labelled() -> dict[str, set[str]]:
    """Return, for each action of Ctrie.tla, the functions with an access that names it."""
    found: dict[str, set[str]] = {}
    for file in sorted(CODE.glob("*.py")):
        for access in accesses(file.read_text()):
            for label in access.labels:
                if label.startswith("Ctrie!"):
                    inside = [name for name, (first, last) in functions(file).items() if first <= access.line <= last]
                    found.setdefault(label.removeprefix("Ctrie!"), set()).add(f"{file.stem}.{inside[-1]}")
    return found


def test_actions_and_functions() -> None:
    assert {action: quoted(cell) for action, cell in table("action").items()} == labelled()


def test_every_action_of_the_specification_has_a_row() -> None:
    step = SPEC.partition("\nStep(p) ==")[2].partition("\n\n")[0]
    assert set(table("action")) == set(re.findall(r"(\w+)\(p\)", step))


@pytest.mark.parametrize(("operator", "cell"), table("operator").items())
def test_operators_and_functions_exist(operator: str, cell: str) -> None:
    assert re.search(rf"^{operator}\(", SPEC, re.MULTILINE), f"the specification does not define {operator}"
    for name in quoted(cell):
        module, _, function = name.partition(".")
        assert function in functions(CODE / f"{module}.py"), f"there is no {name}"


def test_fields_and_words_exist() -> None:
    rows = re.findall(r"^\| (`(?:mem|\w+Node|Descriptor)\..*?) \| (.*?) \| `(\w+)` \|$", TEXT, re.MULTILINE)
    assert len(rows) == 11
    for fields, words, module in rows:
        for field in quoted(fields):
            constructor, _, name = field.partition(".")
            made = re.search(rf"^{'NameHeap' if constructor == 'mem' else constructor}\(.*?(?=\n\n|\n\w)", SPEC, MADE)
            assert made, f"the specification has no {constructor}"
            assert re.search(rf"\b{name}\s*\|->", made[0]), f"{constructor} has no {name}"
        source = (CODE / f"{module}.py").read_text()
        for word in quoted(words):
            assert re.search(rf"\b{word}\b", source), f"{module} has no {word}"


def test_every_field_of_a_node_that_may_change_has_a_row() -> None:
    """The mutable fields, as Heap.tla lists them."""
    for field in ("mem.root", "INode.main", "CNode.prev", "TNode.prev", "LNode.prev", "Descriptor.status"):
        assert f"`{field}`" in TEXT
