"""Rewriting of a kernel into plain Python: words are ints, an access is a subscript, or a step that is yielded.

Example: ``poke(mem, node + PREV, old)`` becomes ``mem[node + 1 & WORD] = old``. Where steps are wanted, ``load(mem,
at)`` becomes ``(yield ("load", mem, at))``: whoever runs the generator decides when the access is made, and sends its
result. The begin of a kernel and each round of a loop is a step (`latchfree_evidence.systematic.limits`).

What the kernel computes is what its compiled code computes as long as it computes on words: sums, differences,
products and shifts to the left are cut to 64 bits. Numba and the machine are not covered; the compiled layers are
there for that.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Final, NamedTuple

from latchfree_evidence.systematic.plain.words import STEPS, WORD

#: Operators whose results may need more than 64 bits, or be negative.
_CUT: Final = (ast.Add, ast.Sub, ast.Mult, ast.LShift)
#: The word of a context with the address of an arena: who reads it wants a memory handle.
_BASE: Final = "BASE"


class Callee(NamedTuple):
    """What a name stands for in a call.

    Attributes
    ----------
    kind : str
        "access", "uint64", "int64", "int32", "kernel", "steps" (a kernel that makes steps), or "other".
    name : str
        Of the access; or the name to call it by in the scope of the translated function.
    """

    kind: str
    name: str = ""


def _is_structure(mem: ast.expr) -> bool:
    """Return whether a handle is that of the structure, and not the address of a caller's buffer."""
    return isinstance(mem, ast.Name) and mem.id == "mem"


def _counted(body: list[ast.stmt]) -> list[ast.stmt]:
    """Return statements that take a step first."""
    return [ast.copy_location(ast.Expr(_call("_take_step", [])), body[0]), *body]


def _call(name: str, arguments: list[ast.expr]) -> ast.Call:
    return ast.Call(ast.Name(name, ast.Load()), arguments, [])


class Translation(ast.NodeTransformer):
    """Rewrites one function.

    Parameters
    ----------
    resolve : callable
        Says what the function of a call stands for.
    steps : bool
        Whether accesses are yielded.

    Attributes
    ----------
    makes_steps : bool
        Whether the function has become a generator.
    """

    def __init__(self, resolve: Callable[[ast.expr], Callee], *, steps: bool) -> None:
        self._resolve = resolve
        self._steps = steps
        self.makes_steps = False

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        """Drop decorators and annotations."""
        node.decorator_list = []
        node.returns = None
        for argument in (*node.args.args, *node.args.kwonlyargs):
            argument.annotation = None
        node.body = _counted([self.visit(statement) for statement in node.body])
        return node

    def visit_While(self, node: ast.While) -> ast.AST:
        """Count the rounds."""
        self.generic_visit(node)
        node.body = _counted(node.body)
        return node

    def visit_For(self, node: ast.For) -> ast.AST:
        """Count the rounds."""
        self.generic_visit(node)
        node.body = _counted(node.body)
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        """Drop the annotation."""
        assert node.value is not None
        return ast.copy_location(ast.Assign([self.visit(node.target)], self.visit(node.value)), node)

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        """Cut a result to a word."""
        self.generic_visit(node)
        return self._cut(node) if isinstance(node.op, _CUT) else node

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        """Turn all bits of a word."""
        self.generic_visit(node)
        if isinstance(node.op, ast.Invert):
            return ast.copy_location(ast.BinOp(node.operand, ast.BitXor(), ast.Constant(WORD)), node)
        return node

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        """Cut the new value of a variable."""
        self.generic_visit(node)
        if isinstance(node.target, ast.Name) and isinstance(node.op, _CUT):
            now = ast.Name(node.target.id, ast.Load())
            return ast.copy_location(ast.Assign([node.target], self._cut(ast.BinOp(now, node.op, node.value))), node)
        return node

    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        """Write a plain word by a subscript."""
        call = node.value
        if isinstance(call, ast.Call) and len(call.args) == 3:
            callee = self._resolve(call.func)
            if callee.kind == "access" and callee.name in ("poke", "store") and not self._yields(callee):
                mem, at, value = (self.visit(each) for each in call.args)
                if not _is_structure(mem):
                    return ast.copy_location(ast.Expr(_call(f"_do_{callee.name}", [mem, at, value])), node)
                return ast.copy_location(ast.Assign([ast.Subscript(mem, at, ast.Store())], value), node)
        self.generic_visit(node)
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """Translate an access, a conversion, or the call of another kernel."""
        callee = self._resolve(node.func)
        arguments = [self.visit(argument) for argument in node.args]
        made: ast.expr
        if callee.kind == "uint64":
            made = arguments[0] if isinstance(arguments[0], ast.Constant) else self._cut(arguments[0])
        elif self._yields(callee):
            made = ast.Yield(ast.Tuple([ast.Constant(callee.name), *arguments], ast.Load()))
            self.makes_steps = True
        elif callee.kind == "access":
            reads = callee.name in ("load", "load_seq", "peek") and _is_structure(arguments[0])
            made = (
                ast.Subscript(arguments[0], arguments[1], ast.Load())
                if reads
                else _call(f"_do_{callee.name}", arguments)
            )
            if callee.name == "peek" and isinstance(arguments[1], ast.Name) and arguments[1].id == _BASE:
                made = _call("_do_memory", [made])
        elif isinstance(node.func, ast.Name) and node.func.id == "range":  # which may count down to -1
            ends = [_call("_signed", [each]) if isinstance(each, ast.BinOp) else each for each in arguments]
            made = ast.Call(node.func, ends, [])
        elif callee.kind == "other":
            made = ast.Call(node.func, arguments, node.keywords)
        else:
            made = _call(callee.name, arguments)
            if callee.kind == "steps":
                made = ast.YieldFrom(made)
                self.makes_steps = True
        return ast.copy_location(made, node)

    def _yields(self, callee: Callee) -> bool:
        return self._steps and callee.kind == "access" and callee.name in STEPS

    @staticmethod
    def _cut(value: ast.expr) -> ast.expr:
        return ast.copy_location(ast.BinOp(value, ast.BitAnd(), ast.Constant(WORD)), value)
