"""The same verdict every time; and an edit of a solution that passes does what the solution does."""

import ast
import copy
import random

import pytest

from latchfree_teach import find_lesson, lessons

RUNS = 20
EDITS = 300
COMPILED = [each for each in lessons() if each.kind == "kernels"]
SWAPPED = {
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.BitOr: ast.BitAnd, ast.BitAnd: ast.BitOr,
}  # fmt: skip
CALLS = ("load", "store", "cas", "exchange", "fetch_add", "pause", "fence")


@pytest.mark.slow
@pytest.mark.parametrize("lesson", lessons(), ids=lambda lesson: lesson.name)
def test_twenty_gradings_are_equal(grader, lesson):
    name = min(lesson.wrong)
    for text in (lesson.wrong[name], lesson.solution):
        first = grader.grade(lesson, text, name).verdict
        assert all(grader.grade(lesson, text, name).verdict == first for _ in range(RUNS - 1))


def blocks(tree: ast.AST) -> list[list[ast.stmt]]:
    return [
        body
        for node in ast.walk(tree)
        for name in ("body", "orelse")
        if isinstance(body := getattr(node, name, 0), list)
    ]


def edited(text: str, names: tuple[str, ...], rng: random.Random) -> str:
    """A program with one small change somewhere in a function."""
    tree = ast.parse(text)
    function = rng.choice(tree.body)
    inside = [body for body in blocks(function) if body]
    kind = rng.choice(("drop", "swap", "operator", "name", "call", "number"))
    if kind in ("drop", "swap"):
        body = rng.choice(inside)
        k = rng.randrange(len(body))
        if kind == "drop":
            body[k] = ast.Pass()
        else:
            body[k - 1], body[k] = body[k], body[k - 1]
    nodes = list(ast.walk(function))
    if kind == "operator":
        found = [node for node in nodes if isinstance(node, ast.Compare | ast.BinOp)]
        if found:
            node = rng.choice(found)
            if isinstance(node, ast.Compare):
                node.ops = [SWAPPED.get(type(node.ops[0]), type(node.ops[0]))()]
            else:
                node.op = SWAPPED.get(type(node.op), type(node.op))()
    loads = [node for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)]
    if kind == "name":
        values = sorted({node.id for node in loads if node.id not in (*CALLS, "np", "kernel")})
        plain = [node for node in loads if node.id in values]
        if plain:
            rng.choice(plain).id = rng.choice([*values, *(name for name in names if name.isupper())])
    if kind == "call":
        called = [node.func for node in nodes if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)]
        atomic = [node for node in called if node.id in CALLS]
        if atomic:
            rng.choice(atomic).id = rng.choice([name for name in names if name in CALLS])
    if kind == "number":
        numbers = [node for node in nodes if isinstance(node, ast.Constant) and type(node.value) is int]
        if numbers:
            rng.choice(numbers).value += rng.choice((-1, 1))
    return ast.unparse(ast.fix_missing_locations(copy.deepcopy(tree)))


@pytest.mark.slow
@pytest.mark.parametrize("lesson", COMPILED, ids=lambda lesson: lesson.name)
def test_an_edited_solution_that_passes_does_what_the_solution_does(grader, lesson, rng):
    solved = grader.grade(lesson, lesson.solution).fingerprint
    passed = 0
    for _ in range(-(-EDITS // len(COMPILED))):
        text = edited(lesson.solution, lesson.names, rng)
        graded = grader.grade(lesson, text)
        if graded.passed:
            passed += 1
            assert graded.fingerprint == solved, f"it passes, and does something else:\n{text}"
    print(f"{lesson.name}: {passed} edits passed")


def test_edits_change_the_program(rng):
    lesson = find_lesson("4")
    before = ast.unparse(ast.parse(lesson.solution))
    made = {edited(lesson.solution, lesson.names, rng) for _ in range(30)}
    assert len(made - {before}) >= 10
