"""RDCSS and GCAS alone: their models hold, take every action, and fail by a shortest trace when they are wrong."""

import pytest

from latchfree_model.tlc import agree, load_manifest, run_model, spec_dir

MODELS = {model.name: model for model in load_manifest(spec_dir() / "manifest.toml")}


@pytest.mark.parametrize("name", ["rdcss_abort", "gcas_get"])
def test_every_action_is_taken(name: str) -> None:
    result = run_model(MODELS[name], coverage=True)
    assert agree(MODELS[name], result) == []
    assert len(result.coverage) >= 10
    assert [action for action, (_, generated) in result.coverage.items() if generated == 0] == []


@pytest.mark.parametrize("name", ["rdcss_not_compared", "gcas_by_main", "mutant_p1"])
def test_the_depth_of_a_violation_is_the_length_of_its_trace(name: str) -> None:
    result = run_model(MODELS[name])
    assert agree(MODELS[name], result) == []
    assert result.trace is not None
    assert len(result.trace) == MODELS[name].depth
