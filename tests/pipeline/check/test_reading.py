"""Reading: all of a file or none of it, and every problem with its place."""

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from lincheck_random import random_history
from pipeline_jobs import fragments, put_and_get

from latchfree_lincheck import write_history
from latchfree_lincheck.formats import HistoryFormatError, read_history
from latchfree_spark.check import BadInput, Options, check_files, sample
from latchfree_spark.check.input import finding, lines, reading, unit_problems
from latchfree_spark.check.input.finding import find
from latchfree_spark.check.input.places import first_problems, lines_of, with_lines
from latchfree_spark.check.judge.batch import spoil, unpack
from latchfree_spark.check.judge.single import history_of

JEPSEN = """INFO  jepsen.util - 0\t:invoke\t:write\t3
INFO  jepsen.util - 0\t:ok\t:write\t3
INFO  jepsen.util - 1\t:invoke\t:read\tnil
INFO  jepsen.util - 1\t:ok\t:read\t3
"""


def read(paths, folder):
    """Return the histories that a job reads, by name, and the problems of histories and files, by line."""
    job, table = fragments(paths, folder, Options())
    told = [row for row in table.to_pylist() if row["problem"] and row["for_chunk"] is None]
    problems = {(row["history"], row["problem"]) for row in told}
    damaged = {}
    for row in table.filter(table["for_chunk"].is_valid()).to_pylist():
        assert (row["history"], row["for_chunk"]) == (None, 0)
        damaged.setdefault(row["file"], row["problem"])
    found = {}
    for name in dict.fromkeys(name for name in table["history"].to_pylist() if name is not None):
        mine = table.filter(pa.compute.equal(table["history"], name))
        order = pa.compute.sort_indices(mine, [("file", "ascending"), ("first", "ascending")])
        batch = unpack(mine.take(order))
        spoil(batch, damaged)
        if batch.problems[0]:
            problems.add((name, batch.problems[0]))
        else:
            found[name] = history_of(batch, 0, None, job)
    cut = find(paths).cut
    return found, {(name, text) for name, problem in problems for text in with_lines([problem], cut)}


@pytest.mark.parametrize("suffix", ["jsonl", "parquet"])
@pytest.mark.parametrize("unit", [1 << 20, 300])
def test_the_histories_are_those_of_the_file_however_it_is_cut(tmp_path, monkeypatch, suffix, unit):
    monkeypatch.setattr(finding, "UNIT", unit)
    histories = [random_history(kind, seed) for kind in ("map", "whole-set", "append-kv") for seed in range(30)]
    path = tmp_path / f"all.{suffix}"
    write_history(path, histories)
    if suffix == "parquet":
        pq.write_table(pq.read_table(path), path, row_group_size=7)
    assert (len(find([path]).units) > 10) == (unit == 300)
    found, problems = read([path], tmp_path)
    assert not problems
    assert list(found.values()) == read_history(path)


def test_scattered_operations_are_gathered(tmp_path, monkeypatch):
    monkeypatch.setattr(reading, "BATCH", 7)
    monkeypatch.setattr(reading, "GATHERED", 60)
    histories = [put_and_get(f"h{number}", operations=9) for number in range(10)]
    path = tmp_path / "x.parquet"
    write_history(path, histories)
    _, together = fragments([path], tmp_path)
    assert len(together) < 30
    table = pq.read_table(path)
    order = [10 * history + at for at in range(10) for history in range(10)]
    pq.write_table(table.take(order), path, row_group_size=30)
    _, gathered = fragments([path], tmp_path)
    assert len(gathered) == 20
    found, problems = read([path], tmp_path)
    assert not problems
    assert {name: history.operations for name, history in found.items()} == {
        history.name: history.operations for history in histories
    }


