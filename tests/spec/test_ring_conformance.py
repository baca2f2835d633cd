"""The ring buffer: actions of the specification, labels of the code and the table of CONFORMANCE.md are the same."""

import ast
import re
from pathlib import Path

from latchfree_evidence.refinement.labels import NONE, accesses

ROOT = Path(__file__).resolve().parents[2]
CODE = (ROOT / "impl" / "latchfree" / "streams" / "kernels" / "ring.py").read_text()
WORDS = (ROOT / "impl" / "latchfree" / "streams" / "kernels" / "layout.py").read_text()
TEXT = (ROOT / "spec" / "CONFORMANCE.md").read_text()


def table(heading: str) -> dict[str, str]:
    """Return the rows of a table: what stands in backquotes in the first column, and the second column."""
    rows = TEXT.partition(f"| {heading} |")[2].partition("\n\n")[0].splitlines()[2:]
    return {first.strip(): second.strip() for _, first, second, _ in (row.split("|") for row in rows)}


def labelled() -> dict[str, set[tuple[str, str]]]:
    """Return, for each action that a label names, its module and the function of the access."""
    functions = [node for node in ast.walk(ast.parse(CODE)) if isinstance(node, ast.FunctionDef)]
    found: dict[str, set[tuple[str, str]]] = {}
    for access in accesses(CODE):
        [function] = [each.name for each in functions if each.lineno <= access.line <= (each.end_lineno or 0)]
        for label in access.labels:
            if label != NONE:
                module, action = label.split("!")
                found.setdefault(action, set()).add((module, function))
    return found


def actions() -> dict[str, str]:
    """Return the actions of a step of the strict ring, and the module that defines each."""
    ring, strict = ((ROOT / "spec" / f"{name}.tla").read_text() for name in ("Ring", "RingStrict"))
    steps = "".join(re.findall(r"^(?:PutStep|GetStep)\(p, Seems\(_\)\) ==(.*)$", ring, re.MULTILINE))
    own = re.search(r"^Step\(p\) == (.*)$", strict, re.MULTILINE)
    assert own
    found = dict.fromkeys(re.findall(r"(\w+)\(p", steps), "Ring")
    return found | dict.fromkeys(re.findall(r"(\w+)\(p\)", own[1]), "RingStrict")


def test_every_action_is_one_access_of_the_code() -> None:
    assert len(actions()) == 12
    assert {action: {module for module, _ in places} for action, places in labelled().items()} == {
        action: {module} for action, module in actions().items()
    }


def test_the_table_of_actions() -> None:
    assert {row.strip("`"): {cell.strip("`")} for row, cell in table("action of the ring").items()} == {
        action: {function for _, function in places} for action, places in labelled().items()
    }


def test_the_words_of_the_table_exist() -> None:
    words = [word for cell in table("state of the ring").values() for word in re.findall(r"`(\w+)`", cell)]
    assert len(words) == 5
    for word in words:
        assert re.search(rf"^{word} = np.uint64", WORDS, re.MULTILINE), f"the code has no {word}"
