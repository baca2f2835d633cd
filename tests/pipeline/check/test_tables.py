"""Fragments: every row comes out as it went in, whatever the batches."""

import json

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from latchfree_lincheck.history.columns import MISSING
from latchfree_model import UNKNOWN
from latchfree_spark.check.judge.batch import unpack
from latchfree_spark.check.judge.decoding import decode
from latchfree_spark.check.tables import FRAGMENTS, LISTS, ROWS, Problem, pack, problems

values = st.none() | st.integers(-3, 3) | st.booleans() | st.text(max_size=2) | st.lists(st.integers(0, 2), max_size=2)
row = st.fixed_dictionaries(
    {
        "history": st.sampled_from(["a", "b", "", "ä"]),
        "model": st.none() | st.sampled_from(["map", "set"]),
        "process": st.integers(0, 2).map(json.dumps) | st.just('"p"'),
        "f": st.sampled_from(["put", "get"]),
        "arguments": st.lists(values, max_size=3).map(json.dumps),
        "result": st.none() | values.map(json.dumps),
        "object": st.none() | st.sampled_from(["x", "y"]),
        "invoke": st.integers(0, 9),
        "return": st.none() | st.integers(10, 19),
    }
)


def freeze(value):
    return tuple(map(freeze, value)) if isinstance(value, list) else value


@given(st.lists(row, min_size=1, max_size=30), st.integers(1, 30))
def test_rows_survive(rows, size):
    rows = [{**each, "place": number} for number, each in enumerate(rows)]
    table = pa.Table.from_pylist(rows, schema=ROWS)
    packed = [pack(table.slice(at, size), 0) for at in range(0, len(rows), size)]
    fragments = pa.Table.from_batches(packed)
    order = sorted(
        range(len(fragments)), key=lambda at: (fragments["history"][at].as_py(), fragments["first"][at].as_py())
    )
    batch = unpack(fragments.take(order))
    expected = {}
    for each in rows:
        expected.setdefault(each["history"], []).append(each)
    assert batch.names == sorted(expected)
    columns, wrong, odd = decode(batch)
    for number, name in enumerate(batch.names):
        low, high = batch.bounds[number : number + 2]
        mine = expected[name]
        models = {each["model"] for each in mine if each["model"]}
        assert batch.models[number] == (" | ".join(sorted(models)) or None)
        for column in LISTS:
            assert batch.rows[column][low:high].to_pylist() == [each[column] for each in mine], column
        for at, each in zip(range(low, high), mine, strict=True):
            assert wrong[at] == (each["return"] is None and each["result"] is not None)
            assert columns.process[at] == json.loads(each["process"])
            assert columns.f[at] == each["f"]
            taken = freeze(json.loads(each["arguments"]))
            assert columns.arguments_of(at) == taken
            assert odd[at] == (repr(columns.arguments_of(at)) != repr(taken))  # true for 1
            assert columns.result[at] == (UNKNOWN if each["result"] is None else freeze(json.loads(each["result"])))
            assert columns.returned[at] == (each["return"] is not None)


def test_rows_out_of_order_are_gathered():
    rows = [{"history": name, "place": place, "invoke": 10 * place} for place, name in enumerate("abab")]
    packed = pack(pa.Table.from_pylist(rows, schema=ROWS), 7)
    assert packed["history"].to_pylist() == ["a", "b"]
    assert packed["place"].to_pylist() == [[0, 2], [1, 3]]
    assert packed["first"].to_pylist() == [0, 1]
    assert packed["file"].to_pylist() == [7, 7]
    assert packed["object"].to_pylist() == [None, None]


def test_what_cannot_be_read_is_wrong_in_its_row_only():
    good = {"history": "h", "process": "0", "f": "get", "arguments": '["k"]', "result": "1", "invoke": 0, "return": 1}
    bad = [
        {"process": "true"}, {"process": "[1]"}, {"process": "{"}, {"process": None}, {"f": None}, {"arguments": '"k"'},
        {"arguments": None}, {"arguments": "[NaN]"}, {"result": "[" * 100_000}, {"invoke": None}, {"return": None},
    ]  # fmt: skip
    rows = [{**good, **each, "place": at} for each in bad for at in (0,)] + [good]
    batch = unpack(pa.Table.from_batches([pack(pa.Table.from_pylist(rows, schema=ROWS), 0)]))
    columns, wrong, _odd = decode(batch)
    assert wrong.tolist() == [True] * len(bad) + [False]
    assert columns.arguments_of(len(bad)) == ("k",)


def test_a_problem_has_no_rows():
    table = pa.Table.from_batches([problems(3, 1, [Problem(9, None, "what", 2), Problem(9, "h", "what")])])
    assert table.schema == FRAGMENTS
    assert [table[name].to_pylist() for name in ("source", "file", "for_chunk")] == [[1, 1], [3, 3], [2, None]]
    batch = unpack(table.slice(1))
    assert (batch.names, batch.problems, batch.bounds.tolist()) == (["h"], ["what"], [0, 0])
    assert not len(decode(batch)[0].invoke)
    assert np.all(decode(batch)[0].result.codes != MISSING)
