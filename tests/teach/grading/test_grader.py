"""The grader: marks, mistakes by name, and submissions that do not end, do not compile or go astray."""

import json
import threading
import time
from contextlib import suppress

import pytest

from latchfree_teach import Grader, find_lesson
from latchfree_teach.grading.grader import read_submission
from latchfree_teach.grading.syntax import MOST_BYTES
from latchfree_teach.grading.together import graded

LESSON = find_lesson("1")
READ = "\n\n@kernel\ndef read(mem, root, thread):\n    return load(mem, root)\n"


def increment(*lines: str, before: str = "") -> str:
    body = "".join(f"    {line}\n" for line in lines)
    return f"{before}\n@kernel\ndef increment(mem, root, thread):\n{body}{READ}"


ADD = "return fetch_add(mem, root, ONE)"


def test_a_lost_update_is_named_shown_and_worth_something(grader):
    graded = grader.grade(LESSON, LESSON.wrong["load_store"], "ada")
    assert (graded.name, graded.status, graded.mistake, graded.passed) == ("ada", "graded", "load_store", False)
    assert (graded.score, graded.points) == (2, 10)
    assert graded.hint == LESSON.mistakes["load_store"]["hint"]
    shown = graded.failed[0].shown
    assert "submission.py:4  count = load(mem, root)" in shown
    assert "4 accesses, 2 context switches, 1 of them preemptions" in shown
    assert all(check.kind == "not linearizable" for check in graded.failed)


def test_the_same_mistake_written_otherwise_has_the_same_name(grader):
    other = increment(
        "n = next_of(mem, root)", "if n == thread:", "    store(mem, root, n)", "else:", "    store(mem, root, n)",
        "return n - ONE", before="@kernel\ndef next_of(mem, at):\n    return load(mem, at) + ONE\n",
    )  # fmt: skip
    graded = grader.grade(LESSON, other)
    assert graded.mistake == "load_store"


def test_a_lock_fails_where_each_thread_alone_must_finish(grader):
    lesson = find_lesson("3")
    graded = grader.grade(lesson, lesson.wrong["lock"])
    assert graded.mistake == "lock"
    assert {check.kind for check in graded.failed} == {"not obstruction-free"}


def test_the_hole_handed_in_as_a_whole_file(grader):
    assert grader.grade(LESSON, LESSON.hole).mistake == "forgets_to_write"
    filled = LESSON.hole.replace("    count = load(mem, root)\n    return count\n", f"    {ADD}\n")
    assert grader.grade(LESSON, filled).passed


ODD = {
    "division": (increment("return fetch_add(mem, root, ONE // (ONE - ONE))"), "graded", "raised"),
    "astray": (increment("return fetch_add(mem, root + np.uint64(99999), ONE)"), "graded", "astray"),
    "below": (increment("return fetch_add(mem, root - ONE, ONE)"), "graded", "astray"),
    "two kinds": (increment("if thread == 0:", "    return None", ADD), "does not compile", ""),
    "the handle": (increment("return mem"), "does not compile", ""),
    "an argument less": (increment("return fetch_add(mem, root)"), "does not compile", ""),
    "a constant": (increment(ADD, before="X = 1 // 0"), "does not compile", ""),
    "a negative word": (increment(ADD, before="X = np.uint64(-1)"), "does not compile", ""),
    "a vast constant": (increment(ADD, before="X = 1 << 10000000000"), "out of memory", "out of memory"),
    "spins": (
        increment("while load(mem, root) == ONE:", "    load(mem, root)", ADD), "graded", "endless",
    ),
    "refused": ("import os", "refused", ""),
}  # fmt: skip


@pytest.mark.parametrize("name", ODD)
def test_what_goes_wrong_otherwise_is_told_apart(grader, name):
    text, status, kind = ODD[name]
    graded = grader.grade(LESSON, text, name)
    assert graded.status == status
    assert (graded.failed[0].kind if graded.failed else "") == kind
    assert not graded.passed
    assert graded.hint


