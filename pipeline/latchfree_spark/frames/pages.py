"""Write a page about a run at a URI: what it found, and its first violations whole, shrunk and drawn.

Example: a run on ``s3a://lab/verdicts`` finds two violations. ``s3a://lab/verdicts/page/date=2026-11-26/run=r1`` has
``summary.html``, and for each of the two ``failing/NAME.jsonl``, ``failing/NAME-small.jsonl`` and a picture of the
small one, ``failing/NAME-small.html``. The page names the files as they lie beside it, so a copy of the folder works.

The driver makes the files in a folder of its own and sends them. They are for people: a bounded number of histories, of
so many operations together, written when all verdicts are in the table and counted. If that fails, the run goes on
without a page, and a warning says so.
"""

from __future__ import annotations

import shlex
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from latchfree_spark.check.files import file_name
from latchfree_spark.check.judge.saving import chosen, command, room
from latchfree_spark.check.judge.single import line
from latchfree_spark.check.options import LINEARIZABILITY, Options
from latchfree_spark.check.output.page import page
from latchfree_spark.check.output.showing import PAGES, add_pages
from latchfree_spark.errors import in_a_line
from latchfree_spark.frames.reading import BY
from latchfree_spark.frames.run import Run
from latchfree_spark.frames.table import Table
from latchfree_spark.hadoop import Store

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

OPERATIONS: Final = 100_000
"""Operations of all histories that are copied beside a page, at most."""


def with_page(spark: SparkSession, run: Run, table: Table, options: Options) -> Run:
    """Write the page of a run that judged something, and return the run with its address; on Connect there is none."""
    if not any(run.verdicts.values()):
        return run
    try:
        store = Store.of(spark, table.page)
        return run if store is None else _with_page(store, run, table, options)
    except Exception as error:  # the verdicts are in the table: a page is less than they are
        why = f"{type(error).__name__}: {in_a_line(error)}"
        return replace(run, warnings=(f"{table.page}: the page is not there: {why}",))


def _with_page(store: Store, run: Run, table: Table, options: Options) -> Run:
    with tempfile.TemporaryDirectory(prefix="latchfree-page-") as name:
        folder = Path(name)
        failing = _with_files(folder, run.failing, table, options)
        run = replace(run, failing=failing, page=f"{table.page}/summary.html")
        document = {name: getattr(run, name) for name in ("operations", "verdicts", "problems", "unknown", "slowest")}
        document |= {"histories": sum(run.verdicts.values()), "failing": failing}
        text = page(document, f"{run.out.rpartition('/')[2]}, {run.date}")
        (folder / "summary.html").write_text(text, encoding="utf-8")
        for file in sorted(each for each in folder.rglob("*") if each.is_file()):
            store.write(f"{table.page}/{file.relative_to(folder)}", file.read_bytes())
    return run


def _with_files(
    folder: Path, failing: Sequence[dict[str, Any]], table: Table, options: Options
) -> tuple[dict[str, Any], ...]:
    """Write the files of the first failing histories to `folder`; return all rows, each with the names of its files."""
    whole = _whole(failing, table, options)
    rows: list[dict[str, Any]] = []
    (folder / "failing").mkdir()
    for at, row in enumerate(failing):
        text = whole.get((row["source"], row["history"]))
        name = f"failing/{file_name(row['history'], row['source'])}"
        row = row | {"saved": None, "small": None, "page": None, "replay": None}
        if text is not None:
            row |= {"saved": f"{name}.jsonl", "replay": _replay(f"{table.page}/{name}.jsonl", options)}
            (folder / f"{name}.jsonl").write_text(text, encoding="utf-8")
        if at < PAGES and row["witness"] and options.criterion == LINEARIZABILITY:
            row["small"] = f"{name}-small.jsonl"
            (folder / f"{name}-small.jsonl").write_text(row["witness"], encoding="utf-8")
        rows.append(row)
    # What has no witness is not drawn: judging it may take more than the driver has.
    add_pages(folder, [row for row in rows if row["small"]], options)
    return tuple(rows)


def _whole(failing: Sequence[dict[str, Any]], table: Table, options: Options) -> dict[tuple[str, str], str]:
    """Return the first failing histories as text, those that the run has copied and that have room on a page."""
    from pyspark.sql import functions as F

    names, room = [], OPERATIONS
    for row in failing[:PAGES]:
        if row["copied"] and row["operations"] <= room:
            room -= row["operations"]
            names.append(tuple(row[name] for name in BY))
    if not names:
        return {}
    whole: dict[tuple[str, str], list[str]] = {}
    is_one = F.struct(*BY).isin([F.struct(*map(F.lit, each)) for each in names])
    for found in table.failing().where(is_one).coalesce(1).sortWithinPartitions(*BY, "invoke").collect():
        text = line(found["history"], found.asDict(), options.model or found["model"])
        whole.setdefault((found["source"], found["history"]), []).append(text)
    return {name: "".join(lines) for name, lines in whole.items()}


def _replay(address: str, options: Options) -> str:
    """Return the command that judges a copy again: of a file by its path, of a URI by Spark."""
    if address.startswith("file:"):
        return command("/" + address.removeprefix("file:").lstrip("/"), options)
    # A folder of its own each time: one that is there knows the history already.
    plain = Options()
    more = ["--timeout", f"{options.timeout:g}"] if options.timeout > plain.timeout else []
    told = shlex.join([*chosen(options), *more, *room(options, plain.memory)])
    return f'latchfree pipeline check {shlex.quote(address)} "$(mktemp -d)/again" {told}'.rstrip()
