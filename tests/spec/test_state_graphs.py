"""The state graphs of the subscription tries, the rings and the filter: livelocks, and actions that are taken."""

import pytest

from latchfree_model.graph import action_coverage, explore, find_livelock, list_actions
from latchfree_model.tlc import load_manifest, spec_dir

MODELS = {model.name: model for model in load_manifest(spec_dir() / "manifest.toml")}


def test_the_published_lookup_goes_round_and_the_corrected_one_ends() -> None:
    graph = explore(MODELS["published_c2"]).graph
    found = find_livelock(graph)
    assert found is not None
    assert [step.action for step in found.cycle.steps] == ["ReadMain", "CleanRead", "CleanCas", "ReadMain"] * 2
    assert {graph.process(step) for step in found.cycle.steps} == {"w"}
    assert find_livelock(explore(MODELS["topic_c2"]).graph) is None


def test_a_ring_that_never_waits_does_not_go_round_and_one_that_waits_does() -> None:
    found = find_livelock(explore(MODELS["ring_strict_waits"]).graph)
    assert found is not None
    assert {step.action for step in found.cycle.steps} == {"GetReadPosition", "GetReadTurn", "GetCheckEmpty"}
    assert find_livelock(explore(MODELS["ring_weak_lock_free"]).graph) is None


@pytest.mark.slow
def test_the_corrected_trie_is_lock_free() -> None:
    model = MODELS["topic_lock_free"]
    graph = explore(model).graph
    assert (len(graph), graph.depth) == (model.distinct, model.depth)
    # A lookup at the root begins and returns in one step, so an invocation counts: none follows without a return.
    assert find_livelock(graph, lambda step: graph.completes(step) or step.action == "Invoke") is None


@pytest.mark.slow
@pytest.mark.parametrize(
    ("names", "actions"),
    [
        (("published_c1", "published_c1_deep", "published_c2"), 14),
        (("topic_c1", "topic_c1_deep", "topic_c3", "mutant_v2_fixed"), 10),
        (("match_one", "match_late"), 11),
        (("ring_strict_round", "ring_strict_empty", "ring_strict_full"), 14),
        (("ring_weak",), 12),
        (("inverse_bloom",), 3),
    ],
)
def test_every_action_is_taken(names: tuple[str, ...], actions: int) -> None:
    models = [MODELS[name] for name in names]
    covered = action_coverage(list_actions(models[0]).items(), [explore(model).graph for model in models], [spec_dir()])
    assert len(covered) == actions
    assert [action.action for action in covered if not action.steps] == []
