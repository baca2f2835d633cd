"""The tables of README and docs are those of the recorded runs, and say so where the code has changed since."""

from __future__ import annotations

import dataclasses
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))

import record as command  # noqa: E402
from measuring import records, views  # noqa: E402

PAGE = "before\n<!-- record one_key: {view} -->\nold\n<!-- end of record -->\nafter\n"
CTRIE = """\
machine, 2 processors

one key a call, from Python; 10,000 keys; 1 thread

 ns per operation   latchfree       target         dict   dict + lock
 ────────────────────────────────────────────────────────────────────
 put                       95   met <= 300   68 (0.72x)   223 (2.35x)
 get                       33   met <= 180   24 (0.73x)             -

bulk: the loop is compiled; 10,000 keys; 1 thread

 ns per operation   latchfree   target         dict   TrieMap (JVM)
 ───────────────────────────────────────────────────────────────────
 get                       23            41 (1.78x)      23 (1.00x)
 snapshot                  13                     -      83 (6.38x)
"""
MIXES = """\
200,000 operations of each thread, 10 rounds, seed 1

one key a call, from Python; 300,000 keys; 1 thread

 ns per operation   latchfree           dict
 ───────────────────────────────────────────
 90/10, uniform            64     53 (0.83x)
 50/50, uniform            84     48 (0.57x)
 90/10, zipf               71     37 (0.52x)

bulk: the loop is compiled; 300,000 keys; 1 thread

 ns per operation   latchfree        TrieMap
 ───────────────────────────────────────────
 50/50, zipf               79     41 (0.52x)
"""
START = """\
until the first put and get, ms: minimum / median                   passed               processor  starts
dict                                                             7.9 / 8.0               7.7 / 7.8      20
latchfree, its library                                       177.4 / 182.5           179.9 / 181.8      20
latchfree, no library, nothing cached              10,294.8 / 10,294.8     10,155.0 / 10,155.0       1
lmdb                                               skipped: no lmdb here; pip install 'latchfree[bench]'
"""
FILES = """\
files on ext4, single calls, 10,000 keys, ns an operation (ratio to latchfree)
                            put, alone         put, together            get, alone         get, together
latchfree                  230 (1.00x)           287 (1.00x)            54 (1.00x)            52 (1.00x)
sqlite3                 8,612 (37.48x)      31,711 (110.64x)        2,972 (55.16x)        2,987 (57.35x)
files on ext4, bulk, 10,000 keys, ns an operation (ratio to latchfree)
                            put, alone         put, together            get, alone         get, together
latchfree                  194 (1.00x)           310 (1.00x)            60 (1.00x)            91 (1.00x)
"""


@pytest.fixture
def made() -> records.Record:
    where = {"processors": 2, "processor": "P", "system": "Linux x86_64", "python": "3.11", "load_before": [0.25, 0, 0]}
    printed = "\nint keys, 10,000: ns of processor time\nput  104.4  48.8 (2.14x)\nget  36.6  25.8 (1.42x)\n"
    return records.Record("bench/one_key.py", "abc", "2026-11-25", where, records.code_of("one_key"), printed)


def test_the_pages_say_what_the_records_say() -> None:
    for page in records.PAGES:
        text = (ROOT / page).read_text()
        assert text == views.filled(text), f"{page} differs from the records: run `python bench/record.py`"


def test_every_record_is_shown_and_is_of_a_command() -> None:
    text = "".join((ROOT / page).read_text() for page in records.PAGES)
    names = {file.stem for file in (ROOT / "bench/records").iterdir()}
    assert names == set(records.COMMANDS)
    assert all(f"<!-- record {name}: " in text for name in names)


@pytest.mark.parametrize(
    ("view", "row"), [("printed", "get  36.6  25.8 (1.42x)"), ("beside dict", "| int keys | 2.14 | 1.42 |")]
)
def test_a_place_is_filled_from_its_record(view: str, row: str, made: records.Record, tmp_path: Path) -> None:
    for folder in records.COMMANDS["one_key"][1]:
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "impl/latchfree/ctrie/one.py").write_text("a = 1\n")
    (tmp_path / "bench").mkdir()
    made = dataclasses.replace(made, code=records.code_of("one_key", tmp_path))
    records.save("one_key", made, tmp_path)
    assert records.load("one_key", tmp_path) == made
    page = views.filled(PAGE.format(view=view), tmp_path)
    assert row in page
    assert "old" not in page
    assert page.startswith("before\n")
    assert page.endswith("<!-- end of record -->\nafter\n")
    assert "at commit abc" in page
    assert "changed since" not in page
    assert views.filled(page, tmp_path) == page

    (tmp_path / "impl/latchfree/ctrie/one.py").write_text("a = 2\n")
    assert "has changed since" in views.filled(page, tmp_path)


def test_the_table_of_the_map_has_each_peer_in_its_column(made: records.Record) -> None:
    table = views.map_beside_peers("ctrie", dataclasses.replace(made, printed=CTRIE)).splitlines()
    assert table[:4] == [
        "| one thread | latchfree | dict | dict + lock | TrieMap (JVM) |",
        "|---|---:|---:|---:|---:|",
        "| get, one key a call | 33 | 24 |  |  |",
        "| put, one key a call | 95 | 68 | 223 |  |",
    ]
    assert table[4] == "| get, bulk | 23 | 41 |  | 23 |"
    assert table[7] == "| snapshot, bulk | 13 |  |  | 83 |"


def test_the_table_of_mixes_has_both_kinds_of_calls(made: records.Record) -> None:
    table = views.mixes_beside_peers("mixes", dataclasses.replace(made, printed=MIXES)).splitlines()
    assert table[0] == "| one thread | latchfree | dict | TrieMap |"
    assert table[2] == "| 90/10, uniform, one key a call | 64 | 53 |  |"
    assert table[9] == "| 50/50, zipf, bulk | 79 |  | 41 |"


def test_the_table_of_cold_starts_has_medians(made: records.Record) -> None:
    table = views.started("cold_start", dataclasses.replace(made, printed=START)).splitlines()
    assert table[2:6] == [
        "| dict | 8.0 | 7.8 |",
        "| latchfree, its library | 182.5 | 181.8 |",
        "| latchfree, no library, nothing cached | 10,294.8 | 10,155.0 |",
        "",
    ]


def test_the_table_of_files_has_both_processes_at_work(made: records.Record) -> None:
    table = views.files_beside("processes", dataclasses.replace(made, printed=FILES)).splitlines()
    assert table[2:5] == ["| latchfree | 287 | 52 |", "| sqlite3 | 31,711 | 2,987 |", ""]


def test_a_caption_says_what_was_not_noted(made: records.Record) -> None:
    where = {name: value for name, value in made.machine.items() if name != "load_before"}
    told = views.caption("churn", dataclasses.replace(made, machine=where, code=records.UNKNOWN))
    assert "the load was not noted" in told
    assert told.endswith("the code that it measures may have changed since.**")


def test_a_command_is_run_and_recorded(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    script = tmp_path / "measure.py"
    script.write_text("print('a figure')\nraise SystemExit(1)\n")
    monkeypatch.setitem(records.COMMANDS, "one_key", ((str(script),), ()))
    run = command.run("one_key")
    assert run.printed == "a figure\n"
    assert run.code == records.code_of("one_key")
    script.write_text("raise SystemExit(2)\n")
    with pytest.raises(command.subprocess.CalledProcessError):
        command.run("one_key")


def test_an_unknown_record_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        command.main(["nothing"])
    assert "there are ctrie" in capsys.readouterr().err
