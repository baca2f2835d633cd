"""What workers report, and the accounts: nothing is published before every operation that was read has a verdict.

Example: two workers write to ``/data/out.partial``, but one of them has a ``/data`` of its own. Its chunks are reported
and their files are not there for the driver. `Reports.settle` then says which host wrote what; nothing is published.

Three things must agree. Each unit that was dealt out is reported as read, with the operations in it. Each chunk that is
reported has a file with as many rows. The operations in all verdicts are those in all units. Reports travel as rows of
Spark's result, so a task that runs twice reports once. The report of a unit is a row among its fragments, a *mark*,
which passes the same shuffle.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from latchfree_spark.check.files import chunk_file
from latchfree_spark.check.input.inputs import Unit
from latchfree_spark.errors import RowsLost
from latchfree_spark.task import host

SCHEMA: Final = pa.schema(
    [("kind", pa.string()), ("name", pa.string())]
    + [(name, pa.int64()) for name in ("number", "part", "count")]
    + [("host", pa.string()), ("text", pa.string())]
)
DDL: Final = "kind string, name string, number bigint, part bigint, count bigint, host string, text string"

NAMED: Final = 8
"""Hosts and chunks that an error names, at most."""


def unit_read(file: int, begin: int, operations: int) -> dict[str, Any]:
    """Report that a unit was read."""
    return _report("unit", number=file, part=begin, count=operations)


def chunk_judged(chunk: int, rows: int) -> dict[str, Any]:
    """Report that the file of a chunk was written."""
    return _report("chunk", number=chunk, count=rows)


def giant_set_aside(stem: str, groups: int) -> dict[str, Any]:
    """Report that a giant was written to a file of its own."""
    return _report("giant", name=stem, count=groups)


def group_judged(stem: str, group: int, row: str) -> dict[str, Any]:
    """Report the verdict on a group of a giant, as JSON."""
    return _report("group", name=stem, number=group, text=row)


def _report(kind: str, **values: Any) -> dict[str, Any]:
    return {**dict.fromkeys(SCHEMA.names), "kind": kind, "host": host(), **values}


def batch(rows: list[dict[str, Any]]) -> Any:
    """Return reports as a record batch."""
    return pa.RecordBatch.from_pylist(rows, schema=SCHEMA)


@dataclass
class Reports:
    """The reports of a job so far.

    Parameters
    ----------
    units : dict
        Operations by file and begin.
    chunks, giants : dict
        Rows of a chunk, and groups of a giant, with the host that wrote the file.
    groups : dict
        Verdicts, as JSON, by giant and group.
    """

    units: dict[tuple[int, int], int] = field(default_factory=dict)
    chunks: dict[int, tuple[int, str]] = field(default_factory=dict)
    giants: dict[str, tuple[int, str]] = field(default_factory=dict)
    groups: dict[tuple[str, int], str] = field(default_factory=dict)

    def add(self, rows: Iterable[dict[str, Any]]) -> None:
        """Take reports in."""
        for row in rows:
            if row["kind"] == "unit":
                self.units[row["number"], row["part"]] = row["count"]
            elif row["kind"] == "chunk":
                self.chunks[row["number"]] = row["count"], row["host"]
            elif row["kind"] == "giant":
                self.giants[row["name"]] = row["count"], row["host"]
            else:
                self.groups[row["name"], row["number"]] = row["text"]

    @property
    def operations(self) -> int:
        """Operations in all units."""
        return sum(self.units.values())

    def settle(self, units: Iterable[Unit], folder: str | Path) -> None:
        """Compare what was dealt out, what was reported, and the files.

        Raises
        ------
        RowsLost
            If they differ.
        """
        unread = [unit for unit in units if (unit.file, unit.begin) not in self.units]
        if unread:
            raise RowsLost(f"{len(unread)} pieces of the input were dealt out and not reported as read")
        lost = [
            (f"chunk {chunk}", host)
            for chunk, (rows, host) in sorted(self.chunks.items())
            if rows != _rows(chunk_file(folder, "verdicts", chunk))
        ]
        lost += [
            (f"giant {stem}", host)
            for stem, (_, host) in sorted(self.giants.items())
            if not Path(folder, "giants", f"{stem}.parquet").exists()
        ]
        if lost:
            raise RowsLost(_tell(lost, folder, len(self.chunks) + len(self.giants)))


def _rows(file: Path) -> int:
    """Return how many rows a file has, -1 if it is not there."""
    try:
        return int(pq.ParquetFile(file).metadata.num_rows)
    except OSError:
        return -1


def _tell(lost: list[tuple[str, str]], folder: str | Path, of: int) -> str:
    by_host = Counter(host for _, host in lost)
    hosts = ", ".join(f"{host} wrote {count} of them" for host, count in by_host.most_common(NAMED))
    names = ", ".join(name for name, _ in lost[:NAMED]) + (", ..." if len(lost) > NAMED else "")
    return (
        f"{len(lost)} of {of} results are not in {folder} as this program sees it ({names}); {hosts}. "
        "Nothing was published. All workers and this program must see one folder at that path"
    )
