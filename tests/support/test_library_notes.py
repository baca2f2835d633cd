"""What was found of a library is noted, and believed only while no file has changed."""

import os

import pytest

from latchfree_support import library_keys
from latchfree_support.library_keys import fits, key, sealed


@pytest.fixture
def made(tmp_path, monkeypatch):
    """A library of a folder of sources, and these; files count as old at once."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(library_keys, "_LATELY", -(10**18))
    sources = tmp_path / "sources"
    (sources / "inner").mkdir(parents=True)
    (sources / "a.py").write_text("a = 1\n")
    (sources / "inner/b.py").write_text("b = 1\n")
    library = tmp_path / "library.so"
    library.write_bytes(sealed(b"code", key(sources)))
    return library, sources


@pytest.fixture
def read(monkeypatch):
    """The places whose sources were read."""
    found = []
    real = library_keys.digest
    monkeypatch.setattr(library_keys, "digest", lambda place: found.append(place) or real(place))
    return found


def test_sources_are_read_once(made, read):
    library, sources = made
    assert fits(library, sources)
    assert len(read) == 1
    assert fits(library, sources)
    assert len(read) == 1


def test_an_edit_that_keeps_size_and_time(made):
    library, sources = made
    assert fits(library, sources)
    before = (sources / "inner/b.py").stat()
    (sources / "inner/b.py").write_text("b = 2\n")
    os.utime(sources / "inner/b.py", ns=(before.st_atime_ns, before.st_mtime_ns))
    assert not fits(library, sources)


@pytest.mark.parametrize("how", ["replaced", "added", "removed", "library"])
def test_a_change(made, how):
    library, sources = made
    assert fits(library, sources)
    if how == "replaced":
        (sources / "new").write_text("a = 2\n")
        (sources / "new").replace(sources / "a.py")
    elif how == "added":
        (sources / "inner/c.py").write_text("")
    elif how == "removed":
        (sources / "a.py").unlink()
    else:
        library.write_bytes(library.read_bytes()[:-1])
    assert not fits(library, sources)


def test_another_interpreter(made, monkeypatch):
    library, sources = made
    assert fits(library, sources)
    monkeypatch.setattr(library_keys, "layout", lambda: "cpython 32 49")
    assert not fits(library, sources)


def test_what_has_just_changed_is_read_again(made, read, monkeypatch):
    """It may change once more at the same time, as far as the file system tells."""
    monkeypatch.setattr(library_keys, "_LATELY", 10**18)
    library, sources = made
    assert fits(library, sources)
    assert fits(library, sources)
    assert len(read) == 2


@pytest.mark.parametrize("cache", ["", "relative", "/proc/nowhere", "/dev/null"])
@pytest.mark.parametrize("home", [None, "", "nowhere", "/proc/nowhere"])
def test_without_a_folder_for_notes(made, read, monkeypatch, cache, home, tmp_path):
    """No home is made for them."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", cache)
    monkeypatch.delenv("HOME", raising=False)
    if home is not None:
        monkeypatch.setenv("HOME", home)
    library, sources = made
    before = {*tmp_path.rglob("*")}
    assert fits(library, sources)
    assert fits(library, sources)
    assert len(read) == 2
    assert {*tmp_path.rglob("*")} == before


def test_a_home_that_is_there(made, read, monkeypatch, tmp_path):
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    library, sources = made
    assert fits(library, sources)
    assert not (tmp_path / "home").exists()
    (tmp_path / "home").mkdir()
    assert fits(library, sources)
    assert fits(library, sources)
    assert len(read) == 2


def test_a_note_that_was_cut(made, tmp_path, read):
    library, sources = made
    assert fits(library, sources)
    (note,) = (tmp_path / "cache/latchfree/fits").iterdir()
    note.write_bytes(note.read_bytes()[:-9])
    assert fits(library, sources)
    assert len(read) == 2
