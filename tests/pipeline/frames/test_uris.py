"""Histories at a URI that is no path: judged, counted, and judged once only, night by night."""

import json
import re
import shlex

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from lincheck_random import random_history
from pipeline_jobs import put_and_get
from pipeline_webhdfs import webhdfs
from typer.testing import CliRunner

from latchfree_cli import exits
from latchfree_cli.app import app
from latchfree_lincheck import History, read_history, write_history
from latchfree_lincheck import check as local
from latchfree_spark.check import BadInput, JobRefused, Options
from latchfree_spark.errors import RowsLost
from latchfree_spark.frames.uris import check_uris

OPTIONS = Options("map", saved=2)


def rows(spark, out):
    return [row.asDict() for row in spark.read.parquet(f"{out}/verdicts").collect()]


@pytest.mark.usefixtures("adaptive")
def test_nights_on_a_file_system_that_is_no_path(spark, tmp_path):
    first = [random_history("map", seed) for seed in range(30)]
    second = [random_history("map", seed) for seed in range(20, 50)]  # counts from the same names again
    expected = {}
    with webhdfs(tmp_path / "remote") as (root, requests):
        (tmp_path / "remote" / "runs" / "night1").mkdir(parents=True)
        write_history(tmp_path / "remote/runs/night1/part-00000-x.jsonl", first[:15])
        write_history(tmp_path / "remote/runs/night1/part-00001-x.jsonl", first[15:])
        expected |= {("night1", history.name): local(history, "map").verdict for history in first}
        done = check_uris(spark, [f"{root}/runs"], f"{root}/out", OPTIONS, date="2026-01-01")
        assert (done.histories, done.known, sum(done.verdicts.values())) == (30, 0, 30)
        write_history(tmp_path / "remote/runs/night2.parquet", second)
        expected |= {("night2.parquet", history.name): local(history, "map").verdict for history in second}
        again = check_uris(spark, [f"{root}/runs"], f"{root}/out/", OPTIONS, date="2026-01-02", rounds=2)
        assert (again.histories, again.known, sum(again.verdicts.values())) == (60, 30, 30)
        third = check_uris(spark, [f"{root}/runs"], f"{root}/out", OPTIONS, date="2026-01-03")
        assert (third.histories, third.known, sum(third.verdicts.values())) == (60, 60, 0)
        found = rows(spark, f"{root}/out")
        assert len(found) == 60
        assert {(row["source"], row["history"]): row["verdict"] for row in found} == expected
        assert {(row["source"], str(row["date"])) for row in found} == {
            ("night1", "2026-01-01"),
            ("night2.parquet", "2026-01-02"),
        }
        failing = spark.read.parquet(f"{root}/out/failing").select("source", "history").distinct().collect()
        assert 2 <= len(failing) <= 6
        assert all(expected[row["source"], row["history"]] == "violation" for row in failing)
        runs = [json.loads(row["value"]) for row in spark.read.text(f"{root}/out/summary.json").collect()]
        assert sorted(run["date"] for run in runs) == ["2026-01-01", "2026-01-02", "2026-01-03"]
    assert {"OPEN", "CREATE", "RENAME"} <= {op for op, _ in requests}


