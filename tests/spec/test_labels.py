"""Labels and specification agree: every atomic access of the Ctrie names its action, and every action is named."""

import re
from pathlib import Path

import pytest

from latchfree_evidence.refinement.labels import NONE, accesses, ctrie_actions, label_lines

ROOT = Path(__file__).resolve().parents[2]

CTRIE = sorted((ROOT / "impl" / "latchfree" / "ctrie" / "kernels").glob("*.py"))
RING = [
    ROOT / "impl" / "latchfree" / "streams" / "kernels" / f"{name}.py"
    for name in ("ring", "mending", "parking", "shutting", "counts", "roster")
]
SKETCHES = sorted((ROOT / "impl" / "latchfree" / "sketches" / "kernels").glob("*.py"))

_LABEL = re.compile(r"spec:\s*`*(\w+!\w+(?:\s*,\s*\w+!\w+)*)")
_DEFINITION = re.compile(r"^(?:LOCAL\s+)?(\w+)(?:\((?:[^()=]|\(_(?:, _)*\))*\))?\s*==", re.MULTILINE)
_COMMENT = re.compile(r"\(\*.*?\*\)|\\\*[^\n]*", re.DOTALL)
_MODULE = re.compile(r"^-{4,}\s*MODULE\s+(\w+)\s*-{4,}", re.MULTILINE)
_EXTENDS = re.compile(r"^EXTENDS\s+(\w+(?:\s*,\s*\w+)*)", re.MULTILINE)


def labels():
    """File, line, module and name of every label."""
    found = []
    for file in sorted((ROOT / "impl").rglob("*.py")):
        for number, line in enumerate(file.read_text().splitlines(), 1):
            for names in _LABEL.findall(line):
                where = f"{file.relative_to(ROOT)}:{number}"
                found += [(where, *name.strip().split("!")) for name in names.split(",")]
    return found


def definitions(text):
    """Names a TLA+ module defines at its top level."""
    return set(_DEFINITION.findall(_COMMENT.sub("", text)))


def modules():
    """Name of a module in spec/: its file."""
    files = (ROOT / "spec").glob("*.tla")
    return {match[1]: file for file in files if (match := _MODULE.search(file.read_text()))}


def defined_in(module, known):
    """Names a module defines itself or takes from the modules it extends."""
    if module not in known:
        return set()
    text = known[module].read_text()
    names = definitions(text)
    extends = _EXTENDS.search(_COMMENT.sub("", text))
    for other in re.split(r"[\s,]+", extends[1]) if extends else []:
        names |= defined_in(other, known)
    return names


def test_there_are_labels_and_modules():
    assert len(labels()) >= 20
    assert "Ctrie" in modules()


@pytest.mark.parametrize(("where", "module", "name"), labels(), ids=lambda part: part)
def test_a_label_names_a_definition(where, module, name):
    known = modules()
    assert module in known, f"{where}: there is no module {module} in spec/"
    assert name in defined_in(module, known), f"{where}: {module} defines no {name}"


def actions(text):
    """Names of the actions a step may take: the disjuncts of `Step(p)`."""
    step = re.search(r"^Step\(p\)\s*==(.*?)(?=^\w+(?:\(.*?\))?\s*==)", _COMMENT.sub("", text), re.DOTALL | re.MULTILINE)
    assert step, "the specification has no Step(p)"
    return set(re.findall(r"\b([A-Z]\w+)\(p\)", step[1]))


def test_every_action_of_the_specification_has_its_place_in_the_code():
    steps = actions(modules()["Ctrie"].read_text())
    assert len(steps) > 10
    named = {name for file in CTRIE for access in accesses(file.read_text()) for name in access.labels}
    assert {name.removeprefix("Ctrie!") for name in named if name.startswith("Ctrie!")} == steps


def test_there_are_accesses_and_labels():
    texts = [file.read_text() for file in [*CTRIE, *RING, *SKETCHES]]
    assert min(map(len, (CTRIE, RING, SKETCHES))) > 0
    assert sum(len(accesses(text)) for text in texts) > 60
    assert sum(len(label_lines(text)) for text in texts) > 60


@pytest.mark.parametrize("file", [*CTRIE, *RING, *SKETCHES], ids=lambda file: f"{file.parts[-3]}/{file.name}")
def test_every_atomic_access_names_its_step(file):
    for access in accesses(file.read_text()):
        where = f"{file.name}:{access.line}: {access.kind}"
        assert access.labels, f"{where} has no label: write # spec: Module!Action, or # spec: none -- why"
        assert access.labels != (NONE,) or access.why, f"{where}: spec: none needs a reason"
        assert NONE not in access.labels or len(access.labels) == 1, f"{where}: none, or actions"


@pytest.mark.parametrize("file", [*CTRIE, *RING, *SKETCHES], ids=lambda file: f"{file.parts[-3]}/{file.name}")
def test_every_label_is_that_of_an_access(file):
    text = file.read_text()
    lines = text.splitlines()
    accessed = {access.line for access in accesses(text)}
    for number in label_lines(text):
        below = number
        while lines[below].strip().startswith("#"):
            below += 1
        assert below + 1 in accessed, f"{file.name}:{number}: no access below this label"


def test_labels_are_read():
    text = "# spec: A!B, A!C -- why\n# and more\nx = load(m, 1) + cas(m, 1, 2, 3)\nstore(m, 1, 2)\n"
    assert [(a.line, a.kind, a.labels, a.why) for a in accesses(text)] == [
        (3, "cas", ("A!B", "A!C"), "why"),
        (3, "load", ("A!B", "A!C"), "why"),
        (4, "store", (), ""),
    ]
    assert label_lines(text) == [1]


def test_the_label_of_a_line_is_found():
    gcas = next(file for file in CTRIE if file.name == "gcas.py")
    line = next(a.line for a in accesses(gcas.read_text()) if a.labels == ("Ctrie!GcasCas",))
    assert ctrie_actions(f"latchfree/ctrie/kernels/gcas.py:{line}") == {"GcasCas"}
    assert ctrie_actions(f"latchfree/ctrie/kernels/gcas.py:{line - 1}") == set()
    assert ctrie_actions("") == set()


def test_the_parser_of_definitions():
    text = (
        "Plain == 1\nWith(a, b) == a\nTaking(p, F(_), G(_, _)) == F(p)\n\\* Comment == 2\n(* Block ==\nInner == 3 *)\n"
        "  Indented == 4\nLOCAL L(x) == x"
    )
    assert definitions(text) == {"Plain", "With", "Taking", "L"}
