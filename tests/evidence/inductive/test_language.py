"""The language of inductive proofs: logic on terms and values, states, and what a bad system is told."""

import gc

import pytest
import z3

from latchfree_evidence.inductive import proving
from latchfree_evidence.inductive.instance import Instance
from latchfree_evidence.inductive.logic import all_of, any_of, choose, implies, negated, same
from latchfree_evidence.inductive.proving import TooManyInstances, prove_system
from latchfree_evidence.inductive.system import Case, Part, System, action, between, conjunct, is_one_of
from latchfree_evidence.inductive.systems.ring_strict import RingStrict


class Tickets(System):
    """Each thread takes a ticket; no two have the same."""

    sorts = {"T": None, "PC": ("idle", "Take", "has")}
    fields = {"next": ((), "Int"), "pc": (("T",), "PC"), "mine": (("T",), "Int")}
    variants = {"read first": "the next ticket is read in one access and written in another"}
    theorem = ("distinct",)
    completes = ("Take",)

    @action("Begin", "T")
    def begin(self, s, t):
        q = s.but(pc=s.pc.set(t, "Take"), mine=s.mine.set(t, s.next))
        return [Case("", is_one_of(s.pc(t), "idle"), q)]

    @action("Take", "T")
    def take(self, s, t):
        ticket = s.mine(t) if self.wrong else s.next
        q = s.but(pc=s.pc.set(t, "has"), mine=s.mine.set(t, ticket), next=ticket + 1)
        return [Case("", is_one_of(s.pc(t), "Take"), q, new=ticket == s.next)]

    @conjunct("T", "T")
    def distinct(self, s, t, u):
        both = all_of(negated(t == u), is_one_of(s.pc(t), "has"), is_one_of(s.pc(u), "has"))
        return implies(both, negated(s.mine(t) == s.mine(u)))

    @conjunct("T")
    def below(self, s, t):
        return implies(is_one_of(s.pc(t), "has"), s.mine(t) < s.next)

    @between()
    def grows(self, s, step, post):
        return post.next >= s.next

    def initially(self, s):
        return {"idle": Part("idle", ("T",), lambda t: is_one_of(s.pc(t), "idle"))}

    def starts(self, domains):
        yield {"next": 0, "pc": "idle", "mine": 0}

    def rank(self, s, t):
        return choose(is_one_of(s.pc(t), "idle"), 2, choose(is_one_of(s.pc(t), "Take"), 1, 0))


def small(system):
    return Instance(system, {"T": ("u", "v")})


def test_logic_reads_terms_and_values():
    x = z3.Bool("x")
    assert all_of() is True
    assert any_of() is False
    assert all_of(True, 2 > 1) is True
    assert all_of(x, False) is False
    assert any_of(x, True) is True
    assert implies(False, x) is True
    assert choose(True, 1, 2) == 1
    assert z3.eq(all_of(True, x), z3.And(x))
    assert z3.eq(negated(x), z3.Not(x))
    assert (same(x, x), same(x, z3.Bool("y")), same(x, True), same(1, 1), same(1, 2)) == (
        True,
        False,
        False,
        True,
        False,
    )


def test_a_system_is_proved():
    induction = prove_system(Tickets())
    assert induction.failures == ()
    # two cases: two conjuncts and a claim about every step; one rank, one claim; and the start
    assert induction.owed == 2 * 3 + 2 + 1 + 2


def test_a_failure_is_a_picture():
    (failure, *_) = prove_system(Tickets("read first")).failures
    assert failure.says == "Take does not keep new"
    assert failure.answer == "refuted"
    lines = failure.picture.splitlines()
    assert lines[0] == failure.says
    assert lines[1].split() == ["shared", "p", "=", "T0"]
    assert lines[3].split() == ["pc", "Take", "->", "has"]


def test_a_wrong_system_runs_into_it():
    run = small(Tickets("read first")).explore(names=Tickets.theorem)
    assert run.broken == "new"
    assert run.path == ("u.Begin", "v.Begin", "u.Take", "v.Take")


def test_a_right_system_runs_to_the_end():
    run = small(Tickets()).explore()
    assert (run.broken, run.whole, run.states) == ("", True, 12)
    assert set(run.taken) == {"Begin", "Take"}


