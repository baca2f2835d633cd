"""Slides: one HTML page for a lesson, a slide for each of its sections, with the questions at the end.

The page needs no network and no script but the few lines that turn pages: the right and left arrow keys, or a click on
the edge. A browser prints it as a slide a sheet.
"""

from __future__ import annotations

from html import escape
from typing import Final

from latchfree_support.pages import digest_of
from latchfree_teach.course.lesson import Lesson, Question
from latchfree_teach.handouts.markdown import html_of, inline

_STYLE: Final = """
:root { color-scheme: light dark; }
body { margin: 0; font: 26px/1.45 system-ui, sans-serif; }
section { display: none; box-sizing: border-box; min-height: 100vh; padding: 5vh 8vw; }
section.shown { display: block; }
pre { font-size: 20px; overflow-x: auto; border: 1px solid #8888; border-radius: 6px; padding: .6em; }
table { border-collapse: collapse; font-size: 22px; } th, td { text-align: left; padding: .2em .8em .2em 0; }
footer { position: fixed; right: 1em; bottom: .6em; font-size: 16px; opacity: .6; }
@media print { section { display: block; page-break-after: always; } footer { display: none; } }
"""
_SCRIPT: Final = """
const slides = [...document.querySelectorAll("section")], count = document.querySelector("footer");
let at = 0;
const show = (k) => {
  at = Math.max(0, Math.min(slides.length - 1, k));
  slides.forEach((s, i) => s.classList.toggle("shown", i === at));
  count.textContent = `${at + 1} / ${slides.length}`;
  history.replaceState(null, "", "#" + (at + 1));
};
addEventListener("keydown", (e) => {
  if (["ArrowRight", "PageDown", " "].includes(e.key)) show(at + 1);
  else if (["ArrowLeft", "PageUp"].includes(e.key)) show(at - 1);
});
addEventListener("click", (e) => { if (e.target.tagName !== "A") show(at + (e.clientX < innerWidth / 4 ? -1 : 1)); });
show((parseInt(location.hash.slice(1), 10) || 1) - 1);
"""


def slides(lesson: Lesson) -> str:
    """Return the slides of a lesson."""
    title, *sections = lesson.page.split("\n## ")
    made = [html_of(title), *(html_of(f"## {section}") for section in sections), *map(_question, lesson.quiz)]
    body = "\n".join(f"<section>{each}</section>" for each in made)
    policy = (
        f"default-src 'none'; style-src '{digest_of(_STYLE)}'; script-src '{digest_of(_SCRIPT)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        f"<title>Lesson {lesson.number}: {escape(lesson.title)}</title>\n<style>{_STYLE}</style>\n</head>\n"
        f"<body>\n{body}\n<footer></footer>\n<script>{_SCRIPT}</script>\n</body>\n</html>\n"
    )


def _question(question: Question) -> str:
    answers = "".join(f"<li>{inline(answer)}</li>" for answer in question.answers)
    return f'<h2>A question</h2><p>{inline(question.text)}</p><ol type="a">{answers}</ol>'
