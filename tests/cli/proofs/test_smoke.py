"""The profile smoke of ``latchfree verify``: a part of quick, which still finds what there is to find."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from latchfree_cli import exits
from latchfree_cli.app import app
from latchfree_cli.commands import verify as command
from latchfree_cli.commands.chain import layers, smoke
from latchfree_cli.commands.chain.rows import Layer, LayerResult, Plan, Profile
from latchfree_cli.settings import Report, Settings
from latchfree_cli.specs import runs
from latchfree_evidence.inductive.theorems import THEOREMS
from latchfree_evidence.lemmas import LEMMAS
from latchfree_model.tlc import SpecModel, TlcResult, load_manifest, spec_dir

QUICK = [model for model in load_manifest(spec_dir() / "manifest.toml") if model.profile == "quick"]
SMOKE = smoke.models_of(QUICK)


def test_models_are_a_small_part_of_quick() -> None:
    assert [model for model in QUICK if model in SMOKE] == SMOKE
    assert 3 * len(SMOKE) < len(QUICK)
    assert sum(model.distinct or 0 for model in SMOKE) * 8 < sum(model.distinct or 0 for model in QUICK)


def test_each_property_that_a_mutant_breaks_in_quick_is_broken_in_smoke() -> None:
    broken = {model.property for model in QUICK if model.mutant and model.expect == "violation"}
    assert {model.property for model in SMOKE if model.expect == "violation"} == broken


def test_each_module_whose_smallest_model_is_small_is_checked() -> None:
    holds = {m.module for m in QUICK if not m.mutant and m.expect == "ok" and (m.distinct or 0) <= smoke.MOST_STATES}
    assert {model.module for model in SMOKE if not model.mutant} == holds
    assert len(holds) > 10


def test_lemmas_and_mutants_of_the_code_are_parts_of_those_of_quick() -> None:
    assert set(LEMMAS) >= smoke.LONG_LEMMAS
    assert {lemma.name for lemma in smoke.lemmas_of(LEMMAS)} == set(LEMMAS) - smoke.LONG_LEMMAS
    assert set(THEOREMS) > smoke.LONG_PROOFS
    assert {theorem.name for theorem in smoke.proofs_of(THEOREMS)} == set(THEOREMS) - smoke.LONG_PROOFS
    assert [name for name, _ in smoke.mutants_of(layers.CODE_MUTANTS)] == list(smoke.CODE_MUTANTS)


@pytest.mark.parametrize(
    ("arguments", "profile", "operations"),
    [
        ([], Profile.quick, 1_000_000),
        (["--profile", "smoke"], Profile.smoke, 100_000),
        (["--profile", "smoke", "--operations", "7"], Profile.smoke, 7),
    ],
)
def test_the_plan(
    arguments: list[str], profile: Profile, operations: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plans: list[Plan] = []

    def planned(settings: Settings, plan: Plan, report: Report) -> list[LayerResult]:
        plans.append(plan)
        return [LayerResult("one", "c", "a", "ok", 0.1)]

    monkeypatch.setattr(command, "LAYERS", [Layer("one", "python", planned)])
    result = CliRunner().invoke(app, ["verify", "--out", str(tmp_path), *arguments])
    assert result.exit_code == exits.OK, result.output
    assert [(plan.profile, plan.operations) for plan in plans] == [(profile, operations)]
    assert json.loads((tmp_path / "report.json").read_text())["profile"] == profile


@pytest.mark.slow
def test_smoke_passes_and_catches_its_mutants(tmp_path: Path) -> None:
    run = subprocess.run(
        [sys.executable, "-m", "latchfree_cli", "verify", "--profile", "smoke", "--seed", "5", "--out", str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == exits.OK, run.stdout + run.stderr
    rows = {row["layer"]: row for row in json.loads((tmp_path / "report.json").read_text())["layers"]}
    mutants = sum(bool(model.mutant) for model in SMOKE)
    assert rows["spec mutants"]["amount"] == f"{mutants} of {mutants} caught"
    assert rows["code mutants"]["amount"] == "1 of 1 caught"
    assert {row["verdict"] for row in rows.values()} == {"ok"}
    assert len(rows) == 8
    assert run.stderr.count("\n") >= 7  # a line for each layer, as it ends


def test_what_finds_most_begins_first_and_a_disagreement_is_told_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[str] = []

    def run(model: SpecModel, **given: object) -> TlcResult:
        begun.append(model.name)
        return TlcResult("unknown", reason="no time")

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(command, "default_count", lambda: 1)
    monkeypatch.setattr(runs, "run_model", run)
    monkeypatch.setattr(runs, "class_archive", lambda *given: None)
    quick = [model for model in QUICK if not model.mutant]
    first = {model.name for model in smoke.models_of(quick)}
    assert 0 < len(first) < len(quick)
    result = CliRunner().invoke(app, ["verify", "--only", "spec"])
    assert set(begun[: len(first)]) == first
    sizes = {model.name: model.distinct or 0 for model in quick}
    rest = [sizes[name] for name in begun[len(first) :]]
    assert rest == sorted(rest, reverse=True)
    assert len(re.findall(r"^spec: \w+: .*no time", result.output, re.MULTILINE)) >= len(quick)
