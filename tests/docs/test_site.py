"""The site: every page is in its navigation, every link leads somewhere, and it is built without a warning."""

import ast
import html.parser
import importlib
import importlib.util
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from doc_pages import ROOT
from show_browser import browser

SITE = ROOT / "docs" / "site"
PLAYED = ("S1", "Q2")
"""The mutants whose pages the site of these tests has."""
sys.path.insert(0, str(SITE))
api, build = (importlib.import_module(name) for name in ("api", "build"))

BUILT = (
    importlib.util.find_spec("sphinx") and importlib.util.find_spec("furo") and importlib.util.find_spec("myst_parser")
)


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("source")
    build.lay_out(folder)
    return folder


def test_the_navigation_has_every_page_once(source: Path) -> None:
    index = (source / "index.md").read_text()
    blocks = index.split("```{toctree}")[1:]
    named = [line for block in blocks for line in block.partition("```")[0].splitlines() if line and line[0] != ":"]
    there = {path.relative_to(source).with_suffix("").as_posix() for path in source.rglob("*.md")} - {"index"}
    assert sorted(named) == sorted(set(named))
    missing = there - set(named)
    assert missing <= {"CHANGELOG", "spec/CONFORMANCE", "spec/README"}, missing
    assert set(named) <= there


def test_pages_are_grouped_as_tutorials_how_to_explanation_and_reference() -> None:
    groups = build.groups()
    assert list(groups) == ["Tutorials", "How to", "Explanation", "Reference"]
    pages = [page for group in groups.values() for page in group if page.startswith("docs/")]
    assert sorted(pages) == sorted(
        f"docs/{path.stem}" for path in (ROOT / "docs").glob("*.md") if path.stem != "README"
    )


@pytest.mark.parametrize("package", api.PACKAGES)
def test_the_reference_has_every_public_name(package: str) -> None:
    text = api.page(ROOT, package)
    public = importlib.import_module(package).__all__
    assert [name for name in public if f"\n## {name}\n" not in text and not name.startswith("_")] == []


def test_a_docstring_becomes_markdown() -> None:
    sections = (
        "Parameters\n    ----------\n    a : int\n        One <b>.\n\n    Examples\n    --------\n    >>> f(1)\n    1\n"
    )
    text = f'def f(a):\n    """Return *a*.\n\n    {sections}    """\n'
    made = api._docstring(ast.parse(text).body[0])
    assert r"Return \*a\*." in made
    assert r"- `a : int`: One \<b\>." in made
    assert "```text\n>>> f(1)\n1\n```" in made


def test_lessons_on_the_site_have_no_line_of_an_answer(source: Path) -> None:
    from latchfree_teach import lessons

    everything = "\n".join(path.read_text() for path in sorted(source.rglob("*")) if path.suffix in (".md", ".html"))
    seen = {line.strip() for line in everything.splitlines()}
    for lesson in lessons():
        telling = {line.strip() for line in lesson.solution.splitlines() if len(line.strip()) >= 40}
        given = {line.strip() for line in lesson.hole.splitlines()}
        assert not (telling - given) & seen, lesson.name


class Links(html.parser.HTMLParser):
    """Collects the links and the anchors of a page, and whatever it would fetch."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.fetched: list[str] = []
        self.feed(page.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.anchors |= {value for key, value in attrs if key in ("id", "name") and value}
        if tag == "a" and given.get("href"):
            self.links.append(given["href"] or "")
        if tag in ("script", "img") and given.get("src"):
            self.fetched.append(given["src"] or "")
        if tag == "link" and given.get("rel") == "stylesheet":
            self.fetched.append(given["href"] or "")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site with a gallery, built in an empty network namespace where the system offers one."""
    from latchfree_teach import build_gallery

    if not BUILT:
        pytest.skip("the extra docs is not installed")
    out, gallery = tmp_path_factory.mktemp("site"), tmp_path_factory.mktemp("gallery")
    build_gallery(gallery, PLAYED)
    command = [sys.executable, str(SITE / "build.py"), "-o", str(out), "--gallery", str(gallery)]
    alone = [shutil.which("unshare") or "", "-rn"]
    if alone[0] and subprocess.run([*alone, "true"], capture_output=True).returncode == 0:
        command = [*alone, *command]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return out


@pytest.mark.slow
def test_no_link_of_the_site_is_dead_and_nothing_is_fetched_from_elsewhere(site: Path) -> None:
    pages = {path.resolve(): Links(path) for path in site.rglob("*.html")}
    assert len(pages) > 60
    dead = []
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or link.startswith("//"):
                continue
            place = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            moves = place.name.endswith("-play.html") and parts.fragment.isdecimal()
            if not place.exists() or (
                place in pages and parts.fragment and not moves and unquote(parts.fragment) not in pages[place].anchors
            ):
                dead.append((path.name, link))
        assert [each for each in page.fetched if urlsplit(each).scheme or each.startswith("//")] == []
    assert dead == []


@pytest.mark.slow
def test_the_gallery_is_a_part_of_the_site(site: Path) -> None:
    links = Links(site / "bugs.html").links
    assert "gallery/index.html" in links
    assert {link for link in links if link.endswith("-play.html")} == {f"gallery/{name}-play.html" for name in PLAYED}
    assert "bugs.html" in Links(site / "index.html").links
    assert {f"{name}.html" for name in PLAYED} <= set(Links(site / "gallery" / "index.html").links)


@pytest.mark.slow
def test_the_search_has_the_words_of_the_pages_and_needs_no_server(site: Path) -> None:
    index = (site / "searchindex.js").read_text()
    for word in ("linear", "tomb", "deadlist", "epoch"):
        assert word in index
    assert "searchindex.js" in (site / "search.html").read_text()
    assert "DOCUMENTATION_OPTIONS" in "".join(
        path.read_text() for path in (site / "_static").glob("documentation_options.js")
    )
    assert "SHOW_SEARCH_SUMMARY: false" in (site / "_static" / "documentation_options.js").read_text()


@pytest.mark.browser
def test_every_page_opens_without_a_complaint(site: Path) -> None:
    with browser(width=1200, height=900) as window:
        for path in sorted(site.rglob("*.html")):
            window.open(path)
            assert window.complaints() == [], path.name
        window.open(site / "search.html", "?q=tomb")
        found = 0
        for _ in range(600):  # the page searches when it has been drawn
            found = found or window.run("return document.querySelectorAll('#search-results li').length;")
            if not found:
                time.sleep(0.1)
        assert found > 0
