"""The order of each atomic access is written down twice: in the code, and in ``orders.txt`` beside this test.

A weaker access passes all other tests on x86, and in the explorer's sequentially consistent memory: a pin by a plain
store, a drop mark by a plain store, a `load` in place of a `load_seq`. So whoever changes an access changes its line
in the table as well, and says why in the comment above the access.
"""

import ast
from difflib import ndiff
from pathlib import Path

import pytest

from latchfree_evidence.refinement.labels import ATOMIC, accesses

IMPL = Path(__file__).resolve().parents[2] / "impl" / "latchfree"
TABLE = Path(__file__).with_name("orders.txt")

ORDERS = {"load": "acquire", "load_unsure": "acquire", "store": "release"}
"""All others are seq_cst."""


def rows(file, text):
    """Return a row for each atomic access of a module: file, function, kind, order, labels."""
    functions = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef)]
    found = []
    for access in accesses(text):
        (*_, inside) = sorted(
            (node.lineno, node.name) for node in functions if node.lineno <= access.line <= (node.end_lineno or 0)
        )
        order = ORDERS.get(access.kind, "seq_cst")
        found.append(f"{file} {inside[1]} {access.kind} {order} {','.join(access.labels) or '-'}")
    return found


def code():
    """Return the text of each module of the package that accesses shared memory."""
    texts = {}
    for path in sorted(IMPL.rglob("*.py")):
        text = path.read_text()
        if path.name != "atomics.py" and rows(path.name, text):
            texts[path.relative_to(IMPL).as_posix()] = text
    return texts


def difference(texts):
    """Return the rows in which table and code differ: each access stands in the place that it has in its module."""
    expected = [line for line in TABLE.read_text().splitlines() if line]
    found = [row for file, text in texts.items() for row in rows(file, text)]
    return [line for line in ndiff(expected, found) if line[0] in "-+"]


def test_the_code_has_the_orders_of_the_table():
    assert difference(code()) == []


def test_the_table_is_of_every_kind_of_access():
    kinds = {line.split()[2] for line in TABLE.read_text().splitlines()}
    assert {"load", "load_seq", "store", "cas", "exchange", "fetch_add"} <= kinds <= ATOMIC


PIN = "exchange(mem, me + P_PIN, (epoch << _1) | _1)"
MARK = "exchange(mem, slot + STATE, DROPPED)"
WEAKENED = [
    ("arena/kernels/epochs.py", PIN, PIN.replace("exchange", "store")),
    ("arena/kernels/epochs.py", PIN, PIN.replace("exchange", "poke")),
    ("arena/kernels/epochs.py", "epoch = load_seq(mem, H_EPOCH)\n    for", "epoch = load(mem, H_EPOCH)\n    for"),
    ("arena/kernels/epochs.py", "word = load_seq(", "word = load("),
    ("arena/kernels/epochs.py", "store(mem, me + P_PIN, _0)", "poke(mem, me + P_PIN, _0)"),
    ("ctrie/kernels/registry.py", MARK, MARK.replace("exchange", "store")),
    ("ctrie/kernels/registry.py", "exchange(mem, slot + GEN, gen)", "store(mem, slot + GEN, gen)"),
    ("ctrie/kernels/registry.py", "gen = load_seq(mem, slot + GEN)", "gen = load(mem, slot + GEN)"),
    ("ctrie/kernels/gcas.py", "m = load_seq(mem, i + MAIN)", "m = load(mem, i + MAIN)"),
    ("ctrie/kernels/gcas.py", "m = load(mem, i + MAIN)", "m = peek(mem, i + MAIN)"),
    ("ctrie/kernels/gcas.py", "load_seq(mem, trie + ROOT_WORD)", "load(mem, trie + ROOT_WORD)"),
]


@pytest.mark.parametrize(("file", "old", "new"), WEAKENED, ids=lambda text: text.split("(")[0])
def test_a_weaker_access_is_found(file, old, new):
    texts = code()
    assert old in texts[file]
    texts[file] = texts[file].replace(old, new, 1)
    assert difference(texts) != []


def test_two_accesses_of_a_function_that_change_places_are_found():
    """Both are as strong as before, and there as often; but each has the label of the other one."""
    texts = code()
    file = "arena/kernels/epochs.py"
    one, other = "Reclamation!AdvanceLoad", "Reclamation!AdvanceScan"
    texts[file] = texts[file].replace(one, "\0").replace(other, one).replace("\0", other)
    assert len(difference(texts)) >= 2


def test_a_label_that_moves_is_found():
    texts = code()
    file = "arena/kernels/epochs.py"
    texts[file] = texts[file].replace("Reclamation!PinPublish", "Reclamation!PinLoad")
    assert len(difference(texts)) >= 2
