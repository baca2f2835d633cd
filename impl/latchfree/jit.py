"""Compile with a cache that cannot go stale, nor mix up what several processes compile at the same time.

Numba keys a cached function on the file that defines it, so editing a callee leaves callers running old code. Here the
cache folder of a kernel is named by a digest of all sources that the kernel can reach (`latchfree_support.sources`). An
edit of one of them starts an empty folder, and an edit elsewhere does not. Code compiled for somebody's own memory
handle also depends on the module that defines the handle, so that module's digest joins the key of such code.

Numba saves in two steps, first the index of a function, then the code under the number that the index gave it. Two
processes that compile one function for two types could both take the same number, and one would load the other's code.
So a process saves while it holds a lock on the folder.

A process that ends takes LLVM's memory with it, also from under a thread that compiles at that moment. So the end of
the interpreter waits for that thread, and no other thread begins to compile.
"""

from __future__ import annotations

import atexit
import fcntl
import functools
import hashlib
import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
import numpy as np
from numba.core import sigutils
from numba.core.ccallback import CFunc
from numba.core.compiler_lock import global_compiler_lock

from latchfree_support.private import private_folder
from latchfree_support.sources import digest_of

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
    """Folder that holds one cache per source hash: ``$NUMBA_CACHE_DIR``, else the user's cache folder.

    Where the user's cache folder cannot be written, as in a container without a home, it is a folder of the user's own
    in the temporary directory.
    """
    configured = os.environ.get("NUMBA_CACHE_DIR")
    if configured:
        return Path(configured) / "latchfree"
    base = os.environ.get("XDG_CACHE_HOME")
    # Without a home this leaves "~", which the fallback replaces.
    return _writable_root(base or str(Path(os.path.expanduser("~"), ".cache")))  # noqa: PTH111


@functools.cache
def _writable_root(base: str) -> Path:
    root = Path(base, "latchfree")
    return root if root.is_absolute() and _usable(root) else private_folder() or root


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


def _usable(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return False
    return os.access(folder, os.W_OK)


def _digest(module: str, file: Path) -> str:
    """Return the digest of a module's sources; nobody edits those that were unpacked into the cache folder."""
    return digest_of(module, file, str(cache_root() / "packages") + os.sep)


def _cache_folder(function: Callable[..., Any], variant: str) -> Path | None:
    """Where compiled code of a variant of `function` may be kept, None if nowhere."""
    file = Path(function.__code__.co_filename).resolve()
    if not file.is_file():
        return None
    module = function.__module__ or file.stem
    if module == "__main__":  # of `python -m` or runpy: it has a name for its imports
        module = getattr(function.__globals__.get("__spec__"), "name", module)
    digest = _digest(module, file)
    if not digest:
        return None
    key = f"{_toolchain()}-{digest}"
    if variant:
        key += "-" + variant
    folder = cache_root() / key
    return folder if _usable(folder) else None


def _variant_of(function: Callable[..., Any]) -> str:
    return _variant if (function.__module__ or "").startswith(_varied) else ""


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
    _mind_handles(dispatcher, foreign=_top(function.__module__) != "latchfree")
    return cast(F, dispatcher)


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
    return _digest(module, Path(file).resolve()) if file else ""


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
    read by a program that lacks that package. Save nothing for a handle whose sources nobody can tell.
    """
    cache = dispatcher._cache
    save, load, key_of = cache.save_overload, cache.load_overload, cache._index_key

    def is_kept(signature: Any) -> bool:
        owners = _owners(signature)
        return (foreign or all(_top(owner) == "latchfree" for owner in owners)) and all(map(_stamp, owners))

    def careful(signature: Any, data: Any) -> None:
        if is_kept(signature):
            with suppress(OSError), _alone(cache.cache_path):
                save(signature, data)

    def loaded(signature: Any, target: Any) -> Any:
        with suppress(OSError):  # out of descriptors, for example: compiling needs none
            return load(signature, target) if is_kept(signature) else None
        return None

    def stamped(signature: Any, codegen: Any) -> Any:
        return (*key_of(signature, codegen), *map(_stamp, _owners(signature)))

    cache.save_overload, cache.load_overload, cache._index_key = careful, loaded, stamped


def kernel(function: F) -> F:
    """Compile `function` with numba: no GIL, cached, recompiled whenever any source it may call changes.

    Where no cache folder can be written the function is compiled afresh in every process.
    """
    return _compile(function, nogil=True)


def entry(function: F) -> F:
    """Compile like `kernel`, but keep the GIL: for a call so short that giving the GIL up would cost more."""
    return _compile(function, nogil=False)


def entry_point(function: Callable[..., Any], *arguments: Any) -> Callable[..., Any]:
    """Return the compiled C function for these argument types, callable without numba's dispatch.

    The function converts arguments without a check: a float where an integer is declared is truncated.
    """
    function.compile(arguments)  # type: ignore[attr-defined]
    return function.overloads[arguments].entry_point  # type: ignore[attr-defined, no-any-return]


def callback(signature: Any, function: Callable[..., Any]) -> Any:
    """Compile `function` as a C function of the given signature; its address is the attribute ``address``."""
    arguments, result = sigutils.normalize_signature(signature)  # type: ignore[no-untyped-call]
    compiled = CFunc(function, (arguments, result), locals={}, options={})
    folder = _cache_folder(function, _variant_of(function))
    if folder is not None:
        with _cache_dir(folder), suppress(RuntimeError):  # out of descriptors, for example: compiling needs none
            compiled.enable_caching()
            _mind_handles(compiled, foreign=True)
    compiled.compile()
    return compiled


#: Never released. Registered by the first import, so what other modules do at the end comes before it.
atexit.register(global_compiler_lock.acquire)
