"""Run a function of ours on a worker that may have nothing of ours yet: unpack the archive that Spark brought, first.

Example: the home of the executors' user is read-only. The sources are then in ``/tmp/latchfree-1000``, and
the code compiled from them is beside them.

Invariant: a folder that is imported from holds all files of the archive, and the archive has the digest that its name
says. The one worker that holds the lock of the folder around it fills a folder under a name of its own and renames it
when it is complete. Each process compares the files with the archive before it imports one, so that a folder which a
crash of the machine has left behind is replaced.

`bootstrap` is pickled by value, so all that it calls stands in it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

Worker = Callable[[Iterable[Any]], Iterator[Any]]


def bootstrap(
    archive: str,
    folders: tuple[str, ...],
    function: str,
    arguments: bytes,
    driver: tuple[tuple[str, str | None], ...] = (),
) -> Worker:
    """Return a function for `DataFrame.mapInArrow`.

    Parameters
    ----------
    archive : str
        The name of the archive that Spark brings; "" where workers share the folders of the driver.
    folders : tuple of str
        Folders of the driver to import from.
    function : str
        ``module:function``.
    arguments : bytes
        Pickled.
    driver : tuple of (str, str or None), optional
        What the driver runs, which the worker must have; see `latchfree_spark.needs`.
    """

    def run(batches: Iterable[Any]) -> Iterator[Any]:
        import fcntl
        import hashlib
        import importlib
        import os
        import pickle
        import shutil
        import socket
        import stat
        import sys
        import tempfile
        import uuid
        import zipfile
        import zlib
        from pathlib import Path

        def places(path: Path) -> Iterator[Path | OSError]:
            """Yield folders to unpack into, the best one first."""
            name = next((each for each in ("NUMBA_CACHE_DIR", "XDG_CACHE_HOME") if os.environ.get(each)), None)
            usual = Path(os.environ[name] if name else os.path.expanduser("~/.cache"))  # noqa: PTH111
            yield usual if usual.is_absolute() else OSError(f"{usual}: user {os.geteuid()} has no home")
            own = Path(tempfile.gettempdir(), f"latchfree-{os.geteuid()}")
            try:
                own.mkdir(mode=0o700, exist_ok=True)
                found = own.lstat()
            except OSError as error:
                yield error
            else:
                mine = stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid() and not found.st_mode & 0o022
                yield own if mine else OSError(f"{own} is not a folder that only user {os.geteuid()} can write to")
            yield path.parent

        def holds(home: Path, packed: zipfile.ZipFile) -> bool:
            """Return whether a folder holds what the archive holds."""
            try:
                return all(zlib.crc32((home / each.filename).read_bytes()) == each.CRC for each in packed.infolist())
            except OSError:
                return False

        def unpack(home: Path, packed: zipfile.ZipFile) -> None:
            home.parent.mkdir(parents=True, exist_ok=True)
            held = os.open(home.parent, os.O_RDONLY)
            try:
                fcntl.flock(held, fcntl.LOCK_EX)
                if holds(home, packed):  # another worker was faster
                    return
                for leftover in home.parent.glob(".*"):  # of workers that were killed
                    shutil.rmtree(leftover, ignore_errors=True)
                partial = home.with_name(f".{uuid.uuid4().hex}")
                try:
                    packed.extractall(partial)
                    if home.exists():
                        home.rename(partial.with_suffix(".old"))
                    partial.rename(home)
                finally:
                    shutil.rmtree(partial, ignore_errors=True)
                    shutil.rmtree(partial.with_suffix(".old"), ignore_errors=True)
            finally:
                os.close(held)

        def home_of(path: Path) -> str:
            """Return a folder with the content of the archive."""
            with path.open("rb") as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()[:16]
            if f"-{digest}.zip" not in archive:
                size = path.stat().st_size
                raise OSError(f"{socket.gethostname()}: {path} is damaged: {size:,} bytes with the digest {digest}")
            refused = []
            with zipfile.ZipFile(path) as packed:
                for number, base in enumerate(places(path)):
                    try:
                        if isinstance(base, OSError):
                            raise base
                        home = base / "latchfree" / "packages" / archive.removesuffix(".zip")
                        if not holds(home, packed):
                            unpack(home, packed)
                    except OSError as error:
                        refused.append(str(error))
                        continue
                    if number:  # compiled code is kept there, too
                        os.environ["NUMBA_CACHE_DIR"] = str(base)
                    return str(home)
            raise OSError(
                f"{socket.gethostname()}: the packages cannot be unpacked: {'; '.join(refused)}; give the executors "
                "a folder that they can write to: --conf spark.executorEnv.NUMBA_CACHE_DIR=FOLDER"
            )

        if archive and not any(each.endswith(f"packages/{archive.removesuffix('.zip')}") for each in sys.path):
            from pyspark import SparkFiles

            sys.path.insert(0, home_of(Path(SparkFiles.get(archive))))
        sys.path[:0] = [folder for folder in folders if folder not in sys.path]
        if driver:
            importlib.import_module("latchfree_spark.needs").require_as(driver)
        module, _, name = function.partition(":")
        yield from getattr(importlib.import_module(module), name)(batches, *pickle.loads(arguments))

    return run
