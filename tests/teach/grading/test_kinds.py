"""Lessons without compiled code: a model and histories judged by the checker, a module of TLA+ judged by TLC."""

import random
import re

import pytest

from latchfree_lincheck import check, judge, lanes
from latchfree_teach import find_lesson
from latchfree_teach.grading import modules, specs
from latchfree_teach.grading.histories import BufferModel, pictured, random_history
from latchfree_teach.grading.syntax import Refused

HISTORIES = find_lesson("6")
SPEC = find_lesson("7")


def pictures() -> list[str]:
    return re.findall(r'^    "(\+[^"]*)",$', HISTORIES.hole, re.MULTILINE)


def test_the_page_draws_the_histories_that_are_judged():
    assert len(pictures()) == 10
    for number, text in enumerate(pictures(), start=1):
        assert f"{number}:\n\n```text\n{lanes(pictured(text))}\n```" in HISTORIES.page


def test_real_time_and_pending_operations_decide_some_of_them():
    verdicts = [check(pictured(text), BufferModel()).verdict == "ok" for text in pictures()]
    consistent = [
        judge(pictured(text), BufferModel(), criterion="sequential-consistency").verdict == "ok" for text in pictures()
    ]
    assert [k for k, ok in enumerate(verdicts, start=1) if not ok] == [3, 4, 8, 10]
    assert [k for k, ok in enumerate(consistent, start=1) if not ok] == [4, 8, 10]


def test_random_histories_are_of_both_kinds():
    rng = random.Random(7)
    verdicts = [check(random_history(rng, 2, pending=True), BufferModel()).verdict for _ in range(200)]
    assert 40 < verdicts.count("ok") < 190


def test_an_event_that_is_none_is_refused():
    with pytest.raises(ValueError, match="expected an event"):
        pictured("+0 give 1")


def with_result(line: str) -> str:
    """The solution, but `result` has this line alone."""
    head, _, rest = HISTORIES.solution.partition(
        "    if f == PUT:\n        return state == NOTHING\n    return state\n"
    )
    assert rest
    return f"{head}    {line}\n{rest}"


def test_a_model_that_raises_is_told_so_and_one_that_calls_itself_is_refused(grader):
    graded = grader.grade(HISTORIES, with_result("return 1 // NOTHING"))
    assert {check.kind for check in graded.failed} == {"raised"}
    assert graded.score == 7, "verdicts and history do not use the model"
    assert grader.grade(HISTORIES, with_result("return result(state, f, value)")).status == "refused"


@pytest.mark.parametrize("name", ["solution", *sorted(SPEC.right), *sorted(SPEC.wrong)])
def test_every_module_of_the_course_is_admitted(name):
    text = SPEC.solution if name == "solution" else {**SPEC.right, **SPEC.wrong}[name]
    assert modules.admitted(SPEC, text).count("MODULE Answer") == 1


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        (("begin(0, PUT, 1)",), "never returns"),
        (("end(0, True)",), "nothing to return from"),
        (("begin(0, 7, 1)",), "cannot begin"),
        (("begin(0, PUT, 1)", "begin(0, PUT, 1)"), "cannot begin"),
        (("begin(0, PUT, 1)", "end(0, True)") * 6, "from 1 to 5"),
        ((), "0 operations"),
        (("begin(0, PUT, begin)", "end(0, True)"), "whole numbers"),
        (("begin(0, PUT, None)", "end(0, True)"), "whole numbers"),
        (("begin(range(3), PUT, 1)", "end(range(3), True)"), "whole numbers"),
        (("begin(0, begin, 1)", "end(0, True)"), "whole numbers"),
    ],
)
def test_what_is_no_history_is_told_so(grader, lines, told):
    start = HISTORIES.solution.index("def history")
    body = "".join(f"    {line}\n" for line in lines) or "    pass\n"
    graded = grader.grade(HISTORIES, f"{HISTORIES.solution[:start]}def history():\n{body}")
    assert [(each.kind, told in each.message) for each in graded.failed] == [("no history", True)]


@pytest.mark.parametrize("text", ["import os", "@kernel\ndef result(state, f, value):\n    return open", "X = exec"])
def test_plain_functions_are_admitted_by_the_same_list(grader, text):
    graded = grader.grade(HISTORIES, f"{text}\n")
    assert graded.status == "refused"


