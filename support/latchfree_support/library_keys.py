"""What a library was made of, as one text: a library is used only where this text is the same.

Example: somebody edits a kernel. The key of the sources changes, the library on disk has the old one inside, and the
functions are compiled afresh.

Reading a hundred sources takes as long as judging a log. So it is noted in the user's cache folder which files, by
inode, size and time of change, a library was found to fit: where these are the same, nothing is read.

Commands that last 20 ms read this, too, so that little is imported here: no `pathlib`, `typing` or `platform`.
"""

from __future__ import annotations

import os
import sys
from io import FileIO
from time import time_ns

from latchfree_support.digests import blake2b

TYPE_CHECKING = False  # of `typing`, which takes 2 ms to load
if TYPE_CHECKING:
    from typing import Final

#: What of `latchfree` the library of another package is made of: what such a package may import.
UNDERNEATH: Final = (
    "atomics.py", "border", "errors.py", "jit", "kinds.py", "libraries", "llvm.py", "native", "sorting.py",
)  # fmt: skip

#: What of the checker its library is made of: what its tables of calls can reach. Searches in Python are not there.
CHECKER: Final = (
    "engine/border.py", "engine/compiled_models", "engine/dequeues/kernels", "engine/encoding/kernels.py",
    "engine/frontier/kernels", "engine/kernels.py", "engine/logs", "engine/monitors", "engine/product/kernels",
    "engine/wgl/kernels", "history/border.py", "history/codes.py", "history/kernels.py", "history/timeline.py",
)  # fmt: skip

#: What a processor of this level has, as Linux names it, beside what every 64-bit one has.
_LEVEL_2: Final = frozenset({"cx16", "lahf_lm", "popcnt", "pni", "sse4_1", "sse4_2", "ssse3"})


def digest(place: str | os.PathLike[str]) -> str:
    """Return a digest of a Python source, or of all below a folder.

    Every process that uses a library takes one, so this is done without a `Path` for each of hundreds of files.
    """
    found = blake2b(digest_size=16)
    root = os.fspath(place)
    for file in sorted(_sources(root)):
        with FileIO(file) as source:
            text = source.readall()
        found.update(f"{file[len(root) :].replace(os.sep, '/')}\0{len(text)}\0".encode())
        found.update(text)
    return found.hexdigest()


def _sources(place: str) -> list[str]:
    return [file for file, _ in _found_below(place)]


def _found_below(place: str) -> list[tuple[str, os.stat_result]]:
    if place.endswith(".py"):
        return [(place, os.stat(place))]  # noqa: PTH116 -- pathlib is slow to load
    found = []
    with os.scandir(place) as entries:
        for entry in entries:
            if entry.name.endswith(".py"):
                found.append((entry.path, entry.stat()))
            elif entry.name != "__pycache__" and entry.is_dir(follow_symlinks=False):
                found += _found_below(entry.path)
    return found


def layout() -> str:
    """Return what compiled code knows of the interpreter: where in an object its type and its bytes are."""
    return f"{sys.implementation.name} {object.__basicsize__} {bytes.__basicsize__} {sys.maxsize:x}"


def key(*places: str | os.PathLike[str]) -> bytes:
    """Return the key of a library that is made of some sources, and of those below some folders."""
    return " ".join([layout(), *map(digest, places)]).encode()


def sealed(code: bytes, text: bytes) -> bytes:
    """Return a library with its key and its length behind it, where the system's loader does not look."""
    return code + text + (len(code) + len(text)).to_bytes(8, "little")


def is_sealed(file: str | os.PathLike[str], text: bytes) -> bool:
    """Return whether a file is a library with that key, and whole."""
    with FileIO(os.fspath(file)) as library:
        size = library.seek(0, 2)
        if size < len(text) + 8:
            return False
        library.seek(size - len(text) - 8)
        return library.readall() == text + (size - 8).to_bytes(8, "little")


def fits(file: str | os.PathLike[str], *places: str | os.PathLike[str]) -> bool:
    """Return whether a file is a library, whole, and of these sources as they are now.

    Raises
    ------
    OSError
        If one of them cannot be read.
    """
    note = _note_of(os.fspath(file))
    files = [(os.fspath(file), os.stat(file))]  # noqa: PTH116
    for place in places:
        files += _found_below(os.fspath(place))
    files.sort()
    # Whatever changes a file changes the time, which nobody can set.
    its = (f"{name}\0{of.st_ino} {of.st_dev} {of.st_size} {of.st_ctime_ns}\n" for name, of in files)
    now = f"{layout()}\n{''.join(its)}".encode(errors="surrogateescape")
    if note is not None and _is_noted(note, now):
        return True
    if not is_sealed(file, key(*places)):
        return False
    if note is not None and max(of.st_ctime_ns for _, of in files) + _LATELY < time_ns():
        _write_note(note, now)
    return True


_LATELY: Final = 2_000_000_000
"""Nanoseconds. A file that has just changed may change once more and have the same time."""


def _note_of(file: str) -> str | None:
    """Return where the note about a library is or would be; None where there is no cache folder."""
    base, home = os.environ.get("XDG_CACHE_HOME"), os.environ.get("HOME", "")
    if not base and os.path.isdir(home):  # noqa: PTH112
        base = f"{home}/.cache"
    if not base or not base.startswith("/"):
        return None
    its = blake2b(os.path.abspath(file).encode(errors="surrogateescape"), digest_size=16)  # noqa: PTH100
    return f"{base}/latchfree/fits/{its.hexdigest()}"


def _is_noted(note: str, text: bytes) -> bool:
    try:
        with FileIO(note) as noted:
            return noted.readall() == text
    except OSError:
        return False


def _write_note(note: str, text: bytes) -> None:
    """Write a note, if that can be done; it appears whole."""
    from latchfree_support.replacing import replace_file

    try:
        os.makedirs(note.rpartition("/")[0], exist_ok=True)  # noqa: PTH103
        replace_file(note, text)
    except OSError:
        pass


def processor() -> str | None:
    """Return the processors that this one can stand for, as LLVM names them; None if no library is made for it."""
    if not _found:
        _found.append(_processor())
    return _found[0]


_found: list[str | None] = []


def _processor() -> str | None:
    if sys.platform != "linux":
        return None
    machine = os.uname().machine
    if machine == "aarch64":
        return "generic-aarch64"
    if machine != "x86_64":
        return None
    try:
        with FileIO("/proc/cpuinfo") as source:
            flags = _flags(source)
    except OSError:
        return None
    return "x86-64-v2" if flags >= _LEVEL_2 else None


def _flags(source: FileIO) -> set[str]:
    """Return what the first processor has; the system makes up the text as it is read, so no more is read than that."""
    text = b""
    while (more := source.read(4096)) or not text:
        text += more
        at = text.find(b"\nflags")
        if not more or (at >= 0 and text.find(b"\n", at + 1) >= 0):
            break
    _, _, rest = text.partition(b"\nflags")
    return {*rest.partition(b"\n")[0].partition(b":")[2].decode().split()}


def library_name(of: str) -> str:
    """Return the name of a library for a processor."""
    return f"kernels-{of}.so"
