"""A trace drawn with one column per process."""

import io

from rich.console import Console

from latchfree_model.tlc import Trace, TraceState
from latchfree_model.tlc.render import diff, render
from latchfree_model.tlc.trace import parse_variables
from latchfree_model.tlc.values import parse_value


def trace(*states: tuple[str, str], **ending: int) -> Trace:
    """Build a trace from (action, variables) pairs."""
    return Trace(
        tuple(
            TraceState(index, action, "", parse_variables(text)) for index, (action, text) in enumerate(states, start=1)
        ),
        **ending,  # type: ignore[arg-type]
    )


def rows(drawn: Trace) -> list[list[str]]:
    """Return the text of the cells, row by row."""
    console = Console(file=io.StringIO(), width=120, color_system=None)
    console.print(render(drawn))
    text = console.file.getvalue()  # type: ignore[attr-defined]
    lines = [line for line in text.splitlines() if "│" in line or "┃" in line]
    return [[cell.strip() for cell in line.replace("┃", "│").split("│")[1:-1]] for line in lines]


def test_one_column_per_process() -> None:
    drawn = trace(
        (
            "Initial predicate",
            '/\\ x = 0\n/\\ L = (a :> [pc |-> "i", n |-> 5] @@ b :> [pc |-> "i", n |-> 0])',
        ),
        ("Go", '/\\ x = 0\n/\\ L = (a :> [pc |-> "i", n |-> 5] @@ b :> [pc |-> "w", n |-> 7])'),
        ("Set", '/\\ x = 1\n/\\ L = (a :> [pc |-> "w", n |-> 0] @@ b :> [pc |-> "w", n |-> 7])'),
    )
    assert rows(drawn) == [
        ["step", "a", "b"],
        ["1", "(initial state)", ""],
        ["", "x = 0", ""],
        ["2", "", "Go"],
        ["", "", "n: 0 → 7"],
        ["3", "Set", ""],
        ["", "x: 0 → 1", ""],
    ], "the next label, and registers that are forgotten, are left out"


def test_the_step_belongs_to_the_process_whose_pc_moved() -> None:
    """Canonical renaming may change the other registers of every process at once."""
    drawn = trace(
        ("Initial predicate", '/\\ L = <<[pc |-> "i", n |-> 1, m |-> 1], [pc |-> "i", n |-> 2, m |-> 2]>>'),
        ("Go", '/\\ L = <<[pc |-> "i", n |-> 2, m |-> 2], [pc |-> "w", n |-> 2, m |-> 2]>>'),
    )
    assert rows(drawn)[2][:3] == ["2", "", "Go"]


def test_without_processes_there_is_one_column() -> None:
    drawn = trace(("Initial predicate", "x = 0"), ("Next", "x = 1"), back_to=1)
    assert rows(drawn) == [
        ["step", "action"],
        ["1", "(initial state)"],
        ["", "x = 0"],
        ["2", "Next"],
        ["", "x: 0 → 1"],
        ["", "back to step 1, for ever"],
    ]


def test_stuttering() -> None:
    drawn = trace(("Initial predicate", "x = 0"), stuttering=1)
    assert rows(drawn)[-1] == ["", "nothing more happens, for ever"]


def test_diff_names_the_place() -> None:
    before = parse_value('[a |-> <<1, 2>>, f |-> (1 :> "x" @@ 2 :> "y"), s |-> {1}, same |-> 0]')
    after = parse_value('[a |-> <<1, 3>>, f |-> (2 :> "z" @@ 4 :> "n"), s |-> {1, 2}, same |-> 0]')
    assert list(diff("H", before, after)) == [
        "H.a[2]: 2 → 3",
        'H.f[1]: "x" gone',
        'H.f[2]: "y" → "z"',
        'H.f[4]: "n" new',
        "H.s: {1} → {1, 2}",
    ]


def test_diff_tells_true_from_one() -> None:
    assert list(diff("x", True, 1)) == ["x: TRUE → 1"]
