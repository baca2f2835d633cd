"""Where nothing can be written the verdict stands and the message says what to do."""

from pathlib import Path

import pytest

from latchfree_cli.settings import Settings


def test_a_file_that_cannot_be_written_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    occupied = tmp_path / "occupied"
    occupied.write_text("a file where a folder is wanted")
    settings = Settings(out=occupied)
    path = settings.write("report.json", "{}")
    message = capsys.readouterr().err
    assert str(path) in message
    assert "choose another folder with --out" in message


def test_a_file_that_can_be_written_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = Settings(out=tmp_path / "new").write("a/b.txt", "text")
    assert path.read_text() == "text"
    assert capsys.readouterr().err == ""
