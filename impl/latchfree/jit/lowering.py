"""Have numba lower functions to LLVM's language only, put them together, and optimise once.

Numba compiles a function with all its callees inside, optimises the whole, and emits machine code; a caller does it all
again with that function inside. Here each function is lowered and put aside, and optimised only with those that call
it: `whole` does so for a function that Python calls, `lower` and `link_into` for a library. A program whose kernels
call a hundred others is compiled in half of the time.

Importing this module loads numba.

Invariant: what was lowered here is no different to numba's other users. Kernels have another dispatcher for this, which
nobody else sees (`lazy.Kernel`). The functions that stand in for NumPy's are everybody's: one that was put aside here
is finished, as numba would have, when somebody else wants to link it.

Numba's classes are patched meanwhile, under the lock of its compiler, so no other thread compiles at that time. In this
thread the garbage collector may run a finalizer, and the finalizer may compile what it wants: as long as the collector
works, numba is as it was.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from numba.core import ccallback, codegen, cpu, sigutils
from numba.core.compiler_lock import global_compiler_lock

from latchfree.jit.collecting import while_collecting
from latchfree.jit.turn import begin_lowering, end_lowering, is_lowering

_LIBRARY: Any = codegen.JITCodeLibrary
_CONTEXT: Any = cpu.CPUContext
_WRAP: Any = _CONTEXT.create_cfunc_wrapper


def _put_aside(library: Any) -> None:
    """Stand in for finishing a library."""
    library._finalized = True
    library.is_put_aside = True
    for name in ("_get_module_for_linking", "get_pointer_to_function"):
        setattr(library, name, _when_wanted(library, name))


def _when_wanted(library: Any, name: str) -> Callable[..., Any]:
    """Return a method that finishes a library, and then does what the method of that name does."""

    def method(*arguments: Any) -> Any:
        if is_lowering():
            return 0  # an address, which nobody calls
        if library.is_put_aside:
            library.is_put_aside = False
            library._finalized = False
            del library._get_module_for_linking, library.get_pointer_to_function
            library.finalize()
        return getattr(library, name)(*arguments)

    return method


def _executable_later(context: Any, library: Any, described: Any, env: Any) -> Any:
    """Stand in for making a function that Python can call."""
    library.environment = context.get_env_name(described), env
    return [].append  # must be a builtin; nobody calls it


class _Joining:
    """Stands for a library that a C function is added to: LLVM may put into it what it calls, which numba forbids."""

    def __init__(self, library: Any) -> None:
        self._library = library

    def add_ir_module(self, module: Any) -> None:
        blocks = (block for function in module.functions for block in function.blocks)
        for instruction in (each for block in blocks for each in block.instructions):
            if instruction.opname == "call":
                instruction.attributes.discard("noinline")
        self._library.add_ir_module(module)


def _wrap_in_line(context: Any, library: Any, *described: Any) -> None:
    """Stand in for making a C function of a function."""
    _WRAP(context, _Joining(library), *described)


class _Patches:
    """What stands in for numba's own, and what was there before; made with the lock, as no other thread has patched it.

    Attributes
    ----------
    wanted : bool
        Whether somebody lowers, also while a collection has the patches away.
    """

    def __init__(self) -> None:
        self._ours: list[tuple[Any, str, Any]] = [
            (_LIBRARY, "_optimize_functions", _lay_out),
            (_LIBRARY, "finalize", _put_aside),
            (_CONTEXT, "get_executable", _executable_later),
            (_CONTEXT, "create_cfunc_wrapper", _wrap_in_line),
        ]
        self._before = [(owner, name, owner.__dict__.get(name)) for owner, name, _ in self._ours]
        self._turn: int | None = None
        self._are_there = False
        self.wanted = False

    def put(self) -> None:
        if not self.wanted or self._are_there:
            return
        self._turn, self._are_there = begin_lowering(), True
        for owner, name, function in self._ours:
            setattr(owner, name, function)

    def take(self) -> None:
        if not self._are_there:
            return
        for owner, name, function in self._before:
            if function is not None:
                setattr(owner, name, function)
            elif name in owner.__dict__:
                delattr(owner, name)
        self._are_there = False
        end_lowering(self._turn)


def _lay_out(library: Any, module: Any) -> None:
    """Stand in for optimising a module's functions."""
    module.data_layout = library._codegen._data_layout


