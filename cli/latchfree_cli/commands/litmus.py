"""``latchfree litmus``: small programs under four memory models, with the verdicts of the literature."""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from latchfree_cli import exits
from latchfree_cli.frame import examples
from latchfree_cli.settings import Outcome, Settings

if TYPE_CHECKING:
    from rich.table import Table

    from latchfree_explore.weak.axioms import Model
    from latchfree_explore.weak.programs import Program
    from latchfree_explore.weak.study import Study
    from latchfree_explore.weak.suite import Litmus


@examples(
    "latchfree litmus",
    "latchfree litmus SB IRIW",
    'latchfree litmus --program "store x 1; load y | store y 1; load x"',
)
def litmus(
    settings: Settings,
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[NAME|FILE]...", help="Tests by name, files of tests; default: all.")
    ] = None,
    program: Annotated[
        str | None, typer.Option("--program", help='A program of your own: "store x 1; load y | ...".')
    ] = None,
    weak: Annotated[
        str | None, typer.Option("--weak", help='With --program: an outcome, such as "0:r0=0 & x=1".')
    ] = None,
) -> Outcome:
    """Judge small programs under the memory models SC, x86-TSO, SRA and RC11.

    Without names: a table of all tests, compared with the verdicts of the literature. With names: each program, its
    weak outcome, a run that has it, and the cycle that forbids the run where it is forbidden. A verdict that differs
    from the literature, or from what a file expects, is a violation.
    """
    if weak is not None and program is None:
        raise exits.Stop(exits.USAGE, "--weak goes with --program")
    if program is not None and names:
        raise exits.Stop(exits.USAGE, "give names or --program, not both")
    if program is not None:
        return _own_program(settings, program, weak)
    tests = _tests(names or [])
    if not tests:
        settings.say("nothing was checked: there is no test")
        return Outcome("nothing", {"tests": []})
    judged: dict[str, tuple[Model, ...]] = {}
    with settings.progress("litmus") as report:
        rows = []
        for number, test in enumerate(tests, start=1):
            report(f"litmus: {number} of {len(tests)}, {test.name}")
            if names:
                rows.append(_shown(settings, test))
            else:
                rows.append(_row(test, test.judged))
            judged[test.name] = tuple(rows[-1]["allowed"])
    if not names:
        settings.say(_table(tests, judged))
    return _summed_up(settings, rows, names or [])


def _tests(names: list[str]) -> "list[Litmus]":
    """Return the tests of names and files, or all."""
    from latchfree_explore.weak.suite import find, load_suite, load_tests

    if not names:
        return list(load_suite())
    found: list[Litmus] = []
    for name in names:
        path = Path(name)
        if path.suffix == ".toml" or path.is_file():
            try:
                found += load_tests(path.read_text(encoding="utf-8"))
            except ValueError as error:
                raise exits.Stop(exits.USAGE, f"{name}: {error}") from None
            continue
        try:
            found.append(find(name))
        except ValueError as error:
            raise exits.Stop(exits.USAGE, f"{error}; see latchfree litmus") from None
    return found


def _row(test: "Litmus", judged: "tuple[Model, ...]") -> dict[str, Any]:
    """Return what ``--json`` prints of a test."""
    return {
        "name": test.name,
        "family": test.family,
        "program": str(test.program),
        "weak": str(test.weak),
        "allowed": list(judged),
        "literature": {
            model: {
                "allowed": verdict.allowed,
                "source": verdict.source.name,
                "detail": verdict.detail,
                "derived": verdict.source.derived,
            }
            for model, verdict in test.verdicts.items()
        },
        "differences": [model for model in test.verdicts if (model in judged) != test.verdicts[model].allowed],
    }


def _table(tests: "list[Litmus]", judged: "dict[str, tuple[Model, ...]]") -> "Table":
    """Return the table of all tests."""
    from rich.table import Table

    from latchfree_explore.weak.axioms import MODELS

    table = Table("test", "weak outcome", *MODELS)
    family = tests[0].family
    for test in tests:
        if test.family != family:
            family = test.family
            table.add_section()
        cells = []
        for model in MODELS:
            allowed = model in judged[test.name]
            differs = model in test.verdicts and test.verdicts[model].allowed != allowed
            cells.append(("allowed" if allowed else "-") + (" (differs)" if differs else ""))
        table.add_row(test.name, str(test.weak), *cells)
    return table


def _summed_up(settings: Settings, rows: list[dict[str, Any]], names: list[str]) -> Outcome:
    """Return how the command ends, after saying how many verdicts agree."""
    verdicts = [each for row in rows for each in row["literature"].values()]
    differing = [(row["name"], model) for row in rows for model in row["differences"]]
    derived = sum(each["derived"] for each in verdicts)
    if verdicts:
        number = "1 test" if len(rows) == 1 else f"{len(rows)} tests"
        settings.say(
            f"{number}, {len(verdicts)} verdicts: {len(verdicts) - derived} published, {derived} derived from published"
            f" statements; {len(differing)} differ"
        )
    for name, model in differing:
        settings.say(f"{name} under {model}: the axioms and the expected verdict differ")
    payload = {
        "tests": rows,
        "verdicts": len(verdicts),
        "derived": derived,
        "differences": [{"name": name, "model": model} for name, model in differing],
    }
    again = shlex.join(["latchfree", "litmus", *names])
    return Outcome("violation" if differing else "ok", payload, reproduce=again if differing else None)


