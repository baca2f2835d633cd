"""Files that changed while a job read them.

Example: a recorder appends to ``run.jsonl`` all night. The job began at 12 MB and reads 12 MB, whatever is added; at
its end the file has 15 MB. The verdicts stand, and a warning says that there is more to read. A file that appeared
meanwhile is left to the next run in the same way. But a file that was replaced, or is shorter, or was emptied and
written again (`beginnings`), or is no plain JSON Lines and has grown, may have been read half before and half after: no
verdict on its histories stands.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from latchfree_spark.check.files import publish_table
from latchfree_spark.check.input.beginnings import beginning
from latchfree_spark.check.input.finding import expand
from latchfree_spark.check.input.inputs import ENDLESS, Inputs, Stamp, stamp

_LOOKERS: Final = 16


class Changes(NamedTuple):
    """The files that are not as they were.

    Parameters
    ----------
    grown, appeared : tuple of str
        Files with lines that were not read, and files that were not read.
    changed : tuple of str
        Files that may have been read half before and half after.
    vanished : tuple of str
        Files that are gone. Who had not read one by then has said so.
    """

    grown: tuple[str, ...]
    appeared: tuple[str, ...]
    changed: tuple[str, ...]
    vanished: tuple[str, ...]

    def warnings(self) -> Iterator[str]:
        """Yield what was left to the next run."""
        if self.grown:
            yield (
                f"{_files(self.grown)} grew since the job began: what was added is not read, "
                "and the last histories before it may be incomplete"
            )
        if self.appeared:
            yield f"{_files(self.appeared)} appeared since the job began and were not read"
        if self.vanished:
            yield f"{_files(self.vanished)} vanished since the job began"


def _files(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{len(names):,} files, such as {names[0]},"


def changes(inputs: Inputs) -> Changes:
    """Look at the input files again; only those that grew are opened."""
    with ThreadPoolExecutor(_LOOKERS) as lookers:
        now = list(lookers.map(_stamp, inputs.files))
    lines = {unit.file for unit in inputs.units if unit.size < ENDLESS}
    found: dict[str, list[str]] = {"grown": [], "changed": [], "vanished": []}
    for number, (file, before, after) in enumerate(zip(inputs.files, inputs.stamps, now, strict=True)):
        if after is None:
            found["vanished"].append(file)
        elif after != before:
            grown = (number in lines or not before.size) and after.inode == before.inode and after.size > before.size
            same = grown and (not before.size or beginning(file, before.size) == inputs.beginnings[number])
            found["grown" if same else "changed"].append(file)
    here = {str(path) for name in inputs.asked for path in expand(name)}
    appeared = sorted(here.difference(inputs.files))
    return Changes(tuple(found["grown"]), tuple(appeared), tuple(found["changed"]), tuple(found["vanished"]))


def _stamp(file: str) -> Stamp | None:
    try:
        return stamp(file)
    except OSError:
        return None


def retract(folder: str | Path, inputs: Inputs, changed: Sequence[str]) -> list[str]:
    """Make the verdicts on histories of changed files errors, in the tables of a job; return what is wrong."""
    told: dict[str, str] = {}
    numbers = {file: number for number, file in enumerate(inputs.files)}
    sources = {unit.file: unit.source for unit in inputs.units}
    texts = {file: f"{file}: expected the same file all through the run, got one that was changed" for file in changed}
    for file in changed:
        if numbers[file] in sources:
            told.setdefault(inputs.sources[sources[numbers[file]]], texts[file])
    for path in sorted(Path(folder, "verdicts").glob("*.parquet")):
        _retract(path, told)
    return list(texts.values())


def _retract(path: Path, told: Mapping[str, str]) -> None:
    table = pq.read_table(path)
    sources = table["source"].to_pylist()
    wrong = pa.array([source in told for source in sources], pa.bool_())
    if not pc.any(wrong).as_py():
        return
    reasons = pa.array([told.get(source) for source in sources], pa.string())
    for name, value in (("verdict", pa.scalar("error")), ("reason", reasons), ("failing", pa.scalar(None, pa.int64()))):
        at = table.schema.get_field_index(name)
        table = table.set_column(at, table.schema.field(at), pc.if_else(wrong, value, table[name]))
    publish_table(path, table)
