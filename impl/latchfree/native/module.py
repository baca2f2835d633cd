"""One LLVM module with lowered functions, all they call, and numba's runtime; optimised once, and emitted.

The functions that Python calls have plain names, all others are internal.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import llvmlite.binding as llvm

from latchfree.jit.lowering import link_into
from latchfree.native.runtime import RUNTIME


def linked(functions: Mapping[str, Any]) -> Any:
    """Return a module, not optimised.

    Parameters
    ----------
    functions : mapping of str to CFunc
        What was lowered, by symbol.
    """
    whole: Any = llvm.parse_assembly(RUNTIME)
    link_into(whole, functions)
    for thing in [*whole.functions, *whole.global_variables]:
        if not thing.is_declaration and thing.name not in functions and not thing.name.startswith("llvm."):
            thing.linkage = "internal"
    return whole


def emitted(whole: Any, triple: str, processor: str, features: str = "", *, near: bool) -> bytes:
    """Return the object code of a module, which can stand at any address.

    Parameters
    ----------
    whole : module
        See `linked`; it is optimised.
    triple, processor, features : str
        As LLVM names them.
    near : bool
        Whether a linker will make tables for what is elsewhere; else the code holds whole addresses.
    """
    how = {"reloc": "pic", "codemodel": "small"} if near else {"reloc": "default", "codemodel": "jitdefault"}
    machine = llvm.Target.from_triple(triple).create_target_machine(cpu=processor, features=features, opt=3, **how)
    whole.triple, whole.data_layout = triple, str(machine.target_data)
    builder = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=3))
    builder.getModulePassManager().run(whole, builder)
    code: bytes = machine.emit_object(whole)
    return code
