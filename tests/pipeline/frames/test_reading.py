"""Histories at a URI are those that the library reads from the files; what is wrong is told, and nothing is lost."""

import bz2
import gzip
import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pipeline_jobs import put_and_get, run
from typer.testing import CliRunner

from latchfree_cli import exits
from latchfree_cli.app import app
from latchfree_lincheck import write_history
from latchfree_spark.check import BadInput, JobRefused, Options, check_files
from latchfree_spark.errors import in_a_line
from latchfree_spark.frames.uris import check_uris
from latchfree_spark.hadoop import is_below

OPTIONS = Options("map", saved=2)
PUT = {"process": 0, "f": "put", "arguments": ["x", 1], "result": None, "invoke": 0, "return": 1}
GET = {"process": 1, "f": "get", "arguments": ["x"], "result": 1, "invoke": 4, "return": 5}


def lines(**histories):
    """Return lines of JSON, one operation for each history."""
    return "".join(json.dumps({"history": name, **call}) + "\n" for name, call in histories.items())


def judged(spark, out, *inputs, **more):
    """Return the verdicts of a job at URIs, by source and history."""
    done = check_uris(
        spark, [each if "://" in str(each) else f"file://{each}" for each in inputs], f"file://{out}", **more
    )
    rows = spark.read.parquet(f"file://{out}/verdicts").collect()
    assert done.histories == len(rows)
    return {(row["source"], row["history"]): row["verdict"] for row in rows}


@pytest.fixture
def lone_get(tmp_path):
    """A folder with the same two histories, one of them a violation, in files of all kinds."""
    home = tmp_path / "in"
    home.mkdir()
    text = lines(h0=PUT, h1=GET)
    (home / "a.jsonl").write_text("\ufeff" + text.replace("\n", "\r\n"))
    (home / "b.json").write_text(text)
    (home / "RUN.JSONL").write_text(text)
    (home / "none").write_text(text)
    (home / "c.jsonl.gz").write_bytes(gzip.compress(text.encode()))
    (home / "d.json.gz").write_bytes(gzip.compress(text.encode()))
    (home / "e.jsonl.bz2").write_bytes(bz2.compress(text.encode()))
    with pa.output_stream(str(home / "f.jsonl.zst"), compression="zstd") as file:
        file.write(text.encode())
    with pa.output_stream(str(home / "g.ndjson.lz4"), compression="lz4") as file:
        file.write(text.encode())
    write_history(tmp_path / "x.parquet", [put_and_get("h1", seen=9), put_and_get("h0")])
    for name in ("h.parquet", "i.PARQUET", "plain"):
        (home / name).write_bytes((tmp_path / "x.parquet").read_bytes())
    return home


def test_every_format_has_its_histories(spark, tmp_path, lone_get):
    found = judged(spark, tmp_path / "out", lone_get, options=OPTIONS)
    names = sorted(file.name for file in lone_get.iterdir())
    assert len(names) == 12
    assert found == {(name, f"h{number}"): ("ok", "violation")[number] for name in names for number in (0, 1)}
    local = run(spark, [lone_get], tmp_path / "local", OPTIONS, chunks=2)
    assert (local.histories, local.verdicts["violation"]) == (24, 12)


def test_only_parts_of_one_job_are_one_source(spark, tmp_path):
    (tmp_path / "in").mkdir()
    for name, call in (("part-a", PUT), ("part.b", GET), ("part-00000-x", PUT), ("part-r-00001", GET)):
        (tmp_path / "in" / f"{name}.jsonl").write_text(lines(h0=call))
    found = judged(spark, tmp_path / "out", tmp_path / "in", options=OPTIONS)
    assert found == {("part-a.jsonl", "h0"): "ok", ("part.b.jsonl", "h0"): "violation", ("in/", "h0"): "ok"}


def test_a_field_that_no_operation_has_is_told(spark, tmp_path):
    wrong = {("reslt" if name == "result" else name): value for name, value in GET.items()}
    (tmp_path / "x.jsonl").write_text(lines(h0=PUT, h1=wrong))
    with pytest.raises(BadInput, match=r'x\.jsonl: expected the fields history, .*, got "reslt"'):
        check_uris(spark, [f"file://{tmp_path}/x.jsonl"], f"file://{tmp_path}/out", OPTIONS)


