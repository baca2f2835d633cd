"""The parser of TLA+ values: each kind, round trips of random values, and malformed text."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from latchfree_model.tlc.values import Function, ModelValue, Value, parse_value, show, to_json

NAMES = st.from_regex(r"[a-z][a-z0-9_]{0,5}", fullmatch=True)
ATOMS = st.integers() | st.booleans() | st.text('abc "\\|->{<[(', max_size=6) | NAMES.map(ModelValue)


def record(fields: dict[str, Value]) -> Value:
    """Return a record."""
    return Function({**fields})


def compound(inner: st.SearchStrategy[Value]) -> st.SearchStrategy[Value]:
    """Strategies for sequences, sets, records and functions of values."""
    return (
        st.lists(inner, max_size=3).map(tuple)
        | st.frozensets(inner, max_size=3)
        | st.dictionaries(NAMES, inner, min_size=1, max_size=3).map(record)
        | st.dictionaries(inner, inner, min_size=1, max_size=3).map(Function)
    )


@given(st.recursive(ATOMS, compound, max_leaves=12))
def test_round_trip(value: Value) -> None:
    text = show(value)
    assert parse_value(text) == value
    assert show(parse_value(text)) == text
    assert json.loads(json.dumps(to_json(value))) == to_json(value)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("-3", -3),
        ("1..3", frozenset({1, 2, 3})),
        ("3..1", frozenset()),
        ("FALSE", False),
        (r'"a \"quoted\" text"', 'a "quoted" text'),
        ("w1", ModelValue("w1")),
        ("<<>>", ()),
        ('<<1, <<2, "x">>>>', (1, (2, "x"))),
        ("{{}, {m}}", frozenset({frozenset(), frozenset({"m"})})),
        ("[a |-> 1, b |-> [c |-> <<>>]]", {"a": 1, "b": {"c": ()}}),
        ("( a :> 1 @@\n  b :> {2} )", {"a": 1, "b": frozenset({2})}),
        ("{[s |-> {}, r |-> (m :> <<>>)]}", frozenset({Function({"s": frozenset(), "r": Function({"m": ()})})})),
    ],
)
def test_values(text: str, value: object) -> None:
    assert parse_value(text) == value


def test_model_values_are_told_from_strings_when_shown() -> None:
    assert show(parse_value('<<w1, "w1">>')) == '<<w1, "w1">>'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "expected a TLA\\+ value, got the end"),
        ("<<1, 2", "got the end"),
        ("[a -> 1]", "column 4: expected a TLA\\+ value"),
        ("[a |-> 1 b |-> 2]", "column 10: expected ',', got 'b'"),
        ("{1} {2}", "expected the end of the value, got '{'"),
        ("(1 @@ 2)", "expected ':>'"),
        ("1..x", "expected the upper end of an interval"),
    ],
)
def test_malformed(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        parse_value(text)


def test_function_is_a_hashable_mapping() -> None:
    function = parse_value("(1 :> 2 @@ 3 :> 4)")
    assert isinstance(function, Function)
    assert function == {1: 2, 3: 4}
    assert hash(function) == hash(Function({3: 4, 1: 2}))
    assert to_json(function) == [[1, 2], [3, 4]]
