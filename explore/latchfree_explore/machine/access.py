"""The explored memory handle: every atomic access of code compiled for it is a step that the scheduler decides on.

The functions of `latchfree.atomics` are typed and lowered for it here, not overloaded: lowering knows the source
line of the access, and bakes it into the machine code as a constant, where it survives the cache.

The handle is of a type of its own, which nothing but these functions takes. So ``mem[at]``, ``mem.base`` or
``base, board = mem`` in a kernel does not compile: the compiler, not the kernel's author, knows that such an access
would be no step.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, Final

from llvmlite import ir
from numba import types
from numba.extending import lower_builtin, models, register_model, type_callable

from latchfree import atomics
from latchfree.jit import callback, kernel
from latchfree.kinds import Flag, Word
from latchfree_explore.board import layout as b
from latchfree_explore.board.effects import admit, effect, write
from latchfree_explore.board.layout import get, put
from latchfree_explore.machine.scheduler import arrive
from latchfree_explore.views.accesses import watched
from latchfree_explore.views.clocks import fenced, paused
from latchfree_explore.views.races import plain

_lower_builtin: Any = lower_builtin
_register_model: Any = register_model
_WORD = ir.IntType(64)
_FUNCTION = ir.FunctionType(_WORD, [_WORD] * 6)


class Explored(types.Type):
    """The type of explored memory: a base address and the address of a board (see `latchfree_explore.board.layout`)."""

    def __init__(self) -> None:
        super().__init__(name="explored memory")

    @property
    def instance_class(self) -> type:
        """The class whose module the cache keys code compiled for this handle on."""
        return type(self)


EXPLORED: Final = Explored()


@_register_model(Explored)
class _Words(models.StructModel):
    """Two words, passed as two arguments."""

    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, [("base", types.uint64), ("board", types.uint64)])  # type: ignore[no-untyped-call]


def base_of(mem: Any) -> Any:
    """Return the address of explored memory, in compiled code only.

    It is for words that the calling thread alone uses: what is done through this address is no step, is not shown, and
    is not undone after a schedule.
    """
    raise NotImplementedError("base_of is for compiled code")


@kernel
def access(board: Word, kind: Word, at: Word, a: Word, operand: Word, site: Word) -> Word:
    """Make one atomic access when the scheduler says so; return the word's old value."""
    touches = kind < b.FENCE
    if touches:
        admit(board, at)
    together = get(board, b.MODE) != b.ALONE
    if together:
        arrive(board, kind, at, a, operand, site)
    old = new = 0
    if together and get(board, b.WATCH):
        if touches:
            old = watched(board, kind, at, a, operand, site)
            new = effect(kind, old, a, operand)
        elif kind == b.FENCE:
            fenced(board, site)
        elif kind == b.PAUSE:
            paused(board)
    elif touches:
        old = get(get(board, b.BASE), at)
        new = effect(kind, old, a, operand)
        if new != old:
            write(board, at, old, new)
    if together:
        mine = b.step(board, get(board, b.STEPS) - 1)
        put(mine, b.S_OLD, old)
        put(mine, b.S_NEW, new)
    return old


@kernel
def _is_step(board: Word) -> Flag:
    """Return whether a plain access is a step: if the caller wishes so, or if an operation begins with it."""
    if get(board, b.MODE) == b.ALONE:
        return False
    return get(board, b.PLAIN) != 0 or get(b.fiber(board, get(board, b.CURRENT)), b.F_INVOKING) != 0


def _access(board: Word, kind: Word, at: Word, a: Word, operand: Word, site: Word) -> Word:
    if (kind != b.PEEK and kind != b.POKE) or _is_step(board):
        return access(board, kind, at, a, operand, site)
    admit(board, at)
    if get(board, b.WATCH) and get(board, b.MODE) != b.ALONE:
        return plain(board, kind, at, operand, site)
    old = get(get(board, b.BASE), at)
    if kind == b.POKE and operand != old:
        write(board, at, old, operand)
    return old


@cache
def access_function() -> Any:
    """Return the C function that explored code calls for an access; a plain one that is no step is made at once."""
    return callback(types.int64(*[types.int64] * 6), _access)