@pytest.mark.parametrize("column", ["result", "return", "f"])
def test_a_column_that_one_file_lacks_is_told(spark, tmp_path, column):
    (tmp_path / "in").mkdir()
    for name in "ab":
        write_history(tmp_path / "in" / f"{name} +%.parquet", [put_and_get("h0", seen=9)])
    file = tmp_path / "in" / "b +%.parquet"
    pq.write_table(pq.read_table(file).drop_columns([column]), file)
    told = 'h0: .* expected a string as "f"' if column == "f" else f"expected the column '{column}'"
    text = rf"b \+%\.parquet: {told}"
    with pytest.raises(BadInput, match=text):
        check_uris(spark, [f"file://{tmp_path}/in"], f"file://{tmp_path}/out", OPTIONS)
    found = judged(spark, tmp_path / "out", tmp_path / "in", options=OPTIONS, keep_going=True)
    assert found[("a +%.parquet", "h0")] == "violation"
    assert {verdict for (source, _), verdict in found.items() if source.startswith("b")} <= {"error"}


def test_a_file_is_read_once_however_it_is_named(spark, tmp_path):
    (tmp_path / "runs").mkdir()
    (tmp_path / "other").mkdir()
    (tmp_path / "runs" / "x.jsonl").write_text(lines(h0=PUT, h1=GET))
    first = judged(spark, tmp_path / "out", tmp_path / "runs", options=OPTIONS)
    again = check_uris(spark, [f"file://{tmp_path}/other/../runs//"], f"file://{tmp_path}/out", OPTIONS)
    assert (len(first), again.histories, again.known) == (2, 2, 2)
    home = tmp_path / "runs"
    both = check_uris(spark, [f"file://{home}", f"file://{home}/x.jsonl"], f"file://{tmp_path}/both", OPTIONS)
    assert both.histories == 2
    twice = [home, tmp_path / "other" / ".." / "runs"]
    local = run(spark, twice, tmp_path / "local", OPTIONS, chunks=2)
    assert local.histories == 2


def test_an_output_among_the_inputs_is_refused(spark, tmp_path):
    home = tmp_path / "in"
    home.mkdir()
    (home / "x.jsonl").write_text(lines(h0=PUT))
    for out in (home, home / "out", home / "other" / ".." / "out"):
        with pytest.raises(JobRefused, match="is among the inputs"):
            check_uris(spark, [f"file://{home}"], f"file://{out}", OPTIONS)
        with pytest.raises(JobRefused, match="is among the inputs"):
            run(spark, [home], out, OPTIONS)
    assert [path.name for path in home.iterdir()] == ["x.jsonl"]
    for _ in range(2):  # a hidden folder is none of the inputs
        assert check_uris(spark, [f"file://{home}"], f"file://{home}/_out", OPTIONS).histories == 1


def test_bytes_that_are_no_text_and_files_that_are_torn_are_named(spark, tmp_path):
    (tmp_path / "a.jsonl").write_bytes(lines(h0=PUT).encode() + b'{"history": "\xff"}\n')
    (tmp_path / "b.jsonl.zst").write_bytes(b"(\xb5/\xfd\x04 torn")
    whole = gzip.compress(lines(h0=PUT).encode() * 1000)
    (tmp_path / "c.jsonl.gz").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "d.parquet").write_bytes(b"PAR1 torn PAR1")
    write_history(tmp_path / "good.jsonl", [put_and_get("h0")])
    for name in ("a.jsonl", "b.jsonl.zst", "c.jsonl.gz", "d.parquet"):
        with pytest.raises(BadInput, match=name.replace(".", r"\.")):
            check_uris(spark, [f"file://{tmp_path}/{name}"], f"file://{tmp_path}/out", OPTIONS)
    kept = judged(
        spark, tmp_path / "kept", tmp_path / "a.jsonl", tmp_path / "good.jsonl", options=OPTIONS, keep_going=True
    )
    named = {(source.rpartition("/")[2], name): verdict for (source, name), verdict in kept.items()}
    assert named == {("a.jsonl", "h0"): "error", ("a.jsonl", None): "error", ("good.jsonl", "h0"): "ok"}
    called = CliRunner().invoke(
        app, ["pipeline", "check", str(tmp_path / "none"), f"file://{tmp_path}/o", "--model", "map"]
    )
    assert (called.exit_code, "there are no files" in called.stderr) == (exits.USAGE, True), called.output


def test_names_that_are_numbers_are_refused(spark, tmp_path):
    table = pa.table({"history": [1], "process": ["0"], "f": ["get"], "arguments": ['["x"]'], "result": ["null"]})
    table = table.append_column("invoke", [[1]]).append_column("return", [[2]])
    pq.write_table(table, tmp_path / "x.parquet")
    with pytest.raises(BadInput, match="expected a column 'history' of text, got bigint"):
        check_uris(spark, [f"file://{tmp_path}/x.parquet"], f"file://{tmp_path}/out", OPTIONS)


