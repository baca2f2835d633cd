"""Accesses come when Python makes them, and none is left out: outcomes that depend on each."""

import pytest

pytest.importorskip("greenlet")
pytest.importorskip("numpy")

from racy_order import NEVER, RACES, Shared

from latchfree_explore import explore_threads


def explored(threads, outcome):
    return explore_threads(*threads, setup=Shared, check=lambda it: it.seen != outcome, strategy="dpor", raises=False)


@pytest.mark.parametrize(("threads", "reached"), RACES, ids=lambda each: getattr(each, "__name__", None))
def test_an_outcome_is_found(threads, reached):
    found = explored(threads, reached)
    assert found.verdict == "violation", found.explain()
    assert "the check does not hold" in found.reason


@pytest.mark.parametrize(("threads", "never"), NEVER)
def test_an_outcome_that_cannot_be_is_not_found(threads, never):
    assert explored(threads, never).verdict == "ok"


def test_a_method_that_may_be_replaced_is_told():
    found = explored(RACES[11][0], "object")
    assert "look for Shared.act" in found.explain() or "read Shared.act" in found.explain()
