"""Every kind of malformed input, in every format that can hold it, has its own error with file and line."""

import json

import pytest

from latchfree_lincheck import HistoryFormatError, read_history

GOOD = {"history": "h", "process": 0, "f": "write", "arguments": [1], "result": None, "invoke": 1, "return": 2}


def records(*changes):
    """Return records of operations one after the other, changed."""
    return [GOOD | {"invoke": 10 * t, "return": 10 * t + 5} | change for t, change in enumerate(changes)]


def write_jsonl(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def write_parquet(path, rows):
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns = {field: [row.get(field) for row in rows] for field in GOOD}
    for field in ("process", "arguments", "result"):
        columns[field] = [json.dumps(row[field]) if field in row else None for row in rows]
    kinds = {"invoke": pa.int64(), "return": pa.int64()}
    schema = pa.schema([(field, kinds.get(field, pa.string())) for field in GOOD])
    pq.write_table(pa.table(columns, schema=schema), path)


RECORDS = {
    "overlapping operations of one process": (
        records({}, {"invoke": 4, "return": 8}),
        2,
        "process 0 to have returned from write(1) of line 1 before its next call, got write(1) invoked at 4, not after",
    ),
    "a call after one that never returned": (
        records({"return": None}, {}),
        2,
        "no call of process 0 after write(1) of line 1, which is pending, got write(1); give the process a new name",
    ),
    "a return before the invocation": (
        records({}, {"return": 3}),
        2,
        "write(1) to return at its invocation at 10 or later, got a return at 3",
    ),
    "the same invocation twice": (
        records({}, {}, {"invoke": 10, "return": 15, "arguments": [2]}),
        3,
        "one operation of process 0 invoked at 10, got write(2) and, on line 2, write(1)",
    ),
    "an unknown operation": (
        records({}, {"f": "push"}),
        2,
        "a call of the model 'register', got push(1): the model 'register' has no operation 'push'; it has read, write",
    ),
    "a wrong number of arguments": (
        records({}, {}, {"f": "read"}),
        3,
        "a call of the model 'register', got read(1): 'read' of 'register' takes 0 argument(s)",
    ),
    "a pending operation with a result": (
        records({}, {"return": None, "result": 7}),
        2,
        "no result of write(1), which is pending, got 7",
    ),
}
WRITERS = {"jsonl": write_jsonl, "parquet": write_parquet}


@pytest.mark.parametrize("defect", RECORDS)
@pytest.mark.parametrize("format", WRITERS)
def test_records(format, defect, tmp_path):
    rows, line, message = RECORDS[defect]
    pending = [("result" in row and row["return"] is None and row["result"] is None) for row in rows]
    for row, drop in zip(rows, pending, strict=True):
        if drop:
            del row["result"]
    path = tmp_path / f"bad.{format}"
    WRITERS[format](path, rows)
    with pytest.raises(HistoryFormatError) as error:
        read_history(path, model="register")
    assert str(error.value).startswith(f"{path}:{line}: expected ")
    assert message in str(error.value)
    assert error.value.line == line


def log(*events):
    """Write events (process, type, f, value) as each of the event formats does."""
    return {
        "jepsen-log": "".join(f"INFO  jepsen.util - {p}\t:{kind}\t:{f}\t{value}\n" for p, kind, f, value in events),
        "jepsen-edn": "".join(
            f"{{:process {p}, :type :{kind}, :f :{f}, :value {value}, :index {index}}}\n"
            for index, (p, kind, f, value) in enumerate(events)
        ),
        "porcupine-kv": "".join(
            f'{{:process {p}, :type :{kind}, :f :{kv[f]}, :key "k", :value {json.dumps(str(value))}}}\n'
            for p, kind, f, value in events
            for kv in [{"write": "put", "read": "get", "push": "push", "cas": "cas"}]
        ),
    }


BEGUN = (0, "invoke", "write", 1)
EVENTS = {
    "overlapping operations of one process": (
        log(BEGUN, (0, "invoke", "write", 2)),
        2,
        ("the return of process 0's write of line 1", "the return of process 0's put of line 1"),
    ),
    "a call after one that never returned": (
        log(BEGUN, (0, "info", "write", 1), (0, "invoke", "write", 2)),
        3,
        ("no call of process 0 after write(1) of line 1", "no call of process 0 after put('k', '1') of line 1"),
    ),
    "a return before the invocation": (
        log((1, "ok", "write", 1), (1, "invoke", "write", 1)),
        1,
        ("process 1 to be running a write, got no invocation", "process 1 to be running a put, got no invocation"),
    ),
    "the same return twice": (
        log(BEGUN, (0, "ok", "write", 1), (0, "ok", "write", 1)),
        3,
        ("process 0 to be running a write, got no invocation", "process 0 to be running a put, got no invocation"),
    ),
    "the return of another operation": (
        log(BEGUN, (0, "ok", "read", 1)),
        2,
        ("process 0 to be running a read, got a write of line 1", "to be running a get, got a put of line 1"),
    ),
    "an unknown operation": (
        log(BEGUN, (1, "invoke", "push", 1)),
        2,
        (":read, :write or :cas, got :push", ":get, :put or :append, got :push"),
    ),
    "an unknown type": (
        log((0, "begin", "write", 1)),
        1,
        (":invoke, :ok, :fail or :info, got :begin",) * 2,
    ),
}


@pytest.mark.parametrize("defect", EVENTS)
@pytest.mark.parametrize("format", ["jepsen-log", "jepsen-edn", "porcupine-kv"])
def test_events(format, defect, tmp_path):
    texts, line, messages = EVENTS[defect]
    path = tmp_path / "bad.log"
    path.write_text(texts[format])
    with pytest.raises(HistoryFormatError) as error:
        read_history(path)
    assert str(error.value).startswith(f"{path}:{line}: expected ")
    assert messages[format == "porcupine-kv"] in str(error.value)


@pytest.mark.parametrize(
    ("event", "message"),
    [
        ("{:process 0, :type :ok, :f :read, :index 5}", "greater than 5, that of line 1, got 5"),
        ("{:process 0, :type :ok, :f :read, :index 4}", "got 4"),
        ("{:process :nemesis, :index 2}", "got 2"),
        ("{:process 0, :index :x}", "an integer as :index, got :x"),
    ],
)
def test_indices_of_edn_histories_grow(event, message, tmp_path):
    path = tmp_path / "h.edn"
    path.write_text("{:process 0, :type :invoke, :f :read, :index 5}\n" + event)
    with pytest.raises(HistoryFormatError, match=r"h\.edn:2: expected an .*:index") as error:
        read_history(path)
    assert message in str(error.value)


WHOLE = {
    "jsonl": "".join(json.dumps(row) + "\n" for row in records({}, {})),
    **log(BEGUN, (0, "ok", "write", 1)),
}


@pytest.mark.parametrize("format", WHOLE)
def test_a_half_written_last_line(format, tmp_path):
    lines = WHOLE[format].splitlines()
    path = tmp_path / "cut"
    cuts = range(17, len(lines[-1]) + 1) if format == "jepsen-log" else range(1, len(lines[-1]))
    for cut in cuts:
        path.write_text("\n".join([*lines[:-1], lines[-1][:cut]]))
        with pytest.raises(HistoryFormatError) as error:
            read_history(path, format)
        assert str(error.value).startswith(f"{path}:{len(lines)}: expected "), cut
    if format == "jsonl":
        assert "a JSON object on the last line, ended by a newline, got" in str(error.value)
        assert "which is cut off" in str(error.value)


def test_a_half_written_table(tmp_path):
    path = tmp_path / "cut.parquet"
    write_parquet(path, records({}, {}))
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(HistoryFormatError, match=r"cut\.parquet:1: expected a Parquet file"):
        read_history(path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"invoke": 2**70}, 'a 64-bit integer as "invoke"'),
        ({"return": 2**70}, 'a 64-bit integer as "return"'),
        ({"arguments": json.loads("[" * 300 + "]" * 300)}, None),
    ],
)
def test_extremes(change, message, tmp_path):
    path = tmp_path / "h.jsonl"
    write_jsonl(path, records({}, {"process": 1} | change))
    if message is None:
        assert len(read_history(path)[0]) == 2
        return
    with pytest.raises(HistoryFormatError, match=message):
        read_history(path)


