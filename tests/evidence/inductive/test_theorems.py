"""Each theorem passes its four checks; a faulty system does not tie; the proof does not depend on luck.

The quick tests take the smallest share of each check that can fail; `latchfree prove --any` and the slow ones do all.
"""

import re
from pathlib import Path

import pytest

from latchfree_evidence.inductive.bonds.trie import futures, project
from latchfree_evidence.inductive.bonds.trie_trees import root_of, tree_of
from latchfree_evidence.inductive.proving import prove_system
from latchfree_evidence.inductive.systems.ring_strict import RingStrict
from latchfree_evidence.inductive.systems.trie.protocol import Trie
from latchfree_evidence.inductive.systems.trie.small import at_the_root
from latchfree_evidence.inductive.theorems import THEOREMS, cases, prove_theorem, refute, run_small
from latchfree_evidence.inductive.tie import compare
from latchfree_model.graph.explore import explore
from latchfree_model.tlc.manifest import load_manifest

SPEC = Path(__file__).parents[3] / "spec"
MODELS = {model.name: model for model in load_manifest(SPEC / "manifest.toml")}

#: Obligations of each system.
OWED = {
    "ring_strict": 282, "ring_weak": 291, "gcas": 1363, "trie": 510, "free_list": 103, "inverse_bloom": 18,
    "epochs": 106, "deadlists": 1064,
}  # fmt: skip

#: Wrong variants that the bounded model of the specification does not tell apart from the right system.
ALIKE = {
    ("ring_strict", "one cell"),
    ("gcas", "same generation"),
    ("inverse_bloom", "seen if full"),
    ("deadlists", "moved to newer"),
    # a thread that is alone does the same: these go wrong beside another thread, or where the model has no such tree
    *(("trie", variant) for variant in THEOREMS["trie"].system("").variants if variant != "root entombed"),
}

VARIANTS = [(name, variant) for name, theorem in THEOREMS.items() for variant in theorem.system("").variants]


def test_every_theorem_is_counted_here():
    assert set(OWED) == set(THEOREMS)


@pytest.mark.parametrize("name", THEOREMS)
def test_each_action_is_one_of_the_specification(name):
    theorem = THEOREMS[name]
    modules = [SPEC / MODELS[theorem.bond.model].module]
    defined: set[str] = set()
    while modules:
        text = modules.pop().read_text()
        defined.update(re.findall(r"^(\w+)(?:\(.*?\))?\s*==", text, re.MULTILINE))
        extends = re.search(r"^EXTENDS (.*)$", text, re.MULTILINE)
        modules += [SPEC / f"{each.strip()}.tla" for each in (extends[1].split(",") if extends else ())]
        modules = [module for module in modules if module.exists()]
    system = theorem.system("")
    assert set(system.local) < set(system.actions)
    assert set(system.actions) - set(system.local) <= defined


@pytest.mark.parametrize("name", THEOREMS)
def test_a_theorem_is_part_of_the_invariant(name):
    system = THEOREMS[name].system("")
    assert set(system.theorem) < set(system.invariant)
    assert set(system.completes) <= set(cases(THEOREMS[name]))
    assert not set(system.never) & set(cases(THEOREMS[name]))


@pytest.mark.slow
@pytest.mark.parametrize("name", THEOREMS)
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_every_obligation_is_proved(name, seed):
    induction = prove_theorem(THEOREMS[name], seed=seed)
    assert [failure.says for failure in induction.failures] == []
    assert induction.owed == OWED[name]


@pytest.mark.slow
@pytest.mark.parametrize("name", THEOREMS)
def test_one_more_round_of_instances_changes_nothing(name):
    system = THEOREMS[name].system("")
    assert prove_system(system, rounds=system.rounds + 1).failures == ()


@pytest.mark.parametrize("name", THEOREMS)
def test_a_small_instance_takes_every_case(name):
    run, never = run_small(THEOREMS[name])
    assert (run.broken, run.whole, never) == ("", True, ())


@pytest.mark.parametrize(("name", "variant"), VARIANTS)
def test_a_wrong_variant_runs_into_it(name, variant):
    theorem = THEOREMS[name]
    runs = (
        small(theorem.system(variant)).explore(limit=60_000, names=theorem.system("").theorem)
        for small in theorem.small
    )
    assert any(run.broken for run in runs)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "variant"), VARIANTS)
def test_a_wrong_variant_is_refuted_twice(name, variant):
    refuted = refute(THEOREMS[name], variant)
    assert refuted.refuted, refuted
    assert not refuted.open


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "conjunct"),
    [(name, conjunct) for name, theorem in THEOREMS.items() for conjunct in theorem.system("").invariant],
)
def test_each_conjunct_is_the_theorem_or_is_needed(name, conjunct):
    system = THEOREMS[name].system("")
    failures = prove_system(system, without=conjunct, stop=1).failures
    assert failures or conjunct in system.theorem


@pytest.fixture(scope="module")
def graphs():
    made = {}

    def graph(model):
        if model not in made:
            made[model] = explore(MODELS[model]).graph
        return made[model]

    return graph


