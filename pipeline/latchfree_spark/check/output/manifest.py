"""Describe a job by its inputs and options, so that only the same job continues a folder of unfinished work."""

from __future__ import annotations

import fcntl
import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

import latchfree
from latchfree_spark.check.files import publish
from latchfree_spark.check.input.inputs import Inputs
from latchfree_spark.check.input.resuming import INPUTS
from latchfree_spark.check.options import JobRefused, Options
from latchfree_support.publishing import publish_filled

LAYOUT: Final = 2
"""Version of the folder's layout."""

CHUNK: Final = 4 << 20
"""Bytes of input for each chunk, about."""
FEWEST, MOST = 4, 1024

NAMED: Final = 5
"""Files of nobody that are named, at most."""


def partial_folder(out: Path) -> Path:
    """Return the folder that holds the work for `out` until all of the work is done."""
    return out.with_name(f"{out.name}.partial")


def describe(inputs: Inputs, options: Options, chunks: int | None) -> dict[str, Any]:
    """Return everything that decides the bytes of the output of a job."""
    return {
        "layout": LAYOUT,
        "version": latchfree.__version__,
        "inputs": {"files": len(inputs.files), "bytes": inputs.size, "fingerprint": inputs.fingerprint},
        "options": json.loads(json.dumps(asdict(options))),
        "chunks": chunks or min(MOST, max(FEWEST, -(-inputs.size // CHUNK))),
    }


@contextmanager
def work_folder(out: Path, manifest: dict[str, Any]) -> Iterator[Path]:
    """Make or take up the folder for a job's work, and keep other drivers out of it.

    Raises
    ------
    JobRefused
        If the output is there, another job left unfinished work, or another driver is at it.
    """
    if out.exists():
        raise JobRefused(f"{out}: expected an output folder that is not there yet; move it away or choose another name")
    folder = partial_folder(out)
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise JobRefused(f"{folder}: another job is writing there; wait for it or choose another output") from None
        _take_up(folder, manifest)
        yield folder


def _take_up(folder: Path, manifest: dict[str, Any]) -> None:
    file = folder / "manifest.json"
    if not file.exists():
        others = sorted(each.name for each in folder.iterdir() if each.name != "lock" and not each.name.startswith("."))
        if others:  # perhaps of a second attempt at a task that has outlived its job: nobody knows of which job
            raise JobRefused(f"{folder}: it has {', '.join(others[:NAMED])}, and no manifest.json; remove the folder")
        publish(file, (json.dumps(manifest, indent=1) + "\n").encode())
        return
    before = json.loads(file.read_text())
    differ = sorted(_differences(before, manifest))
    if differ:
        raise JobRefused(
            f"{folder}: expected the unfinished work of the same job, got another {', '.join(differ)}; "
            "remove the folder to begin anew, or choose another output"
        )


def _differences(before: dict[str, Any], now: dict[str, Any]) -> Iterator[str]:
    for name in {*before, *now}:
        if name == "options" and name in before and name in now:
            yield from _differences(before[name], now[name])
        elif before.get(name) != now.get(name):
            yield name


def finish(folder: Path, out: Path) -> None:
    """Remove the files that only the work needed, and give the finished work its name."""
    shutil.rmtree(folder / "giants", ignore_errors=True)
    for leftover in folder.rglob(".*"):
        leftover.unlink(missing_ok=True)  # a second attempt at a task may still be at work
    (folder / INPUTS).unlink(missing_ok=True)
    (folder / "lock").unlink()
    refused = JobRefused(f"{out}: expected an output folder that is not there yet; the result is in {folder}")
    if out.exists():
        raise refused
    try:
        publish_filled(folder, out)
    except FileExistsError:
        raise refused from None
