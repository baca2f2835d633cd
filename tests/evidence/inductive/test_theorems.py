"""Each theorem passes its four checks; a faulty system does not tie; the proof does not depend on luck.

The quick tests take the smallest share of each check that can fail; `latchfree prove --any` and the slow ones do all.
"""

import re
from pathlib import Path

import pytest

from latchfree_evidence.inductive.bonds.trie import project
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
    # each does what the right trie does, and more: a projection cannot tell
    *(("trie", variant) for variant in THEOREMS["trie"].system("").variants),
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
    assert tie.edges == tie.steps > 0


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
    assert set(tie.no_step) == {"CompleteCommit"}


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
    assert (tie.differences, tie.edges) == (0, tie.steps)
    assert tie.taken[step] > 0


@pytest.mark.slow
def test_only_late_commits_are_no_steps_of_the_trie(graphs):
    """The root moves between the comparison of its generation and the commit."""
    tie = project({"a": "00", "b": "01"}, "writer_snapshotter", Trie(), graphs("writer_snapshotter"))
    assert tie.no_step == {"CompleteCommit, late": 12}
    assert (tie.edges, tie.steps, tie.differences) == (2582, 2570, 12)
    assert tie.taken["Decide:snapshot"] > 0
    assert tie.taken["Copied"] > 0


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
