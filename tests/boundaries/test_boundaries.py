"""Every public call with wrong arguments, on objects in every state: a result or an exception, and nothing changed."""

import inspect
import os

import pytest
from boundary_programs import unknown
from boundary_runs import run
from boundary_surface import METHODS, resolve, surface

SEED = int(os.environ.get("LATCHFREE_TEST_SEED", "20120225"))
PARTS = 24


def test_somebody_has_said_how_to_make_each_public_call():
    """A new call, or a new parameter, is found by introspection, and named here until it has a right argument."""
    assert unknown() == []


def test_what_is_called_is_not_taken_for_a_property():
    """The methods of a map are compiled: no functions of Python, but called with arguments all the same."""
    properties = [each for each in surface() if each.kind == "property"]
    static = (inspect.getattr_static(resolve(each.owner), each.name) for each in properties)
    assert [each.label for each, what in zip(properties, static, strict=True) if isinstance(what, METHODS)] == []
    called = {each.name for each in surface() if each.owner.endswith(".Ctrie") and each.kind == "method"}
    assert {"__getitem__", "__setitem__", "__delitem__", "__contains__", "get", "put", "replace"} <= called


def test_no_public_call_ends_the_process_or_changes_what_it_refuses():
    outcome = run(SEED, 3)
    assert not outcome.findings, "\n\n".join(outcome.findings)
    assert outcome.calls > 1000


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_no_public_call_does_so_with_any_argument(part):
    """All values in all places, and pairs of them: more than 400,000 calls, in parts of some minutes."""
    outcome = run(SEED, 0, part, PARTS)
    assert not outcome.findings, "\n\n".join(outcome.findings)
    assert outcome.calls > 400_000 / PARTS
