"""The litmus tests: axioms against the verdicts of the literature, and the explorer against brute force."""

from collections import Counter

import pytest
from random_litmus import shape

from latchfree_explore.weak.axioms import MODELS
from latchfree_explore.weak.brute import allowed_graphs
from latchfree_explore.weak.exploring import explore
from latchfree_explore.weak.outcomes import outcome_of
from latchfree_explore.weak.suite import _verdict, find, load_suite, may_happen

SUITE = load_suite()


@pytest.mark.parametrize("test", SUITE, ids=lambda test: test.name)
def test_the_axioms_say_what_the_literature_says(test):
    assert test.judged == test.expected


@pytest.mark.parametrize("test", SUITE, ids=lambda test: test.name)
def test_the_explorer_visits_the_graphs_of_brute_force_once_each(test):
    wanted = {model: Counter() for model in MODELS}
    outcomes = {model: set() for model in MODELS}
    threads = len(test.program.threads)
    for graph, models in allowed_graphs(test.program):
        for model in models:
            wanted[model][shape(graph)] += 1
            outcomes[model].add(outcome_of(graph, threads))
    for model in MODELS:
        graphs = list(explore(test.program, model))
        assert Counter(map(shape, graphs)) == wanted[model]
        assert {outcome_of(graph, threads) for graph in graphs} == outcomes[model]


def test_the_suite_is_as_large_as_the_page_says():
    assert len(SUITE) == len({test.name.lower() for test in SUITE}) == 144
    verdicts = [verdict for test in SUITE for verdict in test.verdicts.values()]
    assert len(verdicts) == 576
    assert sum(not verdict.source.derived for verdict in verdicts) == 70
    assert len({test.family for test in SUITE}) == 9


def test_no_two_tests_are_the_same_program_and_outcome():
    assert len({(str(test.program), str(test.weak)) for test in SUITE}) == len(SUITE)


def test_what_a_stronger_model_allows_a_weaker_one_allows():
    for test in SUITE:
        assert test.expected == MODELS[len(MODELS) - len(test.expected) :], test.name


def test_a_derivation_that_names_a_test_names_one_with_the_same_verdict():
    names = {test.name.lower(): test for test in SUITE}
    aliases = {"iwp2.8.a": "sb+xchgs+acqs"}
    sources = {verdict.source.name for test in SUITE for verdict in test.verdicts.values()}
    assert {"same-mov", "monotone", "one-writer", "weaker", "stronger"} <= sources
    for test in SUITE:
        for model, verdict in test.verdicts.items():
            if verdict.source.name in ("same-mov", "monotone"):
                other = verdict.detail.split(",")[0].split(";")[0].lower()
                assert names[aliases.get(other, other)].verdicts[model].allowed == verdict.allowed, (test.name, model)
            if verdict.source.name == "one-writer":
                assert test.verdicts["rc11"].allowed == verdict.allowed, test.name
            if verdict.source.name == "weaker":
                assert any(test.verdicts[stronger].allowed for stronger in MODELS[: MODELS.index(model)]), test.name
            if verdict.source.name == "stronger":
                assert not all(test.verdicts[weaker].allowed for weaker in MODELS[MODELS.index(model) + 1 :]), test.name


def test_a_verdict_that_is_wrong_is_a_difference():
    test = find("sb")
    assert test.name == "SB"
    wrong = {**test.verdicts, "tso": test.verdicts["tso"]._replace(allowed=False)}
    assert type(test)(test.name, test.family, test.program, test.weak, wrong).differences == ("tso",)
    assert may_happen(test.program, test.weak, "tso")


def test_a_name_that_is_none_is_refused_with_similar_ones():
    with pytest.raises(ValueError, match=r"no litmus test 'IRIV'; similar: IRIW"):
        find("IRIV")
    with pytest.raises(ValueError, match=r"no litmus test 'zzzzzzz'$"):
        find("zzzzzzz")


@pytest.mark.parametrize("text", ["perhaps: x86tso", "allowed: nowhere", "allowed"])
def test_a_verdict_without_a_source_is_refused(text):
    sources = {"x86tso": next(iter(SUITE[0].verdicts.values())).source}
    with pytest.raises(ValueError, match=r"is not like 'allowed: SOURCE"):
        _verdict(text, sources)
