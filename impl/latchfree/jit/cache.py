"""Compile with a cache that cannot go stale, nor mix up what several processes compile at the same time.

Importing this module loads numba.

Numba keys a cached function on the file that defines it, so editing a callee leaves callers running old code. Here the
cache folder of a kernel is named by a digest of all sources that the kernel can reach (`latchfree_support.sources`). An
edit of one of them starts an empty folder, and an edit elsewhere does not. Code compiled for somebody's own memory
handle also depends on the module that defines the handle, so that module's digest joins the key of such code.

Numba saves in two steps, first the index of a function, then the code under the number that the index gave it. Two
processes that compile one function for two types could both take the same number, and one would load the other's code.
So a process saves while it holds a lock on the folder.
"""

from __future__ import annotations

import functools
import hashlib
import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numba
import numpy as np
from numba.core import sigutils
from numba.core.ccallback import CFunc

from latchfree.jit.folders import digest, folder_of
from latchfree.jit.lowering import whole

#: Numba's settings; CACHE_DIR is read when a function is decorated.
_settings: Any = numba.config

#: Settings of numba that change machine code and are not in numba's own key.
_CODE_SETTINGS = ("OPT", "BOUNDSCHECK", "LOOP_VECTORIZE", "SLP_VECTORIZE", "DEBUGINFO_DEFAULT")


@functools.cache
def _toolchain() -> str:
    """Return a digest of what compiles: numba, LLVM, NumPy (numba replaces its functions), and the interpreter."""
    parts = [numba.__version__, sys.modules["llvmlite"].__version__, np.__version__, sys.version, sys.flags.optimize]
    parts += [getattr(_settings, name, None) for name in _CODE_SETTINGS]
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:8]


#: Numba's folder is a setting of the process: one thread at a time says what it is.
_choosing = threading.RLock()


@contextmanager
def _cache_dir(folder: Path) -> Iterator[None]:
    with _choosing:
        before = _settings.CACHE_DIR
        _settings.CACHE_DIR = str(folder)
        try:
            yield
        finally:
            _settings.CACHE_DIR = before


def _cache_folder(function: Callable[..., Any], variant: str) -> Path | None:
    """Where compiled code of a variant of `function` may be kept, None if nowhere."""
    file = Path(function.__code__.co_filename)
    module = function.__module__ or file.stem
    if module == "__main__":  # of `python -m` or runpy: it has a name for its imports
        module = getattr(function.__globals__.get("__spec__"), "name", module)
    return folder_of(module, file, _toolchain(), variant)


def recache(dispatcher: Any, variant: str) -> None:
    """Move a dispatcher that has compiled nothing to the cache of a variant, where all its types are saved."""
    folder = _cache_folder(dispatcher.py_func, variant)
    if folder is not None:
        with _cache_dir(folder):
            dispatcher.enable_caching()
        _mind_handles(dispatcher, foreign=True)


def dispatcher(function: Callable[..., Any], variant: str, *, nogil: bool) -> Any:
    """Return numba's dispatcher of a function, with a cache if code can be kept."""
    folder = _cache_folder(function, variant)
    made: Any
    if folder is None:
        made = numba.njit(nogil=nogil)(function)
    else:
        with _cache_dir(folder):
            made = numba.njit(nogil=nogil, cache=True)(function)
        _mind_handles(made, foreign=_top(function.__module__) != "latchfree")
    made._compiler.compile = whole(made._compiler.compile)
    return made


def c_function(signature: Any, function: Callable[..., Any], variant: str) -> Any:
    """Compile a C function."""
    arguments, result = sigutils.normalize_signature(signature)  # type: ignore[no-untyped-call]
    compiled: Any = CFunc(function, (arguments, result), locals={}, options={})
    folder = _cache_folder(function, variant)
    if folder is not None:
        with _cache_dir(folder), suppress(RuntimeError):  # out of descriptors, for example: compiling needs none
            compiled.enable_caching()
            _mind_handles(compiled, foreign=True)
    compiled._compiler.compile = whole(compiled._compiler.compile)
    compiled.compile()
    return compiled


def _top(module: str | None) -> str:
    return (module or "").partition(".")[0]


def _parts(kind: Any) -> Iterator[Any]:
    """Return a numba type and the types that make it up, as a handle may be an element of a tuple."""
    yield kind
    inner = getattr(kind, "types", None)
    parts = inner if isinstance(inner, tuple) else (getattr(kind, "dtype", None), getattr(kind, "type", None))
    for part in parts:
        if isinstance(part, numba.types.Type) and part is not kind:
            yield from _parts(part)


def _owner(kind: Any) -> str:
    """Return the module of what a numba type stands for, if a kernel need not import it, else "".

    This is the class of a named tuple or of a numba type, if another package defines the class, or a compiled function.
    """
    function = getattr(getattr(kind, "dispatcher", None), "py_func", None)
    if function is not None:
        return function.__module__ or "?"
    owner: str = getattr(getattr(kind, "instance_class", type(kind)), "__module__", "numba")
    return "" if _top(owner) in ("latchfree", "numba", "builtins") else owner


def _owners(signature: Any) -> list[str]:
    """Return the modules that define the handles and the functions among the types of a signature."""
    kinds = (part for kind in getattr(signature, "args", signature) for part in _parts(kind))
    return sorted({owner for kind in kinds if (owner := _owner(kind))})


def _stamp(module: str) -> str:
    """Return a digest of a module that defines a handle, "" if nobody can tell."""
    file = getattr(sys.modules.get(module), "__file__", None)
    return digest(module, Path(file).resolve()) if file else ""


@contextmanager
def _alone(folder: str) -> Iterator[None]:
    """Keep other processes, and threads, from saving in a folder; an OSError where the system has no such lock."""
    try:
        import fcntl
    except ModuleNotFoundError:
        raise OSError("no flock here") from None
    fd = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)
        yield
    finally:
        fcntl.flock(fd, fcntl.LOCK_UN)  # said, since a child forked meanwhile has the descriptor too
        os.close(fd)


def _mind_handles(dispatcher: Any, *, foreign: bool) -> None:
    """Key code on the handles it is compiled for; save alone; go on without saving where the disk is full.

    Unless `foreign`, save nothing for handles of other packages: the index of a kernel with such a type could not be
    read by a program that lacks that package. Save nothing for a handle whose sources nobody can tell.
    """
    cache = dispatcher._cache
    save, load, key_of = cache.save_overload, cache.load_overload, cache._index_key

    def is_kept(signature: Any) -> bool:
        owners = _owners(signature)
        return (foreign or all(_top(owner) == "latchfree" for owner in owners)) and all(map(_stamp, owners))

    def careful(signature: Any, data: Any) -> None:
        if is_kept(signature):
            # RuntimeError: LLVM did not hand numba the code that it made, as was seen once. The code runs all the same.
            with suppress(OSError, RuntimeError), _alone(cache.cache_path):
                save(signature, data)

    def loaded(signature: Any, target: Any) -> Any:
        with suppress(OSError):  # out of descriptors, for example: compiling needs none
            return load(signature, target) if is_kept(signature) else None
        return None

    def stamped(signature: Any, codegen: Any) -> Any:
        return (*key_of(signature, codegen), *map(_stamp, _owners(signature)))

    cache.save_overload, cache.load_overload, cache._index_key = careful, loaded, stamped
