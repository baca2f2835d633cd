"""The names of the package: `lazy_loader` reads them here, and so do the type checkers."""

from .course.lesson import Lesson, find_lesson, lessons
from .grading.grader import Grader
from .grading.result import CheckResult, Graded

__all__ = ["CheckResult", "Graded", "Grader", "Lesson", "find_lesson", "lessons"]
