"""Random runs of models that are too large to try everything: each begins well, and a mutant is found."""

from dataclasses import replace
from pathlib import Path

import pytest

from latchfree_model.tlc import load_manifest, run_model, spec_dir

MODELS = {model.name: model for model in load_manifest(spec_dir() / "manifest.toml") if model.simulate}


def test_there_is_one_of_each_specification() -> None:
    assert {Path(model.module).stem for model in MODELS.values()} == {"MCCtrie", "MCForks", "MCReclamation"}
    assert all(model.profile == "deep" for model in MODELS.values())


@pytest.mark.parametrize("name", sorted(MODELS))
def test_a_few_seconds_find_nothing(name: str) -> None:
    """An evaluation error would end the run at once."""
    result = run_model(MODELS[name], timeout=8, seed=3)
    assert (result.verdict, result.reason) == ("unknown", "timeout: stopped after 8 s"), result


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_wrong_answer_is_found_among_five_processes(seed: int, tmp_path: Path) -> None:
    model = MODELS["simulate_ctrie"]
    config = tmp_path / "simulate_n4.cfg"
    text = (model.root / model.config).read_text()
    mutant = "  Replaces <- N4_Replaces\n  UpdateFailed <- N4_UpdateFailed\nSPECIFICATION"
    config.write_text(text.replace("SPECIFICATION", mutant))
    result = run_model(replace(model, module="mutants/N4.tla", config=str(config)), seed=seed)
    assert (result.verdict, result.property) == ("violation", "Linearizable")
    assert result.trace is not None
    assert len(result.trace) <= (model.steps or 0)
