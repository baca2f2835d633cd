"""The record of orders: for each ordered access and each way to weaken it, a schedule that goes wrong.

The record is a JSON file beside this module. `latchfree orders` reads it, compares it with the code, and runs each
schedule again, once with the access weakened, when it must go wrong, and once as coded, when it must not.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from latchfree_evidence.orders.accesses import OrderedAccess, by_line
from latchfree_evidence.orders.search import Finding
from latchfree_explore.written_schedules import written

FILE: Final = Path(__file__).with_name("record.json")
UNSEEN: Final = Path(__file__).with_name("unseen.toml")
VERSION: Final = 1


@dataclass(frozen=True)
class Row:
    """What the record says of one access, weakened in one way.

    Attributes
    ----------
    access : OrderedAccess
    way : str
    target, scenario : str
        The program that goes wrong; empty if none was found.
    kind, message : str
        How it goes wrong.
    models : tuple of str
        The memory models that allow the schedule.
    threads, choices : tuple of pairs of int
        The schedule: a thread and how many steps; a step and its choice, where that is not 0.
    programs, schedules : int
        How many were run without a failure.
    """

    access: OrderedAccess
    way: str
    target: str = ""
    scenario: str = ""
    kind: str = ""
    message: str = ""
    models: tuple[str, ...] = ()
    threads: tuple[tuple[int, int], ...] = ()
    choices: tuple[tuple[int, int], ...] = ()
    programs: int = 0
    schedules: int = 0

    @property
    def needed(self) -> bool:
        """Whether something goes wrong."""
        return bool(self.scenario)


def row_of(finding: Finding) -> Row:
    """Return what the record keeps of a finding."""
    failure = finding.failure
    if failure is None or finding.program is None:
        return Row(finding.access, finding.way, programs=finding.programs, schedules=finding.schedules)
    threads, choices = written(failure.schedule, failure.choices)
    return Row(
        finding.access,
        finding.way,
        finding.program.target,
        finding.program.scenario,
        failure.kind,
        failure.message,
        failure.models,
        tuple(threads),
        tuple(choices),
    )


def merged(findings: Iterable[Finding]) -> list[Row]:
    """Return a row for each access and way, of several targets: one that goes wrong if there is one."""
    rows: dict[tuple[OrderedAccess, str], Row] = {}
    for finding in findings:
        row, key = row_of(finding), (finding.access, finding.way)
        old = rows.get(key)
        if old is None or (row.needed and not old.needed):
            rows[key] = row
        elif not old.needed and not row.needed:
            rows[key] = Row(*key, programs=old.programs + row.programs, schedules=old.schedules + row.schedules)
    return [rows[key] for key in sorted(rows)]


def write(rows: Iterable[Row], file: Path = FILE) -> None:
    """Write the record."""
    lines = [json.dumps(_plain(row)) for row in rows]
    text = f'{{"version": {VERSION}, "rows": [\n' + ",\n".join(lines) + "\n]}\n"
    file.write_text(text, encoding="utf-8")


def _plain(row: Row) -> dict[str, Any]:
    found = {name: value for name, value in asdict(row).items() if value}
    found["access"] = list(row.access)
    return found


def read(file: Path = FILE) -> list[Row]:
    """Read the record.

    Raises
    ------
    ValueError
        If the file is of another version.
    """
    document = json.loads(file.read_text(encoding="utf-8"))
    if document["version"] != VERSION:
        raise ValueError(f"{file}: version {document['version']} of the record; this program reads {VERSION}")
    return [_row(row) for row in document["rows"]]


def _row(found: dict[str, Any]) -> Row:
    file, function, kind, number = found.pop("access")
    for name in ("threads", "choices"):
        found[name] = tuple((int(first), int(second)) for first, second in found.get(name, ()))
    found["models"] = tuple(found.get("models", ()))
    return Row(OrderedAccess(file, function, kind, number), **found)


def unlisted(rows: Iterable[Row]) -> Iterator[OrderedAccess]:
    """Yield the ordered accesses of the package that no program of the record makes."""
    listed = {row.access for row in rows}
    yield from sorted(set(by_line().values()) - listed)


def unseen(file: Path = UNSEEN) -> dict[str, str]:
    """Return why some accesses are made by no program: by the name of a file, or of a file and a function."""
    return {name: str(why) for name, why in tomllib.loads(file.read_text(encoding="utf-8")).items()}


def explained(access: OrderedAccess, why: dict[str, str]) -> str:
    """Return why no program makes an access, empty if nobody says."""
    return why.get(f"{access.file} {access.function}", why.get(access.file, ""))


def gone(rows: Iterable[Row]) -> Iterator[OrderedAccess]:
    """Yield the accesses of the record that the package has no more."""
    yield from sorted({row.access for row in rows} - set(by_line().values()))
