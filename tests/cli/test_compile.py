"""``latchfree compile``: what fits is left alone, what is missing is made, and what cannot be is said in one line."""

import json

import pytest

from latchfree.libraries import build
from latchfree.native.library import Library
from latchfree_cli.commands import compile as command
from latchfree_cli.exits import Stop
from latchfree_cli.settings import Settings
from latchfree_support import library_keys


@pytest.fixture
def package(tmp_path, monkeypatch):
    """One library, of nothing, in place of ours."""
    (tmp_path / "native").mkdir()
    library = Library(tmp_path, [tmp_path])
    monkeypatch.setattr(command, "_libraries", lambda: [("nothing", library, ())])
    return library


def run(capsys, **options):
    outcome = command.compile(Settings(**options))
    return outcome, capsys.readouterr().out


def test_a_library_is_made_once(package, capsys, monkeypatch):
    if package.file() is None:
        pytest.skip("no library is made for this system")
    outcome, said = run(capsys)
    assert said.split() == ["made", "nothing", str(package.file())]
    assert outcome.verdict == "ok"
    monkeypatch.setattr(command, "_libraries", lambda: [("nothing", Library(package.home, package.sources), ())])
    assert run(capsys)[1].split()[0] == "there"


def test_without_a_linker(package, monkeypatch):
    monkeypatch.setattr(build, "_LINKERS", ("no-such-program",))
    with pytest.raises(Stop, match=r"no linker .*apt-get install gcc"):
        command.compile(Settings())


def test_where_the_package_cannot_be_written(package):
    (package.home / "native").rmdir()
    with pytest.raises(
        Stop, match=r"cannot write to .*native: No such file .*run this as the user that owns the package"
    ):
        command.compile(Settings())


def test_on_another_system(package, monkeypatch):
    monkeypatch.setattr(library_keys, "processor", lambda: None)
    with pytest.raises(Stop, match="no library is made for this system"):
        command.compile(Settings())


def test_json(package, capsys):
    outcome, said = run(capsys, json=True)
    assert said == ""
    assert json.loads(json.dumps(outcome.payload)) == {
        "libraries": {"nothing": {"library": "made", "file": str(package.file())}}
    }


def test_the_bar():
    assert [command.bar(done, 4) for done in (0, 2, 4)] == ["─" * 20, "━" * 10 + "─" * 10, "━" * 20]