def test_what_cannot_be_judged_is_taken_up_when_it_is_mended(spark, tmp_path):
    source = tmp_path / "in"
    source.mkdir()
    write_history(source / "good.jsonl", [put_and_get("h1"), put_and_get("h2")])
    write_history(source / "torn.jsonl", [put_and_get("h1", seen=8), put_and_get("h2")])
    whole = (source / "torn.jsonl").read_text()
    (source / "torn.jsonl").write_text(whole[:-20])
    write_history(source / "odd.jsonl", [put_and_get("h1")])
    (source / "odd.jsonl").write_text((source / "odd.jsonl").read_text().replace('"get"', '"fetch"'))
    uri, out = source.as_uri(), (tmp_path / "out").as_uri()
    with pytest.raises(BadInput) as told:
        check_uris(spark, [uri], out, OPTIONS)
    assert [problem.split(": ")[0] for problem in told.value.problems[:2]] == ["odd.jsonl", "torn.jsonl"]
    assert "expected a JSON object" in told.value.problems[1]
    assert {(row["source"], row["verdict"]) for row in rows(spark, out)} == {("good.jsonl", "ok")}
    (source / "torn.jsonl").write_text(whole)
    done = check_uris(spark, [uri], out, OPTIONS, keep_going=True)
    assert (done.histories, done.known) == (5, 2)
    assert {(row["source"], row["history"]): row["verdict"] for row in rows(spark, out)} == {
        ("good.jsonl", "h1"): "ok",
        ("good.jsonl", "h2"): "ok",
        ("torn.jsonl", "h1"): "violation",
        ("torn.jsonl", "h2"): "ok",
        ("odd.jsonl", "h1"): "error",
    }


def test_a_table_with_a_row_twice_or_of_another_input_is_told(spark, tmp_path):
    write_history(tmp_path / "x.jsonl", [put_and_get("h1"), put_and_get("h2")])
    uri, out = (tmp_path / "x.jsonl").as_uri(), (tmp_path / "out").as_uri()
    check_uris(spark, [uri], out, OPTIONS, date="2026-01-01")
    write_history(tmp_path / "x.jsonl", [put_and_get("h1"), put_and_get("h2", operations=3)])
    with pytest.raises(BadInput, match="1 histories have other operations than those that were judged"):
        check_uris(spark, [uri], out, OPTIONS)
    part = min((tmp_path / "out" / "verdicts" / "date=2026-01-01").glob("run=*/*.parquet"))
    part.with_name("copy.parquet").write_bytes(part.read_bytes())
    with pytest.raises(RowsLost, match=r"of 2 histories in the input 0 have no row and [12] more than one"):
        check_uris(spark, [uri], out, OPTIONS)


def test_the_same_name_in_another_folder_is_no_known_history(spark, tmp_path):
    """Each night has a folder with a file x.jsonl, with histories h1 and h2: they are not those known."""
    for night, seen in (("a", 1), ("b", 9), ("c", 1)):
        (tmp_path / night).mkdir()
        write_history(tmp_path / night / "x.jsonl", [put_and_get("h1", seen=seen), put_and_get("h2")])
    out = (tmp_path / "out").as_uri()
    check_uris(spark, [(tmp_path / "a").as_uri()], out, OPTIONS)
    for keep_going in (False, True):
        if keep_going:
            run = check_uris(spark, [(tmp_path / "b").as_uri()], out, OPTIONS, keep_going=True)
            assert any(each.startswith("1 histories have other operations") for each in run.problems)
            continue
        with pytest.raises(BadInput, match="1 histories have other operations than those that were judged"):
            check_uris(spark, [(tmp_path / "b").as_uri()], out, OPTIONS)
    assert check_uris(spark, [(tmp_path / "c").as_uri()], out, OPTIONS).known == 2  # the same operations


def test_a_file_of_the_table_that_a_worker_cannot_read_is_no_bad_input(spark, tmp_path):
    """As on a cluster where an executor has a disk of its own: the input is not at fault."""
    write_history(tmp_path / "x.jsonl", [put_and_get("h1"), put_and_get("h2")])
    uri, out = (tmp_path / "x.jsonl").as_uri(), (tmp_path / "out").as_uri()
    check_uris(spark, [uri], out, OPTIONS, date="2026-01-01")
    part = min((tmp_path / "out" / "verdicts" / "date=2026-01-01").glob("run=*/*.parquet"))
    part.write_bytes(part.read_bytes()[:40])
    with pytest.raises(RowsLost, match=r"part-0.*parquet: cannot be read, .* do all executors read and write file:///"):
        check_uris(spark, [uri], out, OPTIONS)


