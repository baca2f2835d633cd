"""Compilation with a cache that cannot go stale, nor mix up what several processes compile at the same time.

Numba keys a cached function on the file that defines it, so editing a callee leaves callers running old code.
Here the cache folder is named by a hash of *all* sources a kernel can reach: the latchfree package and the
package that defines the kernel. Any edit starts an empty folder.

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

F = TypeVar("F", bound=Callable[..., Any])

#: Numba's settings; CACHE_DIR is read when a function is decorated.
_settings: Any = numba.config

_HERE = Path(__file__).resolve().parent

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
def _hash_of(folder: Path) -> str:
    digest = hashlib.sha256(f"{numba.__version__} {sys.version}".encode())
    files = sorted(folder.rglob("*.py")) if folder.is_dir() else [folder]
    for file in files:
        digest.update(str(file.relative_to(folder.parent)).encode())
        digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


def _sources_of(function: Callable[..., Any]) -> Path:
    """The top-level package folder (or the lone file) that defines `function`."""
    file = Path(function.__code__.co_filename).resolve()
    depth = function.__module__.count(".")
    if file.name == "__init__.py":
        depth += 1
    if depth == 0:
        return file
    return file.parents[depth - 1]


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
    sources = _sources_of(function)
    if not sources.exists():
        return None
    key = _hash_of(_HERE)
    if sources != _HERE:
        key += "-" + _hash_of(sources)
    if variant:
        key += "-" + variant
    folder = cache_root() / key
    return folder if _usable(folder) else None


def _variant_of(function: Callable[..., Any]) -> str:
    return _variant if function.__module__.startswith(_varied) else ""


def recache(compiled: Callable[..., Any], variant: str) -> None:
    """Move a kernel that has not been compiled to the cache of a variant, where all its types are saved.

    Who names the variant answers for it: the name must change with whatever the kernel calls and is compiled for
    outside of its own package and this one.
    """
    function: Callable[..., Any] = compiled.py_func  # type: ignore[attr-defined]
    folder = _cache_folder(function, variant)
    if folder is not None:
        with _cache_dir(folder):
            compiled.enable_caching()  # type: ignore[attr-defined]
        _save_with_care(compiled, foreign=True)


def _compile(function: F, *, nogil: bool) -> F:
    folder = _cache_folder(function, _variant_of(function))
    if folder is None:
        return cast(F, numba.njit(nogil=nogil)(function))
    with _cache_dir(folder):
        dispatcher = numba.njit(nogil=nogil, cache=True)(function)
    _save_with_care(dispatcher, foreign=_sources_of(function) != _HERE)
    return cast(F, dispatcher)


def _is_foreign(kind: Any) -> bool:
    """Whether a numba type names a class of another package: an instrumented handle of somebody's own."""
    owner: str = getattr(getattr(kind, "instance_class", None), "__module__", "latchfree")
    return owner.split(".")[0] != "latchfree"


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


def _save_with_care(dispatcher: Any, *, foreign: bool) -> None:
    """Save alone, go on without saving where the disk is full, and unless `foreign` save nothing for foreign types.

    The index of a kernel with such a type could not be read by a program that lacks that package.
    """
    cache = dispatcher._cache
    save = cache.save_overload

    def careful(signature: Any, data: Any) -> None:
        if foreign or not any(map(_is_foreign, getattr(signature, "args", signature))):
            with suppress(OSError), _alone(cache.cache_path):
                save(signature, data)

    cache.save_overload = careful


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
