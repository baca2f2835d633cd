"""Files and folders that come to be there all at once, or not at all."""

from __future__ import annotations

import os
import shutil
import tempfile
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path


def publish(path: Path, write: Callable[[Path], object]) -> None:
    """Let `write` write a file under another name and give it its own when all of it is on the disk."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.{uuid.uuid4().hex}")
    try:
        write(partial)
        descriptor = os.open(partial, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


@contextmanager
def published(folder: Path) -> Iterator[Path]:
    """A hidden folder beside `folder`, which gets its name at the end of the block, and goes away on an error.

    A program that is killed leaves a folder ``.NAME.*`` that nobody reads.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    work = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
    try:
        work.chmod(0o755)
        yield work
        work.rename(folder)
    finally:
        shutil.rmtree(work, ignore_errors=True)
