"""The operators: in which small ways a kernel can be wrong.

Example: in ``if not cas(mem, i + MAIN, old, new): return LOST`` the operators leave the write out, write without
comparing, take a failure for a success, take `MAIN` for the word before or behind, and negate the test.

Each operator looks at one node of the syntax tree, and yields pairs of a word for what it does and the node in its
place. None weakens an order: under sequential consistency, where these mutants run, orders do not show
(``latchfree orders`` is about them). None touches barriers, which matter where a process is killed.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import Any, Final, TypeAlias

Change: TypeAlias = tuple[str, ast.AST | None]
"""A word for the kind of change, and the new node; None where the node is left out."""

#: Accesses of memory that others may change at the same time.
SHARED: Final = frozenset(
    ("load", "load_seq", "store", "cas", "exchange", "fetch_add", "fetch_or", "fetch_and", "fetch_max", "fetch_min")
)
_WRITES: Final = (SHARED - {"load", "load_seq"}) | {"poke", "fence"}
_HINTS: Final = frozenset(("barrier", "prefetch", "prefetch_read", "in_line", "out_of_line", "pause"))
_NEXT: Final[dict[type[ast.cmpop], type[ast.cmpop]]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt,
}  # fmt: skip
_CONTRARY: Final[dict[type[ast.cmpop], type[ast.cmpop]]] = {
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Lt: ast.GtE, ast.GtE: ast.Lt, ast.Gt: ast.LtE, ast.LtE: ast.Gt,
    ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip


def called(node: ast.AST) -> str:
    """Return the last part of the name of the function that a call names, "" for anything else."""
    if not isinstance(node, ast.Call):
        return ""
    return node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")


class Names:
    """What names mean in a kernel's module.

    Parameters
    ----------
    numbers : mapping
        The constants.
    kernels : set of str
        The names of kernels, by which others may be called.
    sharing : set of str
        Those of them that access memory that others may change.
    """

    def __init__(self, numbers: dict[str, int], kernels: set[str], sharing: set[str]) -> None:
        self.numbers, self.kernels, self.sharing = numbers, kernels, sharing


def drop(node: ast.AST, names: Names) -> Iterator[Change]:
    """Leave out an access, or a call of another kernel, whose result nobody uses."""
    if isinstance(node, ast.Expr):
        name = called(node.value)
        if name in _WRITES:
            yield "drop access", None
        elif name in names.kernels and name not in _HINTS:
            yield "drop call", None


def weaken(node: ast.AST, names: Names) -> Iterator[Change]:
    """Have a read-modify-write do less: no write, no comparison, or a failure that is taken for a success."""
    if not isinstance(node, ast.Call):
        return
    if called(node) not in SHARED:
        return
    mem_at, rest = node.args[:2], node.args[2:]
    read = ast.Call(ast.Name("load", ast.Load()), mem_at, [])
    if called(node) == "cas":
        yield "cas without write", ast.Compare(read, [ast.Eq()], [rest[0]])
        yield "cas without comparison", ast.Call(node.func, [*mem_at, read, rest[1]], [])
        yield "cas never fails", ast.BoolOp(ast.Or(), [node, ast.Constant(True)])
    elif called(node) in ("exchange", "fetch_add", "fetch_or", "fetch_max"):
        yield f"{called(node)} without write", read


def negate(node: ast.AST, names: Names) -> Iterator[Change]:
    """Turn a test round, one side of it, or its end; take "and" for "or"; return the contrary."""
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        op = type(node.ops[0])
        if op in _CONTRARY:
            yield "negate", ast.Compare(node.left, [_CONTRARY[op]()], node.comparators)
        if op in _NEXT:
            yield "off by one", ast.Compare(node.left, [_NEXT[op]()], node.comparators)
    elif isinstance(node, ast.BoolOp):
        other = ast.And() if isinstance(node.op, ast.Or) else ast.Or()
        yield "and/or", ast.BoolOp(other, node.values)
        for k in range(len(node.values)):
            rest = [value for at, value in enumerate(node.values) if at != k]
            yield "drop condition", rest[0] if len(rest) == 1 else ast.BoolOp(node.op, rest)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield "negate", node.operand
    elif isinstance(node, ast.If | ast.While | ast.IfExp) and isinstance(node.test, ast.Call | ast.Name):
        yield "negate", _with_test(node, ast.UnaryOp(ast.Not(), node.test))
    elif isinstance(node, ast.Return) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, bool):
        yield "negate", ast.Return(ast.Constant(not node.value.value))


def _with_test(node: Any, test: ast.expr) -> ast.AST:
    fields = {**dict(ast.iter_fields(node)), "test": test}
    return type(node)(**fields)  # type: ignore[no-any-return]


def _number(node: ast.expr, names: Names) -> int | None:
    if isinstance(node, ast.Name):
        return names.numbers.get(node.id)
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return node.value
    return None


def _word(value: int) -> ast.expr:
    return ast.Call(ast.Attribute(ast.Name("np", ast.Load()), "uint64", ast.Load()), [ast.Constant(value)], [])


def off_by_one(node: ast.AST, names: Names) -> Iterator[Change]:
    """Add one to a constant of a sum, a shift or an order, or take one from it; begin or end a loop one off.

    A test for equality has no neighbours: `negate` turns it round, which is wrong wherever the test matters.
    """
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub | ast.LShift | ast.RShift):
        for new in _neighbours(node.right, names):
            yield "off by one", ast.BinOp(node.left, node.op, new)
    elif isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in _NEXT:
        for new in _neighbours(node.comparators[0], names):
            yield "off by one", ast.Compare(node.left, node.ops, [new])
    elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
        for new in _neighbours(node.value, names):
            yield "off by one", ast.AugAssign(node.target, node.op, new)
    elif called(node) == "range":
        assert isinstance(node, ast.Call)
        *first, end = node.args
        yield "off by one", ast.Call(node.func, [*first, ast.BinOp(end, ast.Sub(), ast.Constant(1))], [])
        start = [ast.BinOp(first[0], ast.Add(), ast.Constant(1))] if first else [ast.Constant(1)]
        yield "off by one", ast.Call(node.func, [*start, end], [])


def _neighbours(node: ast.expr, names: Names) -> Iterator[ast.expr]:
    value = _number(node, names)
    if value is None:
        return
    if value < (1 << 64) - 1:
        yield _word(value + 1)
    if 0 < value <= 2:  # of larger numbers, such as those of fields, one less is as wrong as one more
        yield _word(value - 1)


def change_argument(node: ast.AST, names: Names) -> Iterator[Change]:
    """Give another kernel a constant one off, such as the attempt's right to the reserve."""
    if isinstance(node, ast.Call) and called(node) in names.kernels:
        for k, argument in enumerate(node.args):
            value = _number(argument, names)
            if value is not None:
                new = _word(value + 1 if value < (1 << 64) - 1 else 0)
                yield "off by one", ast.Call(node.func, [*node.args[:k], new, *node.args[k + 1 :]], node.keywords)


OPERATORS: Final[tuple[Callable[[ast.AST, Names], Iterator[Change]], ...]] = (
    drop, weaken, negate, off_by_one, change_argument,
)  # fmt: skip
"""Those that look at one node; `latchfree_evidence.systematic.generating` swaps neighbours besides."""
