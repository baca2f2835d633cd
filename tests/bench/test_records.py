"""The tables of README and docs are those of the recorded runs, and say so where the code has changed since."""

from __future__ import annotations

import dataclasses
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))

import record as command  # noqa: E402
from measuring import records  # noqa: E402

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


@pytest.fixture
def made() -> records.Record:
    where = {"processors": 2, "processor": "P", "system": "Linux x86_64", "python": "3.11", "load_before": [0.25, 0, 0]}
    printed = "\nint keys, 10,000: ns of processor time\nput  104.4  48.8 (2.14x)\nget  36.6  25.8 (1.42x)\n"
    return records.Record("bench/one_key.py", "abc", "2026-11-25", where, records.code_of("one_key"), printed)


def test_the_pages_say_what_the_records_say() -> None:
    for page in records.PAGES:
        text = (ROOT / page).read_text()
        assert text == records.filled(text), f"{page} differs from the records: run `python bench/record.py`"


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
    page = records.filled(PAGE.format(view=view), tmp_path)
    assert row in page
    assert "old" not in page
    assert page.startswith("before\n")
    assert page.endswith("<!-- end of record -->\nafter\n")
    assert "at commit abc" in page
    assert "changed since" not in page
    assert records.filled(page, tmp_path) == page

    (tmp_path / "impl/latchfree/ctrie/one.py").write_text("a = 2\n")
    assert "has changed since" in records.filled(page, tmp_path)


def test_the_table_of_the_map_has_each_peer_in_its_column(made: records.Record) -> None:
    table = records.map_beside_peers("ctrie", dataclasses.replace(made, printed=CTRIE)).splitlines()
    assert table[:4] == [
        "| one thread | latchfree | dict | dict + lock | TrieMap (JVM) |",
        "|---|---:|---:|---:|---:|",
        "| get, one key a call | 33 | 24 |  |  |",
        "| put, one key a call | 95 | 68 | 223 |  |",
    ]
    assert table[4] == "| get, bulk | 23 | 41 |  | 23 |"
    assert table[7] == "| snapshot, bulk | 13 |  |  | 83 |"


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
