"""Make a library: numba lowers every function to LLVM's language once, and LLVM optimises all of them together.

The code is for the oldest processor of a level (x86-64-v2: 2009), needs only the interpreter and the C library, and
carries the key of its sources, see `latchfree_support.library_keys`.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from latchfree.border import Border
from latchfree.native.library import Library
from latchfree_support.library_keys import key, processor, sealed
from latchfree_support.publishing import publish_file

#: Linkers that can make a shared library of one object file.
_LINKERS: Final = ("cc", "gcc", "clang", "ld")


class NoLinker(RuntimeError):
    """There is no linker on the path."""


def linker() -> str:
    """Return a linker.

    Raises
    ------
    NoLinker
        If none is on the path.
    """
    for name in _LINKERS:
        found = shutil.which(name)
        if found:
            return found
    raise NoLinker(f"no linker ({', '.join(_LINKERS)}) is on the path; install one (apt-get install gcc)")


def _code(borders: Sequence[Border], wanted: str, report: Callable[[int, int], object]) -> bytes:
    """Return the object code of all calls for a processor, see `latchfree_support.library_keys`."""
    import llvmlite.binding as llvm

    from latchfree.native.module import emitted, linked

    calls = [(border, name) for border in borders for name in border.calls]
    lowered = {}
    for done, (border, name) in enumerate(calls):
        report(done, len(calls))
        lowered[border.symbol(name)] = border.lowered(name)
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    triple = "aarch64-unknown-linux-gnu" if "aarch64" in wanted else "x86_64-unknown-linux-gnu"
    return emitted(linked(lowered), triple, wanted.removesuffix("-aarch64"), near=True)


def make(library: Library, borders: Sequence[Border], report: Callable[[int, int], object]) -> None:
    """Make a library for this processor, where `Library.file` says; it appears at once.

    Parameters
    ----------
    library : Library
        The library: its package, its sources and its file.
    borders : sequence of Border
        The calls it has.
    report : callable
        Called with the number of functions that are lowered, and of all.

    Raises
    ------
    NoLinker
        If there is no linker.
    RuntimeError
        If no library is made for this system.
    """
    wanted, file = processor(), library.file()
    if wanted is None or file is None:
        raise RuntimeError("no library is made for this system, only for Linux on x86-64-v2 or aarch64")
    program = linker()
    text = key(*library.sources)
    code = _code(borders, wanted, report)
    with tempfile.TemporaryDirectory(dir=file.parent, prefix=".latchfree-") as folder:
        made = Path(folder, "kernels.o")
        made.write_bytes(code)
        shared = made.with_suffix(".so")
        plain = ["-nostdlib"] if Path(program).name != "ld" else []
        subprocess.run([program, "-shared", *plain, "-s", "-o", str(shared), str(made)], check=True)
        publish_file(file, sealed(shared.read_bytes(), text), synchronised=False)
