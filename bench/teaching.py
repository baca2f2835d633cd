"""The teaching package beside its limits: gallery, pages in Chromium, first verdicts, a class, archives, the site.

``python bench/teaching.py [--parts gallery,pages,verdicts,class,archives,site]``

- gallery: seconds for all pages of all bugs, and the size of the largest.
- pages: each page of the gallery in a headless Chromium (`apt-get install chromium chromium-driver`): until it is
  loaded, and requests to anywhere; on play pages one key until the page is laid out again, over 300 keys.
- verdicts: a saved answer until its verdict in a session of `latchfree learn`, for every answer of the course.
- class: `latchfree grade` with 100 submissions to a lesson, all the answers of the course to it.
- archives: `latchfree course build --play`. site: `docs/site/build.py` with the gallery, where the extra `docs` is.

The exit code is 1 if a limit was missed.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from latchfree_teach import Grader, build_gallery, find_lesson, lessons

ROOT: Final = Path(__file__).parents[1]
KEYS: Final = 300
CLASS: Final = 100

#: Presses keys, fifty a second at most, and returns the milliseconds that each took until the page was laid out again.
_PRESS: Final = """
const took = [];
for (const key of keys) {
  const began = performance.now();
  dispatchEvent(new KeyboardEvent("keydown", {key}));
  document.body.getBoundingClientRect();
  took.push(performance.now() - began);
  await new Promise((resolve) => setTimeout(resolve, 20));
}
return took;
"""
_LOADED: Final = """
const entry = performance.getEntriesByType("navigation")[0];
return [entry.loadEventEnd - entry.startTime, performance.getEntriesByType("resource").length];
"""

missed: list[str] = []


def said(what: str, figure: float, unit: str, limit: float) -> None:
    """Print a figure beside its limit, and note a miss."""
    met = figure <= limit
    if not met:
        missed.append(what)
    print(f"{what:58s} {figure:>9,.2f} {unit:8s} limit {limit:>6,g}  {'met' if met else 'MISSED'}", flush=True)


def gallery(folder: Path) -> None:
    """All pages of all bugs."""
    began = time.perf_counter()
    made = build_gallery(folder / "gallery")
    said(f"gallery: {len(made)} bugs", time.perf_counter() - began, "s", 600)
    said("gallery: the largest play page", max(each["bytes"] for each in made) / 1e6, "MB", 1)


def pages(folder: Path) -> None:
    """Each play page in Chromium."""
    sys.path.append(str(ROOT / "tests/lincheck/show/helpers"))
    from show_browser import browser  # type: ignore[import-not-found]

    if not (folder / "gallery").exists():
        build_gallery(folder / "gallery")
    load, requests, presses = [], 0, []
    rng = random.Random(1)
    with browser(width=1280, height=900) as window:
        for page in sorted((folder / "gallery").glob("*.html")):
            window.open(page)
            loaded, fetched = window.run(_LOADED)
            load.append((loaded / 1e3, page.name))
            requests += fetched + len(window.complaints())
            if not page.name.endswith("-play.html"):
                continue
            keys = "s" + "".join(rng.choices("123uhrs", [8, 8, 8, 4, 2, 1, 1], k=KEYS))
            took = window.run(f"return (async function(keys) {{ {_PRESS} }})({list(keys)!r});")
            presses += [(milliseconds, page.name) for milliseconds in took]
            requests += len(window.complaints())
    said(f"pages: loaded, the slowest of {len(load)} ({max(load)[1]})", max(load)[0], "s", 0.5)
    said("pages: requests and complaints", requests, "", 0)
    middle = sorted(presses)[len(presses) // 2][0]
    said(f"pages: a key, the slowest of {len(presses)} ({max(presses)[1]})", max(presses)[0], "ms", 16)
    said("pages: a key, the median", middle, "ms", 16)


def verdicts(_: Path) -> None:
    """The verdict on a saved file, in a session that has graded the hole as it does when a lesson begins."""
    for lesson in lessons():
        took = []
        with Grader() as grader:
            grader.grade(lesson, lesson.hole)
            for name, text in {"solution": lesson.solution, **lesson.wrong, **lesson.right}.items():
                began = time.perf_counter()
                grader.grade(lesson, text)
                took.append((time.perf_counter() - began, name))
        said(f"verdicts: {lesson.name}, the slowest of {len(took)} ({max(took)[1]})", max(took)[0], "s", 3)


def submissions(number: str) -> list[str]:
    """A hundred different answers to a lesson."""
    lesson = find_lesson(number)
    texts = [lesson.solution, lesson.hole, *lesson.wrong.values(), *lesson.right.values()]
    return [f"{texts[k % len(texts)]}\n# student {k}\n" for k in range(CLASS)]


def a_class(folder: Path) -> None:
    """Grade a class with the command."""
    for number in ("4", "10"):
        place = folder / f"class-{number}"
        for k, text in enumerate(submissions(number)):
            (place / f"student{k:03d}").mkdir(parents=True)
            (place / f"student{k:03d}" / "answer.py").write_text(text)
        command = [sys.executable, "-m", "latchfree_cli", "grade", *map(str, sorted(place.iterdir()))]
        began = time.perf_counter()
        options = ["--lesson", number, "--format", "json", "-o", str(folder / f"grades-{number}")]
        done = subprocess.run([*command, *options], capture_output=True, text=True, check=True)
        said(f"class: {CLASS} submissions to lesson {number}", time.perf_counter() - began, "s", 300)
        graded = json.loads(done.stdout)
        assert len(graded) == CLASS, done.stdout
        most = max(each["megabytes"] for each in graded)
        said(f"class: the most memory of one, lesson {number}", most, "MB", 768)


def archives(folder: Path) -> None:
    """The archives, with play pages."""
    began = time.perf_counter()
    command = [sys.executable, "-m", "latchfree_cli", "course", "build", "--play", "-o", str(folder / "course")]
    subprocess.run(command, capture_output=True, check=True)
    said("archives: course build --play", time.perf_counter() - began, "s", 300)


def site(folder: Path) -> None:
    """The site."""
    began = time.perf_counter()
    command = [sys.executable, str(ROOT / "docs/site/build.py"), "-o", str(folder / "site")]
    if (folder / "gallery").exists():
        command += ["--gallery", str(folder / "gallery")]
    subprocess.run(command, capture_output=True, check=True, env={**os.environ, "PYTHONPATH": ":".join(sys.path)})
    said("site: built", time.perf_counter() - began, "s", 60)


PARTS: Final[dict[str, Callable[[Path], None]]] = {
    "gallery": gallery,
    "pages": pages,
    "verdicts": verdicts,
    "class": a_class,
    "archives": archives,
    "site": site,
}


def main() -> int:
    """Print a line a figure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--parts", default=",".join(PARTS), help="which, by commas (default: all)")
    parts = parser.parse_args().parts.split(",")
    for part in parts:
        if part not in PARTS:
            parser.error(f"no part {part!r}; there are {', '.join(PARTS)}")
    with tempfile.TemporaryDirectory(prefix="latchfree-teaching-") as folder:
        for part in parts:
            PARTS[part](Path(folder))
    if missed:
        print(f"missed: {'; '.join(missed)}")
    return bool(missed)


if __name__ == "__main__":
    sys.exit(main())