def test_a_limit_of_states_is_no_end():
    run = small(Tickets()).explore(limit=5)
    assert (run.broken, run.whole, run.states) == ("", False, 5)


def test_a_conjunct_that_is_left_out_is_not_assumed():
    assert [f.says for f in prove_system(Tickets(), without="below").failures] == ["Take does not keep distinct"]


def test_no_time_is_no_proof():
    induction = prove_system(RingStrict(), timeout=0.001, stop=1)
    # Z3 may be faster than its clock: an answer is never a wrong one
    assert all(failure.answer == "unknown" for failure in induction.failures)


def test_what_is_not_there_is_named():
    with pytest.raises(ValueError, match="Tickets has no wrong variant 'slow'; it has: read first"):
        Tickets("slow")
    with pytest.raises(ValueError, match="Tickets has no conjunct 'belwo'; it has: distinct, below"):
        prove_system(Tickets(), without="belwo")
    state = small(Tickets()).state({"next": 0, "pc": "idle", "mine": 0})
    with pytest.raises(KeyError, match="nxt"):
        state.but(nxt=1)


def test_too_many_instances_are_said(monkeypatch):
    monkeypatch.setattr(proving, "MOST", 3)
    with pytest.raises(TooManyInstances, match="more than 3 instances"):
        prove_system(Tickets())


class Chain(System):
    """What is below a red node is red; `far` is below what is below."""

    sorts = {"T": None, "N": None}
    fields = {"red": (("N",), "Bool"), "below": (("N",), "N"), "far": (("N",), "N")}
    rigid = ("below", "far")
    variants = {"unnamed": "the node below is not named"}
    rounds = 1

    @action("Look", "T", "N")
    def look(self, s, t, n):
        names = None if self.wrong else Part("names", (), lambda: (s.below(n),))
        return [Case("", s.red(n), s, names=names, far_is_red=s.red(s.far(n)))]

    @action("LookAtAll", "T", "N", "N")
    def look_at_all(self, s, t, n, m):
        names = None if self.wrong else Part("names", ("N",), lambda each: (s.below(each),))
        return [Case("", all_of(s.red(n), s.red(m)), s, names=names, red=all_of(s.red(s.far(n)), s.red(s.far(m))))]

    @conjunct("N")
    def downwards(self, s, n):
        return implies(s.red(n), s.red(s.below(n)))

    def axioms(self, s):
        return {"far": Part("far", ("N",), lambda n: s.far(n) == s.below(s.below(n)))}

    def initially(self, s):
        return {"none": Part("none", ("N",), lambda n: negated(s.red(n)))}


def test_the_invariant_is_assumed_of_what_a_case_names():
    assert prove_system(Chain()).failures == ()
    unnamed = Chain("unnamed")
    assert [each.says for each in prove_system(unnamed).failures] == [
        "Look does not keep far_is_red",
        "LookAtAll does not keep red",
    ]
    assert prove_system(unnamed, rounds=2).failures == ()


def test_no_term_is_left_to_the_garbage_collector(monkeypatch):
    """It may run in another thread, while Z3 works in this one."""
    collecting = False
    left = []

    def watched(cls):
        finalize = cls.__del__

        def watch(self):
            if collecting:
                left.append(type(self))
            finalize(self)

        return watch

    for cls in (z3.AstRef, z3.Solver, z3.ModelRef):
        monkeypatch.setattr(cls, "__del__", watched(cls))
    gc.collect()
    gc.disable()
    try:
        prove_system(Tickets())
        prove_system(Tickets("read first"))
        collecting = True
        gc.collect()
    finally:
        gc.enable()
    assert left == []


def test_a_case_that_another_variant_does_not_have_is_tried_first():
    wrong = prove_system(Tickets("read first"), stop=1, beside=Tickets())
    right = prove_system(Tickets(), beside=Tickets("read first"))
    assert wrong.failures[0].says == "Take does not keep new"
    assert wrong.owed == 1
    assert (right.failures, right.owed) == ((), prove_system(Tickets()).owed)


def test_two_systems_of_one_name_may_have_other_values():
    def named(values):
        return type("Same", (Tickets,), {"sorts": {"T": None, "PC": values}})()

    assert not prove_system(named(("idle", "Take", "has"))).failures
    assert not prove_system(named(("idle", "Take", "has", "waits"))).failures