def test_what_a_killed_job_left_unfinished_is_not_taken_up(spark, tmp_path):
    """Tasks that were done are in `_temporary/0`, and Spark moves what is there to its place with the next job."""
    write_history(tmp_path / "x.jsonl", [put_and_get("h1"), put_and_get("h2")])
    uri, out = (tmp_path / "x.jsonl").as_uri(), tmp_path / "out"
    check_uris(spark, [uri], (tmp_path / "killed").as_uri(), OPTIONS, date="2026-01-01")
    for part in (tmp_path / "killed" / "verdicts").rglob("*.parquet"):
        inside = part.relative_to(tmp_path / "killed" / "verdicts")
        for place in (f"_temporary/0/task_1/{inside}", f"{inside.parent}/_temporary/0/task_1/{inside.name}"):
            (out / "verdicts" / place).parent.mkdir(parents=True, exist_ok=True)
            (out / "verdicts" / place).write_bytes(part.read_bytes())
    done = check_uris(spark, [uri], out.as_uri(), OPTIONS, date="2026-01-01")
    assert (done.histories, done.known, done.verdicts["ok"]) == (2, 0, 2)
    assert len(rows(spark, out.as_uri())) == 2


def test_a_table_has_verdicts_of_one_model_and_one_set_of_limits(spark, tmp_path):
    write_history(tmp_path / "x.jsonl", [put_and_get("h1")])
    uri, out = (tmp_path / "x.jsonl").as_uri(), (tmp_path / "out").as_uri()
    check_uris(spark, [uri], out, OPTIONS, date="2026-01-01")
    for options, told in (
        (Options("register"), 'made with model "map", and this job has model "register"'),
        (
            Options("map", budget=9, timeout=5),
            "made with budget null, timeout 60.0, and this job has budget 9, timeout 5.0",
        ),
    ):
        with pytest.raises(JobRefused, match=told):
            check_uris(spark, [uri], out, options)
    # What decides no verdict may differ.
    again = check_uris(spark, [uri], out, Options("map", saved=7), date="2026-01-02", partitions=3)
    assert (again.histories, again.known) == (1, 1)
    assert len(rows(spark, out)) == 1


@pytest.mark.parametrize("command", [("check", "IN", "OUT"), ("sketch", "IN", "--topic-column", "f", "-o", "OUT")])
@pytest.mark.parametrize("where", ["IN", "OUT"])
def test_a_file_system_that_nobody_has_is_named(spark, tmp_path, command, where):
    write_history(tmp_path / "x.jsonl", [put_and_get("h1")])
    names = {"IN": (tmp_path / "x.jsonl").as_uri(), "OUT": (tmp_path / "out").as_uri()} | {where: "nofs://host/runs"}
    called = CliRunner().invoke(app, ["pipeline", *(names.get(word, word) for word in command)])
    assert called.exit_code in (exits.USAGE, exits.TOOL), called.output
    assert 'No FileSystem for scheme "nofs"' in called.stderr.replace("\n", " "), called.stderr
    assert not (tmp_path / "out").exists()


def test_nothing_to_read(spark, tmp_path):
    (tmp_path / "in").mkdir()
    with pytest.raises(BadInput, match="there are no files"):
        check_uris(spark, [(tmp_path / "in").as_uri()], (tmp_path / "out").as_uri(), OPTIONS)
    assert not (tmp_path / "out").exists()