def test_functions_that_call_each_other_too_deeply_do_not_compile(grader):
    chain = ["@kernel\ndef f0(mem, root):\n    return fetch_add(mem, root, ONE)\n"]
    chain += [f"@kernel\ndef f{k}(mem, root):\n    return f{k - 1}(mem, root)\n" for k in range(1, 60)]
    graded = grader.grade(LESSON, "\n".join([*chain, increment("return f59(mem, root)")]))
    assert (graded.status, graded.score) == ("does not compile", 0)
    assert "too deeply" in graded.message
    assert grader.grade(LESSON, LESSON.solution).passed


def test_a_history_without_an_end_is_out_of_memory():
    lesson = find_lesson("6")
    text = (
        lesson.solution.partition("def history():")[0] + "def history():\n    while True:\n        begin(0, PUT, 1)\n"
    )
    with Grader(megabytes=300) as small:
        graded = small.grade(lesson, text)
    assert graded.status == "out of memory", graded


@pytest.mark.parametrize("moment", [0.0001, 0.001, 0.01])
def test_a_grader_that_is_closed_meanwhile_leaves_nothing_behind(tmp_path, monkeypatch, moment):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    busy = Grader(seconds=60)
    busy.start()

    def grade():
        with suppress(RuntimeError):
            busy.grade(LESSON, increment("while ONE == ONE:", "    pass", ADD))

    thread = threading.Thread(target=grade)
    thread.start()
    while not any(path.name.startswith("latchfree-grade-") for path in tmp_path.iterdir()):
        time.sleep(moment)
    worker = busy._process
    worker.terminate()
    worker.wait(60)
    thread.join(60)
    assert list(tmp_path.glob("latchfree-grade-*")) == []


