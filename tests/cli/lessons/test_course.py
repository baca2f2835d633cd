"""`latchfree course build`: two archives, or a line that says why not."""

import zipfile
from pathlib import Path

from typer.testing import CliRunner

from latchfree_cli import exits
from latchfree_cli.app import app


def test_two_archives_are_written(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["course", "build", "-o", str(tmp_path / "new")])
    assert result.exit_code == exits.OK, result.output
    for name in ("student.zip", "teacher.zip"):
        with zipfile.ZipFile(tmp_path / "new" / name) as opened:
            assert f"wrote {tmp_path / 'new' / name}: {len(opened.namelist())} files" in result.stdout
            assert any("solution" in each for each in opened.namelist()) == (name == "teacher.zip")


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("")
    result = CliRunner().invoke(app, ["course", "build", "-o", str(tmp_path / "taken")])
    assert result.exit_code == exits.USAGE
    assert "cannot write" in result.stderr
    assert (tmp_path / "taken").read_text() == ""
