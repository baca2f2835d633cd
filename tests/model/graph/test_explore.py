"""Real runs of TLC: graphs that are known by hand, and models that are wrong."""

import re
import tempfile
from pathlib import Path

import pytest

from latchfree_model.graph import (
    Explored,
    Step,
    Unexplored,
    action_coverage,
    check_invariant,
    counterexample,
    edge_cover,
    explore,
    find_livelock,
    list_actions,
    locate,
)
from latchfree_model.graph.explore import without_checks
from latchfree_model.tlc import SpecModel, agree, load_manifest, run_model, spec_dir

DATA = Path(__file__).parent / "data"
MODELS = {model.name: model for model in load_manifest(DATA / "manifest.toml")}


@pytest.fixture(scope="module")
def spin_lock() -> Explored:
    return explore(MODELS["spin_lock"])


def test_the_graph_of_a_spin_lock(spin_lock: Explored) -> None:
    graph = spin_lock.graph
    assert (len(graph), graph.edges.number_of_edges(), graph.depth) == (8, 16, 4)
    assert spin_lock.result.depth == graph.depth
    assert graph.state(0) == {"lock": False, "L": {"a": {"pc": "idle"}, "b": {"pc": "idle"}}}
    assert graph.deadlocks == ()
    assert [len(component) for component in graph.components] == [8]
    for step in graph.steps():
        process = graph.process(step)
        before, after = graph.state(step.source)["L"], graph.state(step.target)["L"]
        assert all(before[other] == after[other] for other in before if other != process)
        if step.action == "Spin":
            assert process is None
        else:
            assert before[process]["pc"] == ("idle" if step.action == "Invoke" else step.action)
        assert graph.completes(step) == (step.action == "Release")


def test_its_livelock_which_the_temporal_formula_misses(spin_lock: Explored) -> None:
    assert agree(MODELS["spin_lock"], run_model(MODELS["spin_lock"])) == []
    found = find_livelock(spin_lock.graph)
    assert [step.action for step in found.cycle.steps] == ["Spin"]
    assert (len(found.lead.steps), found.components) == (3, 2)
    assert find_livelock(spin_lock.graph, lambda step: step.action in ("Release", "Spin")) is None


def test_an_action_never_taken(spin_lock: Explored) -> None:
    actions = list_actions(MODELS["spin_lock"])
    covered = action_coverage(actions.items(), [spin_lock.graph], [DATA])
    assert [(each.action, each.steps) for each in covered] == [
        ("Invoke", 6),
        ("Acquire", 4),
        ("Spin", 2),
        ("Release", 4),
        ("Break", 0),
    ]
    line = (DATA / "SpinLock.tla").read_text().splitlines().index(
        'Break(p)   == Move(p, "broken", "idle") /\\ UNCHANGED lock'
    ) + 1
    assert covered[-1].place == f"{DATA / 'SpinLock.tla'}:{line}"


def test_a_counterexample_of_tlc_is_a_shortest_path(spin_lock: Explored) -> None:
    graph = spin_lock.graph
    result = check_invariant(MODELS["spin_lock"], "Free")
    assert (result.verdict, result.property) == ("violation", "Free")
    own = counterexample(graph, lambda s: not s["lock"] or any(r["pc"] == "idle" for r in s["L"].values()))
    assert len(locate(graph, result.trace).steps) == len(own.steps) == 3
    assert check_invariant(MODELS["spin_lock"], "Nonesuch").verdict == "unknown"


def test_paths_cover_it(spin_lock: Explored) -> None:
    paths = edge_cover(spin_lock.graph)
    assert {step for path in paths for step in path.steps} == set(spin_lock.graph.steps())


def test_a_violated_model_is_explored_to_the_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    loop = explore(MODELS["loop"]).graph
    assert list(loop.steps()) == [Step(0, 1, "Next"), Step(1, 2, "Next"), Step(2, 1, "Next")]
    assert list(tmp_path.iterdir()) == []


def test_a_model_that_does_not_parse() -> None:
    with pytest.raises(Unexplored, match="unparsable: TLC ended with exit code 150") as caught:
        explore(MODELS["unparsable"])
    assert any("line 16, column 21" in error for error in caught.value.result.errors)
    with pytest.raises(Unexplored, match="exit code 150"):
        list_actions(MODELS["unparsable"])


def test_configurations_lose_their_checks_and_nothing_else() -> None:
    text = (
        "CONSTANTS\n N = 2 \\* INVARIANT No\n Op <- Other\n"
        "INVARIANTS A\n B\nVIEW v\nPROPERTY C CONSTRAINT D\nPROPERTIES E"
    )
    assert without_checks(text) == "CONSTANTS N = 2  \n Op <- Other VIEW v CONSTRAINT D"
    for config in spec_dir().glob("*/*.cfg"):
        left = without_checks(config.read_text())
        assert re.search(r"\bSPECIFICATION ((Crash|Shut|Fair|Idle|S)?(Spec|Fair)|SomebodyMoves)\b", left), config
        assert "INVARIANT" not in left
        assert "PROPERT" not in left


@pytest.mark.slow
@pytest.mark.parametrize("name", ["lock_free", "lock_free_contraction", "lock_free_snapshot"])
def test_the_ctrie_is_lock_free(name: str) -> None:
    model = next(model for model in load_manifest(spec_dir() / "manifest.toml") if model.name == name)
    graph = explore(model).graph
    assert (len(graph), graph.depth) == (model.distinct, model.depth)
    assert find_livelock(graph) is None
    named = {process: index for index, process in enumerate(graph.rows.processes)}
    for step in graph.steps():
        mine = graph.rows.registers(step.source)[named[graph.process(step)]]
        assert graph.rows.counter(mine) == ("idle" if step.action == "Invoke" else step.action)
    paths = edge_cover(graph)
    assert {step for path in paths for step in path.steps} == set(graph.steps())


def spinning() -> SpecModel:
    """The Ctrie of the specification in which who finds a descriptor waits."""
    return SpecModel(
        root=spec_dir(),
        name="ctrie_spin",
        module=str(DATA / "CtrieSpin.tla"),
        config=str(DATA / "ctrie_spin.cfg"),
        profile="full",
        expect="violation",
        property="LockFree",
        summary="who finds a descriptor at the root waits until it is gone",
    )


@pytest.mark.slow
@pytest.mark.parametrize(("name", "cycle"), [("mutant_a1", 8), ("ctrie_spin", 1)])
def test_mutants_of_the_ctrie_go_round(name: str, cycle: int) -> None:
    models = {model.name: model for model in [*load_manifest(spec_dir() / "manifest.toml"), spinning()]}
    graph = explore(models[name]).graph
    found = find_livelock(graph)
    assert len(found.cycle.steps) == cycle
    assert not any(map(graph.completes, found.cycle.steps))
