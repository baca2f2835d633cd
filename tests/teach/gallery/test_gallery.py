"""The gallery: what each bug changes, and pages whose links lead somewhere."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from latchfree_evidence import MUTANTS
from latchfree_teach import build_gallery
from latchfree_teach.gallery.differences import difference, story_of

PLAYED = [name for name in MUTANTS if MUTANTS[name].scenario is not None]


@pytest.mark.parametrize("name", MUTANTS)
def test_each_mutant_has_a_story_and_a_difference(name):
    assert len(story_of(MUTANTS[name])) > 40
    parts = difference(MUTANTS[name])
    assert [title.rpartition(".")[2] for title, _ in parts] == [each.split(":")[1] for each in MUTANTS[name].replaces]
    assert any(line.startswith("+") for _, lines in parts for line in lines)
    assert any(line.startswith("-") for _, lines in parts for line in lines)


def test_what_has_no_page_is_refused_and_nothing_is_written(tmp_path):
    for name in ("N3", "S9", ""):
        with pytest.raises(ValueError, match=f"no page for mutant '{name}'; there are pages for S1"):
            build_gallery(tmp_path / "gallery", ["Q1", name])
    assert not (tmp_path / "gallery").exists()


def test_the_pages_of_one_mutant(tmp_path):
    told = build_gallery(tmp_path, ["Q2"])
    assert [(each["id"], each["par"], each["bound"]) for each in told] == [("Q2", 1, "")]
    links_hold(tmp_path)
    names = {file.name for file in tmp_path.iterdir()}
    assert names == {"index.html", "Q2.html", "Q2-play.html", "Q2-spec.html", "Q2-history.html"}
    beside = (tmp_path / "Q2-spec.html").read_text()
    rows = [row for row in beside.split("<tr")[1:] if "<b>" in row and "<code>store(" in row]
    steps = [re.search(r"<code>store\(mem, cell \+ (\w+),.*<b>(\w+)</b> of (\w)", row).groups() for row in rows]
    assert steps == [("TURN", "PutPublish", "p"), ("TURN", "GetRelease", "q")], "passed on before it has written"
    assert '"seconds":0.0,' in (tmp_path / "Q2-history.html").read_text(), "the same bytes each time"


def test_without_tlc_the_other_pages_are_made_and_say_so(tmp_path, monkeypatch):
    monkeypatch.setenv("TLA2TOOLS_JAR", str(tmp_path / "none.jar"))
    build_gallery(tmp_path / "gallery", ["Q2"])
    links_hold(tmp_path / "gallery")
    assert not (tmp_path / "gallery" / "Q2-spec.html").exists()
    assert "no page in step with the specification: " in (tmp_path / "gallery" / "Q2.html").read_text()


def links_hold(folder: Path) -> None:
    for file in folder.glob("*.html"):
        if not file.stem.endswith(("-play", "-history")):
            for link in re.findall(r'href="([^"#]+)', file.read_text()):
                assert (folder / link).exists(), (file, link)


@pytest.mark.slow
def test_all_pages_are_small_and_the_same_when_made_again(tmp_path, monkeypatch):
    told = build_gallery(tmp_path / "one")
    assert {each["id"] for each in told} == set(PLAYED)
    for each in told:
        assert each["par"] is not None, each
        assert each["bytes"] <= 1_000_000, each
        assert each["par"] <= MUTANTS[each["id"]].switches, each
    links_hold(tmp_path / "one")
    monkeypatch.setenv("PYTHONHASHSEED", "7")
    monkeypatch.chdir(tmp_path)
    assert build_gallery("two") == told
    pages = sorted((tmp_path / "one").iterdir())
    assert [page.name for page in pages] == sorted(page.name for page in (tmp_path / "two").iterdir())
    assert [page.name for page in pages if page.read_bytes() != (tmp_path / "two" / page.name).read_bytes()] == []


@pytest.mark.slow
@pytest.mark.parametrize("name", PLAYED)
def test_the_engine_makes_every_move_of_a_page_and_nothing_fails_below_par(name):
    command = [sys.executable, str(Path(__file__).parent / "helpers" / "replayed_page.py"), name]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    fails_alone = told["par"] == 0  # in one thread: a few moves, and one end
    assert told["moves"] >= (2 if fails_alone else 5)
    assert told["ends"] >= (1 if fails_alone else 2)
    print(name, told)
