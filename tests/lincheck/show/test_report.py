"""The page is one safe file: no network, no value that breaks out of its data, whole on the disk or not at all."""

import errno
import json
import os
import re
import resource
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from show_histories import map_history

from latchfree_lincheck import History, Operation
from latchfree_lincheck.show import judge_parts, page, save
from latchfree_support.pages import as_json


class Reader(HTMLParser):
    """Collects elements, and what stands in them."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.inside: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self.inside.append("")

    def handle_data(self, data: str) -> None:
        if self.inside:
            self.inside[-1] += data

    def data(self) -> dict:
        """Return the JSON data."""
        at = next(i for i, (_, attributes) in enumerate(self.elements) if attributes.get("id") == "data")
        return json.loads(self.inside[at])


def written(text: str) -> History:
    """Return a history that has a text wherever one may stand."""
    return History(
        text, [Operation(text, "write", (text,), None, 0, 1, text), Operation(2, "read", (), text, 2, 3, text)]
    )


NASTY = [
    "</script><script>alert(1)</script>",
    "<!--<script>",
    "]]>",
    "\u2028\u2029",
    "$data ${title}",
    "\ud800",
    "&lt;",
]


@given(text=st.text() | st.sampled_from(NASTY))
@example(text="</SCRIPT >")
@example(text="<!--")
def test_no_text_breaks_the_page(text: str) -> None:
    reader = Reader(page([judge_parts(written(text), "register")]))
    assert [tag for tag, _ in reader.elements].count("script") == 2
    history = reader.data()["histories"][0]
    assert history["name"] == text
    assert history["processes"] == ["2", text]
    assert f"{text}.write({text!r})" in history["texts"]


@pytest.mark.parametrize("text", NASTY)
def test_json_holds_no_markup(text: str) -> None:
    assert "<" not in as_json({text: text})
    assert json.loads(as_json({text: text})) == {text: text}


def test_the_page_is_in_one_piece() -> None:
    reader = Reader(page([judge_parts(map_history(30, 1), "map")]))
    for tag, attributes in reader.elements:
        assert tag not in ("link", "img", "iframe", "base"), tag
        assert not {"src", "href", "srcset"} & set(attributes), attributes
    assert "$" not in re.sub(r"<script>.*", "", page([judge_parts(map_history(3, 1), "map")]), flags=re.DOTALL)


def test_ten_thousand_operations_fit() -> None:
    keyed = judge_parts(map_history(10_000, 1, keys=1_000, processes=16), "map")
    assert len(page([keyed])) < 1_500_000
    whole = judge_parts(map_history(10_000, 1, keys=64, processes=8, whole=True, wrong=True), "map")
    assert len(page([whole])) < 3_000_000


def test_where_it_opens() -> None:
    judged = [judge_parts(map_history(5, 1), "map")]
    assert Reader(page(judged)).data()["openAt"] == "first-error"
    assert Reader(page(judged, open_at="start")).data()["openAt"] == "start"


def test_no_history_is_an_error() -> None:
    with pytest.raises(ValueError, match="at least one history"):
        page([])


def test_save_writes_and_overwrites(tmp_path: Path) -> None:
    file = tmp_path / "report.html"
    save(file, "first")
    save(file, "second")
    assert file.read_text() == "second"
    assert list(tmp_path.iterdir()) == [file]


def test_save_follows_a_link_and_keeps_the_mode(tmp_path: Path) -> None:
    file, link = tmp_path / "real.html", tmp_path / "link.html"
    file.write_text("old")
    file.chmod(0o640)
    link.symlink_to(file)
    save(link, "new")
    assert link.is_symlink()
    assert file.read_text() == "new"
    assert file.stat().st_mode & 0o777 == 0o640


def test_a_folder_or_a_device_is_not_overwritten(tmp_path: Path) -> None:
    for path in (tmp_path, Path("/dev/null")):
        with pytest.raises(OSError, match="not a regular file"):
            save(path, "text")


def test_a_write_protected_file_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "report.html"
    file.write_text("old")
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    with pytest.raises(PermissionError, match="write-protected"):
        save(file, "new")
    assert file.read_text() == "old"


def test_a_page_that_does_not_fit_leaves_the_old_one(tmp_path: Path) -> None:
    file = tmp_path / "report.html"
    file.write_text("old")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, hard))
    try:
        with pytest.raises(OSError, match="too large") as caught:
            save(file, "x" * 1_000_000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert (caught.value.errno, caught.value.filename) == (errno.EFBIG, str(file))
    assert file.read_text() == "old"
    assert list(tmp_path.iterdir()) == [file]