def test_a_log_is_one_history_called_what_the_file_is(tmp_path):
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "test.log").write_text(JEPSEN)
    (tmp_path / "cut.log").write_text(JEPSEN + "INFO  jepsen.util - 9\t:invoke\n")
    found, problems = read([tmp_path], tmp_path)
    assert set(found) == {str(tmp_path / name / "test.log") for name in "ab"}
    assert all(history.operations == read_history(name)[0].operations for name, history in found.items())
    ((name, text),) = problems
    assert name == str(tmp_path / "cut.log")
    assert text.startswith(f"{name}:5: expected")


def test_each_file_is_a_source_and_the_parts_of_one_writer_are_one(tmp_path):
    names = ["a.jsonl", "b/a.jsonl", "c/part-00000-77ab.c000.jsonl", "c/part-00001-77ab.c000.jsonl", "c/part-r-00002"]
    for name in names:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        write_history(tmp_path / name, [put_and_get("h0")], "jsonl")
    found = find([tmp_path])
    assert found.sources == ("a.jsonl", "b/a.jsonl", "c")
    assert [(unit.file, unit.source) for unit in found.units] == [(0, 0), (1, 1), (2, 2), (3, 2), (4, 2)]
    assert find([tmp_path / "c"]).sources == ("c",)
    joined = find([tmp_path], join=True)
    assert (joined.sources, {unit.source for unit in joined.units}) == (("",), {0})


