"""A lesson is a suite of mutants: the hole fails, the solution passes, each wrong answer is killed with its hint."""

import ast
import re

import pytest

from latchfree_evidence import MUTANTS
from latchfree_teach import find_lesson, lessons

LESSONS = lessons()
QUICK = {"lost_update"}
"""Lessons whose answers are all graded by the quick tests; those of the others take longer."""
MOST_WRONG = 60
"""The course has more wrong answers than these."""


def shape(lesson, text: str) -> str:
    """A program without its comments and blanks."""
    if lesson.kind == "spec":
        return " ".join(re.sub(r"\(\*.*?\*\)", "", text, flags=re.DOTALL).split())
    return ast.dump(ast.parse(text))


GRADED = [pytest.param(each, marks=pytest.mark.slow if each.kind == "spec" else (), id=each.name) for each in LESSONS]


def answers(kind: str) -> list[object]:
    """The answers of a kind, as parameters of a test."""
    found = []
    for lesson in LESSONS:
        quick = lesson.name.partition("_")[2] in QUICK
        for name, text in getattr(lesson, kind).items():
            marks = () if quick else pytest.mark.slow
            found.append(pytest.param(lesson, name, text, marks=marks, id=f"{lesson.number}-{name}"))
    return found


@pytest.mark.parametrize("lesson", GRADED)
def test_the_hole_fails_and_the_solution_passes(grader, lesson):
    assert not grader.grade(lesson, lesson.hole).passed
    solved = grader.grade(lesson, lesson.solution)
    assert solved.passed, solved
    assert solved.score == lesson.points


@pytest.mark.parametrize(("lesson", "name", "text"), answers("wrong"))
def test_a_wrong_answer_is_killed_with_its_own_hint(grader, lesson, name, text):
    graded = grader.grade(lesson, text, name)
    assert not graded.passed
    assert graded.fingerprint == lesson.mistakes[name]["fingerprint"], graded
    assert (graded.mistake, graded.hint) == (name, lesson.mistakes[name]["hint"])


@pytest.mark.parametrize(("lesson", "name", "text"), answers("right"))
def test_a_right_variant_passes(grader, lesson, name, text):
    graded = grader.grade(lesson, text, name)
    assert graded.passed, graded


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.name)
def test_a_lesson_is_whole(lesson):
    assert len(lesson.wrong) >= 5
    assert len(lesson.right) >= 3
    assert set(lesson.wrong) == set(lesson.mistakes)
    prints = [known["fingerprint"] for known in lesson.mistakes.values()]
    assert len(set(prints)) == len(prints)
    assert all(prints)
    hints = [known["hint"] for known in lesson.mistakes.values()]
    assert len(set(hints)) == len(hints)
    assert len(lesson.hints) == 3
    assert len(lesson.quiz) >= 3
    for question in lesson.quiz:
        assert 0 <= question.right < len(question.answers)
        assert len(set(question.answers)) == len(question.answers) >= 2
    title = lesson.page.partition("\n")[0]
    assert title.lower() == f"# lesson {lesson.number}: {lesson.title}".lower()
    assert f"*{lesson.minutes} minutes" in lesson.page
    assert f"Lesson {lesson.number}: " in lesson.hole.partition("Replace")[0]
    assert lesson.play
    for each in lesson.play:
        assert each["title"]
        assert each.get("answer", "") in {"", *lesson.wrong}
        assert each.get("mutant", "S1") in MUTANTS
        assert ("scenario" in each) == ("answer" in each)


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.name)
def test_all_answers_are_different_programs(lesson):
    texts = [lesson.solution, *lesson.right.values(), *lesson.wrong.values()]
    assert len({shape(lesson, text) for text in texts}) == len(texts)


def test_there_are_enough_wrong_answers():
    assert sum(len(lesson.wrong) for lesson in LESSONS) > MOST_WRONG


def test_a_lesson_is_found_by_number_and_by_name():
    assert find_lesson("1") == find_lesson("lost_update") == find_lesson("01_lost_update")
    with pytest.raises(ValueError, match="the lessons are 1 lost_update"):
        find_lesson("99")


def test_lessons_are_numbered_without_a_gap():
    assert [lesson.number for lesson in LESSONS] == list(range(1, len(LESSONS) + 1))
