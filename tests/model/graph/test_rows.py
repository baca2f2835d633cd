"""Rows of texts say the same as the states that TLC prints."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from latchfree_model.graph.rows import Rows, pieces
from latchfree_model.tlc.trace import parse_variables
from latchfree_model.tlc.values import Function, parse_value, show

NAMES = st.sampled_from(["a", "b", "pc", "x1"])
ATOMS = st.one_of(st.integers(-5, 5), st.booleans(), st.text('ab"\\,>]', max_size=4))
VALUES = st.recursive(
    ATOMS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(tuple),
        st.frozensets(inner, max_size=3),
        st.dictionaries(NAMES, inner, min_size=1, max_size=3).map(Function),
        st.dictionaries(st.integers(0, 9), inner, min_size=1, max_size=3).map(Function),
    ),
    max_leaves=12,
)


@given(VALUES)
def test_pieces_are_the_parts_of_the_value(value: object) -> None:
    text = show(value)
    cut = pieces(text)
    if isinstance(value, Function):
        keys = [key if isinstance(key, str) else show(key) for key in value]
        assert [(argument, parse_value(part)) for argument, part in cut] == list(zip(keys, value.values(), strict=True))
    elif isinstance(value, tuple):
        assert [parse_value(part) for _, part in cut] == list(value)
    else:
        assert cut is None


@given(st.lists(st.tuples(VALUES, VALUES, ATOMS), min_size=1, max_size=4))
def test_states_are_what_was_added(states: list[tuple[object, object, object]]) -> None:
    rows = Rows()
    texts = [
        f"/\\ L = [ w |->\n      {show(one)},\n  u |-> {show(other)} ]\n/\\ x = {show(third)}"
        for one, other, third in states
    ]
    assert [rows.add(text) for text in texts] == list(range(len(texts)))
    assert [rows.state(number) for number in range(len(texts))] == [parse_variables(text) for text in texts]
    assert rows.processes == ("w", "u")
    part = rows.part([len(texts) - 1])
    assert part.state(0) == parse_variables(texts[-1])
    assert len(rows) == len(texts)


@pytest.mark.parametrize(
    ("text", "processes", "value"),
    [
        ('pc = (1 :> "a" @@ 2 :> "b")', (1, 2), Function({1: "a", 2: "b"})),
        ('pc = <<"a", "b">>', (1, 2), ("a", "b")),
        ('pc = [w |-> "a"]', ("w",), Function({"w": "a"})),
        ("pc = 3", (), 3),
    ],
)
def test_processes_in_plus_cal(text: str, processes: tuple[object, ...], value: object) -> None:
    rows = Rows()
    rows.add(text)
    assert rows.processes == processes
    assert rows.state(0) == {"pc": value}


def test_equal_texts_are_kept_once() -> None:
    rows = Rows()
    rows.add('/\\ L = [w |-> [pc |-> "a"], u |-> [pc |-> "b"]]\n/\\ x = 1')
    rows.add('/\\ L = [w |-> [pc |-> "a"], u |-> [pc |-> "c"]]\n/\\ x = 1')
    same = [one is other for one, other in zip(rows[0], rows[1], strict=True)]
    assert same == [True, False, True]


def test_other_variables_and_other_processes() -> None:
    rows = Rows()
    rows.add("/\\ L = [w |-> 1]\n/\\ x = 1")
    with pytest.raises(ValueError, match="expected the variables L, x, got y"):
        rows.add("y = 1")
    with pytest.raises(ValueError, match="L: expected the processes w, got"):
        rows.add("/\\ L = [u |-> 1]\n/\\ x = 1")
    assert len(rows) == 1