@contextmanager
def lowering() -> Iterator[None]:
    """Put aside what numba compiles meanwhile, in place of optimising it."""
    with global_compiler_lock:
        patches = _Patches()
        with while_collecting(patches.take, patches.put):
            try:
                patches.wanted = True
                patches.put()
                yield
            finally:
                patches.wanted = False
                patches.take()


def lower(signature: Any, function: Callable[..., Any]) -> Any:
    """Lower a C function and all that it calls; `link_into` gives what was lowered to LLVM.

    Parameters
    ----------
    signature : numba signature
        The types of the arguments and of the result.
    function : callable
        The Python function to compile.

    Returns
    -------
    CFunc
        Without machine code.
    """
    arguments, result = sigutils.normalize_signature(signature)  # type: ignore[no-untyped-call]
    made: Any = ccallback.CFunc(function, (arguments, result), locals={}, options={})
    with lowering():
        made.compile()
        made._library._ensure_finalized()
    return made


def link_into(whole: Any, functions: Mapping[str, Any]) -> None:
    """Add lowered C functions to an LLVM module, by symbol, with all they call.

    What numba itself has finished comes last: LLVM takes of it what is called already. What the module defines stays.
    """
    defined = {function.name for function in whole.functions if not function.is_declaration}
    for symbol, made in functions.items():
        made._library._final_module.get_function(made._wrapper_name).name = symbol
    aside, finished = _reached([made._library for made in functions.values()])
    for library in aside:
        whole.link_in(_yielding(library._final_module, defined))
    for library in finished:
        whole.link_in(_yielding(library._get_module_for_linking(), defined))


def _yielding(module: Any, names: set[str]) -> Any:
    """Return a copy of a module, in which functions of some names give way to others of the same name."""
    copy = module.clone()
    for function in copy.functions:
        if function.name in names and not function.is_declaration:
            function.linkage = "linkonce_odr"
    return copy


def _reached(libraries: list[Any]) -> tuple[list[Any], list[Any]]:
    """Return some libraries and all that they need: those put aside, and those that numba has finished."""
    waiting = list(libraries)
    seen: set[int] = set()
    aside, finished = [], []
    while waiting:
        library = waiting.pop()
        if id(library) in seen:
            continue
        seen.add(id(library))
        if getattr(library, "is_put_aside", False):
            aside.append(library)
            waiting += library._linking_libraries
        else:
            finished.append(library)
    return aside, finished


def whole(compile_one: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that compiles as `compile_one` does, but puts aside what is called.

    Parameters
    ----------
    compile_one : callable
        The method ``compile`` of numba's compiler of one function: takes types, returns numba's ``CompileResult``.
    """

    def compile_whole(arguments: Any, result: Any) -> Any:
        with global_compiler_lock:
            if is_lowering():
                return compile_one(arguments, result)
            with lowering():
                made = compile_one(arguments, result)
            _finish(made.library)
            if made.entry_point is None:
                return made  # a C function
            function = made.target_context.get_executable(made.library, made.fndesc, made.library.environment[1])
            made.target_context.insert_user_function(function, made.fndesc, [made.library])
            return made._replace(entry_point=function)

    return compile_whole


def _finish(library: Any) -> None:
    """Link a library with all that it needs, and have numba optimise and emit it."""
    module = library._final_module
    own = {function.name for function in module.functions if not function.is_declaration}
    aside, library._linking_libraries = _reached(library._linking_libraries)
    for each in aside:
        library._reload_init.update(each._reload_init)
        module.link_in(each._final_module, preserve=True)
    for function in module.functions:
        if not function.is_declaration and function.name not in own and function.linkage.name == "external":
            function.linkage = "linkonce_odr"  # others have copies of their own
    library.finalize()
    named = {variable.name for variable in module.global_variables}
    for each in aside:
        name, environment = getattr(each, "environment", ("", None))
        if name in named:
            library.codegen.set_env(name, environment)
