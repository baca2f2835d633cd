"""The names of the package: `lazy_loader` reads them here, and so do the type checkers."""

from .course.lesson import Lesson, find_lesson, lessons
from .gallery.building import build_gallery
from .grading.grader import Grader
from .grading.result import CheckResult, Graded
from .play.making import Play, mutant_page, play_page
from .play.plain.making import PythonPlay, play_async, play_object, play_threads

__all__ = [
    "CheckResult",
    "Graded",
    "Grader",
    "Lesson",
    "Play",
    "PythonPlay",
    "build_gallery",
    "find_lesson",
    "lessons",
    "mutant_page",
    "play_async",
    "play_object",
    "play_page",
    "play_threads",
]
