"""The tables of docs/orders.md, made from the record."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from latchfree_evidence.orders.accesses import OrderedAccess
from latchfree_evidence.orders.record import Row, explained, unlisted, unseen


def needed_table(rows: Iterable[Row]) -> str:
    """Return the accesses that a program needs, each with the least weakening that goes wrong."""
    first: dict[OrderedAccess, Row] = {}
    for row in rows:
        if row.needed and (row.access not in first or _rank(row) < _rank(first[row.access])):
            first[row.access] = row
    lines = ["| access | order | wrong if | then | where | program |", "|---|---|---|---|---|---|"]
    for access, row in sorted(first.items()):
        program = f"`{row.target}`: `{row.scenario}`".replace("|", "\\|")
        lines.append(f"| {_name(access)} | {access.order} | {row.way} | {row.kind} | {_where(row)} | {program} |")
    return "\n".join(lines)


def _rank(row: Row) -> int:
    return row.access.ways.index(row.way)


def _name(access: OrderedAccess) -> str:
    which = f" {access.number}" if access.number > 1 else ""
    return f"`{access.file.removesuffix('.py')}` {access.function}: `{access.kind}`{which}"


def _where(row: Row) -> str:
    """Say on which machines a run goes wrong; a race that no reordering shows is one of the language."""
    if "sc" in row.models:
        return "in the language" if row.kind == "data race" else "everywhere"
    return "x86 too" if "tso" in row.models else "ARM and weaker"


def other_table(rows: Iterable[Row]) -> str:
    """Return the accesses that no program needs, by file: how many, and how many schedules were run."""
    by_access: dict[OrderedAccess, list[Row]] = defaultdict(list)
    for row in rows:
        by_access[row.access].append(row)
    others = {access: found for access, found in by_access.items() if not any(row.needed for row in found)}
    by_file: dict[str, list[OrderedAccess]] = defaultdict(list)
    for access in sorted(others):
        by_file[access.file].append(access)
    lines = ["| file | accesses that none of these programs needs | schedules |", "|---|---|---:|"]
    for file, accesses in sorted(by_file.items()):
        schedules = sum(row.schedules for access in accesses for row in others[access])
        lines.append(f"| `{file}` | {_names(accesses)} | {schedules:,} |")
    return "\n".join(lines)


def _names(accesses: Sequence[OrderedAccess]) -> str:
    found: dict[str, list[str]] = defaultdict(list)
    for access in accesses:
        which = f" {access.number}" if access.number > 1 else ""
        found[access.function].append(f"`{access.kind}`{which}")
    return "; ".join(f"{function}: {', '.join(kinds)}" for function, kinds in found.items())


def unseen_table(rows: Iterable[Row]) -> str:
    """Return the accesses that no program makes, by file, with the reason."""
    why = unseen()
    found: dict[tuple[str, str], list[OrderedAccess]] = defaultdict(list)
    for access in unlisted(rows):
        found[access.file, explained(access, why)].append(access)
    lines = ["| file | accesses that none of these programs makes | why |", "|---|---|---|"]
    for (file, reason), accesses in sorted(found.items()):
        lines.append(f"| `{file}` | {_names(accesses)} | {reason} |")
    return "\n".join(lines)


def totals(rows: Iterable[Row]) -> str:
    """Return how many accesses there are of each sort, in a sentence."""
    rows = list(rows)
    made = {row.access for row in rows}
    needed = {row.access for row in rows if row.needed}
    others = len(list(unlisted(rows)))
    return (
        f"The package has {len(made) + others} ordered accesses. The programs make {len(made)} of them; {len(needed)} "
        f"are needed by a program, and {len(made) - len(needed)} by none. No program makes the other {others}."
    )


TABLES = {"totals": totals, "needed": needed_table, "others": other_table, "unseen": unseen_table}
