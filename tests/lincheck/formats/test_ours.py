"""JSON Lines and Parquet: what is written is read back, and malformed files are named by file and line."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from latchfree_lincheck import History, HistoryFormatError, Operation, read_history, write_history
from latchfree_model import UNKNOWN

ATOMS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
VALUES = st.recursive(ATOMS, lambda inner: st.lists(inner, max_size=3).map(tuple), max_leaves=5)
NAMES = st.text(max_size=5)
TIMES = st.integers(-(2**62), 2**62)


@st.composite
def histories(draw, name):
    operations = []
    for process in draw(st.lists(st.integers(0, 9) | NAMES, max_size=3, unique=True)):
        times = sorted(draw(st.lists(TIMES, max_size=6, unique=True)))
        for invoke, return_ in zip(times[::2], [*times[1::2], None], strict=False):
            result = draw(st.just(UNKNOWN) | VALUES) if return_ is not None else UNKNOWN
            arguments = tuple(draw(st.lists(VALUES, max_size=3)))
            operations.append(
                Operation(process, draw(NAMES), arguments, result, invoke, return_, draw(st.none() | NAMES))
            )
    return History(name, operations, draw(st.none() | NAMES))


@pytest.mark.parametrize("suffix", [".jsonl", ".parquet"])
@settings(max_examples=60, deadline=None, derandomize=True)
@given(data=st.data())
def test_round_trip(data, suffix, tmp_path_factory):
    path = tmp_path_factory.mktemp("histories") / f"some{suffix}"
    names = data.draw(st.lists(NAMES, max_size=3, unique=True))
    written = [history for history in (data.draw(histories(name)) for name in names) if history.operations]
    write_history(path, written)
    assert read_history(path) == written


@pytest.mark.parametrize("suffix", [".jsonl", ".parquet"])
def test_a_snapshot_is_written_as_pairs(suffix, tmp_path):
    path = tmp_path / f"h{suffix}"
    results = [{"a": 1}, frozenset({("a", 1)}), (("a", 1),)]
    operations = [Operation(0, "snapshot", (), result, 2 * turn, 2 * turn + 1) for turn, result in enumerate(results)]
    write_history(path, [History("h", operations)])
    (history,) = read_history(path, model="map")
    assert [operation.result for operation in history.operations] == [(("a", 1),)] * 3
    assert history.model_hint == "map"


GOOD = {"history": "h", "process": 0, "f": "put", "arguments": ["k", 1], "result": None, "invoke": 1, "return": 2}
MALFORMED = [
    ('{"history": ', "a JSON object, got"),
    ("[]", "a JSON object, got []"),
    ("17", "a JSON object, got 17"),
    ('{"history": NaN}', "NaN is not JSON"),
    ("{}", 'expected the field "history", got no field'),
    ({k: v for k, v in GOOD.items() if k != "history"}, 'expected the field "history", got only process'),
    ('{"history": "h", "history": "g"}', "the field 'history' twice"),
    (GOOD | {"result": float("inf")}, "Infinity is not JSON"),
    (GOOD | {"process": None}, 'expected an integer or a string as "process", got None'),
    (GOOD | {"process": True}, 'expected an integer or a string as "process", got True'),
    (GOOD | {"f": 1}, 'expected a string as "f", got 1'),
    (GOOD | {"arguments": "k"}, "expected a list as \"arguments\", got 'k'"),
    (GOOD | {"invoke": 1.5}, 'expected an integer as "invoke", got 1.5'),
    (GOOD | {"return": "2"}, "expected an integer or null as \"return\", got '2'"),
    (GOOD | {"retrun": 2}, 'got "retrun"'),
    (GOOD | {"return": 0}, "put('k', 1) to return at its invocation at 1 or later, got a return at 0"),
    (GOOD | {"return": None}, "no result of put('k', 1), which is pending, got None"),
    (GOOD | {"invoke": 11, "return": 13}, "process 0 to have returned from put('k', 1) of line 1 before its next call"),
    ({field: GOOD[field] for field in GOOD if field != "return"}, 'expected the field "return", got only history'),
]


@pytest.mark.parametrize(("line", "message"), MALFORMED)
def test_malformed_lines_are_named(line, message, tmp_path):
    path = tmp_path / "bad.jsonl"
    text = line if isinstance(line, str) else json.dumps(line)
    path.write_text(f"{json.dumps(GOOD | {'invoke': 10, 'return': 12})}\n\n{text}\n")
    with pytest.raises(HistoryFormatError) as error:
        read_history(path)
    assert str(error.value).startswith(f"{path}:3: expected ")
    assert message in str(error.value)


def test_bytes_that_are_not_text_are_named(tmp_path):
    path = tmp_path / "bad.jsonl"
    path.write_bytes(json.dumps(GOOD).encode() + b'\n{"history": "\xff"}\n')
    with pytest.raises(HistoryFormatError, match=r"bad\.jsonl:2: expected UTF-8 text"):
        read_history(path)


def test_malformed_tables_are_named(tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = tmp_path / "bad.parquet"
    path.write_bytes(b"PAR1 but no more")
    with pytest.raises(HistoryFormatError, match=r"bad\.parquet:1: expected a Parquet file"):
        read_history(path)
    columns = {
        "history": ["h", "h"],
        "process": ["0", "1"],
        "f": ["get", "get"],
        "arguments": ['["k"]', "[1"],
        "result": ["1", None],
        "invoke": [1, 2],
        "return": [3, None],
    }
    pq.write_table(pa.table(columns), path)
    with pytest.raises(HistoryFormatError, match=r"bad\.parquet:2: expected JSON text in column 'arguments'"):
        read_history(path)
    pq.write_table(pa.table(columns | {"invoke": ["1", "2"]}), path)
    with pytest.raises(HistoryFormatError, match=r"expected a column 'invoke' of int64, got string"):
        read_history(path)
    pq.write_table(pa.table({"history": ["h"]}), path)
    with pytest.raises(HistoryFormatError, match=r"expected the column 'process', got only history"):
        read_history(path)
    pq.write_table(pa.table(columns | {"extra": [1, 2]}), path)
    with pytest.raises(HistoryFormatError, match=r"got 'extra'"):
        read_history(path)


def test_what_json_cannot_say_is_refused_and_nothing_is_written(tmp_path):
    path = tmp_path / "h.jsonl"
    history = History("h", [Operation(0, "put", (b"k", 1), None, 1, 2)])
    with pytest.raises(ValueError, match=r"put\(b'k', 1\).*cannot be written as JSON"):
        write_history(path, [history])
    assert not path.exists()


def test_unknown_formats_are_refused(tmp_path):
    path = tmp_path / "h.xyz"
    path.write_text("what is this\n")
    with pytest.raises(HistoryFormatError, match=r"h\.xyz:1: expected one of the formats jsonl, .*got 'what is this'"):
        read_history(path)
    with pytest.raises(ValueError, match=r"no history format is called 'csv' here; choose one of jsonl"):
        read_history(path, "csv")
    with pytest.raises(ValueError, match=r"choose one of jsonl, parquet"):
        write_history(path, [], "jepsen-log")
