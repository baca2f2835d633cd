"""The trees that rewriting makes: calls of hooks, names of its own, and what a function knows of its variables.

Example: `_hook("get", at, owner, name)` is the tree of ``_lf_get(owner, name, 7)`` for an access in line 7.
"""

from __future__ import annotations

import ast
from typing import Final, TypeVar

from latchfree_explore.python.core.names import HOOK

Node = TypeVar("Node", bound=ast.AST)

PREFIX: Final = HOOK
OPERATORS: Final = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.MatMult: "matmul", ast.Div: "truediv", ast.Mod: "mod",
    ast.Pow: "pow", ast.LShift: "lshift", ast.RShift: "rshift", ast.BitOr: "or", ast.BitXor: "xor",
    ast.BitAnd: "and", ast.FloorDiv: "floordiv",
}  # fmt: skip


class Hooks(ast.NodeTransformer):
    """Makes calls of hooks, and knows in which classes and functions it is.

    Parameters
    ----------
    variables : set of str
        Variables of the module that functions assign: their accesses are steps.
    """

    def __init__(self, variables: set[str]) -> None:
        self._variables = variables
        self._cells: list[set[str]] = []  # variables of closures that inner functions assign, a set for each function
        self._classes: list[str] = []
        self._depth = 0
        self._count = 0

    def _hook(self, name: str, at: ast.AST, *arguments: ast.expr) -> ast.expr:
        call = ast.Call(ast.Name(PREFIX + name, ast.Load()), [*arguments, ast.Constant(at.lineno)], [])  # type: ignore[attr-defined]
        return located(call, at)

    def _mangled(self, name: str) -> ast.expr:
        owner = self._classes[-1].lstrip("_") if self._classes else ""
        private = owner and name.startswith("__") and not name.endswith("__")
        return ast.Constant(f"_{owner}{name}" if private else name)

    def _temporary(self) -> str:
        self._count += 1
        return f"{PREFIX}{self._count}"

    def _is_cell(self, name: str) -> bool:
        return any(name in cells for cells in self._cells)

    def _is_shared(self, target: ast.Name) -> bool:
        return self._is_cell(target.id) or target.id in self._variables

    def _block(self, body: list[ast.stmt]) -> list[ast.stmt]:
        done: list[ast.stmt] = []
        for statement in body:
            new = self.visit(statement)
            done.extend(new if isinstance(new, list) else [new])
        return done

    def _cell(self, name: str) -> ast.expr:
        """Return a function of the variable, whose cell the hook finds."""
        marker = ast.arguments([], [ast.arg(PREFIX + "cell")], None, [], [], None, [ast.Constant(None)])
        return ast.Lambda(marker, ast.Name(name, ast.Load()))


def located(node: Node, at: ast.AST) -> Node:
    """Give a new node the place of one that it stands for."""
    return ast.copy_location(node, at)


def the_globals() -> ast.expr:
    """Return a call of ``globals``."""
    return ast.Call(ast.Name("globals", ast.Load()), [], [])


def index(node: ast.expr) -> ast.expr:
    """Return an index as an expression that can be an argument."""
    if isinstance(node, ast.Slice):
        return ast.Call(
            ast.Name("slice", ast.Load()),
            [each or ast.Constant(None) for each in (node.lower, node.upper, node.step)],
            [],
        )
    if isinstance(node, ast.Tuple) and any(isinstance(each, ast.Slice) for each in node.elts):
        return ast.Tuple([index(each) for each in node.elts], ast.Load())
    return node
