"""Sizes are written into a manifest and nothing else is changed."""

import tomllib
from pathlib import Path

import pytest

from latchfree_model.tlc import TlcResult, agree, counts, load_manifest, record, unrecorded

DATA = Path(__file__).parent / "data"


@pytest.fixture
def manifest(tmp_path: Path) -> Path:
    text = (DATA / "manifest.toml").read_text()
    for name in {line.split('"')[1] for line in text.splitlines() if line.startswith(("module", "config"))}:
        (tmp_path / name).touch()
    path = tmp_path / "manifest.toml"
    path.write_text("# What stands above stays.\n" + text)
    return path


def test_fields_are_set_and_added_in_their_places(manifest: Path) -> None:
    before = manifest.read_text()
    [name, *others] = [model.name for model in load_manifest(manifest)]
    record(manifest, name, {"total": 77, "distinct": 1212, "seconds": 3, "date": "2026-01-02"})
    [model] = [model for model in load_manifest(manifest) if model.name == name]
    assert (model.distinct, model.total, model.seconds, model.date) == (1212, 77, 3, "2026-01-02")
    old, new = (tomllib.loads(text)["model"] for text in (before, manifest.read_text()))
    assert old[1:] == new[1:]
    assert list(new[0]).index("total") == list(new[0]).index("distinct") + 1
    changed = [line for line in manifest.read_text().splitlines() if line not in before.splitlines()]
    assert [line.split()[0] for line in changed] == ["distinct", "total", "seconds", "date"]
    assert manifest.read_text().startswith("# What stands above stays.\n")
    record(manifest, others[-1], {"depth": 5})
    assert load_manifest(manifest)[-1].depth == 5


def test_what_is_not_there_is_named(manifest: Path) -> None:
    before = manifest.read_text()
    with pytest.raises(ValueError, match="there is no model 'nothing'"):
        record(manifest, "nothing", {"total": 1})
    with pytest.raises(ValueError, match="a model has no field 'totals'"):
        record(manifest, load_manifest(manifest)[0].name, {"totals": 1})
    assert manifest.read_text() == before


def test_the_depth_of_several_workers_is_not_recorded(manifest: Path) -> None:
    models = {model.workers: model for model in load_manifest(manifest)}
    result = TlcResult("ok", generated=9, distinct=5, depth=3)
    assert counts(models[1], result) == {"distinct": 5, "total": 9, "depth": 3}
    assert counts(models[2], result) == {"distinct": 5, "total": 9}
    assert [difference for difference in agree(unrecorded(models[2]), result) if "expected 5" in difference] == []
