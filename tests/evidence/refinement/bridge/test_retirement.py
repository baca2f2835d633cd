"""Compiled code along the models of who retires what: each death, its place, and nothing dead in use."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from latchfree_evidence.refinement.bridge.model_replay import replay_model
from latchfree_evidence.refinement.bridge.movers import can_have_moved
from latchfree_model.graph import explore
from latchfree_model.tlc import load_manifest, spec_dir

MODELS = {model.name: model for model in load_manifest(spec_dir() / "manifest.toml")}
HELPERS = Path(__file__).parents[2] / "helpers"

#: A run of wrong code, in a process of its own; its output is the last step and what differs there.
DIVERGE = """
import sys
from hashlib import blake2b
from importlib import import_module
from pathlib import Path

from latchfree import jit
from latchfree_model.tlc import load_manifest, spec_dir

_, wrong, name, helpers = sys.argv
sources = blake2b(Path(helpers, "wrong_retirement.py").read_bytes(), digest_size=8).hexdigest()
bridge = "latchfree_evidence.refinement.bridge.target"
affected = "latchfree.ctrie.", "latchfree_evidence.targets.", bridge, "wrong_retirement"
jit.set_variant(f"wrong-retirement-{sources}-{wrong}", affected)
sys.path.append(helpers)

import wrong_retirement
for each in ("gcas", "helping", "insert", "remove", "retirement", "snapshot"):
    import_module(f"latchfree.ctrie.kernels.{each}")
module, function = wrong_retirement.REPLACED[wrong]
right = getattr(import_module(module), function)
for holder in list(sys.modules.values()):
    if holder.__name__.startswith("latchfree.") and getattr(holder, function, None) is right:
        setattr(holder, function, getattr(wrong_retirement, wrong))

from latchfree_evidence.refinement.bridge.model_replay import replay_model
[model] = [model for model in load_manifest(spec_dir() / "manifest.toml") if model.name == name]
divergence = replay_model(model).divergence
print(f"{divergence.path[-1].step.action}: {divergence.message}" if divergence else "none")
"""

#: Wrong code, a model, and what differs at which step.
WRONG = {
    "forgets_tombs": ("mutant_r17_fixed", "GcasReadPrevAfter: the T-node ", "is dead, but the code has not retired it"),
    "twice": ("mutant_r17_fixed", "GcasReadPrevAfter: the code has retired the node ", " twice"),
    "too_old": ("retire_three_levels", "RdcssSwing: the code has put node ", "it belongs on the deadlist of"),
    "too_early": ("mutant_r17_fixed", "GcasReadMain: the code has retired the C-node ", "is live in the specification"),
    "half_a_pair": ("mutant_r17_fixed", "GcasReadPrevAfter: the C-node ", "is dead, but the code has not retired it"),
}


def diverge(*arguments: str) -> str:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", DIVERGE, *arguments, str(HELPERS)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=1200, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


#: The fewest nodes that the code retires and frees along a model; many tours are long enough to free some.
ALL = {"retire_two_writers_once": (1000, 50), "retire_three_levels": (1000, 30), "retire_list": (2000, 40)}


@pytest.mark.parametrize("name", ALL)
def test_the_code_retires_what_the_specification_does(name: str) -> None:
    coverage = replay_model(MODELS[name])
    assert coverage.divergence is None, coverage.divergence
    assert (coverage.complete, coverage.replayed, dict(coverage.untaken)) == (True, coverage.edges, {})
    assert coverage.edges == MODELS[name].total - 1
    deaths, freed = ALL[name]
    assert (coverage.deaths > deaths, coverage.freed > freed) == (True, True)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["retire_two_writers", "retire_renewal", "retire_snapshot", "retire_list_snapshot"])
def test_the_code_retires_what_a_large_model_does(name: str) -> None:
    coverage = replay_model(MODELS[name])
    assert coverage.divergence is None, coverage.divergence
    assert (coverage.complete, coverage.replayed) == (True, coverage.edges)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("mutant_r17", "the specification has lost a node, but the code has retired every one"),
        ("mutant_r18", "the specification has retired a node twice, the code has not"),
        ("mutant_r19", "is dead, but the code has not retired it"),
    ],
)
def test_a_wrong_module_differs_from_the_code(name: str, message: str) -> None:
    coverage = replay_model(MODELS[name])
    assert coverage.divergence is not None
    assert message in coverage.divergence.message
    assert coverage.divergence.path[-1].step.action in ("GcasReadPrevAfter", "GcasCas")
    fixed = replay_model(MODELS[f"{name}_fixed"])
    assert fixed.divergence is None, fixed.divergence
    assert (fixed.complete, fixed.replayed) == (True, fixed.edges)


@pytest.mark.parametrize(
    "wrong", [pytest.param(name, marks=() if name == "forgets_tombs" else pytest.mark.slow) for name in WRONG]
)
def test_wrong_code_differs_where_it_retires(wrong: str) -> None:
    model, step, difference = WRONG[wrong]
    found = diverge(wrong, model)
    assert found.startswith(step)
    assert difference in found


def test_a_step_has_one_process() -> None:
    graph = explore(MODELS["retire_three_levels"]).graph
    both = 0
    for step in graph.steps():
        before, after = graph.state(step.source), graph.state(step.target)
        able = [process for process, regs in before["L"].items() if regs["pc"] == step.action]
        if len(able) == 2:
            both += 1
            (mover,) = can_have_moved(step.action, before, after, able)
            other = able[1 - able.index(mover)]
            assert after["L"][other]["pc"] == before["L"][other]["pc"]
    assert both > 50