@pytest.mark.parametrize(
    ("wrong", "text"),
    [
        ({"timeout": float("inf")}, "timeout must be above 0 and at most 10,000,000, not inf"),
        ({"timeout": float("nan")}, "timeout must be"),
        ({"budget": 0}, "budget must be above 0"),
        ({"timeout": "3"}, "timeout must be a number, not '3'"),
    ],
)
def test_bounds_that_no_job_can_have(wrong, text):
    with pytest.raises((ValueError, TypeError), match=text):
        Options("map", **wrong)


def test_a_number_of_pieces_that_no_job_can_have(tmp_path):
    with pytest.raises(ValueError, match="chunks must be from 1 to 1,000,000, not 3,000,000,000"):
        check_files([tmp_path], tmp_path / "out", OPTIONS, open_session=lambda: None, chunks=3_000_000_000)


def test_the_error_of_a_worker_is_told_in_a_line(spark):
    def wrong(_):
        yield from ()
        raise ZeroDivisionError("seven")

    with pytest.raises(Exception, match="seven") as caught:
        spark.range(3).mapInArrow(wrong, "id bigint").collect()
    assert in_a_line(caught.value) == "ZeroDivisionError: seven"


def test_the_parts_of_a_folder_are_not_those_of_its_namesake(spark, tmp_path):
    (tmp_path / "runs" / "runs").mkdir(parents=True)
    (tmp_path / "runs" / "part-00000.jsonl").write_text(lines(h0=PUT))
    (tmp_path / "runs" / "runs" / "part-00000.jsonl").write_text(lines(h0=GET))
    found = judged(spark, tmp_path / "out", tmp_path / "runs", options=OPTIONS)
    assert found == {("runs/", "h0"): "ok", ("runs", "h0"): "violation"}


def test_logs_that_are_parts_are_histories_of_their_own(spark, tmp_path):
    (tmp_path / "runs").mkdir()
    for part, seen in enumerate((1, 2)):
        times = ("invoke", "write", 1), ("ok", "write", 1), ("invoke", "read", "nil"), ("ok", "read", seen)
        log = "".join(f"{{:process {part}, :type :{kind}, :f :{f}, :value {value}}}\n" for kind, f, value in times)
        (tmp_path / "runs" / f"part-0000{part}.edn").write_text(log)
    found = judged(spark, tmp_path / "out", tmp_path / "runs", options=Options("register"))
    assert found == {
        ("runs/", "runs/part-00000.edn"): "ok",
        ("runs/", "runs/part-00001.edn"): "violation",
    }


def test_results_that_are_all_unknown_are_unknown_whatever_their_type(spark, tmp_path):
    (tmp_path / "in").mkdir()
    write_history(tmp_path / "x.parquet", [put_and_get("h0", seen=9)])
    table = pq.read_table(tmp_path / "x.parquet")
    at = table.column_names.index("result")
    for name, kind in (("a", pa.null()), ("b", pa.int32()), ("c", pa.string())):
        nulls = pa.nulls(table.num_rows, kind)
        home = tmp_path / name
        home.mkdir()
        pq.write_table(table.set_column(at, "result", nulls), home / "x.parquet")
        assert set(judged(spark, tmp_path / f"out-{name}", home, options=OPTIONS).values()) == {"ok"}


@pytest.mark.parametrize(
    ("line", "text"),
    [
        (PUT | {"arguments": ["k", 1], "more": 1}, '"more"'),
        ('{"history": "h", "process": 0, "f": "get", "arguments": ["k"], "result": 1, "result": 2}', "twice"),
        ('{"history": "h", "process": 0, "f": "put", "arguments": ["k", 1e400], "invoke": 1, "return": 2}', "JSON"),
        ('{"history": "h", "\\ud800": 1}', "ud800"),
    ],
)
def test_a_strange_line_costs_its_file_only(spark, tmp_path, line, text):
    line = line if isinstance(line, str) else json.dumps({"history": "h"} | line)
    (tmp_path / "bad.jsonl").write_text(line + "\n")
    (tmp_path / "good.jsonl").write_text("\ufeff\n\u00a0\n" + lines(h0=PUT))
    inputs = [tmp_path / "bad.jsonl", tmp_path / "good.jsonl"]
    with pytest.raises(BadInput, match=text):
        check_uris(spark, [f"file://{each}" for each in inputs], f"file://{tmp_path}/out", OPTIONS)
    assert len(spark.read.parquet(f"file://{tmp_path}/out/verdicts").collect()) == 1


