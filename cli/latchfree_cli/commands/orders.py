"""``latchfree orders``: which memory orders the code needs, each with the run that goes wrong without it."""

import shlex
from typing import TYPE_CHECKING, Annotated, Any

import typer

from latchfree_cli import exits
from latchfree_cli.frame import examples
from latchfree_cli.settings import Outcome, Report, Settings

if TYPE_CHECKING:
    from latchfree_evidence.orders.again import Again
    from latchfree_evidence.orders.record import Row


@examples(
    "latchfree orders",
    'latchfree orders "pin exchange"',
    "latchfree orders --search",
)
def orders(
    settings: Settings,
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="ACCESS", help='Accesses by a part of their names, such as "pin exchange"; else all.'),
    ] = None,
    list_: Annotated[bool, typer.Option("--list", help="List what the record says and stop.")] = False,
    renew: Annotated[
        bool,
        typer.Option("--renew", help="After a change of the code: find the runs of the record anew."),
    ] = False,
    search: Annotated[
        bool, typer.Option("--search", help="Search anew, write the record, and then check it; half an hour.")
    ] = False,
) -> Outcome:
    """Show which memory orders the code needs: without the order, a program of the record goes wrong.

    The explorer makes an access weaker, by its source line, and runs the schedule of the record: it must go wrong. As
    coded it must not. With names, the runs are shown.
    """
    from latchfree_evidence.orders import record

    if search:
        if names:
            raise exits.Stop(exits.USAGE, "--search is of all accesses: give no names")
        _search(settings)
    if renew:
        from latchfree_evidence.orders.again import renewed

        with settings.progress("orders: renewing") as report:
            record.write(renewed(record.read(), lambda what: report(f"orders: {what}")))
        settings.note(f"written: {record.FILE}")
    rows = record.read()
    chosen = _chosen(rows, names or [])
    if list_:
        _say_list(settings, chosen)
        return Outcome("listed", {"orders": [_payload(row, "") for row in chosen]}, code=exits.OK)
    changed = [*_gone(record, rows), *_unlisted(record, rows)] if not names else []
    with settings.progress("orders: compiling") as report:
        ran = _run_again(chosen, report)
    for again in ran if names else ():
        _show(settings, again)
    bad = [again for again in ran if again.problem]
    for again in bad:
        settings.say(f"{again.row.access}, {again.row.way}: {again.problem}")
    for line in changed:
        settings.say(line)
    _say_totals(settings, record, rows if not names else chosen, ran)
    if not ran and not changed:
        return Outcome("nothing", {"orders": []})
    problems = {(again.row.access, again.row.way): again.problem for again in ran}
    payload = [_payload(row, problems.get((row.access, row.way), "")) for row in chosen]
    wrong = [str(again.row.access) for again in bad]
    return Outcome(
        "violation" if bad or changed else "ok",
        {"orders": payload, "changed": changed},
        reproduce=shlex.join(["latchfree", "orders", *wrong]) if wrong else None,
    )


def _chosen(rows: "list[Row]", names: list[str]) -> "list[Row]":
    """Return the rows whose accesses have one of the names in theirs."""
    unknown = [name for name in names if not any(name in str(row.access) for row in rows)]
    if unknown:
        raise exits.Stop(exits.USAGE, f"no access has {unknown[0]!r} in its name; latchfree orders --list shows all")
    return [row for row in rows if not names or any(name in str(row.access) for name in names)]


def _search(settings: Settings) -> None:
    from latchfree_evidence.orders import record
    from latchfree_evidence.orders.programs import targets
    from latchfree_evidence.orders.search import survey

    found = []
    with settings.progress("orders: searching") as report:
        for target in targets():
            found += survey(target, lambda what: report(f"orders: {what}"))
    record.write(record.merged(found))
    settings.note(f"written: {record.FILE}")


def _run_again(rows: "list[Row]", report: Report) -> "list[Again]":
    from latchfree_evidence.orders.again import run_again

    total = sum(row.needed for row in rows)
    done: list[Again] = []
    for again in run_again(rows, lambda program: report(f"orders: {len(done)} of {total}: {program}")):
        done.append(again)
    return done


def _gone(record: Any, rows: "list[Row]") -> list[str]:
    return [f"{access}: in the record, and not in the code; search anew" for access in record.gone(rows)]


def _unlisted(record: Any, rows: "list[Row]") -> list[str]:
    known = record.unseen()
    return [
        f"{access}: in the code, and neither in the record nor among those that no program makes; search anew"
        for access in record.unlisted(rows)
        if not record.explained(access, known)
    ]


def _show(settings: Settings, again: "Again") -> None:
    from latchfree_explore import render

    if again.failure is None:
        return
    settings.say(f"{again.row.access}, {again.row.way}")
    settings.say(f"scenario: {again.failure.scenario}")
    settings.say(render.table(again.failure))
    for line in render.around(again.failure):
        settings.say(line)
    settings.say(render.verdict(again.failure))


def _say_list(settings: Settings, rows: "list[Row]") -> None:
    for row in rows:
        what = f"{row.kind} in {row.target}: {row.scenario}" if row.needed else "no program goes wrong"
        settings.say(f"{row.access}  {row.access.order} -> {row.way}: {what}")


def _say_totals(settings: Settings, record: Any, rows: "list[Row]", ran: "list[Again]") -> None:
    accesses = {row.access for row in rows}
    needed = {row.access for row in rows if row.needed}
    fine = sum(not again.problem for again in ran)
    settings.say(f"{fine} of {len(ran)} weakened accesses go wrong, and not as coded")
    settings.say(
        f"{len(needed)} of {len(accesses)} ordered accesses are needed by a program; the others by none of these"
    )


def _payload(row: "Row", problem: str) -> dict[str, Any]:
    return {
        "file": row.access.file,
        "function": row.access.function,
        "kind": row.access.kind,
        "number": row.access.number,
        "order": row.access.order,
        "weakened": row.way,
        "needed": row.needed,
        "target": row.target,
        "scenario": row.scenario,
        "failure": row.kind,
        "models": list(row.models),
        "problem": problem,
    }
