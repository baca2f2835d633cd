"""Take an interrupted job up with the input that it began with, though there is more by now.

Example: a job on a folder is killed at two in the morning, and a recorder goes on. At three the same command finds one
more file, and more lines in another. Half of the verdicts are there already, on the files as they were. So the job goes
on with these, and says at its end what it did not read; the next job reads that.

The invariant: all verdicts of a job are on the same bytes. A file that was changed in another way than by lines added
at its end, or that is gone, ends the job before it begins; so does one that ended within a line, because a line that
was half written may have been read or not.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from latchfree_spark.check.files import publish
from latchfree_spark.check.input.beginnings import ends_with_a_line
from latchfree_spark.check.input.changes import changes
from latchfree_spark.check.input.inputs import Inputs, Stamp, Unit
from latchfree_spark.check.options import JobRefused

INPUTS: Final = "inputs.json"
"""The input that a job began with, in its folder of unfinished work."""


def remember(folder: Path, inputs: Inputs) -> None:
    """Write down what a job reads, unless that is known."""
    if not (folder / INPUTS).exists():
        publish(folder / INPUTS, json.dumps({**asdict(inputs), "where": _where(inputs)}).encode())


def resumed(folder: Path, found: Inputs) -> Inputs:
    """Return what the unfinished job in a folder reads, or what was found if there is no such job, or another one.

    Raises
    ------
    JobRefused
        If a file is not as it was.
    """
    if not (folder / INPUTS).exists():
        return found
    held = json.loads((folder / INPUTS).read_text())
    before = _of(held)
    if before.fingerprint == found.fingerprint or held["where"] != _where(found):
        return found
    seen = changes(before)
    wrong = [f"{file} was changed" for file in seen.changed] + [f"{file} is gone" for file in seen.vanished]
    sizes = {file: stamp.size for file, stamp in zip(before.files, before.stamps, strict=True)}
    wrong += [
        f"{file} has grown, and ended within a line then, which may have been read or not"
        for file in seen.grown
        if not ends_with_a_line(file, sizes[file])
    ]
    if wrong:
        more = f", and {len(wrong) - 1} more files" if len(wrong) > 1 else ""
        raise JobRefused(
            f"{folder}: expected the input with which this work began, got another one: {wrong[0]}{more}; "
            "remove the folder to begin anew, or choose another output"
        )
    return before


def _where(inputs: Inputs) -> list[str]:
    """Return the files, folders and patterns that were given, wherever the command is started."""
    return [str(Path(name).absolute()) for name in inputs.asked]


def _of(held: dict[str, Any]) -> Inputs:
    values: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in held.items()}
    del values["where"]
    values["units"] = tuple(Unit(**unit) for unit in held["units"])
    values["stamps"] = tuple(Stamp(*stamp) for stamp in held["stamps"])
    return Inputs(**values)
