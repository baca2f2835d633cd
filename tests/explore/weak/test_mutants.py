"""Seeded mistakes in the axioms and in the explorer: the litmus tests, GenMC's counts or brute force notice each."""

from functools import cached_property
from itertools import islice

import pytest
from random_litmus import shape

from latchfree_explore.weak import axioms, exploring
from latchfree_explore.weak.axioms import Axiom, acyclic
from latchfree_explore.weak.brute import allowed_graphs
from latchfree_explore.weak.derived import Derived
from latchfree_explore.weak.exploring import explore
from latchfree_explore.weak.graph import Graph
from latchfree_explore.weak.programs import parse_program
from latchfree_explore.weak.relations import between, closure, compose, identity, reflexive, union
from latchfree_explore.weak.suite import find, load_suite

ALL = -1


def wrong():
    """The litmus tests of which the axioms now say something else, with the models."""
    return {(test.name, model) for test in load_suite() for model in test.differences}


def without(model, name):
    """The axioms with one of a model left out."""
    return {**axioms.AXIOMS, model: tuple(each for each in axioms.AXIOMS[model] if each.name != name)}


def order(model, relation):
    """The axioms with another relation in the axiom of order."""
    kept = (each for each in axioms.AXIOMS[model] if each.name != "order")
    return {**axioms.AXIOMS, model: (*kept, Axiom("order", relation, acyclic))}


def stores(self):
    return self.graph.stores & ~self.graph.ordered(("na",))


def cut_after_the_store(self):
    return identity(stores(self), self.graph.size)


def cut_before_updates(self):
    return union(identity(stores(self), self.graph.size), between(self.graph.stores, self.po_same_word, stores(self)))


def as_in_cxx20(self):
    updated = closure(between(self.graph.stores, self.graph.rf, self.graph.updates))
    return compose(identity(stores(self), self.graph.size), reflexive(updated))


def goes_on_with_any_store(self):
    return union(identity(stores(self), self.graph.size), between(self.graph.stores, self.graph.mo, stores(self)))


def relaxed_releases(self):
    graph = self.graph
    release = graph.ordered(("rlx", "rel", "ar", "sc"))
    return union(identity(release & graph.stores, graph.size), between(release & graph.fences, graph.po, graph.stores))


def only_stores_release(self):
    return identity(self.graph.ordered(("rel", "ar", "sc")) & self.graph.stores, self.graph.size)


def only_loads_acquire(self):
    return identity(self.graph.ordered(("acq", "ar", "sc")) & self.graph.reads, self.graph.size)


def everything_acquires(self):
    graph = self.graph
    acquire = graph.ordered(("acq", "ar", "sc"))
    return union(identity(ALL & graph.reads, graph.size), between(graph.reads, graph.po, acquire & graph.fences))


def one_step(self):
    return union(self.graph.po, self.sw)


def no_seq_cst(self):
    return 0


def no_seq_cst_fences(self):
    return self.graph.ordered(("sc",)) & ~self.graph.fences


def only_seq_cst_fences(self):
    return self.graph.ordered(("sc",)) & self.graph.fences


def no_fence_order(self):
    return (0,) * self.graph.size


def without_hb_between(self):
    return union(self.graph.po, self.graph.mo, self.graph.rb)


def with_all_hb(self):
    return union(self.hb, self.graph.mo, self.graph.rb)


def with_rb_rf(self):
    return union(self.graph.po, self.graph.mo, self.graph.rb, compose(self.graph.rb, self.graph.rf))


def no_reads_before(self):
    return union(self.rf, self.mo)


def half_atomic(self):
    before = [sum(1 << i for i in range(self.size) if self.mo[i] >> u & 1) for u in range(self.size)]
    return not any(self.updates >> u & 1 and self.rb[u] & before[u] for u in range(self.size))


def always_atomic(self):
    return True


def preserved(derived, delayed, early, kept=ALL):
    """Program order without some pairs of stores and loads, and without some events."""
    return tuple(
        (row & ~early if delayed >> i & 1 else row) & kept if kept >> i & 1 else 0
        for i, row in enumerate(derived.graph.po)
    )


def plain_stores(derived):
    return derived.graph.stores & ~derived.graph.updates & ~derived.graph.initial


def plain_loads(derived):
    return derived.graph.mask(lambda event: event.kind == "R")


def fenceless(derived):
    return preserved(derived, plain_stores(derived) & ~derived.sc, plain_loads(derived), ~derived.graph.fences)


def any_fence_is_mfence(derived):
    return preserved(derived, plain_stores(derived) & ~derived.sc, plain_loads(derived))


def seq_cst_store_is_mov(derived):
    return preserved(derived, plain_stores(derived), plain_loads(derived))


def failed_update_is_mov(derived):
    failed = derived.graph.mask(lambda event: event.kind == "C")
    return preserved(derived, plain_stores(derived) & ~derived.sc, plain_loads(derived), ~failed)


def updates_are_mov(derived):
    return preserved(derived, derived.graph.stores & ~derived.graph.initial, derived.graph.reads)


def seq_cst_load_is_fence(derived):
    return preserved(derived, plain_stores(derived) & ~derived.sc, plain_loads(derived) & ~derived.sc)


def with_own_reads(derived):
    return union(axioms.preserved(derived), axioms.communication(derived))


