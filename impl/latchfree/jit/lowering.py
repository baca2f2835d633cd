"""Have numba lower functions to LLVM's language only; whoever asked puts the functions together and optimises once.

Numba compiles a function with all its callees inside, optimises the whole, and emits machine code; a caller does it all
again with that function inside. Here each function is lowered and put aside.

Importing this module loads numba.

Invariant: what was lowered here is no different to numba's other users. Kernels have another dispatcher for this, which
nobody else sees (`lazy.Kernel`). The functions that stand in for NumPy's are everybody's: one that was put aside here
is finished, as numba would have, when somebody else wants to link it.

Numba's classes are patched meanwhile, under the lock of its compiler, so nobody else compiles at that time.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from numba.core import ccallback, codegen, cpu, sigutils
from numba.core.compiler_lock import global_compiler_lock

from latchfree.jit import lazy

_LIBRARY: Any = codegen.JITCodeLibrary
_CONTEXT: Any = cpu.CPUContext


def _put_aside(library: Any) -> None:
    """Stand in for finishing a library."""
    library._finalized = True
    library.is_put_aside = True
    for name in ("_get_module_for_linking", "get_pointer_to_function"):
        setattr(library, name, _when_wanted(library, name))


def _when_wanted(library: Any, name: str) -> Callable[..., Any]:
    """Return a method that finishes a library, and then does what the method of that name does."""

    def method(*arguments: Any) -> Any:
        if _is_lowering():
            return 0  # an address, which nobody calls
        if library.is_put_aside:
            library.is_put_aside = False
            library._finalized = False
            del library._get_module_for_linking, library.get_pointer_to_function
            library.finalize()
        return getattr(library, name)(*arguments)

    return method


def _is_lowering() -> bool:
    return lazy.lowering_thread() == threading.get_ident()


@contextmanager
def _patched() -> Iterator[None]:
    own: dict[str, Any] = {
        "_optimize_functions": lambda self, module: setattr(module, "data_layout", self._codegen._data_layout),
        "finalize": _put_aside,
    }
    with global_compiler_lock:
        before = {name: _LIBRARY.__dict__.get(name) for name in own}  # with the lock: as nobody has patched them
        executable = _CONTEXT.get_executable
        for name, function in own.items():
            setattr(_LIBRARY, name, function)
        _CONTEXT.get_executable = lambda self, made, described, env: [].append  # must be a builtin; nobody calls it
        lazy.set_lowering_thread(threading.get_ident())
        try:
            yield
        finally:
            lazy.set_lowering_thread(None)
            _CONTEXT.get_executable = executable
            for name, function in before.items():
                delattr(_LIBRARY, name) if function is None else setattr(_LIBRARY, name, function)


def lower(signature: Any, function: Callable[..., Any]) -> Any:
    """Lower a C function and all that it calls; `link_into` gives what was lowered to LLVM.

    Parameters
    ----------
    signature : numba signature
    function : callable

    Returns
    -------
    CFunc
        Without machine code.
    """
    arguments, result = sigutils.normalize_signature(signature)  # type: ignore[no-untyped-call]
    made: Any = ccallback.CFunc(function, (arguments, result), locals={}, options={})
    with _patched():
        made.compile()
        made._library._ensure_finalized()
    return made


def link_into(whole: Any, functions: Mapping[str, Any]) -> None:
    """Add lowered C functions to an LLVM module, by symbol, with all they call.

    What numba itself has finished comes last: LLVM takes of it what is called already.
    """
    for symbol, made in functions.items():
        made._library._final_module.get_function(made._wrapper_name).name = symbol
    waiting = [made._library for made in functions.values()]
    seen: set[int] = set()
    finished = []
    while waiting:
        library = waiting.pop()
        if id(library) not in seen:
            seen.add(id(library))
            if getattr(library, "is_put_aside", False):
                whole.link_in(library._final_module, preserve=True)
                waiting += library._linking_libraries
            else:
                finished.append(library)
    for library in finished:
        whole.link_in(library._get_module_for_linking(), preserve=True)
