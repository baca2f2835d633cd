"""Random files of random histories of all models: the verdicts at a path and at a URI are those of the library."""

import bz2
import gzip
import json
import os
import random
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from lincheck_random import KINDS, model_of, random_history
from pipeline_jobs import run, verdicts

from latchfree_lincheck import History, check, read_history, write_history
from latchfree_spark.check import Options
from latchfree_spark.frames.uris import check_uris

SEED = 20120225
TEXTS = (".jsonl", ".json", ".ndjson", ".jsonl.gz", ".jsonl.bz2", ".jsonl.zst", ".ndjson.lz4", ".RUN.JSONL")


def packed(name, data):
    """Return bytes as a file of that name holds them."""
    packing = {"zst": "zstd", "lz4": "lz4"}.get(name.rpartition(".")[2])
    if packing:
        sink = pa.BufferOutputStream()
        with pa.CompressedOutputStream(sink, packing) as stream:
            stream.write(data)
        return sink.getvalue().to_pybytes()
    return {"gz": gzip.compress, "bz2": bz2.compress}.get(name.rpartition(".")[2], bytes)(data)


def another_text(line, rng):
    """Return a line of JSON with the same meaning: other blanks, other order, escapes, fields that say nothing."""
    record = json.loads(line)
    for name in ("object", "model"):
        if name not in record and rng.random() < 0.3:
            record[name] = None
    names = list(record)
    rng.shuffle(names)
    text = json.dumps({name: record[name] for name in names}, ensure_ascii=rng.random() < 0.5)
    return text.replace('", "', rng.choice(['", "', '",\t"', '" , "', '",\r"'])) + rng.choice(["", " ", "\r"])


def write_text(path, histories, rng):
    """Write lines of JSON whose histories are mixed up, or stand together."""
    plain = path.parent / "plain.jsonl"
    write_history(plain, histories)
    lines = [another_text(line, rng) for line in plain.read_text().splitlines()]
    plain.unlink()
    if rng.random() < 0.5:
        rng.shuffle(lines)
    end = rng.choice(["", "\n", "\n\n"]) if lines else ""
    path.write_bytes(packed(path.name, (rng.choice(["", "\ufeff"]) + "\n".join(lines) + end).encode()))


def write_table(path, histories, rng):
    """Write Parquet with columns of other types, in another order, in small groups, with columns that are not read."""
    plain = path.parent / "plain.parquet"  # the suffix says what is written
    write_history(plain, histories)
    table = pq.read_table(plain)
    plain.unlink()
    for name in table.column_names:
        kind = table.schema.field(name).type
        others = (
            [pa.int32(), pa.int64()] if pa.types.is_integer(kind) else [pa.large_string(), pa.string(), pa.binary()]
        )
        if name in ("f", "model") and rng.random() < 0.5:
            others.append(pa.dictionary(pa.int32(), pa.string()))
        column = table[name].cast(rng.choice(others)) if rng.random() < 0.5 else table[name]
        table = table.set_column(table.column_names.index(name), name, column)
    if rng.random() < 0.5:
        table = table.append_column("host", pa.array(["ä"] * len(table)))
    names = table.column_names
    rng.shuffle(names)
    table = table.select(names)
    if rng.random() < 0.5:
        order = list(range(len(table)))
        rng.shuffle(order)
        table = table.take(order)
    pq.write_table(
        table, path, row_group_size=rng.choice([1, 7, 1000]), compression=rng.choice(["zstd", "gzip", "NONE"])
    )


def random_files(home, rng):
    """Write a folder; return what the library says of each history, by the name of its file and its own."""
    expected, number = {}, 0
    for folder in ("", "night 1", "run=[2]/deep"):
        (home / folder).mkdir(parents=True, exist_ok=True)
        for _ in range(rng.randint(0, 3)):
            number += 1
            histories = []
            for at in range(rng.randint(0, 6)):
                made = random_history(kind := rng.choice(KINDS), rng.randrange(10_000), most=9)
                name = rng.choice([f"h{at}", f"ä {at}", f"{at}", f"a/{at}", f'"{at}\\'])
                histories.append(History(name, made.operations, model_of(kind).name))
            suffix = rng.choice([*TEXTS, ".parquet", ".parquet", ".PARQUET", ""])
            path = home / folder / f"f{number}{suffix}"
            as_table = "parquet" in suffix.lower() or (not suffix and rng.random() < 0.5)
            if not histories and (as_table or not suffix):
                continue
            (write_table if as_table else write_text)(path, histories, rng)
            source = str(path.relative_to(home))
            expected |= {(source, each.name): check(each, each.model_hint).verdict for each in histories}
    return expected


def test_the_library_reads_what_is_written_here(tmp_path):
    """The oracle is not one that judges other histories than those in the files."""
    rng = random.Random(SEED)
    histories = [History(f"h{at}", random_history("map", at).operations, "map") for at in range(9)]
    for write, name in ((write_text, "x.jsonl"), (write_table, "x.parquet")):
        for _ in range(20):
            write(tmp_path / name, histories, rng)
            if write is write_table:
                table = pq.read_table(tmp_path / name)
                plain = pa.table(
                    {each: table[each].cast(kind) for each, kind in PLAIN.items() if each in table.column_names}
                )
                pq.write_table(plain, tmp_path / name)
            again = {each.name: check(each, "map").verdict for each in read_history(tmp_path / name)}
            assert again == {each.name: check(each, "map").verdict for each in histories}


PLAIN = {
    name: pa.string() if name not in ("invoke", "return") else pa.int64()
    for name in ("history", "process", "f", "arguments", "result", "invoke", "return", "object", "model")
}


def compare(spark, folder, seed):
    rng = random.Random(seed)
    home = folder / "in"
    home.mkdir(parents=True)
    expected = random_files(home, rng)
    if not expected:
        return 0
    remote = check_uris(
        spark, [f"file://{home}"], f"file://{folder}/out", Options(saved=1), rounds=rng.choice([1, 1, 2])
    )
    rows = spark.read.parquet(f"file://{folder}/out/verdicts").collect()
    assert {(row["source"], row["history"]): row["verdict"] for row in rows} == expected, seed
    assert remote.histories == len(rows) == len(expected), seed
    options = Options(saved=1, giant=rng.choice([3, 100_000]))
    local = run(spark, [home], folder / "local", options, chunks=rng.randint(1, 5))
    rows = verdicts(folder / "local")
    files = [file for file in home.rglob("*") if file.is_file()]
    home = Path(os.path.commonpath([file.parent for file in files]))  # who has files below it
    found = {
        (str(Path(home, row["source"]).relative_to(folder / "in")), row["history"]): row["verdict"] for row in rows
    }
    assert found == expected, seed
    assert local.histories == len(rows) == len(expected), seed
    return len(expected)


@pytest.mark.usefixtures("adaptive")
def test_random_files(spark, tmp_path):
    print(f"seed {SEED}")
    assert compare(spark, tmp_path, SEED) > 10


@pytest.mark.slow
@pytest.mark.parametrize("part", range(6))
def test_many_random_files(spark, tmp_path, part):
    for seed in range(SEED + 10 * part + 1, SEED + 10 * part + 11):
        print(f"seed {seed}")
        compare(spark, tmp_path / str(seed), seed)