def test_the_command_goes_on_night_by_night(spark, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in").mkdir()

    def run(*more):
        return CliRunner().invoke(app, ["pipeline", "check", "in", "out", "--model", "map", "--incremental", *more])

    write_history("in/night1.jsonl", [put_and_get("h1"), put_and_get("h2")])
    first = run()
    assert first.exit_code == exits.OK, first.output
    assert "2 histories, 0 of them known; 2 judged: 2 ok" in first.stdout
    write_history("in/night2.jsonl", [put_and_get("h1", seen=7)])
    second = run("--json")
    assert second.exit_code == exits.VIOLATION, second.output
    told = json.loads(second.stdout)
    assert (told["histories"], told["known"], told["verdicts"]["violation"]) == (3, 2, 1)
    assert [(row["source"], row["history"]) for row in told["failing"]] == [("night2.jsonl", "h1")]
    third = run()
    assert third.exit_code == exits.NOTHING
    assert "3 histories, 3 of them known; 0 judged: none" in third.stdout
    other = run("--timeout", "7")
    assert other.exit_code == exits.USAGE
    assert "made with timeout 60.0, and this job has timeout 7.0" in other.stderr


@pytest.mark.parametrize("criterion", ["linearizability", "sequential-consistency"])
def test_a_page_shows_what_a_run_found(spark, tmp_path, criterion):
    histories = [put_and_get("good"), put_and_get("../bad <b>", seen=9, operations=20), put_and_get("worse", seen=8)]
    options = Options("map", saved=2, criterion=criterion)
    with webhdfs(tmp_path / "remote") as (root, _):
        (tmp_path / "remote" / "runs").mkdir(parents=True)
        write_history(tmp_path / "remote/runs/night.jsonl", histories)
        run = check_uris(spark, [f"{root}/runs"], f"{root}/out", options, date="2026-01-01")
        (told,) = [json.loads(row["value"]) for row in spark.read.text(f"{root}/out/summary.json").collect()]
    assert told["page"] == run.page
    folder = tmp_path / "remote" / run.page.removeprefix(f"{root}/").removesuffix("/summary.html")
    assert folder.parent == tmp_path / "remote/out/page/date=2026-01-01"
    page = (folder / "summary.html").read_text()
    assert "3 histories" in page
    assert "night.jsonl: ../bad &lt;b&gt;" in page
    assert "Slowest" in page
    assert len(run.failing) == 2
    for row in run.failing:
        expected = next(each for each in histories if each.name == row["history"])
        (whole,) = read_history(folder / row["saved"])
        assert sorted(map(repr, whole.operations)) == sorted(map(repr, expected.operations))
        assert row["replay"] == (
            f"latchfree pipeline check {run.page.removesuffix('summary.html')}{row['saved']}"
            ' "$(mktemp -d)/again" --model map'
            + ("" if criterion == "linearizability" else f" --criterion {criterion}")
        )
        assert f'<a href="{row["saved"]}">whole</a>' in page
        if criterion == "linearizability":
            assert local(read_history(folder / row["small"])[0], "map").verdict == "violation"
            assert row["small"].removeprefix("failing/") in (folder / row["page"]).read_text()
            assert f'<a href="{row["page"]}">drawn</a>' in page
    files = {file.relative_to(folder).as_posix() for file in folder.rglob("*") if file.is_file()}
    named = {row[kind] for row in run.failing for kind in ("saved", "small", "page") if row[kind]}
    assert files == {"summary.html"} | named


def test_a_page_has_room_for_so_many_operations(spark, tmp_path, monkeypatch):
    monkeypatch.setattr("latchfree_spark.frames.pages.OPERATIONS", 5)
    write_history(
        tmp_path / "x.jsonl", [put_and_get(name, seen=9, operations=9 if name == "a" else 1) for name in "abc"]
    )
    run = check_uris(spark, [(tmp_path / "x.jsonl").as_uri()], (tmp_path / "out").as_uri(), OPTIONS)
    # Two of the three are copied, as `saved` says; the first is too long, and the room goes to the second.
    assert [(row["history"], row["saved"] is not None) for row in run.failing] == [
        ("a", False),
        ("b", True),
        ("c", False),
    ]
    assert run.failing[2]["replay"] is None
    assert run.failing[0]["small"]
    replay = shlex.split(run.failing[1]["replay"])
    assert CliRunner().invoke(app, replay[1:]).exit_code == exits.VIOLATION


def test_what_cannot_be_read_costs_neither_the_page_nor_the_exit_code(spark, tmp_path):
    (tmp_path / "in").mkdir()
    write_history(tmp_path / "in/a.jsonl", [put_and_get("h1", seen=9)])
    write_history(tmp_path / "in/b.jsonl", [put_and_get("h1"), put_and_get("half")])
    text = (tmp_path / "in/b.jsonl").read_text().replace('"half"', '"\\ud800"')  # no text of UTF-8
    (tmp_path / "in/b.jsonl").write_text(text + "torn\n")
    uri, out = (tmp_path / "in").as_uri(), (tmp_path / "out").as_uri()
    with pytest.raises(BadInput, match=r"failing histories and a page: file:.*/summary\.html"):
        check_uris(spark, [uri], out, OPTIONS)
    run = check_uris(spark, [uri], f"{out}2", OPTIONS, keep_going=True)
    assert (run.verdicts["violation"], run.verdicts["error"]) == (1, 2)  # with the history that nobody can name
    assert run.page
    assert not run.warnings
    (failing,) = run.failing
    assert CliRunner().invoke(app, shlex.split(failing["replay"])[1:]).exit_code == exits.VIOLATION


def test_a_page_that_cannot_be_written_is_a_warning(spark, tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("latchfree_spark.frames.pages.add_pages", full)
    write_history(tmp_path / "x.jsonl", [put_and_get("h1", seen=9)])
    called = CliRunner().invoke(
        app, ["pipeline", "check", (tmp_path / "x.jsonl").as_uri(), str(tmp_path / "out"), "--model", "map"]
    )
    assert called.exit_code == exits.VIOLATION, called.output
    assert "the page is not there: OSError: [Errno 28] No space left on device" in called.output
    assert spark.read.text((tmp_path / "out/summary.json").as_uri()).count() == 1


def test_json_text_of_several_lines_is_copied_on_one(spark, tmp_path):
    columns = {"history": ["h"] * 2, "process": ["0"] * 2, "f": ["put", "get"], "arguments": ['["k",\n1]', '["k"]']}
    columns |= {"result": ["null", "\r\n9"], "invoke": [0, 2], "return": [1, 3]}
    pq.write_table(pa.table(columns), tmp_path / "x.parquet")
    run = check_uris(spark, [(tmp_path / "x.parquet").as_uri()], (tmp_path / "out").as_uri(), OPTIONS)
    (row,) = run.failing
    assert CliRunner().invoke(app, shlex.split(row["replay"])[1:]).exit_code == exits.VIOLATION


def test_a_page_begins_with_what_was_copied(spark, tmp_path):
    write_history(tmp_path / "x.jsonl", [put_and_get(f"h{number:02}", seen=9) for number in range(12)])
    run = check_uris(
        spark, [(tmp_path / "x.jsonl").as_uri()], (tmp_path / "out").as_uri(), Options("map", saved=1), rounds=3
    )
    assert len(run.failing) == 12
    saved = [row["saved"] is not None for row in run.failing]
    assert saved == sorted(saved, reverse=True)
    assert sum(saved) == sum(row["copied"] for row in run.failing) > 1


def test_a_run_without_anything_new_has_no_page(spark, tmp_path):
    write_history(tmp_path / "x.jsonl", [put_and_get("h1")])
    uri, out = (tmp_path / "x.jsonl").as_uri(), (tmp_path / "out").as_uri()
    assert check_uris(spark, [uri], out, OPTIONS, date="2026-01-01").page
    assert check_uris(spark, [uri], out, OPTIONS, date="2026-01-02").page == ""
    assert not (tmp_path / "out" / "page" / "date=2026-01-02").exists()


def test_a_name_is_one_history_in_all_files_if_so_asked(spark, tmp_path):
    first, second = put_and_get("h1"), put_and_get("h1", seen=1)
    (tmp_path / "in").mkdir()
    write_history(tmp_path / "in/a.jsonl", [History("h1", first.operations[:1]), put_and_get("h2")])
    write_history(tmp_path / "in/b.parquet", [History("h1", second.operations[1:])])
    uri, out = (tmp_path / "in").as_uri(), (tmp_path / "out").as_uri()
    apart = check_uris(spark, [uri], out, OPTIONS)
    assert (apart.histories, apart.verdicts["ok"], apart.verdicts["violation"]) == (3, 2, 1)  # a get of nothing
    joined = Options("map", saved=2, join=True)
    with pytest.raises(JobRefused, match="this job has join true"):
        check_uris(spark, [uri], out, joined)
    together = check_uris(spark, [uri], f"{out}2", joined)
    assert (together.histories, together.verdicts["ok"], together.operations) == (2, 2, 4)
    (tmp_path / "in/c.jsonl").write_text("torn\n")
    with pytest.raises(BadInput, match=r"c\.jsonl: expected a JSON object"):
        check_uris(spark, [uri], f"{out}3", joined)
    assert not (tmp_path / "out3" / "verdicts").exists()  # nobody knows whose line it was
    (tmp_path / "in/c.jsonl").unlink()
    named = pq.read_table(tmp_path / "in/b.parquet")
    nameless = [row | {"history": None} for row in named.to_pylist()]
    pq.write_table(pa.Table.from_pylist(nameless, named.schema), tmp_path / "in/d.parquet")
    for options, at in ((joined, "4"), (OPTIONS, "5")):
        with pytest.raises(BadInput, match=r"d\.parquet: expected a name of a history, got null"):
            check_uris(spark, [uri], f"{out}{at}", options)


def test_the_progress_of_a_job_has_a_rate_and_what_is_left(spark, tmp_path, monkeypatch):
    monkeypatch.setattr("latchfree_spark.watching.LOOK", 0.01)
    write_history(tmp_path / "x.jsonl", [put_and_get(f"h{number}") for number in range(300)])
    uri, out, told = (tmp_path / "x.jsonl").as_uri(), (tmp_path / "out").as_uri(), []
    check_uris(spark, [uri], out, OPTIONS, rounds=2, partitions=4, report=told.append)
    assert told[0] == "looking at the input"
    assert told[-2:] == ["counting", "drawing"]
    counted = [
        re.fullmatch(r"judging part (\d) of 2, ([\d,]+) histories, .* operations, .* a second(.*)", text)
        for text in told
    ]
    seen = [(match[1], int(match[2]), match[3]) for match in counted if match]
    assert seen
    assert all(count == 300 or re.fullmatch(r", [\d,]+ s left", left) or left == "" for _, count, left in seen)
    assert any(left for _, count, left in seen if count < 300), told


def test_a_copy_is_judged_again_with_the_room_that_it_had(spark, tmp_path):
    """As often as one likes: the folder of the first time would know the history."""
    (tmp_path / "remote").mkdir()
    write_history(tmp_path / "remote" / "x.jsonl", [put_and_get("it's bad", seen=9)])
    roomy = Options("map", timeout=600.0, memory=(3 << 30) + 1, budget=10_000)
    with webhdfs(tmp_path / "remote") as (root, _):
        run = check_uris(spark, [f"{root}/x.jsonl"], f"{root}/out", roomy)
        (row,) = run.failing
        said = shlex.split(row["replay"].replace("$(mktemp -d)", str(tmp_path)))
        assert said[5:] == ["--model", "map", "--timeout", "600", "--memory", "3073"]
        assert CliRunner().invoke(app, said[1:]).exit_code == exits.VIOLATION
    (row,) = rows(spark, (tmp_path / "remote" / "out").as_uri())
    assert row["reproduce"] == "latchfree check - --model map --memory 3073"
    again = CliRunner().invoke(app, row["reproduce"].split()[1:], input=row["witness"])
    assert again.exit_code == exits.VIOLATION, again.output


@pytest.mark.parametrize("option", [["--by", "history"], ["--giant", "100000"]])
def test_an_option_of_paths_is_refused_before_spark_starts(monkeypatch, option):
    monkeypatch.setattr("latchfree_spark.session.spark_session", None)
    refused = CliRunner().invoke(app, ["pipeline", "check", "file:///in", "out", "--model", "map", *option])
    assert refused.exit_code == exits.USAGE
    assert f"{option[0]} is for paths" in refused.stderr
