"""Tell a file that grew from one that was emptied and written again, longer, under the same name.

Example: ``run.jsonl`` had 12 MB when a job began, and has 15 MB now, in the same inode. If lines were added, its first
12 MB are what they were. If it was written anew, they are not: a recorder that starts again counts from h0 again, but
its times are others. The driver does not read 12 MB twice; it reads `BLOCKS` blocks of them, evenly spread, the first
and the last among them, before and after.

The invariant: equal digests mean equal blocks, no more. Who changes a file in place between the blocks is not noticed.
"""

from __future__ import annotations

import hashlib
from contextlib import suppress
from pathlib import Path
from typing import Final

BLOCK: Final = 4096
"""Bytes of a block."""
BLOCKS: Final = 8
"""Blocks of a file that are looked at; a file of so many blocks or fewer is looked at as a whole."""


def beginning(path: str | Path, size: int) -> str:
    """Return what tells the first `size` bytes of a file from others, "" if it cannot be read."""
    digest = hashlib.blake2b(digest_size=8)
    with suppress(OSError), Path(path).open("rb", buffering=0) as file:
        if size <= BLOCK * BLOCKS:
            places = [(0, size)]
        else:
            places = [((size - BLOCK) * number // (BLOCKS - 1), BLOCK) for number in range(BLOCKS)]
        for place, length in places:
            file.seek(place)
            digest.update(file.read(length))
        return digest.hexdigest()
    return ""


def ends_with_a_line(path: str | Path, size: int) -> bool:
    """Return whether the first `size` bytes of a file are whole lines."""
    with suppress(OSError), Path(path).open("rb", buffering=0) as file:
        file.seek(max(0, size - 1))
        return size == 0 or file.read(1) == b"\n"
    return False