def source_line(loc: Any) -> str:
    """Return the "file:line" of a location, the file named from the folder of its top-level package."""
    path = Path(loc.filename).resolve()
    top = path.parent
    while (top / "__init__.py").exists():
        top = top.parent
    return f"{path.relative_to(top)}:{loc.line}"


def _is_explored(mem: Any) -> bool:
    return isinstance(mem, Explored)


def _lower(kind: int, words: int, returns: Any) -> Callable[..., Any]:
    """Return the lowering of an atomic function on (mem, at, ...) with `words` operands: a call through the board."""

    def lower(context: Any, builder: Any, signature: Any, args: Any, loc: Any = None) -> Any:
        site = builder.ptrtoint(context.insert_const_string(builder.module, source_line(loc)), _WORD)
        board = builder.extract_value(args[0], 1)
        given = [
            context.cast(builder, value, of, types.int64)
            for value, of in zip(args[1:], signature.args[1:], strict=True)
        ]
        nothing = ir.Constant(_WORD, 0)
        at = given[0] if given else ir.Constant(_WORD, b.NOWHERE)
        expected = given[1] if words == 2 else nothing
        operand = given[-1] if words else nothing
        place = builder.add(board, ir.Constant(_WORD, 8 * b.ACCESS))
        function = builder.load(builder.inttoptr(place, _FUNCTION.as_pointer().as_pointer()))
        old = builder.call(function, [board, ir.Constant(_WORD, kind), at, expected, operand, site])
        if returns == types.boolean:
            return builder.icmp_signed("==", old, expected)
        return old if returns == types.uint64 else context.get_dummy_value()

    return lower


def _register(function: Any, kind: int, arity: int, words: int, returns: Any) -> None:
    if arity == 1:

        def typer(context: Any) -> Any:
            return lambda mem: returns if _is_explored(mem) else None
    elif words == 0:

        def typer(context: Any) -> Any:
            return lambda mem, at: returns if _is_explored(mem) else None
    elif words == 1:

        def typer(context: Any) -> Any:
            return lambda mem, at, value: returns if _is_explored(mem) else None
    else:

        def typer(context: Any) -> Any:
            return lambda mem, at, old, new: returns if _is_explored(mem) else None

    type_callable(function)(typer)
    formal = (Explored, *[types.Any] * (arity - 1))
    _lower_builtin(function, *formal)(_lower(kind, words, returns))


_register(atomics.load, b.LOAD, 2, 0, types.uint64)
_register(atomics.load_seq, b.LOAD_SEQ, 2, 0, types.uint64)
_register(atomics.load_unsure, b.LOAD_UNSURE, 2, 0, types.uint64)
_register(atomics.store, b.STORE, 3, 1, types.none)
_register(atomics.cas, b.CAS, 4, 2, types.boolean)
_register(atomics.peek, b.PEEK, 2, 0, types.uint64)
_register(atomics.poke, b.POKE, 3, 1, types.none)
_register(atomics.fence, b.FENCE, 1, 0, types.none)
_register(atomics.pause, b.PAUSE, 1, 0, types.none)
for _kind in (b.EXCHANGE, b.FETCH_ADD, b.FETCH_OR, b.FETCH_AND, b.FETCH_MAX, b.FETCH_MIN):
    _register(getattr(atomics, b.KINDS[_kind]), _kind, 3, 1, types.uint64)


def _lower_nothing(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    return context.get_dummy_value()


# For the processor and the compiler only: they change nothing that another thread could see.
type_callable(atomics.barrier)(lambda context: lambda mem: types.none if _is_explored(mem) else None)
_lower_builtin(atomics.barrier, Explored)(_lower_nothing)
for _hint in (atomics.prefetch, atomics.prefetch_read):
    type_callable(_hint)(lambda context: lambda mem, at: types.none if _is_explored(mem) else None)
    _lower_builtin(_hint, Explored, types.Any)(_lower_nothing)


def _lower_base(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    return builder.extract_value(args[0], 0)


type_callable(base_of)(lambda context: lambda mem: types.uint64 if _is_explored(mem) else None)
_lower_builtin(base_of, Explored)(_lower_base)