def test_a_number_that_json_cannot_write_is_named_at_a_path(spark, tmp_path):
    (tmp_path / "x.jsonl").write_text(
        lines(h0=PUT) + '{"history": "h", "process": 0, "f": "put", "arguments": ["k", 1e400], "result": 0,'
        ' "invoke": 1, "return": 2}\n'
    )
    with pytest.raises(BadInput, match=r"x\.jsonl:2: expected values of JSON"):
        run(spark, [tmp_path / "x.jsonl"], tmp_path / "out", OPTIONS)


def test_what_is_hidden_is_no_input(spark, tmp_path):
    home = tmp_path / "in"
    for folder in ("_run=3", ".git", "deep"):
        (home / folder).mkdir(parents=True)
        (home / folder / "x.jsonl").write_text(lines(h0=PUT))
    (home / "_metadata").write_bytes(b"PAR1 a summary PAR1")
    assert judged(spark, tmp_path / "out", home, options=OPTIONS) == {("deep/x.jsonl", "h0"): "ok"}
    with pytest.raises(BadInput, match=r"\*\* is one name"):
        check_uris(spark, [f"file://{home}/**/*.jsonl"], f"file://{tmp_path}/none", OPTIONS)


def test_a_column_in_another_case_is_told(spark, tmp_path):
    write_history(tmp_path / "x.parquet", [put_and_get("h0")])
    table = pq.read_table(tmp_path / "x.parquet").append_column("Object", pa.array(["a", "b"]))
    pq.write_table(table.drop_columns(["object"]) if "object" in table.column_names else table, tmp_path / "x.parquet")
    with pytest.raises(BadInput, match=r"x\.parquet: expected the column 'object', got only .*Object"):
        check_uris(spark, [f"file://{tmp_path}/x.parquet"], f"file://{tmp_path}/out", OPTIONS)


def test_a_column_in_another_case_of_one_file_is_told(spark, tmp_path):
    """Whichever of the files comes first, one column does not count as the other."""
    for names in (("a", "b"), ("b", "a")):
        home = tmp_path / names[0]
        home.mkdir()
        for name, column in zip(names, ("object", "Object"), strict=True):
            write_history(home / f"{name}.parquet", [put_and_get("h0")])
            table = pq.read_table(home / f"{name}.parquet")
            table = table.drop_columns([each for each in table.column_names if each == "object"])
            pq.write_table(table.append_column(column, pa.array(["a", "b"])), home / f"{name}.parquet")
        with pytest.raises(BadInput, match=r"expected the column 'object', got only .*Object"):
            check_uris(spark, [f"file://{home}"], f"file://{home}-out", OPTIONS)
    assert spark.conf.get("spark.sql.caseSensitive") == "false"


def test_columns_that_are_not_read_may_have_any_name(spark, tmp_path):
    write_history(tmp_path / "x.parquet", [put_and_get("h0")])
    table = pq.read_table(tmp_path / "x.parquet")
    for name in ("_metadata", "Host", "host"):
        table = table.append_column(name, pa.array([1, 2]))
    pq.write_table(table, tmp_path / "x.parquet")
    assert judged(spark, tmp_path / "out", tmp_path / "x.parquet", options=OPTIONS) == {("x.parquet", "h0"): "ok"}


def test_integers_of_other_sizes_in_another_file(spark, tmp_path):
    home = tmp_path / "in"
    home.mkdir()
    for number, kind in enumerate((pa.int32(), pa.int64(), pa.int32(), pa.int16())):
        write_history(tmp_path / "x.parquet", [put_and_get("h0", seen=9 if number == 2 else None)])
        table = pq.read_table(tmp_path / "x.parquet")
        table = table.set_column(table.column_names.index("invoke"), "invoke", table["invoke"].cast(kind))
        pq.write_table(table, home / f"{number}.parquet")
    verdicts = judged(spark, tmp_path / "out", home, options=OPTIONS)
    assert verdicts == {(f"{n}.parquet", "h0"): "violation" if n == 2 else "ok" for n in range(4)}


