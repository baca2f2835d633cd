"""The machine instructions of `latchfree.atomics`, for bare memory handles.

This is the only file that emits LLVM instructions. Importing it loads the compiler; `latchfree.atomics` has it imported
before anything is compiled.
"""

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload

_WORD = ir.IntType(64)
_BYTE = ir.IntType(8)
_u64 = types.uint64


def _pointer(builder, mem, at):
    return builder.inttoptr(builder.add(mem, builder.shl(at, _WORD(3))), _WORD.as_pointer())


def _instruction(emit, arity, result):
    """Return an intrinsic on (mem, at, word, ...): one instruction, from `emit(builder, pointer, words)`."""
    returns = {"word": _u64, "flag": types.boolean, "none": types.void}[result]
    signature = returns(*([_u64] * (2 + arity)))

    def codegen(context, builder, signature, args):
        value = emit(builder, _pointer(builder, args[0], args[1]), args[2:])
        return context.get_dummy_value() if result == "none" else value

    if arity == 0:
        return intrinsic(lambda typingctx, mem, at: (signature, codegen))
    if arity == 1:
        return intrinsic(lambda typingctx, mem, at, a: (signature, codegen))
    return intrinsic(lambda typingctx, mem, at, a, b: (signature, codegen))


def _emit_load(order):
    return lambda b, p, w: b.load_atomic(p, order, 8, typ=_WORD)


def _emit_rmw(op):
    return lambda b, p, w: b.atomic_rmw(op, p, w[0], "seq_cst")


def _emit_cas(b, p, w):
    return b.extract_value(b.cmpxchg(p, w[0], w[1], "seq_cst", "seq_cst"), 1)


_load_i = _instruction(_emit_load("acquire"), 0, "word")
_load_seq_i = _instruction(_emit_load("seq_cst"), 0, "word")
_peek_i = _instruction(lambda b, p, w: b.load(p, typ=_WORD), 0, "word")
_store_i = _instruction(lambda b, p, w: b.store_atomic(w[0], p, "release", 8), 1, "none")
_poke_i = _instruction(lambda b, p, w: b.store(w[0], p), 1, "none")
_cas_i = _instruction(_emit_cas, 2, "flag")
_exchange_i = _instruction(_emit_rmw("xchg"), 1, "word")
_fetch_add_i = _instruction(_emit_rmw("add"), 1, "word")
_fetch_or_i = _instruction(_emit_rmw("or"), 1, "word")
_fetch_and_i = _instruction(_emit_rmw("and"), 1, "word")
_fetch_max_i = _instruction(_emit_rmw("umax"), 1, "word")
_fetch_min_i = _instruction(_emit_rmw("umin"), 1, "word")


@intrinsic
def _fence_i(typingctx):
    def codegen(context, builder, signature, args):
        builder.fence("seq_cst")
        return context.get_dummy_value()

    return types.void(), codegen


@intrinsic
def _barrier_i(typingctx):
    def codegen(context, builder, signature, args):
        builder.fence("seq_cst", targetscope="singlethread")
        return context.get_dummy_value()

    return types.void(), codegen


@intrinsic
def _pause_i(typingctx):
    def codegen(context, builder, signature, args):
        if builder.module.triple.startswith(("x86_64", "i386", "i686")):
            kind = ir.FunctionType(ir.VoidType(), ())
            builder.call(builder.module.declare_intrinsic("llvm.x86.sse2.pause", (), kind), ())
        return context.get_dummy_value()

    return types.void(), codegen


def _emit_prefetch(to_write):
    def codegen(context, builder, signature, args):
        byte = _BYTE.as_pointer()
        half = ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), (byte, half, half, half))
        function = builder.module.declare_intrinsic("llvm.prefetch", (byte,), kind)
        address = builder.bitcast(_pointer(builder, args[0], args[1]), byte)
        builder.call(function, (address, half(to_write), half(3), half(1)))
        return context.get_dummy_value()

    return intrinsic(lambda typingctx, mem, at: (types.void(_u64, _u64), codegen))


_prefetch_i = _emit_prefetch(1)
_prefetch_read_i = _emit_prefetch(0)


def _emit_attributes(*names):
    """Return an intrinsic that is no instruction, but gives the function that has it LLVM's attributes."""

    def codegen(context, builder, signature, args):
        for name in names:
            builder.function.attributes.add(name)
        return context.get_dummy_value()

    return intrinsic(lambda typingctx: (types.void(), codegen))


in_line = _emit_attributes("alwaysinline")
out_of_line = _emit_attributes("noinline", "cold")


@intrinsic
def popcount(typingctx, word):
    """Return the number of one bits of a word."""

    def codegen(context, builder, signature, args):
        return builder.ctpop(args[0])

    return _u64(_u64), codegen


@intrinsic
def trailing_zeros(typingctx, word):
    """Return the index of the lowest one bit of a word; 64 when there is none."""

    def codegen(context, builder, signature, args):
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 0))

    return _u64(_u64), codegen


@intrinsic
def read_word(typingctx, address):
    """Read the 8 bytes at a raw address of a caller's buffer, aligned or not, in native order."""

    def codegen(context, builder, signature, args):
        return builder.load(builder.inttoptr(args[0], _WORD.as_pointer()), typ=_WORD, align=1)

    return _u64(_u64), codegen


@intrinsic
def read_byte(typingctx, address):
    """Read the byte at a raw address, as a word."""

    def codegen(context, builder, signature, args):
        pointer = builder.inttoptr(args[0], _BYTE.as_pointer())
        return builder.zext(builder.load(pointer, typ=_BYTE), _WORD)

    return _u64(_u64), codegen


