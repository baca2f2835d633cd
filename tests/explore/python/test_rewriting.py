"""Rewritten functions do what the functions do: results and errors of many snippets, plain and explored."""

import binding_snippets
import generator_snippets
import library_snippets
import names_snippets
import order_snippets
import pytest

pytest.importorskip("greenlet")

from latchfree_explore import explore_threads

MODULES = [names_snippets, binding_snippets, order_snippets, generator_snippets, library_snippets]
SNIPPETS = [each for module in MODULES for each in module.SNIPPETS]


class Result:
    text = None


def reset():
    names_snippets.reset()
    binding_snippets.reset()


def outcome(function):
    try:
        return repr(function())
    except Exception as error:
        return f"{type(error).__name__}: {error}"


@pytest.mark.parametrize("switches", ["free", "gil"])
@pytest.mark.parametrize("snippet", SNIPPETS, ids=lambda each: each.__name__)
def test_an_explored_function_returns_what_it_returns(snippet, switches):
    reset()
    plain = outcome(snippet)
    reset()

    def body(result):
        result.text = outcome(snippet)

    seen = []
    found = explore_threads(
        body, setup=Result, check=lambda result: seen.append(result.text), strategy="dpor", switches=switches
    )
    assert found.complete
    assert set(seen) == {plain}
