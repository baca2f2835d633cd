"""Arguments of generated tests with which nothing would be tried, or something else: refused by name."""

import pytest

pytest.importorskip("hypothesis")

from hypothesis import strategies as st

from latchfree_lincheck.testing import linearizable, stateful


class Counter:
    def __init__(self):
        self.value = 0

    def add(self, n):
        self.value += n
        return self.value - n

    def read(self):
        return self.value


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"seconds": 0}, "seconds must be above 0, got 0; fix: "),
        ({"seconds": -5}, "seconds must be above 0, got -5; fix: "),
        ({"seconds": "x"}, "seconds must be a number above 0, got 'x'; fix: "),
        ({"seconds": float("nan")}, "seconds must be above 0, got nan"),
        ({"shrink_seconds": -1}, "shrink_seconds must be at least 0, got -1"),
        ({"yielding": 2}, "yielding must be from 0 to 1, got 2"),
        ({"seed": -1}, "seed must be at least 0, got -1; fix: seed=1 or more"),
        ({"seed": "x"}, "seed must be a whole number, got 'x'"),
        ({"threads": "x"}, "threads must be a whole number, got 'x'"),
        ({"threads": 1.5}, "threads must be a whole number, got 1.5"),
        ({"threads": True}, "threads must be a whole number, got True"),
        ({"threads": 0}, "threads must be at least 1, got 0"),
        ({"threads": (3, 2)}, r"got \(3, 2\); fix: threads=\(2, 3\)"),
        ({"threads": (1, 2, 3)}, "threads must be a whole number or two of them"),
        ({"most_calls": 0}, "most_calls must be at least 1, got 0"),
        ({"most_calls": 1.5}, "most_calls must be a whole number, got 1.5"),
        ({"programs": 0}, "programs must be at least 1, got 0"),
        ({"repeats": 0}, "repeats must be at least 1, got 0"),
        ({"operations": "add"}, r"operations must be a list of names, got 'add'; fix: operations=\["),
        ({"operations": []}, "operations has no name, so nothing would be called; fix: "),
        ({"operations": 3}, "operations must be a list of names, got 3"),
        ({"arguments": {"add": 3}}, r"arguments\['add'\] must be a tuple of strategies, got 3; fix: "),
        ({"arguments": {"add": "x"}}, r"arguments\['add'\] must be a tuple of strategies, got 'x'"),
        ({"arguments": {"add": (3,)}}, r"arguments\['add'\] must be a tuple of strategies, got 3 in it"),
        ({"arguments": 3}, "arguments must be a mapping of operations, got int"),
        ({"methods": ["add"]}, "methods must be a mapping of operations, got list"),
        ({"methods": {"add": 3}}, r"methods\['add'\] must be a name or a function, got 3"),
    ],
)
@pytest.mark.parametrize("explore", [None, "free"])
def test_what_makes_no_sense_is_refused(given, says, explore):
    with pytest.raises((TypeError, ValueError), match=says):
        linearizable("counter", explore=explore, **given)


def test_stateful_refuses_the_same():
    for given in ({"programs": 0}, {"most_calls": 0}, {"operations": []}, {"arguments": {"add": 3}}):
        with pytest.raises((TypeError, ValueError), match=next(iter(given))):
            stateful("counter", Counter, **given)


def test_what_makes_sense_is_taken():
    limits = {
        "seconds": 1,
        "shrink_seconds": 0,
        "yielding": 0.5,
        "seed": 0,
        "threads": [1, 2],
        "programs": 1,
        "repeats": 1,
    }
    test = linearizable("counter", operations={"add"}, arguments={"add": [st.integers(1, 2)]}, most_calls=1, **limits)
    test(Counter)()
