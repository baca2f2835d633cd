"""Make the library: numba lowers every function to LLVM's language once, and LLVM optimises all of them together.

Numba compiles a function with all its callees inside, optimises the whole, and emits machine code; a caller does it all
again with that function inside. Here each function is lowered and put aside. The functions that Python calls are given
plain names, all others are made internal, and LLVM optimises and emits once: in less than half of the time.

The code is for the oldest processor of a level (x86-64-v2: 2009), needs only the interpreter and the C library, and
carries the key of its sources, see `latchfree.native.key`.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from latchfree.border import Border
from latchfree.jit import start
from latchfree.native.key import key, processor, sealed
from latchfree.native.library import Library
from latchfree.native.runtime import RUNTIME

#: Linkers that can make a shared library of one object file.
_LINKERS: Final = ("cc", "gcc", "clang", "ld")


class NoLinker(RuntimeError):
    """There is no linker on the path."""


@contextmanager
def _put_aside() -> Iterator[list[Any]]:
    """Have numba lower functions only; yield the list of what was lowered."""
    start()
    from numba.core import codegen, cpu

    from latchfree.jit import cache

    lowered: list[Any] = []

    def finalize(self: Any) -> None:
        self._finalized = True
        lowered.append(self)

    library: Any = codegen.JITCodeLibrary
    context: Any = cpu.CPUContext
    own: dict[str, Any] = {
        "_optimize_functions": lambda self, module: setattr(module, "data_layout", self._codegen._data_layout),
        "_get_module_for_linking": lambda self: None,
        "finalize": finalize,
        "get_pointer_to_function": lambda self, name: 0,
    }
    before = {name: library.__dict__.get(name) for name in own}
    executable, folder = context.get_executable, cache._cache_folder
    for name, function in own.items():
        setattr(library, name, function)
    context.get_executable = lambda self, made, described, env: [].append  # must be a builtin; nobody calls it
    cache._cache_folder = lambda function, variant: None
    try:
        yield lowered
    finally:
        cache._cache_folder = folder
        context.get_executable = executable
        for name, function in before.items():
            delattr(library, name) if function is None else setattr(library, name, function)


def linked(borders: Sequence[Border], report: Callable[[int, int], object]) -> Any:
    """Return one LLVM module with the functions of some tables, not optimised; others are internal."""
    import llvmlite.binding as llvm

    exports = [(border, name) for border in borders for name in border.calls]
    symbols = set()
    with _put_aside() as lowered:
        for done, (border, name) in enumerate(exports):
            report(done, len(exports))
            compiled = border.compiled(name)
            compiled._library._ensure_finalized()
            symbol = border.symbol(name)
            compiled._library._final_module.get_function(compiled._wrapper_name).name = symbol
            symbols.add(symbol)
        whole = llvm.parse_assembly(RUNTIME)
        for library in lowered:
            whole.link_in(library._final_module, preserve=True)
    for thing in [*whole.functions, *whole.global_variables]:
        if not thing.is_declaration and thing.name not in symbols and not thing.name.startswith("llvm."):
            thing.linkage = "internal"
    return whole


def emitted(whole: Any, processor: str) -> bytes:
    """Return the object code of a module for a processor."""
    import llvmlite.binding as llvm

    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    triple = "aarch64-unknown-linux-gnu" if "aarch64" in processor else "x86_64-unknown-linux-gnu"
    machine = llvm.Target.from_triple(triple).create_target_machine(
        cpu=processor.removesuffix("-aarch64"), features="", opt=3, reloc="pic", codemodel="small"
    )
    whole.triple, whole.data_layout = triple, str(machine.target_data)
    builder = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=3))
    builder.getModulePassManager().run(whole, builder)
    code: bytes = machine.emit_object(whole)
    return code


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


def make(library: Library, borders: Sequence[Border], report: Callable[[int, int], object]) -> None:
    """Make a library for this processor, where `Library.file` says; it appears at once.

    Parameters
    ----------
    library : Library
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
    code = emitted(linked(borders, report), wanted)
    with tempfile.TemporaryDirectory(dir=file.parent, prefix=".latchfree-") as folder:
        made = Path(folder, "kernels.o")
        made.write_bytes(code)
        shared = made.with_suffix(".so")
        plain = ["-nostdlib"] if Path(program).name != "ld" else []
        subprocess.run([program, "-shared", *plain, "-s", "-o", str(shared), str(made)], check=True)
        shared.write_bytes(sealed(shared.read_bytes(), text))
        shared.replace(file)