@pytest.mark.parametrize("more", [b"no bzip2", b"BZh91AY&SY\x00", "flipped"])
def test_what_follows_a_block_of_bzip2_is_no_end(spark, tmp_path, more):
    """The second of two members is damaged where it begins: its histories are not lost in silence."""
    good, stale = (bz2.compress(text.encode()) for text in (lines(h0=PUT), lines(h1=GET)))
    if more == "flipped":
        more = stale[:4] + bytes([stale[4] ^ 1]) + stale[5:]
    (tmp_path / "x.jsonl.bz2").write_bytes(good + more)
    with pytest.raises(BadInput, match=r"x\.jsonl\.bz2"):
        check_uris(spark, [f"file://{tmp_path}/x.jsonl.bz2"], f"file://{tmp_path}/out", OPTIONS)
    (tmp_path / "x.jsonl.bz2").write_bytes(good + stale)
    assert len(judged(spark, tmp_path / "out2", tmp_path / "x.jsonl.bz2", options=OPTIONS)) == 2


def test_a_session_that_passes_over_damaged_files_loses_no_history(spark, tmp_path):
    (tmp_path / "x.jsonl.gz").write_bytes(gzip.compress(lines(h0=PUT, h1=GET).encode())[:-9])
    write_history(tmp_path / "y.parquet", [put_and_get("h0", operations=999)])
    whole = (tmp_path / "y.parquet").read_bytes()
    (tmp_path / "y.parquet").write_bytes(whole[:40] + b"\0" * 400 + whole[440:])
    spark.conf.set("spark.sql.files.ignoreCorruptFiles", "true")
    try:
        for name in ("x.jsonl.gz", "y.parquet"):
            with pytest.raises(BadInput, match=name):
                check_uris(spark, [f"file://{tmp_path}/{name}"], f"file://{tmp_path}/out-{name}", OPTIONS)
    finally:
        spark.conf.unset("spark.sql.files.ignoreCorruptFiles")


def test_a_carriage_return_ends_no_line(spark, tmp_path):
    """It is a blank to JSON, and so it is at a path."""
    (tmp_path / "x.jsonl").write_bytes(lines(h0=PUT, h1=GET).replace(", ", ",\r").encode())
    assert judged(spark, tmp_path / "out", tmp_path / "x.jsonl", options=OPTIONS) == {
        ("x.jsonl", "h0"): "ok",
        ("x.jsonl", "h1"): "violation",
    }
    local = run(spark, [tmp_path / "x.jsonl"], tmp_path / "local", OPTIONS)
    assert (local.histories, local.verdicts["violation"]) == (2, 1)


@pytest.mark.parametrize("last", ["part-00001.jsonl", "part-00001.json"])
def test_the_part_with_a_bad_line_is_named(spark, tmp_path, last):
    for name, text in (("part-00000.jsonl", lines(h0=PUT)), (last, lines(h1=PUT) + "no JSON\n")):
        (tmp_path / "run").mkdir(exist_ok=True)
        (tmp_path / "run" / name).write_text(text)
    with pytest.raises(BadInput, match=rf"/run/{last}: expected a JSON object, got 'no JSON'"):
        check_uris(spark, [f"file://{tmp_path}"], f"file://{tmp_path}-out", OPTIONS)


def test_a_history_has_one_model(spark, tmp_path):
    text = lines(h0=PUT | {"model": "map"}) + lines(h0=GET | {"model": "register"}) + lines(h1=PUT | {"model": "map"})
    (tmp_path / "x.jsonl").write_text(text)
    with pytest.raises(BadInput, match=r"h0: expected one model for a history, got map \| register; choose one"):
        check_uris(spark, [f"file://{tmp_path}/x.jsonl"], f"file://{tmp_path}/out", Options())
    assert judged(spark, tmp_path / "named", tmp_path / "x.jsonl", options=OPTIONS) == {
        ("x.jsonl", "h0"): "ok",
        ("x.jsonl", "h1"): "ok",
    }


def test_a_field_twice_is_told_at_a_path_too(spark, tmp_path):
    (tmp_path / "x.jsonl").write_text(lines(h0=GET).replace('"result": 1', '"result": 1, "result": null'))
    with pytest.raises(BadInput, match=r"x\.jsonl:1: expected a JSON object.*the field 'result' twice"):
        run(spark, [tmp_path / "x.jsonl"], tmp_path / "out", OPTIONS)


def test_where_an_output_is():
    yes = [
        ("/a/b", "/a/b/"),
        ("file:///a/b", "file:/a"),
        ("FILE:///a/b", "/a"),
        ("hdfs://NN/a/o", "hdfs://nn/a"),
        ("/a/b", "/"),
    ]
    no = [("/a/b2", "/a/b"), ("/a/_b", "/a"), ("/a/.b/c", "/a"), ("hdfs://x/a/o", "hdfs://y/a"), ("/a", "/a/b")]
    assert all(is_below(*pair) for pair in yes)
    assert not any(is_below(*pair) for pair in no)
