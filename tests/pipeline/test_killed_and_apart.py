"""What once went wrong, on a cluster: two workers whose folders differ, one of which is killed while it works.

The second worker does not see the driver's folder of compiled code and packages. Both see inputs and outputs.
"""

import gzip
import json
import os
import subprocess
import sys

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from message_files import brute
from pipeline_jobs import put_and_get, verdicts
from pipeline_processes import can_hide, cluster, wait_for
from pipeline_trouble import targets

from latchfree_cli import exits
from latchfree_lincheck import write_history

pytestmark = [
    pytest.mark.cluster,
    pytest.mark.skipif(not can_hide(), reason="this system permits no mount namespaces"),
]

COMMAND = "import sys; from latchfree_cli.main import main; sys.exit(main())"
OLD = 1_000_000_000
"""A time of 2001, as `rsync -t` keeps it."""


@pytest.fixture(scope="module")
def workers(tmp_path_factory):
    """A cluster: its address, its workers and the folder that the second one does not see."""
    folder = tmp_path_factory.mktemp("apart")
    (folder / "cache").mkdir()
    with cluster(folder, hidden=folder / "cache") as (address, started):
        yield address, started, folder / "cache"


@pytest.fixture
def pipeline(workers, tmp_path):
    """Run a command on the cluster; kill the first worker's executor as soon as it works."""
    address, started, cache = workers
    settings = f"spark.executor.memory 512m\nspark.cores.max 2\nspark.executorEnv.XDG_CACHE_HOME {cache}\n"
    (tmp_path / "spark-defaults.conf").write_text(settings)

    def run(*arguments, during=lambda: None):
        path = os.pathsep.join(each for each in sys.path if each)
        process = subprocess.Popen(
            [sys.executable, "-c", COMMAND, "pipeline", *map(str, arguments), "--master", address],
            env={**os.environ, "PYTHONPATH": path, "SPARK_CONF_DIR": str(tmp_path)},
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip
        try:
            wait_for(lambda: process.poll() is not None or all(targets(started[0])))
            assert process.poll() is None, f"the job was over before: {process.communicate()[0]}"
            machines, _ = targets(started[0])
            during()
            for pid in machines:
                os.kill(pid, 9)
            said, _ = process.communicate(timeout=600)
        finally:
            process.kill()
        return process.returncode, said

    return run


def test_verdicts_and_rows_are_counted(pipeline, tmp_path):
    (tmp_path / "in").mkdir()
    for part in range(4):
        histories = [put_and_get(f"h{number}", seen=5 if number == 301 else None) for number in range(part, 600, 4)]
        write_history(tmp_path / "in" / f"{part}.jsonl", histories)
    code, said = pipeline("check", tmp_path / "in", tmp_path / "out", "--model", "map", "--chunks", "16")
    assert code == exits.VIOLATION, said
    assert len(verdicts(tmp_path / "out")) == 600
    (tmp_path / "messages").mkdir()
    for part in range(8):
        pq.write_table(
            pa.table({"topic": [f"a/{part}/{n}" for n in range(500)]}), tmp_path / f"messages/{part}.parquet"
        )
    (tmp_path / "s.csv").write_text("pattern,subscriber\na/#,x\n")
    options = ("-s", tmp_path / "s.csv", "-m", tmp_path / "messages", "-o", tmp_path / "matched")
    code, said = pipeline("match", *options)
    assert code == exits.OK, said
    assert "4,000 messages, 4,000 matches" in said


def test_a_giant_that_is_wrong(pipeline, tmp_path):
    count = 60_000
    turns = range(count)
    rows = {
        "history": ["giant"] * count,
        "process": [str(turn % 4) for turn in turns],
        "f": ["get" if turn % 2 else "put" for turn in turns],
        "arguments": ['["k"]' if turn % 2 else f'["k", {turn // 2}]' for turn in turns],
        "result": [str(turn // 2 if turn < count - 1 else 7) if turn % 2 else "null" for turn in turns],
        "invoke": [2 * turn for turn in turns],
        "return": [2 * turn + 1 for turn in turns],
    }
    rows["result"][2::2] = [str(turn // 2 - 1) for turn in range(2, count, 2)]  # a put returns what was there
    pq.write_table(pa.table(rows), tmp_path / "giant.parquet")
    code, said = pipeline("check", tmp_path / "giant.parquet", tmp_path / "out", "--model", "map", "--giant", "1000")
    assert code == exits.VIOLATION, said
    (row,) = verdicts(tmp_path / "out")
    assert (row["verdict"], row["operations"], row["failing"]) == ("violation", count, count - 1)


def test_a_stream_of_old_files(pipeline, tmp_path):
    (tmp_path / "in").mkdir()
    topics = [f"a/{number}" for number in range(200)]
    for part in range(4):
        path = tmp_path / "in" / f"{part}.parquet"
        pq.write_table(pa.table({"topic": topics[part::4]}), path)
        if part:
            os.utime(path, (OLD + part, OLD + part))
    (tmp_path / "s.csv").write_text("pattern,subscriber\na/+,x\n+/7,y\n")
    options = ("-s", tmp_path / "s.csv", "-m", tmp_path / "in", "-o", tmp_path / "out", "--stream", "--available-now")
    code, said = pipeline("match", *options, "--max-files", "1")
    assert code == exits.OK, said
    files = (tmp_path / "out" / "matches").rglob("*.parquet")
    rows = [row for file in files for row in pq.ParquetFile(file).read().to_pylist()]
    assert sorted(row["topic"] for row in rows) == sorted(topics)
    assert {row["topic"]: sorted(row["subscribers"]) for row in rows} == dict(
        zip(topics, brute(["a/+", "+/7"], ["x", "y"], topics), strict=True)
    )


def test_lines_that_are_malformed(pipeline, tmp_path):
    write_history(tmp_path / "x.jsonl", [put_and_get(f"h{number}") for number in range(2000)])
    with (tmp_path / "x.jsonl").open("a") as file:
        file.writelines(f'{{"history": "bad{number}"}}\n' for number in range(3000))
    code, said = pipeline("check", tmp_path / "x.jsonl", tmp_path / "out", "--model", "map")
    assert code == exits.USAGE, said
    named = [line for line in said.splitlines() if "x.jsonl:" in line]
    assert [int(line.split("x.jsonl:")[1].split(":")[0]) for line in named] == [*range(4001, 4101)], said
    assert "and 2,900 more" in said
    assert not (tmp_path / "out").exists()


def test_columns_that_differ_and_names_that_are_used_again(pipeline, tmp_path):
    (tmp_path / "in").mkdir()
    for part in range(4):
        columns = {"topic": ["a/b"] * 5} | ({"size": [part] * 5} if part % 2 else {"who": ["me"] * 5})
        pq.write_table(pa.table(columns), tmp_path / "in" / f"{part}.parquet")
    (tmp_path / "s.csv").write_text("pattern,subscriber\na/+,x\n")
    code, said = pipeline("match", "-s", tmp_path / "s.csv", "-m", tmp_path / "in", "-o", tmp_path / "matched")
    assert code == exits.OK, said
    rows = pa.concat_tables([pq.ParquetFile(file).read() for file in (tmp_path / "matched/matches").glob("*.parquet")])
    assert {"size", "who", "topic", "subscribers"} <= set(rows.column_names)
    assert (rows.num_rows, rows["size"].null_count, rows["who"].null_count) == (20, 10, 10)
    (tmp_path / "nights").mkdir()
    for night in range(3):
        histories = [put_and_get(f"h{number}", value=night) for number in range(40)]
        write_history(tmp_path / "nights" / f"{night}.jsonl", histories)
    code, said = pipeline("check", tmp_path / "nights", tmp_path / "out", "--model", "map")
    assert code == exits.OK, said
    assert "several sources" in said
    assert len(verdicts(tmp_path / "out")) == 120


def test_any_columns_compressed_lines_and_input_that_grows(pipeline, tmp_path):
    (tmp_path / "in").mkdir()
    write_history(tmp_path / "a.parquet", [put_and_get(f"a{number}") for number in range(50)])
    table = pq.read_table(tmp_path / "a.parquet").append_column("host", pa.array(["lab"] * 100))
    table = table.set_column(table.column_names.index("f"), "f", pc.dictionary_encode(table["f"]))
    table = table.set_column(table.column_names.index("invoke"), "invoke", table["invoke"].cast(pa.int32()))
    pq.write_table(table, tmp_path / "in" / "a.parquet")
    write_history(tmp_path / "b.jsonl", [put_and_get(f"b{number}") for number in range(50)])
    (tmp_path / "in" / "b.jsonl.gz").write_bytes(gzip.compress((tmp_path / "b.jsonl").read_bytes()))
    write_history(tmp_path / "in" / "c.jsonl", [put_and_get(f"c{number}") for number in range(50)])

    def grow():
        with (tmp_path / "in" / "c.jsonl").open("a") as file:
            line = {"history": "late", "process": 0, "f": "get", "arguments": ["k"], "result": 9}
            file.write(json.dumps(line | {"invoke": 1, "return": 2}) + "\n")

    code, said = pipeline("check", tmp_path / "in", tmp_path / "out", "--model", "map", during=grow)
    assert code == exits.OK, said
    assert len(verdicts(tmp_path / "out")) == 150
    assert "'host'" in said
    assert "c.jsonl" in said, "a warning names the file that grew"
