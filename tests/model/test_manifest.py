"""The manifest: what it holds, and the entry and field that an error names."""

from pathlib import Path

import pytest

from latchfree_model.tlc import SpecModel, TlcResult, agree, load_manifest

DATA = Path(__file__).parent / "data"
GOOD = """
[[model]]
name = "one"
module = "Counter.tla"
config = "ok.cfg"
profile = "quick"
expect = "ok"
property = "NoLostUpdate"
distinct = 11
depth = 5
summary = "s"
"""


def load(folder: Path, text: str) -> list[SpecModel]:
    """Load a manifest beside files of the names it mentions."""
    for name in ("Counter.tla", "ok.cfg"):
        (folder / name).touch()
    (folder / "manifest.toml").write_text(text)
    return load_manifest(folder / "manifest.toml")


def test_entries() -> None:
    models = load_manifest(DATA / "manifest.toml")
    assert [(model.name, model.expect, model.mutant, model.workers) for model in models] == [
        ("atomic", "ok", None, 2),
        ("lost_update", "violation", "C1", 1),
        ("never_finishes", "violation", None, 1),
    ]
    assert models[0].root == DATA


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("[[model]]", "[[modle]]", r"expected \[\[model\]\] entries"),
        ('"ok.cfg"', "", "expected TOML"),
        ('name = "one"\n', "", "model 1: name: missing"),
        ('"quick"', '"fast"', "model 'one': profile: expected 'quick' or 'full' or 'deep', got 'fast'"),
        ('"ok"', '"maybe"', "model 'one': expect: expected 'ok' or 'violation', got 'maybe'"),
        ("distinct = 11", 'distinct = "11"', "model 'one': distinct: expected a number of at least 1, got '11'"),
        ("depth = 5", "depth = 0", "model 'one': depth: expected a number of at least 1, got 0"),
        ("depth = 5", "depth = true", "model 'one': depth: expected a number"),
        ('summary = "s"', "summary = 3", "model 'one': summary: expected text, got 3"),
        ('summary = "s"', 'summery = "s"', "model 'one': summary: missing"),
        ('summary = "s"', 'summary = "s"\nsecond = 1', "model 'one': second: no such field; the fields are name"),
        ('"Counter.tla"', '"Contour.tla"', "model 'one': module: no such file: Contour.tla"),
        (
            'summary = "s"',
            'simulate = 60\nsteps = 9\nsummary = "s"',
            "model 'one': simulate: expected a number of at least 90",
        ),
        ('summary = "s"', 'simulate = 90\nsummary = "s"', "model 'one': simulate and steps: give both, or none"),
        ("", GOOD, "model 'one': name: two models have this name"),
    ],
)
def test_malformed(tmp_path: Path, old: str, new: str, message: str) -> None:
    text = GOOD.replace(old, new) if old else GOOD + new
    with pytest.raises(ValueError, match=message):
        load(tmp_path, text)


def test_optional_fields(tmp_path: Path) -> None:
    (model,) = load(tmp_path, GOOD.replace("distinct = 11\n", ""))
    assert (model.distinct, model.workers, model.mutant) == (None, 1, None)


@pytest.mark.parametrize(
    ("result", "differences"),
    [
        (TlcResult("ok", distinct=11, generated=16, depth=5), []),
        (
            TlcResult("ok", distinct=12, generated=16, depth=None),
            ["distinct: expected 11, got 12", "depth: expected 5, got None"],
        ),
        (TlcResult("ok", distinct=11, generated=17, depth=5), ["total: expected 16, got 17"]),
        (TlcResult("violation", property="P"), ["verdict: expected ok, got violation (P)"]),
        (TlcResult("unknown", reason="timeout"), ["verdict: expected ok, got unknown (timeout)"]),
    ],
)
def test_agree_with_a_model_that_holds(result: TlcResult, differences: list[str]) -> None:
    assert agree(load_manifest(DATA / "manifest.toml")[0], result) == differences


def test_agree_with_a_mutant() -> None:
    mutant = load_manifest(DATA / "manifest.toml")[1]
    caught = TlcResult("violation", kind="invariant", property="NoLostUpdate", distinct=12, depth=5)
    other = TlcResult("violation", kind="invariant", property="TypeOK", distinct=12, depth=5)
    assert agree(mutant, caught) == []
    assert agree(mutant, other) == ["property: expected NoLostUpdate, got TypeOK (invariant)"]
    assert agree(mutant, TlcResult("ok", distinct=12, depth=5)) == ["verdict: expected violation, got ok"]
