"""HTML pages that commands write: where each goes, and what is said where it cannot be written."""

from pathlib import Path
from typing import Final

from latchfree_cli import exits

SUFFIXES: Final = (".html", ".htm")
"""The output is a file if it ends so, else a folder."""


def write_page(path: Path, text: str) -> int:
    """Write a page, whole or not at all, in a folder that is made if need be; return its bytes."""
    from latchfree_lincheck.show import save

    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        save(path, text)
    except OSError as error:
        raise unwritable(path, error) from None
    return path.stat().st_size


def unwritable(path: Path, error: OSError) -> exits.Stop:
    """Say why the page could not be written, and what to do."""
    wrong = isinstance(error, PermissionError | IsADirectoryError | NotADirectoryError | FileExistsError)
    fix = "choose another file with -o REPORT.html" if wrong else "make room or choose another disk with -o REPORT.html"
    return exits.Stop(exits.USAGE if wrong else exits.TOOL, f"cannot write {path}: {error.strerror}; {fix}")