def test_folders_patterns_and_files(tmp_path):
    for name in ("a.jsonl", "below/b.jsonl", ".hidden/c.jsonl", "below/_temporary"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        write_history(tmp_path / name, [put_and_get(name)], "jsonl")
    names = lambda *given: [str(Path(file).relative_to(tmp_path)) for file in find(given).files]  # noqa: E731
    assert names(tmp_path) == ["a.jsonl", "below/b.jsonl"]
    assert names(f"{tmp_path}/*/b.jsonl", tmp_path / "a.jsonl", tmp_path) == ["a.jsonl", "below/b.jsonl"]
    (tmp_path / "empty").mkdir()
    assert [text.split(":")[0] for text in find([tmp_path / "empty", f"{tmp_path}/x*", "gone"]).problems] == [
        f"{tmp_path}/empty",
        f"{tmp_path}/x*",
        "gone",
    ]


def line(history="h", **changes):
    row = {"history": history, "process": 0, "f": "get", "arguments": ["k"], "result": None, "invoke": 0, "return": 1}
    row |= changes
    return json.dumps({name: value for name, value in row.items() if value != "absent"})


@pytest.mark.parametrize(
    "wrong",
    [
        line(process="absent"), line(process=True), line(invoke="0"), line(invoke=2**70), line(f=None), line(more=1),
        line(arguments="k"), line(object=1), line(**{"return": "absent"}),
    ],
)  # fmt: skip
def test_a_malformed_line_is_the_problem_of_its_history(tmp_path, wrong):
    path = tmp_path / "x.jsonl"
    path.write_text("\n".join([line("other"), "", wrong, line("third")]) + "\n")
    found, problems = read([path], tmp_path)
    with pytest.raises(HistoryFormatError) as told:
        read_history(path)
    assert problems == {("h", str(told.value))}
    assert told.value.line == 3
    assert set(found) == {"other", "third"}


@pytest.mark.parametrize("wrong", ["{", "[]", line(history=7), line(history="absent"), '{"history": NaN}', "\udcff"])
def test_a_line_of_nobody_taints_the_file(tmp_path, monkeypatch, wrong):
    monkeypatch.setattr(finding, "UNIT", 40)
    path, other = tmp_path / "x.jsonl", tmp_path / "y.jsonl"
    path.write_bytes("\n".join([line("a"), line("b"), wrong, line("c"), ""]).encode("utf-8", "surrogateescape"))
    other.write_text(line("d") + "\n")
    found, problems = read([tmp_path], tmp_path)
    with pytest.raises(HistoryFormatError) as told:
        read_history(path)
    assert problems == {(name, str(told.value)) for name in (None, "a", "b", "c")}
    assert set(found) == {"d"}


def test_a_damaged_row_group_taints_the_file(tmp_path):
    path = tmp_path / "x.parquet"
    write_history(path, [put_and_get(f"h{number}") for number in range(10)])
    pq.write_table(pq.read_table(path), path, row_group_size=10, compression="none", use_dictionary=False)
    damaged = bytearray(path.read_bytes())
    at = pq.ParquetFile(path).metadata.row_group(1).column(2).data_page_offset
    damaged[at : at + 40] = b"\xff" * 40
    path.write_bytes(damaged)
    found, problems = read([path], tmp_path)
    assert not found
    assert {name for name, _ in problems} == {None, *(f"h{number}" for number in range(10))}
    (text,) = {text for _, text in problems}
    assert text.startswith(f"{path}: row group 1: ")


@pytest.mark.parametrize("how", ["cut", "no column", "wrong type", "text"])
def test_a_parquet_file_that_is_none_is_told_before_the_job(tmp_path, how):
    path = tmp_path / "x.parquet"
    write_history(path, [put_and_get("h")])
    table = pq.read_table(path)
    if how == "cut":
        path.write_bytes(path.read_bytes()[:-20])
    elif how == "text":
        path.write_text("nothing of the kind")
    else:
        changed = {
            "no column": lambda: table.drop_columns(["f"]),
            "wrong type": lambda: table.set_column(4, "invoke", table["f"]),
        }
        pq.write_table(changed[how](), path)
    (told,) = find([path]).problems
    assert told.startswith(f"{path}:1: expected ")
    _, problems = read([path], tmp_path)
    assert (None, told) in problems


def test_a_row_without_a_history(tmp_path):
    path = tmp_path / "x.parquet"
    write_history(path, [put_and_get("a"), put_and_get("b")])
    table = pq.read_table(path)
    pq.write_table(table.set_column(0, "history", pa.array(["a", "a", None, "b"])), path, row_group_size=2)
    _, problems = read([path], tmp_path)
    assert problems == {(name, f'{path}:3: expected a string as "history", got null') for name in (None, "a", "b")}


def test_what_is_wrong_with_many_lines_is_counted_and_the_file_is_read_once(tmp_path, monkeypatch):
    """A file was read again for the number of each malformed line, and for the names in each damaged unit."""
    monkeypatch.setattr(finding, "UNIT", 4000)
    path = tmp_path / "x.jsonl"
    wrong = [number for number in range(3000) if number % 100]
    texts = ["{ not JSON" if number % 100 else line(f"h{number}") for number in range(3000)]
    path.write_text("\n".join(texts) + "\n")
    opened = []
    really = Path.open
    monkeypatch.setattr(Path, "open", lambda self, *given, **more: opened.append(self) or really(self, *given, **more))
    _, table = fragments([path], tmp_path, Options("map"), chunks=3)
    read = opened.count(path)
    units = len(find([path]).units)
    assert units > 5
    assert read == units + 1, "and once for the fingerprint of its beginning"
    told = [row["problem"] for row in table.to_pylist() if row["problem"] and row["for_chunk"] is None]
    assert len(told) <= 101 * units
    texts, count = first_problems(told, find([path]).cut)
    assert count == len(wrong)
    assert [text.split(" ")[0] for text in texts] == [f"{path}:{number + 1}:" for number in wrong[:100]]
    assert len(table.filter(table["for_chunk"].is_valid())) == 3 * units
    assert set(table["history"].drop_null().to_pylist()) == {f"h{number}" for number in range(0, 3000, 100)}


@pytest.mark.parametrize("unit", [300, 1 << 20])
def test_a_line_without_an_end_is_neither_held_nor_read_by_each_unit(tmp_path, monkeypatch, unit):
    monkeypatch.setattr(finding, "UNIT", unit)
    monkeypatch.setattr(lines, "LONGEST", 200)
    monkeypatch.setattr(lines, "_BUFFER", 64)
    path = tmp_path / "x.jsonl"
    path.write_text("\n".join([line("a"), "x" * 2000, line("b"), "y" * 199, "z" * 3000]))
    _, table = fragments([path], tmp_path)
    told = [row["problem"] for row in table.to_pylist() if row["problem"] and row["for_chunk"] is None]
    texts, _ = first_problems(told, find([path]).cut)
    assert [text.removeprefix(f"{path}:")[:24] for text in texts] == [
        "2: expected a line of at",
        "4: expected a JSON objec",
        "5: expected a line of at",
    ]
    assert sorted(table["history"].drop_null().to_pylist()) == ["a", "b"]


def test_only_the_first_malformed_line_of_a_history_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr(unit_problems, "AT_ONCE", 5)
    path = tmp_path / "x.jsonl"
    path.write_text("".join(line(f"h{number % 20}", f=None) + "\n" for number in range(100)))
    _, table = fragments([path], tmp_path)
    first = {}
    for row in table.to_pylist():
        first.setdefault(row["history"], row["problem"])
    assert len(first) == 20
    for number in range(20):
        assert first[f"h{number}"].startswith(f"{path}:{number + 1}: expected a string as")


def test_problems_come_in_order_of_files_and_lines(tmp_path):
    path = tmp_path / "x.jsonl"
    path.write_text("a\nbb\nccc\nd\n")
    texts = [f"{path}:@9: d", "y:10: b", "y:9: a", f"{path}:@2: two and, on line @5, y:@7: u", "y:12: 1,234 more"]
    told, count = first_problems([*texts, texts[0]], [str(path)])
    assert told == [f"{path}:2: two and, on line 3, y:3: u", f"{path}:4: d", "y:9: a", "y:10: b"]
    assert count == 1238
    assert with_lines(["gone:@7: x", "other:@7: x"], ["gone"]) == ["gone:@7: x", "other:@7: x"]


def test_a_wrong_model_is_seen_before_the_job(tmp_path, monkeypatch):
    path, other = tmp_path / "x.jsonl", tmp_path / "y.parquet"
    write_history(path, [put_and_get(f"h{number}") for number in range(7)])
    write_history(other, [put_and_get(f"h{number}") for number in range(7)])

    def look(paths, model):
        job, _ = fragments(paths, tmp_path, Options(model))
        return sample.first_look(job, find(paths))

    assert look([path, other], "map") == []
    wrong = look([path, other], "queue")
    with pytest.raises(HistoryFormatError) as told:
        read_history(path, model="queue")
    assert (wrong[0], len(wrong)) == (str(told.value), 14)
    assert "say what to check against: --model map|" in look([path], None)[0]
    monkeypatch.setattr(sample, "HISTORIES", 3)
    assert len(look([path, other], "queue")) == 3
    path.write_text("{\n" * 500)
    wrong = look([path], "map")
    assert (len(wrong), wrong[0].split(" ")[0], wrong[-1]) == (101, f"{path}:1:", "and 400 more")
    monkeypatch.undo()
    assert look([path, other], "map") == []  # there is something to judge


def test_a_hint_follows_however_many_problems(tmp_path):
    path = tmp_path / "h.jsonl"
    path.write_text("{\n" * 500)
    with pytest.raises(BadInput) as told:
        check_files([path], tmp_path / "out", Options("map"), open_session=pytest.fail)
    text = str(told.value).splitlines()
    hint = "all of the first histories are wrong: nothing was judged; --keep-going goes on"
    assert (text[99].split(" ")[0], text[100:]) == (f"{path}:100:", ["and 400 more", hint])


def test_the_first_look_does_not_gather_what_is_scattered(tmp_path, monkeypatch):
    """Each row of a large file is of another history: the look ends with the first batch of rows."""
    monkeypatch.setattr(sample, "_OPERATIONS", 50)
    path = tmp_path / "x.parquet"
    write_history(path, [put_and_get(f"h{number}") for number in range(200)])
    table = pq.read_table(path)
    pq.write_table(table.take([*range(0, 400, 2), *range(1, 400, 2)]), path)
    job, _ = fragments([path], tmp_path)
    asked = []
    monkeypatch.setattr(sample, "history_of", lambda batch, *given: asked.append(len(batch)))
    assert sample.first_look(job, find([path])) == []
    assert asked == [50]


TYPES = {
    "dictionary": lambda column: column.dictionary_encode(),
    "large": lambda column: column.cast(pa.large_string()),
    "view": lambda column: column.cast(pa.string_view()),
    "binary": lambda column: column.cast(pa.binary()),
}


@pytest.mark.parametrize("text", TYPES)
@pytest.mark.parametrize("integer", ["int32", "uint64", "int16"])
def test_columns_of_any_type_that_holds_the_values(tmp_path, text, integer):
    histories = [random_history("map", seed) for seed in range(20)]
    write_history(tmp_path / "x.parquet", histories)
    table = pq.read_table(tmp_path / "x.parquet")
    for name in table.column_names:
        change = TYPES[text] if table[name].type == pa.string() else lambda column: column.cast(integer)
        table = table.set_column(table.column_names.index(name), name, change(table[name]))
    table = table.append_column("host", pa.array([1.5] * len(table)))
    other = tmp_path / "y.parquet"
    pq.write_table(table.drop_columns(["object", "model"]), other, row_group_size=9)
    pq.write_table(table, tmp_path / "z.parquet")
    assert find([other, tmp_path / "z.parquet"]).warnings == ("2 files have columns that are not read: 'host'",)
    for paths in ([other], [tmp_path / "z.parquet"]):
        found, problems = read(paths, tmp_path)
        assert not problems
        assert list(found.values()) == read_history(tmp_path / "x.parquet")


def test_a_number_that_does_not_fit_is_damage(tmp_path):
    path = tmp_path / "x.parquet"
    write_history(path, [put_and_get("h")])
    table = pq.read_table(path)
    times = pa.array([0, 2**63 + 5], pa.uint64())
    pq.write_table(table.set_column(table.column_names.index("invoke"), "invoke", times), path)
    found, problems = read([path], tmp_path)
    assert not found
    assert {name for name, _ in problems} == {None, "h"}
    assert all(text.startswith(f"{path}: row group 0: ") for _, text in problems)


def test_files_with_and_without_optional_columns(tmp_path):
    histories = [put_and_get(f"h{number}") for number in range(3)]
    for number, drop in enumerate((["object"], ["model"], ["object", "model"])):
        path = tmp_path / f"{number}.parquet"
        write_history(path, [histories[number]])
        pq.write_table(pq.read_table(path).drop_columns(drop), path)
    found, problems = read([tmp_path], tmp_path)
    assert not problems
    assert list(found.values()) == histories


@pytest.mark.parametrize("suffix", ["jsonl.gz", "ndjson.zst", "json.gz", "jsonl.bz2", "jsonl.lz4"])
def test_compressed_lines(tmp_path, monkeypatch, suffix):
    monkeypatch.setattr(finding, "UNIT", 300)
    histories = [random_history("map", seed) for seed in range(20)]
    plain, path = tmp_path / "x.jsonl", tmp_path / f"y.{suffix}"
    write_history(plain, histories)
    content = plain.read_bytes()
    with pa.output_stream(str(path), compression=finding.compression(path)) as file:
        file.write(content)
    assert len(find([path]).units) == 1
    found, problems = read([path], tmp_path)
    assert not problems
    assert list(found.values()) == read_history(plain)
    with pa.output_stream(str(path), compression=finding.compression(path)) as file:
        file.write(content + b"{\n")
    found, problems = read([path], tmp_path)
    assert not found
    (text,) = {text for _, text in problems}
    assert text.startswith(f"{path}:{1 + content.count(b'%c' % 10)}: expected a JSON object, got '{{'")
    path.write_bytes(path.read_bytes()[:-5])
    found, problems = read([path], tmp_path)
    assert not found
    assert any(name is None and text.startswith(f"{path}: ") for name, text in problems)


def test_line_numbers(tmp_path):
    path = tmp_path / "x"
    path.write_bytes(b"a\n\nbb\n" + b"x" * (3 << 20) + b"\nc\n")
    assert lines_of(path, [6 + (3 << 20) + 1, 0, 3]) == [1, 3, 5]