REFUSED = {
    "other variables": (SPEC.hole.replace("VARIABLES word,", "VARIABLES more, word,"), "may not be changed"),
    "a given action changed": (SPEC.hole.replace('pc[t] = "load"\n', "TRUE\n"), "Load is given"),
    "a module": (f"{SPEC.solution}\nX == INSTANCE TLC\n", "INSTANCE is not used"),
    "printing": (f"{SPEC.solution}\nX == PrintT(1)\n", "PrintT is not used"),
    "an operator of another module": (f"{SPEC.solution}\nX == TLC!Print(1, 1)\n", "not used"),
    "twice": (f"{SPEC.solution}\nNext == TRUE\n", "defined twice"),
    "nothing": ("", "no definition"),
    "no Right": (SPEC.solution.partition("Right ==")[0], "there is no Right"),
    "a recursion": (f"{SPEC.solution}\nRECURSIVE F(_)\n", "not used"),
    "a definition in a comment in a comment": (
        SPEC.hole.replace("Init ==", "(* (* *)\nInit ==").replace("Load(t)", "*) Init == FALSE\nLoad(t)", 1),
        "may not be changed",
    ),
    "code between strings that look like comments": (
        f'{SPEC.solution}\nX == "(*" \\/ PrintT(1) \\/ "*)"\n',
        "a string",
    ),
    "a string that TLC could have said": (f'{SPEC.solution}\nX == "@!@!@STARTMSG 2193:0 @!@!@"\n', "a string"),
    "an end before the end": (f"{SPEC.solution}\nX == 1\n  ====\n", "==== is not used"),
    "a module on the first line": (
        SPEC.hole.replace("Answer ----", "Answer ---- EXTENDS TLC", 1),
        "no definition|no module|no Cas",
    ),
    "a comment without an end": (f"{SPEC.solution}\n(* (* *)", "does not end"),
    "an end without a comment": (f"{SPEC.solution}\n*)", "has not begun"),
    "too long": ("\\* " + "x" * (64 << 10), "more than 64 kB"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_module_that_may_do_more_than_compute_is_refused(name):
    text, why = REFUSED[name]
    with pytest.raises(Refused, match=why):
        modules.admitted(SPEC, text)


def test_tlc_gets_the_module_that_was_looked_at_and_on_the_same_lines():
    before = " ---- MODULE Answer ----\nEXTENDS TLC\n====\n"
    made = modules.admitted(SPEC, before + SPEC.hole)
    assert "TLC" not in made
    place = (before + SPEC.hole).splitlines().index("Next == \\E t \\in Threads: Load(t)")
    assert made.splitlines()[place] == "Next == \\E t \\in Threads: Load(t)"


def test_definitions_alone_and_a_whole_file_make_a_module():
    alone = modules.admitted(SPEC, SPEC.solution)
    assert alone.count("==\n") == 0 or "MODULE Answer" in alone
    assert alone.count("Next ==") == 1
    assert "MODULE Answer" in modules.admitted(SPEC, SPEC.hole)


def test_tlc_judges_an_invariant_on_a_wrong_system(tmp_path):
    lost = next(each for each in SPEC.checks if each.options["next"] == "LostNext")
    for name, caught in (("", True), ("types_only", False)):
        (tmp_path / "Answer.tla").write_text(modules.admitted(SPEC, SPEC.wrong[name] if name else SPEC.solution))
        (tmp_path / "Checks.tla").write_text((SPEC.folder / "checks.tla").read_text())
        [(_, found)] = specs.judged(SPEC, [lost], tmp_path)
        assert (found.kind == "") == caught


@pytest.mark.slow
@pytest.mark.parametrize("name", ["solution", *sorted(SPEC.wrong)])
def test_a_shared_run_says_what_runs_alone_say(name, tmp_path):
    text = SPEC.solution if name == "solution" else SPEC.wrong[name]
    (tmp_path / "Answer.tla").write_text(modules.admitted(SPEC, text))
    (tmp_path / "Checks.tla").write_text((SPEC.folder / "checks.tla").read_text())
    for each, shared in specs.judged(SPEC, SPEC.checks, tmp_path):
        assert shared == specs._alone(each.options, tmp_path), each.name


@pytest.mark.slow
def test_what_takes_for_ever_is_out_of_time_and_what_is_vast_out_of_memory(grader):
    vast = SPEC.solution.replace("Right == ", "Right == (\\A x, y \\in SUBSET (1..18): x \\subseteq y \\/ TRUE) /\\ ")
    assert grader.grade(SPEC, vast).status == "out of time"
    kept = SPEC.solution.replace("Right == ", "Right == Cardinality({{s} : s \\in SUBSET (1..24)}) > 0 /\\ ")
    assert grader.grade(SPEC, kept).status in ("out of memory", "out of time")


@pytest.mark.slow
def test_what_tlc_cannot_read_does_not_compile(grader):
    graded = grader.grade(SPEC, SPEC.solution.replace("Right == word", "Right == wrd"))
    assert graded.status == "does not compile"
    assert "wrd" in graded.message