def test_a_clear_that_also_empties_the_snapshot_breaks_a_claim():
    """Tree and map of the generation that ends stay in step, so every conjunct holds; the claims must tell."""

    class InPlace(Trie):
        @property
        def actions(self):
            part = super().actions["Decide"]
            return {**super().actions, "Decide": part._replace(run=lambda s, *point: emptied(s, part.run(s, *point)))}

    def emptied(s, cases):
        for case in cases:
            if case.label == "clear":
                post, root = case.post, s.tree(s.now, "")
                case.post = post.but(
                    cell=post.cell.set(root, post.cell(post.tree(post.now, ""))),
                    map=post.map.everywhere(lambda g, k, post=post: 0 if g < post.now else post.map(g, k)),
                    home=post.home.everywhere(lambda g, k, post=post: "" if g < post.now else post.home(g, k)),
                )
            yield case

    assert at_the_root(InPlace("")).explore().broken in ("map_changes", "frozen")
    assert at_the_root(Trie("")).explore().broken == ""


@pytest.mark.slow
@pytest.mark.parametrize("name", THEOREMS)
def test_a_system_is_that_of_its_module(name, graphs):
    theorem = THEOREMS[name]
    tie = compare(theorem.system(""), theorem.bond, graphs(theorem.bond.model))
    assert tie.differences == 0, tie
    assert tie.states == MODELS[theorem.bond.model].distinct
    assert tie.edges == tie.taken.total() > 0 if name == "trie" else tie.edges == tie.steps > 0
    assert tie.steps - tie.edges == (112 if name == "trie" else 0), "changes that a process makes alone"


@pytest.mark.slow
@pytest.mark.parametrize(("name", "variant"), VARIANTS)
def test_a_faulty_system_is_not_that_of_its_module(name, variant, graphs):
    theorem = THEOREMS[name]
    tie = compare(theorem.system(variant), theorem.bond, graphs(theorem.bond.model))
    assert (tie.differences == 0) == ((name, variant) in ALIKE)


@pytest.mark.slow
@pytest.mark.parametrize("missing", ["Commit", "Contracted", "Compressed"])
def test_a_trie_without_an_action_is_not_that_of_its_module(missing, graphs):
    theorem = THEOREMS["trie"]

    class Less(Trie):
        @property
        def actions(self):
            return {name: part for name, part in super().actions.items() if name != missing}

    tie = compare(Less(), theorem.bond, graphs(theorem.bond.model))
    assert tie.no_step["CompleteReadRoot"] > 0
    assert set(tie.no_step) <= {"CompleteReadRoot", "alone, put", "alone, remove"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "hashes", "step"),
    [
        ("collision", {"a": "0", "b": "0", "c": "0"}, "Contracted:L"),
        ("renewal", {"a": "00", "b": "01", "c": "10"}, "Copied"),
    ],
)
def test_collisions_and_renewal_are_steps_of_the_trie(model, hashes, step, graphs):
    tie = project(hashes, model, Trie(), graphs(model))
    assert (tie.differences, tie.edges) == (0, tie.taken.total())
    assert tie.steps - tie.edges > 500, "changes that a process makes alone"
    assert tie.taken[step] > 0


def test_the_other_way_tells_wrong_tries_apart(graphs):
    """A root that may be entombed, and a put into a tomb, are changes that no process of TLC makes."""
    theorem = THEOREMS["trie"]
    tie = compare(Trie("root entombed"), theorem.bond, graphs(theorem.bond.model))
    assert (set(tie.no_edge), set(tie.no_step), set(tie.broken)) == ({"alone, remove"}, set(), set())


@pytest.mark.slow
def test_a_put_into_a_tomb_is_no_step_of_the_module(graphs):
    tie = project({"a": "0", "b": "0", "c": "0"}, "collision", Trie("put into a tomb"), graphs("collision"))
    assert (set(tie.no_edge), set(tie.no_step)) == ({"alone, put"}, {"alone, put"})


@pytest.mark.slow
def test_late_commits_are_no_steps_since_their_trees_were_there_before(graphs):
    """Between the comparison of the root's generation and the commit, the root moves: 12 edges of TLC."""
    hashes, graph = {"a": "00", "b": "01"}, graphs("writer_snapshotter")
    tie = project(hashes, "writer_snapshotter", Trie(), graph)
    assert (tie.edges, tie.steps, tie.differences) == (2490, 3390, 0)
    assert tie.taken["Decide:snapshot"] > 0
    assert tie.taken["Copied"] > 0
    late = 0
    for edge in graph.steps():
        before, after = (tree_of(graph.state(number)) for number in (edge.source, edge.target))
        if edge.action == "CompleteCommit" and before != after:
            own = [own for own in graph.state(edge.source)["L"].values() if own["pc"] == "CompleteCommit"]
            nodes = graph.state(edge.source)["mem"]["node"]
            late += any(nodes[each["gi"] - 1]["gen"] < root_of(graph.state(edge.source))["gen"] for each in own)
            assert after in futures(graph.state(edge.source))
    assert late == 12


@pytest.mark.slow
def test_a_renamed_action_breaks_the_tie(graphs):
    theorem = THEOREMS["ring_strict"]

    class Renamed(RingStrict):
        @property
        def actions(self):
            names = {name: "Swap" if name == "GetClaim" else name for name in super().actions}
            return {names[name]: part._replace(name=names[name]) for name, part in super().actions.items()}

    tie = compare(Renamed(), theorem.bond, graphs(theorem.bond.model))
    assert set(tie.no_step) == {"GetClaim"}
    assert {case.split(":")[0] for case in tie.no_edge} == {"Swap"}
