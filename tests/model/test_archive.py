"""The archive of TLC's classes: results are the same with it, and whatever happens to it."""

import threading
from pathlib import Path

import pytest

from latchfree_model.tlc import agree, archive, class_archive, load_manifest, run_model

MODELS = {model.name: model for model in load_manifest(Path(__file__).parent / "data" / "manifest.toml")}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An archive; skips where Java makes none."""
    path = class_archive(tmp_path_factory.mktemp("archive") / "deep" / "folder", threading.Event())
    if path is None:
        pytest.skip("this Java makes no archives")
    return path


def never(*_: object) -> int:
    """Stand for the run that makes an archive, where there must be none."""
    raise AssertionError("an archive is made")


def test_results_are_the_same_and_the_archive_is_made_once(made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "_train", never)
    assert class_archive(made.parent, threading.Event()) == made
    assert list(made.parent.iterdir()) == [made]
    for name in ("atomic", "lost_update"):
        assert agree(MODELS[name], run_model(MODELS[name], archive=made)) == []


def test_an_archive_of_another_java_is_left_aside(tmp_path: Path) -> None:
    strange = tmp_path / "strange.jsa"
    strange.write_bytes(b"no archive" * 1000)
    assert agree(MODELS["lost_update"], run_model(MODELS["lost_update"], archive=strange)) == []


def test_a_damaged_archive_is_made_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    contents = [b"first", b"second"]

    def train(command: list[str], *_: object) -> int:
        Path(command[1].partition("=")[2]).write_bytes(contents.pop(0))
        return 12

    monkeypatch.setattr(archive, "_train", train)
    first = class_archive(tmp_path, threading.Event())
    assert first
    first.write_bytes(b"firs")
    second = class_archive(tmp_path, threading.Event())
    assert second
    assert second.read_bytes() == b"second"
    assert list(tmp_path.iterdir()) == [second]


@pytest.mark.parametrize("code", [12, 1])
def test_a_java_that_makes_none_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int) -> None:
    def train(command: list[str], *_: object) -> int:
        if code == 1:  # the disk was full
            Path(command[1].partition("=")[2]).write_bytes(b"half")
        return code

    monkeypatch.setattr(archive, "_train", train)
    assert class_archive(tmp_path, threading.Event()) is None
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_made_is_no_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "_train", never)
    (tmp_path / "file").touch()
    assert class_archive(tmp_path / "file" / "folder", threading.Event()) is None


def test_cancelled_before_the_end(tmp_path: Path) -> None:
    cancelled = threading.Event()
    cancelled.set()
    assert class_archive(tmp_path, cancelled) is None
    assert list(tmp_path.iterdir()) == []
