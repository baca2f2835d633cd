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
def test_twenty_random_runs_find_nothing(name: str) -> None:
    """TLC comes to the end of twenty runs, says how many states they had, and nothing else."""
    result = run_model(MODELS[name], seed=3, options=("-simulate", "num=20"), timeout=300)
    assert (result.kind, result.errors, result.trace) == (None, (), None), result
    assert result.reason == "TLC ended with exit code 0: no message", "TLC has no word for twenty runs without error"
    # Runs are as long as the model says, or end where all programs have: 20 of at least 100 steps.
    assert result.generated is not None
    assert result.generated > 20 * 100


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
