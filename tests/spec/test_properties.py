"""Every property that a model checks can fail: some model of the manifest violates it, on purpose."""

import re
from pathlib import Path

import pytest

from latchfree_model.tlc import SpecModel, load_manifest
from latchfree_model.tlc.config import temporal_properties

SPEC = Path(__file__).resolve().parents[2] / "spec"
MODELS = load_manifest(SPEC / "manifest.toml")

_COMMENT = re.compile(r"\(\*.*?\*\)|\\\*[^\n]*", re.DOTALL)
_DEFINITION = re.compile(r"^(\w+)(?:\([^()=]*\))?\s*==", re.MULTILINE)
_EXTENDS = re.compile(r"^EXTENDS\s+(\w+(?:\s*,\s*\w+)*)", re.MULTILINE)
_INSTANCE = re.compile(r"^INSTANCE\s+(\w+)", re.MULTILINE)
_SECTION = re.compile(r"[A-Z]{4,}")
_ROW = re.compile(r"^\| `(\w+)!(\w+)` \| `(\w+)` \|$", re.MULTILINE)

FILES = {file.stem: _COMMENT.sub("", file.read_text()) for file in sorted(SPEC.rglob("*.tla"))}


def checked(config: Path) -> list[str]:
    """Return the invariants and temporal properties that a configuration names."""
    names, inside = [], False
    for word in _COMMENT.sub("", config.read_text()).split():
        if _SECTION.fullmatch(word):
            inside = word.startswith(("INVARIANT", "PROPERT"))
        elif inside:
            names.append(word)
    return names


def home(module: str, name: str) -> str | None:
    """Return the module that defines `name` where `module` uses it: itself, or one that it extends."""
    text = FILES.get(module, "")
    if name in _DEFINITION.findall(text):
        return module
    extended = _EXTENDS.search(text)
    others = re.split(r"[\s,]+", extended[1]) if extended else []
    found = (home(other, name) for other in [*others, *_INSTANCE.findall(text)])
    return next((place for place in found if place), None)


def properties(model: SpecModel) -> set[tuple[str, str]]:
    """Return the properties that a model checks, each as the module that defines it and its name."""
    module = Path(model.module).stem
    return {(home(module, name) or "?", name) for name in checked(SPEC / model.config)}


def violations(models: list[SpecModel] = MODELS) -> dict[tuple[str, str], list[str]]:
    """Return the models that violate each property."""
    found: dict[tuple[str, str], list[str]] = {}
    for model in models:
        if model.expect == "violation":
            place = home(Path(model.module).stem, model.property) or "?"
            found.setdefault((place, model.property), []).append(model.name)
    return found


TEMPORAL = {name for model in MODELS for name in temporal_properties(SPEC / model.config)}
USED = sorted({pair for model in MODELS for pair in properties(model)})


def test_every_model_checks_what_the_manifest_says() -> None:
    assert len(USED) > 20
    for model in MODELS:
        names = {name for _, name in properties(model)}
        assert model.property in names | {"Deadlock"}, f"{model.name}: {model.config} does not check {model.property}"


@pytest.mark.parametrize("pair", USED, ids="!".join)
def test_every_property_is_violated_by_some_model(pair: tuple[str, str]) -> None:
    assert pair[0] != "?", f"no module defines {pair[1]}"
    assert pair in violations(), f"no model of the manifest violates {'!'.join(pair)}: add a mutant or a wrong operator"


def test_a_property_that_nothing_violates_is_found() -> None:
    pair = ("Properties", "TreeShape")
    assert pair in violations()
    assert pair not in violations([model for model in MODELS if model.name not in violations()[pair]])


def test_the_table_of_the_readme_is_true_and_complete() -> None:
    rows = {(module, name): model for module, name, model in _ROW.findall((SPEC / "README.md").read_text())}
    found = violations()
    for pair, model in rows.items():
        assert model in found.get(pair, []), f"{'!'.join(pair)}: {model} does not violate it"
    assert {pair for pair in USED if pair[0] in {module for module, _ in rows}} == set(rows)


def test_the_table_of_profiles_is_true() -> None:
    text = (SPEC / "README.md").read_text().partition("| program | quick | full |")[2].partition("\n\n")[0]
    rows = [row.split("|")[2:4] for row in text.splitlines()[2:]]
    profiles = {model.name: model.profile for model in MODELS}
    assert len(rows) > 8
    for cells in rows:
        for profile, cell in zip(("quick", "full"), cells, strict=True):
            assert {profiles[name] for name in re.findall(r"`(\w+)`", cell)} <= {profile}, cell


def test_every_configuration_belongs_to_a_model() -> None:
    named = {SPEC / model.config for model in MODELS}
    assert set(SPEC.rglob("*.cfg")) - named == set()


def test_every_model_has_its_counts() -> None:
    """The depth is exact with one worker only."""
    exact = [model for model in MODELS if not model.simulate]
    assert [model.name for model in exact if None in (model.distinct, model.total, model.depth)] == []
    assert [model.name for model in MODELS if model.simulate and model.profile != "deep"] == []
    assert [model.name for model in MODELS if model.workers != 1] == []


def test_a_third_of_the_models_are_violations_on_purpose() -> None:
    violated = sum(model.expect == "violation" for model in MODELS)
    assert 3 * violated >= len(MODELS), f"{violated} of {len(MODELS)}"
