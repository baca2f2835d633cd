"""Files with modules of the user's own: a model's module, and what it imports.

Example: ``--model my_stack:BoundedStack --py-files my_stack.py``. The modules are imported from the folder of
``my_stack.py``.

Invariant: one path has one content as long as the process lives, and a module that was imported is the file's.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Final

KINDS: Final = (".py", ".zip", ".whl", ".egg")

_used: dict[Path, str] = {}
"""The files of this process, each with its digest."""


def use_files(paths: Iterable[str | Path]) -> tuple[tuple[str, str], ...]:
    """Make files importable here, and wherever this process has its work done; return each path with a digest.

    Raises
    ------
    ValueError
        If one is no file that Python imports from, or if this process has other code under its name already, which
        would be judged with; then nothing was changed.
    """
    files = [Path(path).absolute() for path in paths]
    for file in files:
        if file.suffix not in KINDS or not file.is_file():
            raise ValueError(f"--py-files {file}: expected a file that is there and ends in {', '.join(KINDS)}")
    digests = {file: _digest(file) for file in files}
    for file, digest in digests.items():
        loaded = getattr(sys.modules.get(file.stem), "__file__", None) if file.suffix == ".py" else None
        if _used.get(file, digest) != digest:
            raise ValueError(f"--py-files {file}: it has changed since this program took it; start the program again")
        if loaded is not None and not (Path(loaded).is_file() and _digest(Path(loaded)) == digest):
            raise ValueError(
                f"--py-files {file}: this program has a module {file.stem} of {loaded}; rename one of them"
            )
    _used.update(digests)
    sys.path += [folder for folder in folders() if folder not in sys.path]
    return tuple((str(file), digest) for file, digest in digests.items())


def _digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()[:16]


def folders() -> tuple[str, ...]:
    """Return where this process imports the files from."""
    return tuple(dict.fromkeys(str(file.parent if file.suffix == ".py" else file) for file in _used))


def used_files() -> list[Path]:
    """Return the files of this process."""
    return [*_used]
