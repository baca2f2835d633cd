"""Build the site: every page of the documentation, the lessons, the known bugs and the Python names, with a search.

``python docs/site/build.py -o DIR`` needs the extra `docs` and no network. Pages open from the file system. What is
read is laid out first, in a folder of its own: the pages as they are, the navigation from the tables of
``docs/README.md``, and links to files that are no pages made to lead to the repository.
"""

from __future__ import annotations

import argparse
import ast
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import api

ROOT = Path(__file__).resolve().parents[2]
HERE = "https://github.com/latchfree/latchfree/blob/main/"
RAW = "https://raw.githubusercontent.com/latchfree/latchfree/main/"
LESSONS = ROOT / "teach/latchfree_teach/course/lessons"
_LINK = re.compile(r"(\]\()([^)\s]+)(\))")
_FENCE = re.compile(r"(^```.*?^```[^\n]*$)", re.MULTILINE | re.DOTALL)
_COMMENT = re.compile(r"^<!--.*?-->\n", re.MULTILINE | re.DOTALL)


def pages() -> list[Path]:
    """Return the pages that are taken as they are, by their paths in the repository."""
    found = [*sorted((ROOT / "docs").glob("*.md")), *sorted((ROOT / "spec").glob("*.md"))]
    found += [ROOT / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")]
    return [path.relative_to(ROOT) for path in found]


def lay_out(folder: Path, *, gallery: Path | None = None) -> None:
    """Write everything that Sphinx reads into a folder.

    Parameters
    ----------
    folder : Path
        An empty folder.
    gallery : Path, optional
        A folder that ``latchfree gallery`` has written; it becomes a part of the site.
    """
    known = {str(path) for path in pages()}
    for path in pages():
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        text = (ROOT / path).read_text(encoding="utf-8")
        place.write_text(_mended(text, path, known), encoding="utf-8")
    shutil.copytree(ROOT / "docs/images", folder / "docs/images", ignore=shutil.ignore_patterns("*.py"))
    lessons = list(_lessons(folder))
    for package in api.PACKAGES:
        place = folder / "api" / f"{package}.md"
        place.parent.mkdir(exist_ok=True)
        place.write_text(api.page(ROOT, package), encoding="utf-8")
    (folder / "bugs.md").write_text(_bugs(gallery), encoding="utf-8")
    extra = folder / "extra"
    extra.mkdir()
    _slides(extra / "slides")
    if gallery is not None:
        shutil.copytree(gallery, extra / "gallery")
    (folder / "index.md").write_text(_index(lessons), encoding="utf-8")
    shutil.copy(Path(__file__).parent / "conf.py", folder / "conf.py")


def build(out: Path, *, gallery: Path | None = None) -> int:
    """Build the site into a folder; return the exit code of Sphinx. A warning is an error."""
    with tempfile.TemporaryDirectory(prefix="latchfree-site-") as place:
        source = Path(place, "source")
        source.mkdir()
        lay_out(source, gallery=gallery)
        command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-b", "html", "-d", f"{place}/trees"]
        return subprocess.run([*command, str(source), str(out)], check=False).returncode


def groups() -> dict[str, list[str]]:
    """Return the pages of each part of ``docs/README.md``, by its heading."""
    found: dict[str, list[str]] = {}
    heading = ""
    for line in (ROOT / "docs/README.md").read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            heading = line[3:].partition(":")[0]
        elif (row := re.match(r"\| \[[^\]]+\]\(([^)]+\.md)\)", line)) and heading:
            place = (Path("docs") / row[1]).as_posix()
            found.setdefault(heading, []).append(re.sub(r"docs/\.\./", "", place).removesuffix(".md"))
    return found


def _mended(text: str, path: Path, known: set[str]) -> str:
    """Return a page whose links lead to pages of the site, or to the repository where a file is no page."""

    def lead(link: re.Match[str]) -> str:
        target, hash_, anchor = link[2].partition("#")
        ours = target.removeprefix(HERE).removeprefix(RAW)
        if ours != target and (ours in known or ours.startswith("docs/images/")):
            up = "../" * (len(path.parts) - 1)
            return f"{link[1]}{up}{ours}{hash_}{anchor}{link[3]}"
        if not target or re.match(r"[a-z]+:", target):
            return link[0]
        place = (ROOT / path.parent / target).resolve()
        inside = place.relative_to(ROOT).as_posix()
        if inside in known or inside.startswith("docs/images/"):
            return link[0]
        return f"{link[1]}{HERE}{inside}{hash_}{anchor}{link[3]}"

    parts = _FENCE.split(text)
    for k in range(0, len(parts), 2):
        parts[k] = _LINK.sub(lead, _COMMENT.sub("", parts[k]))
    for k in range(1, len(parts), 2):
        parts[k] = re.sub(
            r"\A```(py|sh|console|tla|toml|yaml|json)\b", lambda m: f"```{_LANGUAGES.get(m[1], m[1])}", parts[k]
        )
    return "".join(parts)


_LANGUAGES = {"py": "python", "sh": "bash", "tla": "text"}


def _lessons(folder: Path) -> Iterator[str]:
    """Write a page for each lesson: its text, the hole and the questions, without any answer."""
    (folder / "lessons").mkdir()
    for place in sorted(LESSONS.iterdir()):
        if not (place / "lesson.toml").is_file():
            continue
        hole = next(place.glob("hole.*"))
        language = "python" if hole.suffix == ".py" else "text"
        text = (place / "page.md").read_text(encoding="utf-8")
        number = str(int(place.name.partition("_")[0]))
        lines = [
            text,
            "",
            "## The file",
            "",
            f"`latchfree learn {number}` puts this file in place, and watches it.",
            "",
        ]
        lines += [f"```{language}", hole.read_text(encoding="utf-8").rstrip(), "```", ""]
        (folder / "lessons" / f"{place.name}.md").write_text("\n".join(lines), encoding="utf-8")
        yield f"lessons/{place.name}"


def _slides(folder: Path) -> None:
    from latchfree_teach import lessons
    from latchfree_teach.handouts.slides import slides

    folder.mkdir()
    for lesson in lessons():
        (folder / f"{lesson.name}.html").write_text(slides(lesson), encoding="utf-8")


def _bugs(gallery: Path | None) -> str:
    """Return the page of the known bugs: each with its story, what it changes, and how to play it.

    What the gallery has is linked as HTML: Sphinx takes a link of Markdown for one to a page of its own.
    """
    from latchfree_evidence import MUTANTS
    from latchfree_teach.gallery.differences import difference, story_of

    lines = [
        "# Known bugs",
        "",
        "Each was published, or a first version had it. Removed lines are right, added lines are wrong.",
        "",
    ]
    if gallery is not None:
        lines += ['<p><a href="gallery/index.html">Play them</a>: on these pages you are the scheduler.</p>', ""]
    for mutant in MUTANTS.values():
        lines += [f"## {mutant.id}: {api._plain(mutant.summary)}", "", api._plain(story_of(mutant)), ""]
        if mutant.scenario:
            where = (
                f' <a href="gallery/{mutant.id}-play.html">Play it</a>.'
                if gallery is not None and (gallery / f"{mutant.id}-play.html").is_file()
                else f" `latchfree play {mutant.id} -o {mutant.id}.html` makes a page of it."
            )
            lines += [f"Scenario: `{mutant.scenario}`.{where}", ""]
        for name, changed in difference(mutant):
            lines += [f"`{name}`:", "", "```diff", *(f"{line[:1]} {line[2:]}".rstrip() for line in changed), "```", ""]
    return "\n".join(lines)


def _index(lessons: list[str]) -> str:
    lines = ["# latchfree", "", _summary(), "", "New here? Begin with the [README](README.md)."]
    parts = [*groups().items()]
    parts.insert(1, ("Lessons", lessons))
    parts[-1][1].extend(["bugs", *(f"api/{package}" for package in api.PACKAGES)])
    parts.append(("The project", ["README", "docs/README", "CONTRIBUTING", "SECURITY"]))
    for name, places in parts:
        lines += ["", "```{toctree}", f":caption: {name}", ":maxdepth: 1", "", *places, "```"]
    return "\n".join([*lines, ""])


def _summary() -> str:
    tree = ast.parse((ROOT / "impl/latchfree/__init__.py").read_text(encoding="utf-8"))
    return api._plain((ast.get_docstring(tree) or "").partition("\n\n")[0].replace("\n", " "))


def main() -> int:
    """Build what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("-o", "--out", type=Path, default=Path("site"), help="the folder of the site")
    parser.add_argument("--gallery", type=Path, help="a folder written by `latchfree gallery`")
    given = parser.parse_args()
    return build(given.out, gallery=given.gallery)


if __name__ == "__main__":
    raise SystemExit(main())
