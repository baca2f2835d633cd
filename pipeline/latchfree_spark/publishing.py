"""A file that comes to be there all at once, or not at all."""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable
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
