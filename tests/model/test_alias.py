"""A counterexample of each specification in a few words a state, by the operator Alias of its module."""

import re
from pathlib import Path

import pytest

from latchfree_model.tlc import SpecModel, load_manifest, run_model, spec_dir
from latchfree_model.tlc.alias import NoAlias, told_by_alias
from latchfree_model.tlc.render import render_alias
from latchfree_model.tlc.values import Function

MODELS = load_manifest(spec_dir() / "manifest.toml")
QUICK = ("Stack", "Ring", "Properties")


def of_each_module() -> dict[str, SpecModel]:
    """Return, for each module that defines Alias or extends one that does, its smallest model that is violated."""
    found: dict[str, SpecModel] = {}
    for model in sorted(MODELS, key=lambda model: model.distinct or 0):
        if model.expect == "violation":
            found.setdefault(home(Path(model.module).stem) or "?", model)
    return found


def home(module: str) -> str | None:
    """Return the module that defines Alias for another one."""
    file = next(spec_dir().rglob(f"{module}.tla"), None)
    if file is None:
        return None
    text = file.read_text()
    if re.search(r"^Alias ==", text, re.MULTILINE):
        return module
    extended = re.search(r"^EXTENDS (.*)$", text, re.MULTILINE)
    return next(filter(None, map(home, re.split(r"[\s,]+", extended[1]))), None) if extended else None


EACH = of_each_module()


def test_every_model_has_an_alias() -> None:
    assert {Path(model.module).stem for model in MODELS if home(Path(model.module).stem) is None} == set()
    assert len(EACH) > 20
    assert set(QUICK) <= set(EACH)


@pytest.mark.parametrize(
    "module", [pytest.param(name, marks=() if name in QUICK else pytest.mark.slow) for name in EACH]
)
def test_a_counterexample_in_few_words(module: str) -> None:
    trace = run_model(EACH[module]).trace
    assert trace is not None
    said = told_by_alias(EACH[module], trace)
    assert len(said) == len(trace)
    assert all(isinstance(each, Function) and "next" in each for each in said)
    assert len(set(said)) > len(said) // 2, "most steps change what is said"
    assert render_alias(trace, said).row_count >= len(trace)


def test_what_is_said_is_what_the_module_says() -> None:
    (model,) = [model for model in MODELS if model.name == "stack_lost"]
    trace = run_model(model).trace
    assert trace is not None
    for state, said in zip(trace.states, told_by_alias(model, trace), strict=True):
        assert isinstance(said, Function)
        assert (said["top"], said["next"]) == (state.variables["head"], state.variables["pc"])


def test_a_module_without_an_alias_is_named(tmp_path: Path) -> None:
    (tmp_path / "Tiny.tla").write_text(
        "---- MODULE Tiny ----\nEXTENDS Naturals\nVARIABLE x\nInit == x = 0\nNext == x' = x + 1\nSmall == x < 3\n====\n"
    )
    (tmp_path / "Tiny.cfg").write_text("INIT Init\nNEXT Next\nINVARIANT Small\n")
    model = SpecModel(tmp_path, "tiny", "Tiny.tla", "Tiny.cfg", "quick", "violation", "Small", "counts")
    trace = run_model(model).trace
    assert trace is not None
    with pytest.raises(NoAlias, match=r"Tiny.tla: TLC cannot say Alias"):
        told_by_alias(model, trace)
