"""Every `spec: Module!Name` label in the code names a definition of that module of the specification."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

_LABEL = re.compile(r"spec:\s*`*(\w+)!(\w+)")
_DEFINITION = re.compile(r"^(?:LOCAL\s+)?(\w+)(?:\([^()=]*\))?\s*==", re.MULTILINE)
_COMMENT = re.compile(r"\(\*.*?\*\)|\\\*[^\n]*", re.DOTALL)
_MODULE = re.compile(r"^-{4,}\s*MODULE\s+(\w+)\s*-{4,}", re.MULTILINE)
_EXTENDS = re.compile(r"^EXTENDS\s+(\w+(?:\s*,\s*\w+)*)", re.MULTILINE)


def labels():
    """File, line, module and name of every label."""
    found = []
    for file in sorted((ROOT / "impl").rglob("*.py")):
        for number, line in enumerate(file.read_text().splitlines(), 1):
            found += [(f"{file.relative_to(ROOT)}:{number}", *match) for match in _LABEL.findall(line)]
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
    text = modules()["Ctrie"].read_text()
    assert len(actions(text)) > 10
    assert actions(text) - {name for _, module, name in labels() if module == "Ctrie"} == set()


def test_the_parser_of_definitions():
    text = "Plain == 1\nWith(a, b) == a\n\\* Comment == 2\n(* Block ==\nInner == 3 *)\n  Indented == 4\nLOCAL L(x) == x"
    assert definitions(text) == {"Plain", "With", "L"}
