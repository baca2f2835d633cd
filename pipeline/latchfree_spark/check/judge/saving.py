"""Save a failing history: whole first, then shrunk, which takes bounded time and may come to nothing."""

from __future__ import annotations

import json
import shlex
from contextlib import suppress
from pathlib import Path
from typing import Final

from latchfree_lincheck.formats.record import dumps, freeze
from latchfree_model import UNKNOWN, Call
from latchfree_model.models.loading import load_model
from latchfree_spark.check.files import file_name, publish
from latchfree_spark.check.judge.batch import Batch
from latchfree_spark.check.judge.judging import Row, model_of
from latchfree_spark.check.judge.shrinking import NotShrunk, shrunk
from latchfree_spark.check.judge.single import lines
from latchfree_spark.check.options import LINEARIZABILITY, Job, Options

_MB: Final = 1 << 20
_CHECK_MEMORY: Final = 2048 * _MB
"""What ``latchfree check`` takes by itself, in bytes."""


def locate(batch: Batch, number: int, row: Row, job: Job) -> None:
    """Put into the row of a violation which object and key the operation touches that no order explains."""
    if row["failing"] is None or job.options.criterion != LINEARIZABILITY:
        return
    at = int(batch.bounds[number]) + row["failing"]
    row["object"] = batch.rows["object"][at].as_py()
    f, arguments = batch.rows["f"][at].as_py(), json.loads(batch.rows["arguments"][at].as_py())
    result = batch.rows["result"][at].as_py()
    seen = UNKNOWN if result is None else freeze(json.loads(result))
    with suppress(Exception):  # a model of the user's own may have keys that are no JSON; the verdict stands
        model = load_model(str(model_of(batch, number, job)))
        key = model.partition(Call(f, tuple(freeze(argument) for argument in arguments), seen))
        row["key"] = None if key is None else dumps(key)


def save(batch: Batch, number: int, row: Row, job: Job) -> None:
    """Save a failing history whole and, if that is possible in time, shrunk; put the file's name into the row."""
    name = f"failing/{file_name(batch.names[number], batch.sources[number])}.jsonl"
    publish(Path(job.folder) / name, "".join(lines(batch, number, str(model_of(batch, number, job)))).encode())
    save_small(batch, number, job, Path(job.folder) / name)
    row["saved"] = name
    row["reproduce"] = command(name, job.options)


def command(file: str, options: Options) -> str:
    """Return the command that judges a saved history again; it takes what time it needs."""
    return shlex.join(["latchfree", "check", file, *chosen(options), *room(options, _CHECK_MEMORY)])


def room(options: Options, usual: int) -> list[str]:
    """Return the option for a history that was judged with more bytes of memory than a command takes by itself."""
    return ["--memory", str(-(-options.memory // _MB))] if options.memory > usual else []


def chosen(options: Options) -> list[str]:
    """Return the options of the command line that a history has to be judged with."""
    chosen = ["--model", options.model] if options.model else []
    if options.criterion != LINEARIZABILITY:
        chosen += ["--criterion", options.criterion]
    if options.py_files:
        chosen += ["--py-files", ",".join(path for path, _ in options.py_files)]
    return chosen


def save_small(batch: Batch, number: int, job: Job, whole: Path) -> None:
    """Save a failing history shrunk, beside the whole one, if that is possible in time."""
    if job.options.criterion != LINEARIZABILITY:  # shrinking keeps what is not linearizable, no other violation
        return
    with suppress(NotShrunk):
        publish(whole.with_name(f"{whole.stem}-small.jsonl"), shrunk(batch, number, job).encode())
