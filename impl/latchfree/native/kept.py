"""Functions compiled for this processor while a program runs: kept on disk, and loaded without numba.

A file has a digest, and the object code of one function and all it calls. The folder is named by all that the code
depends on.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

from latchfree_support.publishing import publish_file

_lock: Final = threading.RLock()
_addresses: Final[dict[str, int]] = {}

#: Bytes of the digest of its code that a file begins with.
_DIGEST: Final = 16

#: Settings of numba that do not change code.
_PLACES: Final = ("NUMBA_CACHE_DIR", "NUMBA_NUM_THREADS")


@cache
def toolchain() -> str:
    """Return a digest of what compiles, and for which processor."""
    import llvmlite.binding as llvm

    packages = [version(name) for name in ("numba", "llvmlite", "numpy")]
    settings = sorted(item for item in os.environ.items() if item[0].startswith("NUMBA_") and item[0] not in _PLACES)
    processor = llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()
    parts = [*packages, sys.version, sys.flags.optimize, settings, processor]
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:12]


@cache
def _engine() -> Any:
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    machine = llvm.Target.from_default_triple().create_target_machine()
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine)
    # Finalizers call compiled code while the interpreter ends, after the modules are gone: the code outlives them.
    ctypes.PYFUNCTYPE(None, ctypes.py_object)(("Py_IncRef", ctypes.pythonapi))(engine)
    return engine


def _loaded(code: bytes, symbol: str) -> int:
    """Return the address of a function; of two threads that come with its code, the first one's counts."""
    import llvmlite.binding as llvm

    with _lock:
        if symbol not in _addresses:
            engine = _engine()
            engine.add_object_file(llvm.ObjectFileRef.from_data(code))
            engine.finalize_object()
            _addresses[symbol] = engine.get_function_address(symbol)
        return _addresses[symbol]


def _is_there(name: str) -> bool:
    import llvmlite.binding as llvm

    return name.startswith("llvm.") or llvm.address_of_symbol(name) is not None


def compiled(symbol: str, make: Callable[[], Any]) -> bytes:
    """Return the object code of a function for this processor; `make` lowers it."""
    from numba.core.compiler_lock import global_compiler_lock

    from latchfree.native.module import emitted, linked

    import llvmlite.binding as llvm  # isort: skip

    with global_compiler_lock:  # else numba could finish, in another thread, what was put aside here
        whole = linked({symbol: make()})
        missing = [each.name for each in whole.functions if each.is_declaration and not _is_there(each.name)]
        if missing:
            raise RuntimeError(f"{symbol} calls {', '.join(missing)}, which this process has not")
        features = llvm.get_host_cpu_features().flatten()
        return emitted(whole, llvm.get_process_triple(), llvm.get_host_cpu_name(), features, near=False)


def is_kept(folder: Path | None, symbol: str) -> bool:
    """Return whether a folder has a function."""
    return _kept(folder, symbol) is not None


def address(folder: Path | None, symbol: str, make: Callable[[], Any]) -> int:
    """Return the address of a function.

    Parameters
    ----------
    folder : Path or None
        Where code is kept, if anywhere.
    symbol : str
        The name of the function and of its file.
    make : callable
        Lowers the function, see `latchfree.jit.lowering.lower`; called if its code is not kept.
    """
    code = _kept(folder, symbol)
    if code is None:
        code = compiled(symbol, make)
        if folder is not None:
            _keep(folder, symbol, code)
    return _loaded(code, symbol)


def _kept(folder: Path | None, symbol: str) -> bytes | None:
    """Return the code that a folder has, None if it has none that is whole: LLVM ends a process over a damaged one."""
    if folder is not None:
        with suppress(OSError):
            file = (folder / f"{symbol}.o").read_bytes()
            if _digest(file[_DIGEST:]) == file[:_DIGEST]:
                return file[_DIGEST:]
    return None


def _digest(code: bytes) -> bytes:
    return hashlib.blake2b(code, digest_size=_DIGEST).digest()


def _keep(folder: Path, symbol: str, code: bytes) -> None:
    """Write a file, which appears at once; where the disk is full, or no descriptor is left, go on without it."""
    with suppress(OSError):
        publish_file(folder / f"{symbol}.o", _digest(code) + code, synchronised=False)
