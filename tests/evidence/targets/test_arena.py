"""Reclamation and shared free lists under the explorer: every interleaving of small scenarios."""

import pytest

from latchfree_evidence.exploring import explore

EPOCHS = [
    "init: write(1) | read() | write(2); tick(); write(3)",
    "init: write(1) | read() | write(2); tick(); tick(); write(3)",
    "write(1) | read() | tick()",
]
FREE_LIST = [
    "init: push(1); push(2) | pop() | pop(); pop(); push(2) | after: pop()",
    "push(1) | push(2) | pop(); pop() | after: pop(); pop()",
]


@pytest.mark.parametrize("scenario", EPOCHS)
def test_a_node_is_not_used_again_while_somebody_reads_it(scenario):
    result = explore("epochs", scenario=scenario, timeout=600)
    assert (result.verdict, result.complete) == ("ok", True), result.reason


@pytest.mark.parametrize("scenario", FREE_LIST)
def test_a_free_list_is_a_stack(scenario):
    result = explore("free-list", scenario=scenario, timeout=600)
    assert (result.verdict, result.complete) == ("ok", True), result.reason