@intrinsic
def read_int32(typingctx, address):
    """Read the 4 bytes at a raw address, as a word (offsets of an Arrow string array)."""

    def codegen(context, builder, signature, args):
        half = ir.IntType(32)
        pointer = builder.inttoptr(args[0], half.as_pointer())
        return builder.zext(builder.load(pointer, typ=half, align=1), _WORD)

    return _u64(_u64), codegen


@intrinsic
def high_product(typingctx, a, b):
    """Return the upper 64 of the 128 bits of the product of two words."""

    def codegen(context, builder, signature, args):
        wide = ir.IntType(128)
        product = builder.mul(builder.zext(args[0], wide), builder.zext(args[1], wide))
        return builder.trunc(builder.lshr(product, wide(64)), _WORD)

    return _u64(_u64, _u64), codegen


@intrinsic(prefer_literal=True)
def room(typingctx, words):
    """Return the address of words of the stack, until the function returns; how many is a literal."""
    count = words.literal_value

    def codegen(context, builder, signature, args):
        place = cgutils.alloca_once(builder, ir.ArrayType(_WORD, count))
        return builder.ptrtoint(place, _WORD)

    return _u64(words), codegen


@intrinsic
def as_pointer(typingctx, address):
    """Return an address as a pointer, as numba's ``carray`` takes it."""

    def codegen(context, builder, signature, args):
        return builder.inttoptr(args[0], _BYTE.as_pointer())

    return types.voidptr(_u64), codegen


def _calling(builder, function, arguments):
    kind = ir.FunctionType(_WORD, [_WORD] * len(arguments))
    return builder.call(builder.inttoptr(function, kind.as_pointer()), arguments)


@intrinsic
def call_2(typingctx, function, a, b):
    """Call the C function at an address with two words; it returns a word."""

    def codegen(context, builder, signature, args):
        return _calling(builder, args[0], args[1:])

    return _u64(*([_u64] * 3)), codegen


@intrinsic
def call_3(typingctx, function, a, b, c):
    """Call the C function at an address with three words; it returns a word."""

    def codegen(context, builder, signature, args):
        return _calling(builder, args[0], args[1:])

    return _u64(*([_u64] * 4)), codegen


@intrinsic
def call_5(typingctx, function, a, b, c, d, e):
    """Call the C function at an address with five words; it returns a word."""

    def codegen(context, builder, signature, args):
        return _calling(builder, args[0], args[1:])

    return _u64(*([_u64] * 6)), codegen


def _bare(mem):
    return isinstance(mem, types.Integer)


def register(atomics: Any) -> None:
    """Say what the functions of a module, `latchfree.atomics`, are for bare handles."""

    @overload(atomics.load)
    def _load(mem, at):
        return (lambda mem, at: _load_i(mem, at)) if _bare(mem) else None

    @overload(atomics.load_seq)
    def _load_seq(mem, at):
        return (lambda mem, at: _load_seq_i(mem, at)) if _bare(mem) else None

    @overload(atomics.load_unsure)
    def _load_unsure(mem, at):
        return (lambda mem, at: _load_i(mem, at)) if _bare(mem) else None

    @overload(atomics.peek)
    def _peek(mem, at):
        return (lambda mem, at: _peek_i(mem, at)) if _bare(mem) else None

    @overload(atomics.store)
    def _store(mem, at, value):
        return (lambda mem, at, value: _store_i(mem, at, value)) if _bare(mem) else None

    @overload(atomics.poke)
    def _poke(mem, at, value):
        return (lambda mem, at, value: _poke_i(mem, at, value)) if _bare(mem) else None

    @overload(atomics.cas)
    def _cas(mem, at, old, new):
        return (lambda mem, at, old, new: _cas_i(mem, at, old, new)) if _bare(mem) else None

    @overload(atomics.exchange)
    def _exchange(mem, at, value):
        return (lambda mem, at, value: _exchange_i(mem, at, value)) if _bare(mem) else None

    @overload(atomics.fetch_add)
    def _fetch_add(mem, at, value):
        return (lambda mem, at, value: _fetch_add_i(mem, at, value)) if _bare(mem) else None

    @overload(atomics.fetch_or)
    def _fetch_or(mem, at, value):
        return (lambda mem, at, value: _fetch_or_i(mem, at, value)) if _bare(mem) else None

    @overload(atomics.fetch_and)
    def _fetch_and(mem, at, value):
        return (lambda mem, at, value: _fetch_and_i(mem, at, value)) if _bare(mem) else None

    @overload(atomics.fetch_max)
    def _fetch_max(mem, at, value):
        return (lambda mem, at, value: _fetch_max_i(mem, at, value)) if _bare(mem) else None

    @overload(atomics.fetch_min)
    def _fetch_min(mem, at, value):
        return (lambda mem, at, value: _fetch_min_i(mem, at, value)) if _bare(mem) else None

    @overload(atomics.fence)
    def _fence(mem):
        return (lambda mem: _fence_i()) if _bare(mem) else None

    @overload(atomics.barrier)
    def _barrier(mem):
        return (lambda mem: _barrier_i()) if _bare(mem) else None

    @overload(atomics.pause)
    def _pause(mem):
        return (lambda mem: _pause_i()) if _bare(mem) else None

    @overload(atomics.prefetch)
    def _prefetch(mem, at):
        return (lambda mem, at: _prefetch_i(mem, at)) if _bare(mem) else None

    @overload(atomics.prefetch_read)
    def _prefetch_read(mem, at):
        return (lambda mem, at: _prefetch_read_i(mem, at)) if _bare(mem) else None
