"""Functions that are compiled when they are first called, by a compiler that is loaded then.

Example: ``@kernel`` makes a `Kernel`. Calling it from Python loads numba and compiles the function for the types of the
arguments; another kernel that calls it is compiled with it.

Numba asks a global of a function for its type by the attribute ``_numba_type_``. So a `Kernel` stands for numba's own
dispatcher wherever compiled code names it, and the dispatcher need not exist before.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any, TypeVar, cast

from latchfree.jit.starting import start, when_started
from latchfree.jit.turn import is_lowering

F = TypeVar("F", bound=Callable[..., Any])

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


def variant_of(module: str | None) -> str:
    """Return the variant that the functions of a module are compiled for, "" for none."""
    return _variant if (module or "").startswith(_varied) else ""


def is_varied(package: str) -> bool:
    """Return whether this process is about to patch kernels of a package: then its library stands for none of them."""
    return any(module.split(".")[0] == package for module in _varied)


class Kernel:
    """A function to be compiled.

    Parameters
    ----------
    function : callable
    nogil : bool
        Whether calls from Python give up the interpreter lock.

    Attributes
    ----------
    py_func : callable
        The function as it was written.
    dispatcher : object
        Numba's own, made when it is first asked for; other attributes are those of the dispatcher.
    """

    def __init__(self, function: Callable[..., Any], *, nogil: bool) -> None:
        functools.update_wrapper(self, function)
        self.py_func = function
        self._nogil = nogil
        self._variant = variant_of(function.__module__)

    @functools.cached_property
    def dispatcher(self) -> Any:
        """Numba's own dispatcher of the function."""
        start()
        from latchfree.jit.cache import dispatcher

        return dispatcher(self.py_func, self._variant, nogil=self._nogil)

    @functools.cached_property
    def _lowered(self) -> Any:
        """Another dispatcher, of what is lowered only."""
        return start().njit(nogil=self._nogil, no_cpython_wrapper=True, no_cfunc_wrapper=True)(self.py_func)

    def _asked(self) -> Any:
        """Return the dispatcher that this thread means."""
        return self._lowered if is_lowering() else self.dispatcher

    @property
    def _numba_type_(self) -> Any:
        return self._asked()._numba_type_

    def __call__(self, *arguments: Any) -> Any:
        """Compile the function for the types of the arguments, and call it."""
        return self.dispatcher(*arguments)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self._asked(), name)

    def __repr__(self) -> str:
        return f"<kernel {self.__module__}.{self.__qualname__}>"


def kernel(function: F) -> F:
    """Compile `function` with numba: no GIL, cached, recompiled whenever any source it may call changes.

    Where no cache folder can be written the function is compiled afresh in every process.
    """
    return cast(F, Kernel(function, nogil=True))


def entry(function: F) -> F:
    """Compile like `kernel`, but keep the GIL: for a call so short that giving the GIL up would cost more."""
    return cast(F, Kernel(function, nogil=False))


def overload(stub: Callable[..., Any]) -> Callable[[F], F]:
    """Say how compiled code calls a function, as ``numba.extending.overload`` does, once numba is there."""

    def wait(implementation: F) -> F:
        def register() -> None:
            from numba import extending

            extending.overload(stub)(implementation)

        when_started(register)
        return implementation

    return wait


class Named:
    """A function that only compiled code can call; what numba takes its name for is found when numba asks.

    Parameters
    ----------
    module, name : str
        For errors.
    find : callable
        Returns numba's type.
    """

    def __init__(self, module: str, name: str, find: Callable[[], Any]) -> None:
        self.__module__, self.__name__ = module, name
        self._find = find

    @property
    def _numba_type_(self) -> Any:
        start()
        return self._find()

    def __call__(self, *arguments: Any) -> Any:
        """Refuse a call from Python."""
        name = f"{self.__module__}.{self.__name__}"
        raise TypeError(f"{name} works in numba-compiled code only; call it from an @njit function")


def stub(function: F) -> F:
    """Make a function without a body one for compiled code; others say by overloads what the function does there."""

    def find() -> Any:
        context = _typing_context()
        return context._lookup_global(made)

    made = Named(function.__module__, function.__name__, find)
    functools.update_wrapper(made, function)
    return cast(F, made)


def _typing_context() -> Any:
    from numba.core.registry import cpu_target

    context = cpu_target.typing_context
    context.refresh()
    return context


def instruction(module: str, name: str) -> Any:
    """Return an intrinsic of numba's for compiled code; its module is loaded when the compiler starts."""

    def find() -> Any:
        return _typing_context().resolve_value_type(getattr(sys.modules[module], name))

    return Named(module, name, find)


def external(name: str, signature: str) -> Any:
    """Return a C function for compiled code.

    Parameters
    ----------
    name : str
        Its symbol.
    signature : str
        Its types, as in ``"int64(uint64, uint64)"``.
    """

    def find() -> Any:
        from numba import types
        from numba.core import sigutils

        arguments, result = sigutils.normalize_signature(signature)  # type: ignore[no-untyped-call]
        return types.ExternalFunction(name, result(*arguments))

    return Named("C", name, find)


def callback(signature: Any, function: Callable[..., Any]) -> Any:
    """Compile `function` as a C function of the given signature; its address is the attribute ``address``."""
    start()
    from latchfree.jit.cache import c_function

    return c_function(signature, function, variant_of(function.__module__))


def recache(compiled: Callable[..., Any], variant: str) -> None:
    """Move a kernel that has not been compiled to the cache of a variant, where all its types are saved.

    The name of the variant must change with the sources that the kernel calls and does not import.
    """
    start()
    from latchfree.jit.cache import recache as move

    move(compiled.dispatcher, variant)  # type: ignore[attr-defined]
