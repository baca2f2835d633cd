"""``latchfree litmus``: verdicts, runs and cycles, files, exit codes, errors."""

import json
from pathlib import Path

import pytest
from cli_processes import latchfree
from typer.testing import CliRunner

from latchfree_cli import exits
from latchfree_cli.app import app
from latchfree_explore.weak.suite import load_suite

SB = "store x 1; load y | store y 1; load x"


@pytest.fixture(autouse=True)
def in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run where files may be written."""
    monkeypatch.chdir(tmp_path)


def run(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(app, ["litmus", *arguments])
    return result.exit_code, result.stdout


def refused(*arguments: str) -> str:
    result = CliRunner().invoke(app, ["litmus", *arguments])
    assert result.exit_code == exits.USAGE
    assert result.stdout == ""
    return result.stderr


def test_all_tests_agree_with_the_literature() -> None:
    code, text = run()
    assert code == exits.OK
    assert text.splitlines()[-1] == (
        "144 tests, 576 verdicts: 70 published, 506 derived from published statements; 0 differ"
    )
    for test in load_suite():
        assert f"│ {test.name} " in text


def test_a_test_is_explained() -> None:
    code, text = run("mp+rlx")
    assert code == exits.OK
    assert text.splitlines() == [
        "MP+rlx, message passing",
        "weak outcome: 1:r0=1 & 1:r1=0",
        "allowed by: sra, rc11; forbidden by: sc, tso",
        "  thread 0            thread 1",
        "  a: store x 1 rlx    c: load y rlx = 1  (from b)",
        "  b: store y 1 rlx    d: load x rlx = 0  (initial)",
        "  mo: x = 0, then a; y = 0, then b",
        "forbidden by sc, tso: order (no cycle of program order and communication)",
        "         a: store x 1 rlx",
        "  -po->  b: store y 1 rlx",
        "  -rf->  c: load y rlx",
        "  -po->  d: load x rlx",
        "  -rb->  a: store x 1 rlx",
        "literature:",
        "  sc    forbidden  derived: interleavings",
        "  tso   forbidden  derived: same-mov, MP",
        "  sra   allowed    derived: one-writer",
        "  rc11  allowed    published: dat3m, mp_relaxed",
        "",
        "1 test, 4 verdicts: 1 published, 3 derived from published statements; 0 differ",
    ]


def test_sources_in_full_or_not_at_all() -> None:
    assert "Interleavings" not in run("SB")[1]
    assert "SC allows what an interleaving of the threads does" in run("SB", "-v")[1]
    assert "literature" not in run("SB", "-q")[1]


def test_json_of_a_test() -> None:
    code, text = run("SB", "--json")
    document = json.loads(text)
    assert (code, document["verdict"], document["differences"]) == (exits.OK, "ok", [])
    (test,) = document["tests"]
    assert test["allowed"] == ["tso", "sra", "rc11"]
    assert test["literature"]["sc"] == {
        "allowed": False, "source": "interleavings", "detail": "", "derived": True
    }  # fmt: skip
    assert [edge["by"] for edge in test["forbidden"]["sc"]["cycle"]] == ["po", "rb", "po", "rb"]


def test_json_of_all_tests() -> None:
    code, text = run("--json")
    document = json.loads(text)
    assert code == exits.OK
    assert (len(document["tests"]), document["verdicts"], document["derived"]) == (144, 576, 506)


def test_a_program_of_ones_own_with_all_its_outcomes() -> None:
    code, text = run("--program", SB)
    assert code == exits.OK
    assert "│ 0:r0=0 1:r0=0 x=1 y=1 │ -       │ allowed │ allowed │ allowed │" in text
    assert text.splitlines()[-1] == "execution graphs: sc 3, tso 4, sra 4, rc11 4"
    document = json.loads(run("--program", SB, "--json")[1])
    assert document["graphs"] == {"sc": 3, "tso": 4, "sra": 4, "rc11": 4}
    assert document["outcomes"][0] == {"outcome": "0:r0=0 1:r0=0 x=1 y=1", "allowed": ["tso", "sra", "rc11"]}


def test_a_program_of_ones_own_with_one_outcome() -> None:
    code, text = run("--program", SB, "--weak", "0:r0=0 & 1:r0=0")
    assert code == exits.OK
    assert text.splitlines()[:2] == [
        "weak outcome: 0:r0=0 & 1:r0=0",
        "allowed by: tso, sra, rc11; forbidden by: sc",
    ]
    document = json.loads(run("--program", SB, "--weak", "0:r0=0 & 1:r0=0", "--json")[1])
    assert document["allowed"] == ["tso", "sra", "rc11"]


def test_outcomes_without_a_run() -> None:
    assert run("--program", SB, "--weak", "0:r0=7")[1].splitlines()[-1] == (
        "no run has this outcome, whatever each access reads"
    )
    many = " | ".join(["fetch_add x 1"] * 5)
    assert run("--program", many, "--weak", "x=4")[1].splitlines()[-1] == (
        "no run is shown: 375,000 candidates are too many to look through; the limit is 200,000"
    )


def write(name: str, tso: str) -> None:
    Path(name).write_text(
        f'[[test]]\nname = "[b]:heart:"\nprogram = "{SB}"\nweak = "0:r0=0 & 1:r0=0"\nsc = "forbidden"\ntso = "{tso}"\n'
    )


def test_a_file_of_tests_that_agrees() -> None:
    write("mine.toml", "allowed")
    code, text = run("mine.toml", "SB")
    assert code == exits.OK
    assert text.splitlines()[0] == "[b]:heart:"
    assert text.splitlines()[-1].startswith("2 tests, 6 verdicts: ")


def test_a_verdict_that_differs_is_a_violation() -> None:
    write("my tests.toml", "forbidden")
    code, text = run("my tests.toml")
    assert code == exits.VIOLATION
    assert "[b]:heart: under tso: the axioms and the expected verdict differ" in text
    assert text.splitlines()[-1] == "latchfree litmus 'my tests.toml'"
    document = json.loads(run("my tests.toml", "--json")[1])
    assert document["verdict"] == "violation"
    assert document["differences"] == [{"name": "[b]:heart:", "model": "tso"}]


def test_a_verdict_of_the_literature_that_differs_is_a_violation(monkeypatch: pytest.MonkeyPatch) -> None:
    from latchfree_explore.weak import axioms

    monkeypatch.setattr(axioms, "preserved", lambda derived: derived.graph.po)
    code, text = run()
    assert code == exits.VIOLATION
    assert "│ - (differs) │" in text
    assert "SB under tso: the axioms and the expected verdict differ" in text


def test_a_file_without_tests_checks_nothing() -> None:
    Path("empty.toml").write_text("")
    assert run("empty.toml") == (exits.NOTHING, "nothing was checked: there is no test\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["IRIV"], "no litmus test 'IRIV'; similar: IRIW"),
        (["--weak", "x=1"], "--weak goes with --program"),
        (["SB", "--program", SB], "give names or --program, not both"),
        (["--program", "lode x"], "thread 0, 'lode x': no instruction 'lode'"),
        (["--program", SB, "--weak", "z=1"], "condition: 'z=1': the program has no word z"),
        (["none.toml"], "none.toml: No such file or directory"),
    ],
)
def test_errors_say_what_is_wrong(arguments: list[str], message: str) -> None:
    assert message in refused(*arguments)


def test_a_file_that_is_no_file_of_tests() -> None:
    Path("bad.toml").write_text("[[test]]\nname = 'a'\n")
    assert "bad.toml: test a: has no program" in refused("bad.toml")
    Path("bytes.toml").write_bytes(b"\xff")
    assert "bytes.toml: " in refused("bytes.toml")


def test_in_a_process_of_its_own() -> None:
    result = latchfree("litmus", "SB")
    assert (result.returncode, result.stderr) == (exits.OK, "")
    assert result.stdout.splitlines()[0] == "SB, store buffering"
