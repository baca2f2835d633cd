"""Scenarios as text, and what is refused."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from latchfree_evidence.targets.ctrie import CTRIE
from latchfree_explore import Invocation, Scenario

_calls = st.lists(
    st.builds(Invocation, st.sampled_from(["put", "get"]), st.lists(st.integers(-9, 300), max_size=3).map(tuple)),
    min_size=1,
    max_size=3,
).map(tuple)


@given(
    st.lists(_calls, min_size=1, max_size=4).map(tuple), st.one_of(st.just(()), _calls), st.one_of(st.just(()), _calls)
)
def test_text_and_back(threads, before, after):
    scenario = Scenario(threads, before, after, "list")
    assert Scenario.parse(str(scenario)) == scenario


def test_the_form_of_the_documentation():
    scenario = Scenario.parse("init: put(1, 10) | put(1,11); get(2) | remove(1) | after: snapshot | keys: list")
    assert scenario.before == (Invocation("put", (1, 10)),)
    assert scenario.threads == ((Invocation("put", (1, 11)), Invocation("get", (2,))), (Invocation("remove", (1,)),))
    assert scenario.after == (Invocation("snapshot"),)
    assert scenario.keys == "list"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("put(1", "expected an operation"),
        ("put(1, x)", "arguments are integers"),
        ("", "expected an operation"),
        ("get(1) | | get(2)", "expected an operation"),
        ("begin: get(1) | get(2)", "init:, after: or keys:"),
        ("init: get(1) | init: get(2) | get(3)", "once each"),
        ("init: get(1)", "from 1 to 8 threads"),
        ("|".join(["get(1)"] * 9), "from 1 to 8 threads"),
        (";".join(["get(1)"] * 63), "at most 62 operations"),
    ],
)
def test_malformed_text(text, why):
    with pytest.raises(ValueError, match=why):
        Scenario.parse(text)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("fly(1)", "no operation 'fly'"),
        ("put(1)", "takes 2 argument"),
        ("get(8)", "key is from 0 to 7"),
        ("put(1, 255)", "value is from 0 to 254"),
        ("get(1) | keys: nowhere", "no key layout 'nowhere'"),
    ],
)
def test_what_the_ctrie_refuses(text, why):
    with pytest.raises(ValueError, match=why):
        CTRIE.validate(Scenario.parse(text))


def test_random_scenarios_are_valid_and_repeatable():
    for seed in range(200):
        scenario = CTRIE.generate(random.Random(seed))
        CTRIE.validate(scenario)
        assert scenario == CTRIE.generate(random.Random(seed))


def test_smaller_scenarios_lack_one_operation_each():
    scenario = Scenario.parse("init: get(1) | get(2); get(3) | get(4) | after: get(5)")
    smaller = scenario.smaller()
    assert len(smaller) == 5
    assert all(len(each.operations) == 4 for each in smaller)