def test_nesting_without_end(tmp_path):
    path = tmp_path / "h.jsonl"
    path.write_text('{"arguments": ' + "[" * 900 + "]" * 900 + "}\n" + "[" * 100_000)
    with pytest.raises(HistoryFormatError, match=r"h\.jsonl:1: expected"):
        read_history(path)
    path.write_text("{:a " + "[" * 100_000)
    with pytest.raises(HistoryFormatError, match="at most 100 nested collections"):
        read_history(path)


def test_names_are_no_arguments(tmp_path):
    path = tmp_path / "h.edn"
    path.write_text("{:process 0, :type :invoke, :f :write, :value [{:a 1}]}\n")
    with pytest.raises(HistoryFormatError, match=r"h\.edn:1: expected the value to write"):
        read_history(path)


def test_a_model_of_ones_own_is_not_looked_at(tmp_path):
    path = tmp_path / "h.jsonl"
    write_jsonl(path, records({"f": "frobnicate"}))
    assert read_history(path, model="mine")[0].model_hint == "mine"
    assert read_history(path)[0].model_hint is None


@pytest.mark.parametrize(
    "change",
    [
        {"invoke": True},
        {"return": 99.0},
        {"process": None},
        {"arguments": "1"},
        {"object": 1},
        {"extra": 1},
        {"invoke": 1 << 64},
        {"result": float("inf")},
        {"arguments": [[[1e999]]]},
        {"history": ...},
    ],
    ids=repr,
)
def test_one_wrong_record_after_many_that_are_alike(change, tmp_path):
    rows = records(*[{}] * 6)
    rows[5] = {field: value for field, value in (rows[5] | change).items() if value is not ...}
    write_jsonl(tmp_path / "h", rows)
    with pytest.raises(HistoryFormatError, match=r"h:6: expected ") as error:
        read_history(tmp_path / "h", "jsonl")
    assert error.value.line == 6
    write_jsonl(tmp_path / "h", rows[:5])
    assert len(read_history(tmp_path / "h", "jsonl")[0]) == 5


def test_names_after_records_without(tmp_path):
    rows = records(*[{}] * 3)
    for row in rows[:2]:
        del row["history"]
    write_jsonl(tmp_path / "h", rows)
    with pytest.raises(HistoryFormatError, match='h:3: expected no "history"'):
        read_history(tmp_path / "h", "jsonl")