def _shown(settings: Settings, test: "Litmus") -> dict[str, Any]:
    """Print one test closely; return what ``--json`` prints of it."""
    from latchfree_explore.weak.study import study

    found = study(test.program, test.weak)
    settings.say(test.name + (f", {test.family}" if test.family else ""))
    _draw(settings, test.program, str(test.weak), found)
    if test.verdicts:
        settings.note("literature:")
    for model, verdict in test.verdicts.items():
        kind = "derived" if verdict.source.derived else "published"
        word = "allowed" if verdict.allowed else "forbidden"
        settings.note(f"  {model:<5} {word:<9}  {kind}: {verdict}")
        if settings.verbose:
            settings.note(f"        {verdict.source.text}")
    settings.say("")
    return _row(test, found.allowed) | _explained(found, test.program)


def _draw(settings: Settings, program: "Program", weak: str, found: "Study") -> None:
    """Print a program, the run that has its weak outcome, and the cycles that forbid the run."""
    from latchfree_explore.weak.axioms import MODELS
    from latchfree_explore.weak.drawing import draw_graph, draw_program, draw_reason

    say = settings.say
    forbidding = [model for model in MODELS if model not in found.allowed]
    say(f"weak outcome: {weak}")
    say(f"allowed by: {', '.join(found.allowed) or 'no model'}; forbidden by: {', '.join(forbidding) or 'no model'}")
    if found.graph is None:
        say("\n".join(draw_program(program)))
        say(_why_no_run(program))
        return
    say("\n".join(draw_graph(program, found.graph)))
    together: dict[Any, list[str]] = {}
    for model, why in found.reasons.items():
        together.setdefault(why, []).append(model)
    for why, models in together.items():
        say(f"forbidden by {', '.join(models)}: {why.axiom} ({why.meaning})")
        say("\n".join(draw_reason(program, found.graph, why)))


def _why_no_run(program: "Program") -> str:
    """Return why no run is shown."""
    from latchfree_explore.weak.brute import candidate_count
    from latchfree_explore.weak.study import MOST_CANDIDATES

    count = candidate_count(program)
    if count > MOST_CANDIDATES:
        return f"no run is shown: {count:,} candidates are too many to look through; the limit is {MOST_CANDIDATES:,}"
    return "no run has this outcome, whatever each access reads"


def _explained(found: "Study", program: "Program") -> dict[str, Any]:
    """Return the run and the cycles for ``--json``."""
    from latchfree_explore.weak.drawing import draw_graph, event_names

    if found.graph is None:
        return {"run": None, "forbidden": {}}
    names = event_names(found.graph, program)
    return {
        "run": draw_graph(program, found.graph),
        "forbidden": {
            model: {
                "axiom": why.axiom,
                "cycle": [{"from": names[each.start], "by": each.label, "to": names[each.end]} for each in why.cycle],
            }
            for model, why in found.reasons.items()
        },
    }


def _own_program(settings: Settings, text: str, weak: str | None) -> Outcome:
    """Judge a program of the command line: one outcome, or all of them."""
    from latchfree_explore.weak.outcomes import parse_condition
    from latchfree_explore.weak.programs import parse_program
    from latchfree_explore.weak.study import study

    try:
        program = parse_program(text)
        condition = None if weak is None else parse_condition(weak, program)
    except ValueError as error:
        raise exits.Stop(exits.USAGE, str(error)) from None
    if condition is None:
        return _all_outcomes(settings, program)
    with settings.progress("litmus"):
        found = study(program, condition)
    _draw(settings, program, str(condition), found)
    payload = {"program": str(program), "weak": str(condition), "allowed": list(found.allowed)}
    return Outcome("ok", payload | _explained(found, program))


def _all_outcomes(settings: Settings, program: "Program") -> Outcome:
    """Print each outcome of a program, with the models that allow it."""
    from rich.table import Table

    from latchfree_explore.weak.axioms import MODELS
    from latchfree_explore.weak.drawing import draw_program
    from latchfree_explore.weak.study import outcomes

    with settings.progress("litmus"):
        found = outcomes(program)
    table = Table("outcome", *MODELS)
    for outcome, counts in found.items():
        table.add_row(str(outcome), *("allowed" if counts[model] else "-" for model in MODELS))
    settings.say("\n".join(draw_program(program)))
    settings.say(table)
    graphs = {model: sum(counts[model] for counts in found.values()) for model in MODELS}
    settings.say(f"execution graphs: {', '.join(f'{model} {count}' for model, count in graphs.items())}")
    listed = [
        {"outcome": str(outcome), "allowed": [model for model in MODELS if counts[model]]}
        for outcome, counts in found.items()
    ]
    return Outcome("ok", {"program": str(program), "outcomes": listed, "graphs": graphs})
