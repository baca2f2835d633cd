"""Compile with a cache that cannot go stale, nor mix up what several processes compile at the same time.

Numba keys a cached function on the file that defines it, so editing a callee leaves callers running old code. Here the
cache folder of a kernel is named by a digest of all sources that the kernel can reach (`latchfree.sources`): an edit
of one of them starts an empty folder, and an edit elsewhere does not. Code compiled for somebody's own memory handle
also depends on the module that defines the handle, so that module's digest joins the key of such code.

Numba saves in two steps, first the index of a function, then the code under the number that the index gave it. Two
processes that compile one function for two types could both take the same number, and one would load the other's code.
So a process saves while it holds a lock on the folder.
"""

from __future__ import annotations

import fcntl
import functools
import hashlib
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
import numpy as np

from latchfree.sources import digest_of

F = TypeVar("F", bound=Callable[..., Any])

#: Numba's settings; CACHE_DIR is read when a function is decorated.
_settings: Any = numba.config

_variant = ""
_varied: tuple[str, ...] = ()


def set_variant(name: str, modules: tuple[str, ...]) -> None:
    """Give kernels of some modules (by prefix) a cache of their own, because this process is about to patch them.

    Raises
    ------
    RuntimeError
        If one of the modules is loaded already: its kernels may be compiled as they were.
    """
    global _variant, _varied
    loaded = [module for module in sys.modules if module.startswith(modules)]
    if loaded:
        raise RuntimeError(f"variant {name} needs a fresh process: {loaded[0]} is loaded already")
    _variant, _varied = name, modules


def cache_root() -> Path:
    """Folder that holds one cache per source hash: ``$NUMBA_CACHE_DIR``, else the user's cache folder."""
    configured = os.environ.get("NUMBA_CACHE_DIR")
    if configured:
        return Path(configured) / "latchfree"
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "latchfree"


@functools.cache
def _toolchain() -> str:
    """A digest of what compiles: numba, NumPy, whose functions numba replaces, and the interpreter."""
    return hashlib.sha256(f"{numba.__version__} {np.__version__} {sys.version}".encode()).hexdigest()[:8]


@contextmanager
def _cache_dir(folder: Path) -> Iterator[None]:
    before = _settings.CACHE_DIR
    _settings.CACHE_DIR = str(folder)
    try:
        yield
    finally:
        _settings.CACHE_DIR = before


def _usable(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return False
    return os.access(folder, os.W_OK)


def _cache_folder(function: Callable[..., Any], variant: str) -> Path | None:
    """Where compiled code of a variant of `function` may be kept, None if nowhere."""
    file = Path(function.__code__.co_filename).resolve()
    if not file.is_file():
        return None
    key = f"{_toolchain()}-{digest_of(function.__module__, file)}"
    if variant:
        key += "-" + variant
    folder = cache_root() / key
    return folder if _usable(folder) else None


def _variant_of(function: Callable[..., Any]) -> str:
    return _variant if function.__module__.startswith(_varied) else ""


def recache(compiled: Callable[..., Any], variant: str) -> None:
    """Move a kernel that has not been compiled to the cache of a variant, where all its types are saved.

    The name of the variant must change with the sources that the kernel calls and does not import.
    """
    function: Callable[..., Any] = compiled.py_func  # type: ignore[attr-defined]
    folder = _cache_folder(function, variant)
    if folder is not None:
        with _cache_dir(folder):
            compiled.enable_caching()  # type: ignore[attr-defined]
        _mind_handles(compiled, foreign=True)


def _compile(function: F, *, nogil: bool) -> F:
    folder = _cache_folder(function, _variant_of(function))
    if folder is None:
        return cast(F, numba.njit(nogil=nogil)(function))
    with _cache_dir(folder):
        dispatcher = numba.njit(nogil=nogil, cache=True)(function)
    _mind_handles(dispatcher, foreign=function.__module__.split(".")[0] != "latchfree")
    return cast(F, dispatcher)


def _owner(kind: Any) -> str:
    """Return the module of the class that a numba type stands for, if that is a class of another package."""
    owner: str = getattr(getattr(kind, "instance_class", None), "__module__", "latchfree")
    return "" if owner.split(".")[0] == "latchfree" else owner


def _owners(signature: Any) -> list[str]:
    """Return the modules that define the handles among the types of a signature."""
    return sorted({owner for kind in getattr(signature, "args", signature) if (owner := _owner(kind))})


@functools.cache
def _stamp(module: str) -> str:
    """Return a digest of a module that defines a handle."""
    file = getattr(sys.modules.get(module), "__file__", None)
    return digest_of(module, Path(file).resolve()) if file else module


@contextmanager
def _alone(folder: str) -> Iterator[None]:
    """Keep other processes, and threads, from saving in a folder."""
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
    read by a program that lacks that package.
    """
    cache = dispatcher._cache
    save, key_of = cache.save_overload, cache._index_key

    def careful(signature: Any, data: Any) -> None:
        if foreign or not _owners(signature):
            with suppress(OSError), _alone(cache.cache_path):
                save(signature, data)

    def stamped(signature: Any, codegen: Any) -> Any:
        return (*key_of(signature, codegen), *map(_stamp, _owners(signature)))

    cache.save_overload, cache._index_key = careful, stamped


def kernel(function: F) -> F:
    """Compile `function` with numba: no GIL, cached, recompiled whenever any source it may call changes.

    Where no cache folder can be written the function is compiled afresh in every process.
    """
    return _compile(function, nogil=True)


def entry(function: F) -> F:
    """Like `kernel`, but keeping the GIL: for a call so short that giving it up would cost more."""
    return _compile(function, nogil=False)


def entry_point(function: Callable[..., Any], *arguments: Any) -> Callable[..., Any]:
    """The compiled C function for these argument types, callable without numba's dispatch.

    It converts arguments without checking them: a float where an integer is declared is truncated.
    """
    function.compile(arguments)  # type: ignore[attr-defined]
    return function.overloads[arguments].entry_point  # type: ignore[attr-defined, no-any-return]


def callback(signature: Any, function: Callable[..., Any]) -> Any:
    """Compile `function` as a C function of the given signature; its address is the attribute ``address``."""
    folder = _cache_folder(function, _variant_of(function))
    if folder is None:
        return numba.cfunc(signature)(function)
    with _cache_dir(folder), suppress(OSError):
        return numba.cfunc(signature, cache=True)(function)
    return numba.cfunc(signature)(function)
