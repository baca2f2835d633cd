"""`latchfree grade`: what it prints and writes, and how it ends."""

import csv
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from latchfree_cli import exits
from latchfree_cli.app import app
from latchfree_teach import Grader, find_lesson

LESSON = find_lesson("1")


@pytest.fixture(autouse=True)
def in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run where files may be written."""
    monkeypatch.chdir(tmp_path)


def grade(*words: str) -> Result:
    """Run the command on some submissions to lesson 1."""
    return CliRunner().invoke(app, ["grade", *words, "--lesson", "1"])


def test_a_class_is_graded_and_one_that_cannot_be_read_does_not_end_it() -> None:
    for name, text in (("ada", LESSON.wrong["load_store"]), ("=bob", "import os"), ("cy", LESSON.solution)):
        Path(name).mkdir()
        Path(name, "01_lost_update.py").write_text(text)
        Path(name, "notes.py").write_text("x")
    Path("dan").mkdir()
    result = grade("ada", "=bob", "dan", "none.py", "cy", "--format", "csv", "-o", "grades")
    assert result.exit_code == exits.USAGE, result.output
    rows = list(csv.reader(result.stdout.splitlines()))
    assert [(row[0], row[2], row[3], row[6]) for row in rows[1:]] == [
        ("ada", "graded", "2", "load_store"),
        ("'=bob", "refused", "0", ""),
        ("dan", "malformed", "0", ""),
        ("none", "malformed", "0", ""),
        ("cy", "graded", "10", ""),
    ]
    assert Path("grades/grades.csv").read_text() == result.stdout
    assert LESSON.mistakes["load_store"]["hint"] in Path("grades/ada/report.txt").read_text()
    results = json.loads(Path("grades/ada/results.json").read_text())
    assert results["score"] == sum(test["score"] for test in results["tests"]) == 2
    assert {test["status"] for test in results["tests"]} == {"passed", "failed"}
    assert all(test["max_score"] >= test["score"] >= 0 for test in results["tests"])
    assert all(test["output_format"] == "text" and test["visibility"] == "visible" for test in results["tests"])
    assert "import" in json.loads(Path("grades/=bob/results.json").read_text())["output"]


def test_one_submission_is_told_with_its_schedule_and_its_hint() -> None:
    Path("mine.py").write_text(LESSON.wrong["adds_twice"])
    result = grade("mine.py")
    assert result.exit_code == exits.OK, result.output
    assert result.stdout.startswith("mine: 0 of 10 points: not linearizable: ")
    assert "scenario: increment(); increment(); read()" in result.stdout
    assert result.stdout.endswith(f"hint: {LESSON.mistakes['adds_twice']['hint']}\n")
    assert not Path("out").exists()


@pytest.mark.parametrize("format_", ["text", "json", "csv", "gradescope"])
def test_what_cannot_be_read_is_malformed(format_: str) -> None:
    result = grade("none.py", "--format", format_)
    assert result.exit_code == exits.USAGE
    assert "none.py: No such file or directory" in result.stdout


def test_json_is_one_object() -> None:
    result = grade("none.py", "--json")
    found = json.loads(result.stdout)
    assert found["verdict"] == "graded"
    assert found["submissions"][0]["status"] == "malformed"


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["a.py", "--lesson", "99"], "there is no lesson '99'"),
        (["a.py", "b.py", "--lesson", "1", "--format", "gradescope"], "results.json is for one submission"),
    ],
)
def test_what_makes_no_sense_is_usage(words: list[str], problem: str) -> None:
    result = CliRunner().invoke(app, ["grade", *words])
    assert result.exit_code == exits.USAGE
    assert problem in result.stderr


def test_a_page_of_an_earlier_answer_goes_with_it() -> None:
    Path("ada.py").write_text(LESSON.wrong["load_store"])
    assert grade("ada.py", "-o", "grades").exit_code == exits.OK
    assert Path("grades/ada/play.html").exists()
    Path("ada.py").write_text(LESSON.solution)
    assert grade("ada.py", "-o", "grades").exit_code == exits.OK
    assert sorted(path.name for path in Path("grades/ada").iterdir()) == ["report.txt", "results.json"]


def test_a_folder_that_cannot_be_made_is_said_before_anything_is_graded() -> None:
    Path("ada.py").write_text(LESSON.solution)
    Path("taken").write_text("mine")
    result = grade("ada.py", "-o", "taken")
    assert result.exit_code == exits.USAGE
    assert "cannot write taken: File exists; choose another folder with -o" in result.stderr
    assert (result.stdout, Path("taken").read_text()) == ("", "mine")


def test_a_defect_at_one_answer_leaves_the_others_their_grades(monkeypatch: pytest.MonkeyPatch) -> None:
    real = Grader.grade

    def sometimes(self, lesson, text, name, **options):
        if name == "bob":
            raise RuntimeError("bob: the grader failed: a bug")
        return real(self, lesson, text, name, **options)

    monkeypatch.setattr(Grader, "grade", sometimes)
    for name in ("ada", "bob", "cy"):
        Path(f"{name}.py").write_text(LESSON.solution)
    result = grade("ada.py", "bob.py", "cy.py", "--format", "csv", "-o", "grades")
    assert result.exit_code == exits.TOOL
    assert [row[2:4] for row in list(csv.reader(result.stdout.splitlines()))[1:]] == [
        ["graded", "10"],
        ["crashed", "0"],
        ["graded", "10"],
    ]
    assert "bob: the grader failed: a bug" in result.stderr
    assert Path("grades/grades.csv").read_text() == result.stdout


def test_a_link_out_of_the_folder_is_no_answer() -> None:
    Path("ada").mkdir()
    Path("ada/01_lost_update.py").symlink_to(LESSON.folder / "solution.py")
    Path("bob").mkdir()
    Path("bob/mine.py").write_text("import os")
    Path("bob/01_lost_update.py").symlink_to("mine.py")
    Path("cy").mkdir()
    Path("cy/01_lost_update.py").symlink_to("01_lost_update.py")
    result = grade("ada", "bob", "cy", "--json")
    told = {each["name"]: each for each in json.loads(result.stdout)["submissions"]}
    assert [told[name]["status"] for name in ("ada", "bob", "cy")] == ["malformed", "refused", "malformed"]
    assert "leads out of the folder" in told["ada"]["message"]


def test_each_submission_has_a_folder_of_its_own_below_the_grades() -> None:
    texts = {"...py": "a", "x/ada.py": "b", "y/ada.py": "c", "ada-2.py": "d", "grades.csv.py": "e", "\x1b[31m.py": "f"}
    for name, text in texts.items():
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text(f"import {text}")
    result = grade(*texts, "-o", "out")
    assert result.exit_code == exits.OK, result.output
    assert {path.name for path in Path("out").iterdir()} == {
        "submission", "ada", "ada-2", "ada-2-2", "grades.csv-2", "_[31m", "grades.csv"
    }  # fmt: skip
    assert "\x1b" not in result.stdout
    assert not Path("report.txt").exists()
