"""Switching stacks: a dozen instructions that leave one fiber and enter another.

A thread of the program under test is a *fiber*: compiled code on a stack of its own. Switching saves the registers
that a called function must preserve, exchanges the stack pointer and returns, on the other stack. (The C library's
swapcontext makes a system call for the signal mask each time.)

A fresh stack looks as if its fiber had called `switch` at the start of its entry function. The two argument
registers still hold the arguments of whoever switches to it first; the second is the fiber's own stack pointer, and
above that lie the two words the fiber is given.
"""

from __future__ import annotations

import ctypes
import mmap
import platform
from typing import Any, Final

import llvmlite.binding as llvm
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

_X86_64: Final = """
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    retq
"""

_AARCH64: Final = """
    stp x19, x20, [sp, #-160]!
    stp x21, x22, [sp, #16]
    stp x23, x24, [sp, #32]
    stp x25, x26, [sp, #48]
    stp x27, x28, [sp, #64]
    stp x29, x30, [sp, #80]
    stp d8, d9, [sp, #96]
    stp d10, d11, [sp, #112]
    stp d12, d13, [sp, #128]
    stp d14, d15, [sp, #144]
    mov x9, sp
    str x9, [x0]
    mov sp, x1
    ldp x21, x22, [sp, #16]
    ldp x23, x24, [sp, #32]
    ldp x25, x26, [sp, #48]
    ldp x27, x28, [sp, #64]
    ldp x29, x30, [sp, #80]
    ldp d8, d9, [sp, #96]
    ldp d10, d11, [sp, #112]
    ldp d12, d13, [sp, #128]
    ldp d14, d15, [sp, #144]
    ldp x19, x20, [sp], #160
    ret
"""

# An assembler is wanted where `switch` is compiled, and where its callers are and it comes from the cache.
llvm.initialize_native_asmparser()

#: Per machine: the code, the words of its frame on the stack, and which of them holds the address to return to.
MACHINES: Final = {"x86_64": (_X86_64, 8, 6), "aarch64": (_AARCH64, 20, 11)}

#: Words of a stack's frame: what `switch` keeps, then the words that the fiber is given.
FRAME_WORDS: Final = 64
#: Where a fiber finds the words it is given, from its first stack pointer on.
GIVEN: Final = 32

STACK_BYTES: Final = 256 << 10
_PAGE: Final = mmap.PAGESIZE
_PROT_NONE: Final = 0


class Unsupported(RuntimeError):
    """The explorer does not know how to switch stacks on this machine."""


def require_machine(machine: str, system: str) -> None:
    """Raise `Unsupported` unless stacks can be switched on this machine."""
    if machine not in MACHINES or system != "Linux":
        raise Unsupported(
            f"exploring needs Linux on x86-64 or aarch64, this is {system} on {machine}; run it in such a "
            "virtual machine or container, or use latchfree stress, which runs anywhere"
        )


def _switch(typingctx: Any, save: Any, to: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        code = MACHINES[builder.module.triple.partition("-")[0]][0]
        name = "latchfree_switch_stacks"
        function = builder.module.globals.get(name)
        if function is None:
            word = ir.IntType(64)
            function = ir.Function(builder.module, ir.FunctionType(ir.VoidType(), [word, word]), name)
            function.linkage = "internal"
            for attribute in ("naked", "noinline", "nounwind"):
                function.attributes.add(attribute)
            body = ir.IRBuilder(function.append_basic_block())
            body.asm(ir.FunctionType(ir.VoidType(), []), code, "~{memory}", [], True)
            body.unreachable()
        builder.call(function, args)
        return context.get_dummy_value()

    return types.void(types.uint64, types.uint64), codegen


def return_word() -> int:
    """Return which word, from a fresh stack pointer on, must hold the address of the fiber's entry function.

    The entry function is a C function ``void entry(uint64 save, uint64 stack)``. It never returns, and overwrites that
    word.
    """
    machine = platform.machine()
    require_machine(machine, platform.system())
    return MACHINES[machine][2]


#: ``switch(save, to)``: keep this stack pointer in the word at address `save`, and go on where the stack `to` was left.
switch: Any = intrinsic(_switch)


class Stack:
    """A stack of its own mapping, with a page below it that must not be touched.

    Parameters
    ----------
    first, second : int
        Words that the entry function finds from `GIVEN` words above its second argument.

    Attributes
    ----------
    top : int
        The stack pointer to switch to.
    """

    def __init__(self, first: int, second: int) -> None:
        self._map = mmap.mmap(-1, STACK_BYTES + _PAGE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        words = (ctypes.c_uint64 * ((STACK_BYTES + _PAGE) // 8)).from_buffer(self._map)
        base = ctypes.addressof(words)
        _forbid(base)
        self.top = base + _PAGE + STACK_BYTES - 8 * FRAME_WORDS
        words[len(words) - FRAME_WORDS + GIVEN] = first
        words[len(words) - FRAME_WORDS + GIVEN + 1] = second
        self._words = words


def _forbid(address: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.mprotect(ctypes.c_void_p(address), ctypes.c_size_t(_PAGE), ctypes.c_int(_PROT_NONE)):
        code = ctypes.get_errno()
        raise OSError(code, "cannot guard a stack")
