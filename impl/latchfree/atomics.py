"""Atomic access to 64-bit words, for compiled code only.

Every function takes a **memory handle** and a word offset. What the access compiles to is chosen by the
handle's numba type: for a plain unsigned integer (a base address) it is the bare machine instruction. Another
handle type joins by registering its own ``numba.extending.overload`` of these functions, and then the same
algorithm compiles, unchanged, with whatever that overload does around the access (count it, log it, yield to a
scheduler). The algorithms must therefore touch shared memory through this module alone.

Orders. ``load`` is acquire and ``store`` is release: enough to publish a node and to read one. ``load_seq`` is
sequentially consistent, for the places where a thread writes one word and must then see another thread's write
to a different word (the store-load order that acquire and release do not give). All read-modify-write
operations are sequentially consistent. ``peek`` and ``poke`` are plain accesses, for immutable fields of a
published node and for any field of a node nobody else has seen; the compiler may merge or hoist them.

This is the only file that emits LLVM instructions.
"""

from llvmlite import ir
from numba import types
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


def _compiled_only(name):
    raise TypeError(f"latchfree.atomics.{name} works in numba-compiled code only; call it from an @njit function")


def load(mem, at):
    """Read word `at`; later accesses stay after it (acquire)."""
    _compiled_only("load")


def load_seq(mem, at):
    """Read word `at` in the single total order of all sequentially consistent accesses."""
    _compiled_only("load_seq")


def peek(mem, at):
    """Plain read of an immutable or unpublished word."""
    _compiled_only("peek")


def store(mem, at, value):
    """Write word `at`; earlier accesses stay before it (release)."""
    _compiled_only("store")


def poke(mem, at, value):
    """Plain write to a word nobody else can see yet."""
    _compiled_only("poke")


def cas(mem, at, old, new):
    """Compare and swap: if word `at` is `old`, make it `new` and return True."""
    _compiled_only("cas")


def exchange(mem, at, value):
    """Write `value` and return what was there."""
    _compiled_only("exchange")


def fetch_add(mem, at, value):
    """Add (modulo 2**64) and return what was there."""
    _compiled_only("fetch_add")


def fetch_or(mem, at, value):
    """Bitwise or, returning what was there."""
    _compiled_only("fetch_or")


def fetch_and(mem, at, value):
    """Bitwise and, returning what was there."""
    _compiled_only("fetch_and")


def fetch_max(mem, at, value):
    """Unsigned maximum, returning what was there."""
    _compiled_only("fetch_max")


def fetch_min(mem, at, value):
    """Unsigned minimum, returning what was there."""
    _compiled_only("fetch_min")


def fence(mem):
    """Sequentially consistent fence."""
    _compiled_only("fence")


def barrier(mem):
    """Keep the compiler from moving accesses across this point; no instruction is emitted.

    A barrier orders the plain writes of a thread for a process that looks after the thread was killed.
    """
    _compiled_only("barrier")


def prefetch(mem, at):
    """Bring word `at` near the processor, to be written soon; no effect on what any thread sees."""
    _compiled_only("prefetch")


def prefetch_read(mem, at):
    """Bring word `at` near the processor, to be read soon."""
    _compiled_only("prefetch_read")


def pause(mem):
    """Tell the processor that this is a spin loop; a scheduler may switch here."""
    _compiled_only("pause")


def _bare(mem):
    return isinstance(mem, types.Integer)


@overload(load)
def _load(mem, at):
    return (lambda mem, at: _load_i(mem, at)) if _bare(mem) else None


@overload(load_seq)
def _load_seq(mem, at):
    return (lambda mem, at: _load_seq_i(mem, at)) if _bare(mem) else None


@overload(peek)
def _peek(mem, at):
    return (lambda mem, at: _peek_i(mem, at)) if _bare(mem) else None


@overload(store)
def _store(mem, at, value):
    return (lambda mem, at, value: _store_i(mem, at, value)) if _bare(mem) else None


@overload(poke)
def _poke(mem, at, value):
    return (lambda mem, at, value: _poke_i(mem, at, value)) if _bare(mem) else None


@overload(cas)
def _cas(mem, at, old, new):
    return (lambda mem, at, old, new: _cas_i(mem, at, old, new)) if _bare(mem) else None


@overload(exchange)
def _exchange(mem, at, value):
    return (lambda mem, at, value: _exchange_i(mem, at, value)) if _bare(mem) else None


@overload(fetch_add)
def _fetch_add(mem, at, value):
    return (lambda mem, at, value: _fetch_add_i(mem, at, value)) if _bare(mem) else None


@overload(fetch_or)
def _fetch_or(mem, at, value):
    return (lambda mem, at, value: _fetch_or_i(mem, at, value)) if _bare(mem) else None


@overload(fetch_and)
def _fetch_and(mem, at, value):
    return (lambda mem, at, value: _fetch_and_i(mem, at, value)) if _bare(mem) else None


@overload(fetch_max)
def _fetch_max(mem, at, value):
    return (lambda mem, at, value: _fetch_max_i(mem, at, value)) if _bare(mem) else None


@overload(fetch_min)
def _fetch_min(mem, at, value):
    return (lambda mem, at, value: _fetch_min_i(mem, at, value)) if _bare(mem) else None


@overload(fence)
def _fence(mem):
    return (lambda mem: _fence_i()) if _bare(mem) else None


@overload(barrier)
def _barrier(mem):
    return (lambda mem: _barrier_i()) if _bare(mem) else None


@overload(pause)
def _pause(mem):
    return (lambda mem: _pause_i()) if _bare(mem) else None


@overload(prefetch)
def _prefetch(mem, at):
    return (lambda mem, at: _prefetch_i(mem, at)) if _bare(mem) else None


@overload(prefetch_read)
def _prefetch_read(mem, at):
    return (lambda mem, at: _prefetch_read_i(mem, at)) if _bare(mem) else None
