"""``latchfree prove``: what it says, and that a lemma that does not hold is a violation."""

import json
from dataclasses import replace

import pytest
from typer.testing import CliRunner, Result

from latchfree import words
from latchfree_cli import exits
from latchfree_cli.app import app
from latchfree_evidence.lemmas import LEMMAS
from latchfree_evidence.symbolic.code import Twin


def prove(*arguments: str) -> Result:
    """Run ``latchfree prove``."""
    return CliRunner().invoke(app, ["prove", *arguments])


def test_a_lemma_is_proved() -> None:
    result = prove("position-order", "flag-one-bit")
    assert result.exit_code == exits.OK
    lines = result.stdout.splitlines()
    assert lines[0].startswith("position-order            proved")
    assert lines[1].startswith("    twin slots are counted from the top: refuted: bitmap = ")
    assert lines[-1] == "2 of 2 lemmas proved, each with its wrong twin refuted"


def test_json() -> None:
    document = json.loads(prove("words-for-bytes", "--json").stdout)
    assert document["verdict"] == "ok"
    (lemma,) = document["lemmas"]
    assert lemma["answer"] == "proved"
    assert lemma["twin"]["answer"] == "refuted"
    assert lemma["twin"]["edit"] == ["length + _7", "length"]


def test_a_lemma_that_does_not_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(case, code):  # type: ignore[no-untyped-def]
        case.claim("the flag of every hash is the first", code[words.flag_of](case.word("hash"), 0) == 1)

    monkeypatch.setitem(LEMMAS, "flag-one-bit", replace(LEMMAS["flag-one-bit"], state=wrong))
    result = prove("flag-one-bit")
    assert result.exit_code == exits.VIOLATION
    assert "refuted: the flag of every hash is the first: hash = " in result.stdout
    assert result.stdout.splitlines()[-1] == "latchfree prove flag-one-bit"


def test_a_twin_that_is_not_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    harmless = Twin(words.flag_of, "h >> level", "(h >> level)", "nothing")
    monkeypatch.setitem(LEMMAS, "flag-one-bit", replace(LEMMAS["flag-one-bit"], twin=harmless))
    result = prove("flag-one-bit")
    assert result.exit_code == exits.VIOLATION
    assert "twin nothing: proved" in result.stdout


def test_no_time_is_no_proof() -> None:
    result = prove("update-keeps-slots", "--timeout", "0.001")
    assert result.exit_code == exits.INCONCLUSIVE
    assert "0 of 1 lemmas proved" in result.stdout


def test_an_unknown_lemma_is_named() -> None:
    result = prove("position-ordre")
    assert result.exit_code == exits.USAGE
    assert "no lemma is called 'position-ordre'; did you mean position-order?" in result.stderr


def test_the_list() -> None:
    result = prove("--list")
    assert result.exit_code == exits.OK
    assert len(result.stdout.splitlines()) == len(LEMMAS)