#: The attribute, what replaces it, and a litmus test that notices.
DERIVED = {
    "the release sequence is cut after its first store": ("release_sequence", cut_after_the_store, "MPU+rel+acq"),
    "the release sequence is cut before updates": ("release_sequence", cut_before_updates, "MPU2+rel+acq"),
    "the release sequence is that of C++20": ("release_sequence", as_in_cxx20, "R2"),
    "the release sequence goes on with any store": ("release_sequence", goes_on_with_any_store, "MP+rels+other"),
    "relaxed stores release": ("releasing", relaxed_releases, "MP+rlx+acq"),
    "fences do not release": ("releasing", only_stores_release, "MP+relf+acq"),
    "fences do not acquire": ("acquiring", only_loads_acquire, "MP+rel+acqf"),
    "relaxed loads acquire": ("acquiring", everything_acquires, "MP+rel+rlx"),
    "happens-before is not closed": ("hb", one_step, "ISA2"),
    "seq_cst is acquire and release": ("sc", no_seq_cst, "SB+scs"),
    "seq_cst fences are ignored": ("sc", no_seq_cst_fences, "RWC+syncs"),
    "seq_cst accesses are ignored": ("sc", only_seq_cst_fences, "IRIW+scs"),
    "fences have no order": ("psc_fences", no_fence_order, "RWC+syncs"),
    "scb has no hb": ("scb", without_hb_between, "W+RWC+scs"),
    "scb has all of hb": ("scb", with_all_hb, "IRIW-acq-sc"),
    "scb lets rb be followed by rf": ("scb", with_rb_rf, "IRIW+rel+load_seqs"),
}

MODULE = {
    "updates need not be next to what they read": (Graph, "atomic", property(always_atomic), "two-increments+rlx"),
    "an update may come before what it read": (Graph, "atomic", property(half_atomic), "update-first"),
    "SC forgets rb": (axioms, "communication", lambda d: union(d.graph.rf, d.graph.mo), "SB"),
    "TSO forgets fences": (axioms, "preserved", fenceless, "SB+fences"),
    "any fence is one on x86": (axioms, "preserved", any_fence_is_mfence, "SB+arfences"),
    "a seq_cst store is a mov on x86": (axioms, "preserved", seq_cst_store_is_mov, "SB+scs"),
    "a compare-and-swap that fails is a mov on x86": (axioms, "preserved", failed_update_is_mov, "SB+cas-fails"),
    "updates are not locked on x86": (axioms, "preserved", updates_are_mov, "SB+xchgs+acqs"),
    "a seq_cst load is a fence on x86": (axioms, "preserved", seq_cst_load_is_fence, "SB+store+load_seqs"),
    "TSO keeps reads of one's own store in order": (axioms, "AXIOMS", order("tso", with_own_reads), "SB+rfi-pos"),
    "TSO has no coherence": (axioms, "AXIOMS", without("tso", "coherence"), "CoWR0"),
    "SRA has no order of writes": (axioms, "AXIOMS", without("sra", "write order"), "2+2W"),
    "RC11 has no coherence": (axioms, "AXIOMS", without("rc11", "coherence"), "MP"),
    "RC11 has no seq_cst": (axioms, "AXIOMS", without("rc11", "seq_cst"), "SB+scs"),
}


@pytest.mark.parametrize("name", DERIVED)
def test_a_wrong_relation_is_noticed(name, monkeypatch):
    attribute, replacement, test = DERIVED[name]
    assert isinstance(vars(Derived)[attribute], cached_property)
    monkeypatch.setattr(Derived, attribute, property(replacement))
    assert find(test).differences, name


@pytest.mark.parametrize("name", MODULE)
def test_a_wrong_axiom_is_noticed(name, monkeypatch):
    owner, attribute, replacement, test = MODULE[name]
    monkeypatch.setattr(owner, attribute, replacement)
    assert find(test).differences, name


def test_the_order_of_fences_in_sra_is_noticed(monkeypatch):
    monkeypatch.setattr(Derived, "psc_fences", property(no_fence_order))
    assert "sra" in find("3.2W+fence-order").differences


def test_values_out_of_thin_air_are_noticed(monkeypatch):
    """The explorer never makes such a graph; brute force does."""
    program = find("LB+rlx").program
    before = [models for _, models in allowed_graphs(program)]
    monkeypatch.setattr(axioms, "AXIOMS", without("rc11", "no thin air"))
    after = [models for _, models in allowed_graphs(program)]
    assert sorted(after) == sorted([*before, ("rc11",)])


def test_without_mistakes_nothing_is_noticed():
    assert wrong() == set()


PROGRAMS = [
    "fetch_add x 1 | fetch_add x 1 | load x",
    "load x; store y 1 | load y; store x 1 | store x 2",
    "store x 1 | store x 2 | load x; load x",
    "cas x 0 1; load y | cas x 0 2; store y 1; cas x 1 3",
    "load x; load y | store y 1; store x 1 | store y 2",
    "load x; load y | store y 1 | load y; store x 1",
]


def strange(model="rc11"):
    """The programs of which the explorer misses graphs, visits some twice, or visits what there is not.

    A mistake may make the explorer go on for ever, so only so many graphs are looked at.
    """
    found = []
    for text in PROGRAMS:
        program = parse_program(text)
        wanted = sorted(str(shape(graph)) for graph, models in allowed_graphs(program) if model in models)
        try:
            visited = sorted(str(shape(graph)) for graph in islice(explore(program, model), 200))
        except KeyError:  # a read without its write
            visited = []
        if visited != wanted:
            found.append(text)
    return found


def test_the_explorer_of_these_programs_is_right():
    assert strange() == []


@pytest.mark.parametrize(
    ("attribute", "replacement"),
    [
        ("_maximal", lambda state, number, before: True),
        ("_maximal", lambda state, number, before: False),
        ("_prefix", lambda state, thread: {k for k, step in enumerate(state.steps) if step.thread in (thread, -1)}),
    ],
    ids=["revisits from every graph", "no revisits", "what the write depends on is po alone"],
)
def test_a_wrong_revisit_is_noticed(attribute, replacement, monkeypatch):
    monkeypatch.setattr(exploring, attribute, replacement)
    assert strange()
