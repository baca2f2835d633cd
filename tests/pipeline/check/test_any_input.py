"""Any input: each history has one row, and it says what the library's reader says of the same lines."""

import gzip
import json
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pipeline_jobs import fragments, shuffled, verdicts

from latchfree_lincheck import check, read_history
from latchfree_lincheck.formats import HistoryFormatError
from latchfree_spark.check import Options
from latchfree_spark.check.input import finding
from latchfree_spark.check.judge.chunks import judge_chunks

NAMES = ("h0", "h1", "ä", "")


def put(name, process, value, time):
    """Return the line of a put; puts never violate anything."""
    row = {"history": name, "process": process, "f": "put", "arguments": ["k", value], "result": None}
    return json.dumps(row | {"invoke": time, "return": time + 1})


name = st.sampled_from(NAMES)
good = st.builds(put, name, st.integers(0, 1), st.integers(0, 1), st.integers(0, 40))
stale = name.map(
    lambda each: put(each, 9, 0, 0).replace('"put"', '"get"').replace('["k", 0]', '["k"]').replace("null", "7")
)
malformed = name.map(lambda each: put(each, 0, 0, 0).replace('"process": 0', '"process": 0.5'))
foreign = name.map(lambda each: put(each, 5, 0, 0).replace('"put"', '"enqueue"'))
nobodys = st.sampled_from(["{", "[]", '{"history": 3}', '{"history": "h0", "process', "\x00", '{"process": 0}'])
blank = st.sampled_from(["", "  "])
text = st.lists(st.one_of(good, good, good, stale, malformed, foreign, blank), max_size=12)
spoilt = st.tuples(text, nobodys, text).map(lambda parts: [*parts[0], parts[1], *parts[2]])
content = st.tuples(st.one_of(text, text, text, spoilt), st.booleans(), st.booleans())


def expected(lines, path):
    """Return the verdict of each history of one source, the lines of all its files, as the library finds it."""
    found, damaged = {}, set()
    by_name = {}
    for file, line in lines:
        try:
            record = json.loads(line) if line.strip() else None
        except ValueError:
            damaged.add(file)
            continue
        if record is None:
            continue
        if not isinstance(record, dict) or not isinstance(record.get("history"), str):
            damaged.add(file)
            continue
        by_name.setdefault(record["history"], []).append((file, line))
    for history, mine in by_name.items():
        path.write_text("".join(f"{line}\n" for _, line in mine))
        try:
            (alone,) = read_history(path, "jsonl", "map")
            found[history] = check(alone, "map").verdict
        except HistoryFormatError:
            found[history] = "error"
        if any(file in damaged for file, _ in mine):
            found[history] = "error"
    return found, len(damaged)


@settings(max_examples=80)
@given(
    st.lists(content, min_size=1, max_size=4),
    st.sampled_from([40, 150, 1 << 20]),
    st.integers(1, 3),
    st.integers(1, 9),
    st.sampled_from(["files", "parts", "join"]),
)
def test_each_history_has_one_row_and_it_is_right(files, unit, chunks, rows, kind):
    with tempfile.TemporaryDirectory() as made, pytest.MonkeyPatch.context() as patch:
        patch.setattr(finding, "UNIT", unit)
        folder = Path(made, "in")
        folder.mkdir()
        sources = {}
        for number, (lines, zipped, ended) in enumerate(files):
            stem = f"part-{number:05}" if kind == "parts" else f"f{number}"
            file = folder / f"{stem}.jsonl{'.gz' if zipped else ''}"
            data = "\n".join(lines).encode() + (b"\n" if ended and lines else b"")
            file.write_bytes(gzip.compress(data) if zipped else data)
            source = {"files": file.name, "parts": "in", "join": ""}[kind]
            sources.setdefault(source, []).extend((number, line) for line in lines)
        job, table = fragments([folder], made, Options("map", join=kind == "join", saved=0), chunks)
        out = Path(made, "out")
        list(judge_chunks(shuffled(table, chunks, rows), replace(job, folder=str(out))))
        told = [(row["source"], row["history"], row["verdict"]) for row in (verdicts(out) if out.exists() else [])]
        wanted, damaged = [], 0
        for source, lines in sources.items():
            found, count = expected(lines, Path(made, "one.jsonl"))
            wanted += [(source, history, verdict) for history, verdict in found.items()]
            damaged += count
        assert sorted(row for row in told if row[1] is not None) == sorted(wanted)
        assert (len([row for row in told if row[1] is None]) > 0) == (damaged > 0)
