"""Claim the output folder of a stream: for one process at a time, and for the same arguments at each start.

The lock ends with the process that holds it, even if the process is killed.
"""

from __future__ import annotations

import fcntl
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from latchfree_spark.errors import OutputExists
from latchfree_support.publishing import publish_file

BATCH: Final = "batch"
"""What names the folder of a batch, with its number."""


@contextmanager
def claimed(out: Path, started: dict[str, str]) -> Iterator[None]:
    """Make or take over the folder of a stream, and keep other processes out of it.

    Parameters
    ----------
    out : Path
        The folder of the stream.
    started : dict
        Arguments that must be the same at each start.

    Raises
    ------
    OutputExists
        If another job has the folder, or an argument differs; the message says which.
    """
    settings = out / "_stream.json"
    if out.exists() and not settings.exists() and {file.name for file in out.iterdir()} - {"_lock"}:
        raise OutputExists(f"{out} exists and is not the output of a stream; name another folder, or remove it")
    out.mkdir(parents=True, exist_ok=True)
    with (out / "_lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise OutputExists(
                f"{out} is in use by a stream that runs; stop that one, or name another folder"
            ) from None
        if settings.exists():
            before = json.loads(settings.read_text())
            for name, value in started.items():
                if before.get(name, value) != value:
                    raise OutputExists(f"{out} has a stream whose {name} was {before[name]}, not {value}")
            if any((out / "matches").glob(f"{BATCH}=*")) and not (out / "_checkpoint" / "offsets").is_dir():
                raise OutputExists(f"{out} has matches but no checkpoint, so what was matched is unknown; remove it")
        else:
            publish_file(settings, json.dumps(started).encode())
        yield