def test_closing_ends_what_another_thread_waits_for(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    busy, told = Grader(seconds=600), []
    busy.start()

    def grade():
        with pytest.raises(RuntimeError, match="has ended with exit code") as caught:
            busy.grade(LESSON, increment("while ONE == ONE:", "    pass", ADD))
        told.append(str(caught.value))

    thread = threading.Thread(target=grade)
    thread.start()
    while not list(tmp_path.glob("latchfree-grade-*")):
        time.sleep(0.001)
    busy.close()
    thread.join(60)
    assert len(told) == 1
    assert list(tmp_path.glob("latchfree-grade-*")) == []
    assert busy.grade(LESSON, LESSON.solution).passed
    busy.close()


def test_grades_come_in_the_order_of_the_submissions():
    texts = [increment("while ONE == ONE:", "    pass", ADD), LESSON.solution, LESSON.hole, *LESSON.right.values()]

    def work(grader, text):
        return grader.grade(LESSON, text, str(texts.index(text)))

    found = list(graded(work, texts, at_once=2, seconds=2, megabytes=768))
    assert [each.name for each in found] == [str(k) for k in range(len(texts))]
    assert [each.status for each in found] == ["out of time", *["graded"] * (len(texts) - 1)]
    with Grader() as one:
        assert [each.verdict for each in found[1:]] == [work(one, text).verdict for text in texts[1:]]


def test_who_stops_early_leaves_no_grader_behind(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    seen = []

    def work(grader, text):
        seen.append(grader)
        return grader.grade(LESSON, text)

    answers = graded(
        work,
        [LESSON.solution] + [increment("while ONE == ONE:", "    pass", ADD)] * 9,
        at_once=2,
        seconds=600,
        megabytes=768,
    )
    assert next(answers).passed
    answers.close()
    assert len(seen) < 5
    assert all(grader._process is None for grader in seen)
    assert list(tmp_path.glob("latchfree-grade-*")) == []


def test_out_of_time_is_not_wrong_and_the_next_submission_goes_on():
    with Grader(seconds=3) as strict:
        first = strict.grade(LESSON, increment("while ONE == ONE:", "    pass", ADD))
        assert (first.status, first.mistake, first.score) == ("out of time", "", 0)
        assert [check.status for check in first.checks] == ["failed", *["not run"] * 5]
        assert "processor" in first.message
        assert first.seconds < 5, "of processor, which the system counts and ends"
        assert strict.grade(LESSON, LESSON.solution).passed


def test_a_grade_is_the_same_each_time(grader):
    for text in (LESSON.wrong["tries_once"], increment("return mem")):
        assert len({grader.grade(LESSON, text).verdict for _ in range(3)}) == 1


@pytest.mark.slow
def test_a_grade_is_the_same_in_twenty_runs(grader):
    for text in (LESSON.solution, *LESSON.wrong.values()):
        assert len({grader.grade(LESSON, text).verdict for _ in range(20)}) == 1


def test_a_closed_grader_starts_again(grader):
    grader.close()
    assert grader.grade(LESSON, LESSON.solution).passed


@pytest.mark.parametrize("wrong", [0, -1, 1.5, True, "1", None, 1 << 30])
def test_limits_are_whole_numbers(wrong):
    with pytest.raises(ValueError, match="seconds must be a whole number"):
        Grader(seconds=wrong)
    with pytest.raises(ValueError, match="megabytes must be a whole number"):
        Grader(megabytes=wrong)


def test_a_text_is_a_text():
    with pytest.raises(TypeError, match="text must be a str"):
        Grader().grade(LESSON, b"x")


def test_a_submission_is_an_ordinary_file_of_text(tmp_path):
    file = tmp_path / "a.py"
    file.write_bytes(b"\xef\xbb\xbfX = 1\n")
    assert read_submission(file) == "X = 1\n"
    file.write_bytes(b"\xff\xfe")
    with pytest.raises(ValueError, match="UTF-8"):
        read_submission(file)
    file.write_bytes(b"#" * (MOST_BYTES + 1))
    with pytest.raises(ValueError, match="kB"):
        read_submission(file)
    with pytest.raises(ValueError, match="not a folder"):
        read_submission(tmp_path)
    with pytest.raises(FileNotFoundError):
        read_submission(tmp_path / "none.py")
    import os

    os.mkfifo(tmp_path / "pipe.py")
    with pytest.raises(ValueError, match="device"):
        read_submission(tmp_path / "pipe.py")


def test_the_page_of_a_failure_opens_where_it_fails(grader):
    graded = grader.grade(LESSON, LESSON.wrong["load_store"], play=True)
    data = json.loads(graded.page.partition('id="data">')[2].partition("</script>")[0])
    assert data["scenario"] == "increment() | increment() | after: read()"
    assert data["open"]
    state = 0
    for thread in data["open"]:
        state = next(move[1] for move in data["states"][state][3] if move[0] == thread)
    assert data["states"][state][5] == "not linearizable"
    assert "page" not in graded.to_json()


def test_what_passes_or_is_refused_has_no_page(grader):
    assert grader.grade(LESSON, LESSON.solution, play=True).page == ""
    assert grader.grade(LESSON, "import os", play=True).page == ""
    assert grader.grade(LESSON, LESSON.wrong["load_store"]).page == ""


STACK = find_lesson("4")
PLAIN_POP = """
@kernel
def push(mem, root, thread, value):
    node = take(mem, thread, value)
    while True:
        old = load(mem, HEAD)
        store(mem, node + NEXT, old)
        if cas(mem, HEAD, old, node):
            return


@kernel
def pop(mem, root, thread):
    node = np.uint64(value_of(mem, HEAD))
    if node == NIL:
        return EMPTY
    value = value_of(mem, node)
    take(mem, HEAD - np.uint64(8), 0)
    give(mem, thread, node)
    return value
"""
"""The head read and moved on by given functions, whose plain accesses are no steps: no other thread comes between."""


def test_given_functions_hide_no_access_to_a_shared_word(grader):
    graded = grader.grade(STACK, PLAIN_POP)
    assert {check.kind for check in graded.failed} == {"not linearizable"}
    assert "peek" in graded.failed[0].shown


def test_the_words_of_lesson_12_are_reached_through_buffers_only(grader):
    lesson = find_lesson("12")
    direct = lesson.solution.replace("put(mem, thread, ", "store(mem, ")
    graded = grader.grade(lesson, direct)
    assert (graded.status, "store is nothing to call here" in graded.message) == ("refused", True)
