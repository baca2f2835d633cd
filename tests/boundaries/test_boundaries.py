"""Every public call with wrong arguments, on objects in every state: a result or an exception, and nothing changed."""

import os

import pytest
from boundary_programs import unknown
from boundary_runs import run

SEED = int(os.environ.get("LATCHFREE_TEST_SEED", "20120225"))
PARTS = 8


def test_somebody_has_said_how_to_make_each_public_call():
    """A new call, or a new parameter, is found by introspection, and named here until it has a right argument."""
    assert unknown() == []


def test_no_public_call_ends_the_process_or_changes_what_it_refuses():
    outcome = run(SEED, 3)
    assert not outcome.findings, "\n\n".join(outcome.findings)
    assert outcome.calls > 1000


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_no_public_call_does_so_with_any_argument(part):
    """All values in all places, and pairs of them: a quarter of a million calls, in parts of several minutes."""
    outcome = run(SEED, 0, part, PARTS)
    assert not outcome.findings, "\n\n".join(outcome.findings)
    assert outcome.calls > 200_000 / PARTS
