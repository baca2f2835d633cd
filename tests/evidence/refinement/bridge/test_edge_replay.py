"""Compiled code along the state graph of a model: every step replayed, or the reason; a wrong code diverges."""

import os
import subprocess
import sys

import pytest

from latchfree_evidence.refinement.bridge.edge_replay import BEHIND, NOTHING_TO_CLEAN
from latchfree_evidence.refinement.bridge.model_replay import replay_model
from latchfree_evidence.refinement.bridge.programs import NoCounterpart
from latchfree_model.tlc import load_manifest, spec_dir

MODELS = {model.name: model for model in load_manifest(spec_dir() / "manifest.toml")}

#: A run of mutated code, in a process of its own; its output is what differs.
DIVERGE = """
import sys
from latchfree_evidence.refinement.bridge.model_replay import replay_model
from latchfree_model.tlc import load_manifest, spec_dir
[model] = [model for model in load_manifest(spec_dir() / "manifest.toml") if model.name == sys.argv[2]]
coverage = replay_model(model, mutant=sys.argv[1])
print(coverage.divergence.message if coverage.divergence else "")
"""


def test_the_code_takes_every_step_of_a_contraction():
    coverage = replay_model(MODELS["contract_and_refill"])
    assert coverage.divergence is None, coverage.divergence
    assert coverage.complete
    assert (coverage.replayed, dict(coverage.untaken)) == (coverage.edges, {})
    assert coverage.edges > 5_000
    assert coverage.steps >= coverage.edges


def test_what_the_code_leaves_out_is_named():
    coverage = replay_model(MODELS["contract_and_refill_detours"])
    assert coverage.divergence is None, coverage.divergence
    assert coverage.complete
    assert set(coverage.untaken) == {NOTHING_TO_CLEAN, BEHIND}
    assert coverage.replayed + coverage.untaken.total() == coverage.edges
    assert coverage.replayed > 0.85 * coverage.edges


def test_a_renewal_and_a_snapshot():
    coverage = replay_model(MODELS["mutant_s1_fixed"])
    assert coverage.divergence is None, coverage.divergence
    assert (coverage.complete, coverage.replayed) == (True, coverage.edges)


def test_conditional_operations_of_two_writers():
    coverage = replay_model(MODELS["conditional_once"])
    assert coverage.divergence is None, coverage.divergence
    assert (coverage.complete, coverage.replayed) == (True, coverage.edges)


def test_a_model_without_counterpart_is_refused():
    with pytest.raises(NoCounterpart, match="collide wholly"):
        replay_model(MODELS["collision"])
    with pytest.raises(NoCounterpart, match="follows one trie"):
        replay_model(MODELS["fork_writer"])
    with pytest.raises(NoCounterpart, match=r"is no model of Ctrie\.tla"):
        replay_model(MODELS["reclaim_clear"])


def diverge(mutant, model):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", DIVERGE, mutant, model]
    done = subprocess.run(command, capture_output=True, text=True, timeout=1200, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_mutated_code_diverges():
    assert diverge("S1", "mutant_s1_fixed")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mutant", "model"),
    [("S2", "mutant_s2_fixed"), ("N1", "mutant_n1_fixed"), ("N2", "two_writers"), ("R4", "retire_three_levels")],
)
def test_other_mutants_diverge(mutant, model):
    assert diverge(mutant, model)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["lock_free", "two_writers", "writer_snapshotter", "clear", "two_writers_snapshotter"])
def test_the_code_takes_every_step(name):
    coverage = replay_model(MODELS[name])
    assert coverage.divergence is None, coverage.divergence
    assert (coverage.complete, coverage.replayed) == (True, coverage.edges)
