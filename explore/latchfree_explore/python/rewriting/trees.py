"""The trees that rewriting makes: calls of hooks, names of its own, and what a function knows of its variables.

Example: `_hook("get", at, owner, name)` is the tree of ``_lf_get(owner, name, 7)`` for an access in line 7. The name
of the hook is a constant (`codes`).
"""

from __future__ import annotations

import ast
from typing import Final, TypeVar

from latchfree_explore.python.core.names import HOOK
from latchfree_explore.python.rewriting.finding import Scopes
from latchfree_explore.python.rewriting.scopes import mangled

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
    scopes : Scopes
        What the names of the module mean.
    """

    def __init__(self, scopes: Scopes) -> None:
        self._scopes = scopes
        self._scope = scopes.module
        self._classes: list[str] = []
        self._depth = 0
        self._count = 0

    def _hook(self, name: str, at: ast.AST, *arguments: ast.expr) -> ast.expr:
        call = ast.Call(hook(name), [*arguments, ast.Constant(at.lineno)], [])  # type: ignore[attr-defined]
        return located(call, at)

    def _mangled(self, name: str) -> ast.expr:
        return ast.Constant(mangled(name, self._classes))

    def _temporary(self) -> str:
        self._count += 1
        return f"{PREFIX}{self._count}"

    # variables -------------------------------------------------------------------------------------------------------

    def _is_cell(self, name: str) -> bool:
        """Return whether a name means a variable that a function captures before it changes."""
        return self._scope.is_changing(mangled(name, self._classes))

    def _is_own(self, name: str) -> bool:
        """Return whether a name means a variable of the function itself."""
        return self._scope.home(mangled(name, self._classes)) is self._scope

    def _is_variable(self, name: str) -> bool:
        """Return whether a name means a variable of the module that functions assign."""
        name = mangled(name, self._classes)
        return name in self._scopes.shared and self._scope.home(name) is None

    def _is_shared(self, name: str) -> bool:
        """Return whether the reading and writing of a name are accesses."""
        return self._depth > 0 and (self._is_cell(name) or self._is_variable(name))

    def _means_built_in(self, name: str) -> bool:
        """Return whether a name is bound nowhere, so that a built-in function is meant."""
        return not self._scope.binds(mangled(name, self._classes))

    def _place(self, name: str) -> list[ast.expr]:
        """Return what the hooks of a shared variable are given: where it is."""
        if self._is_cell(name):
            return [self._cell(name)]
        return [self._mangled(name), the_globals()]

    def _cell(self, name: str) -> ast.expr:
        """Return a function of the variable, whose cell the hook finds."""
        marker = ast.arguments([], [ast.arg(PREFIX + "cell")], None, [], [], None, [ast.Constant(None)])
        return ast.Lambda(marker, load(name))

    def _written(self, name: str, value: ast.expr, at: ast.AST) -> ast.expr:
        """Return an expression that announces the writing of a variable and has the value that is then assigned."""
        if not self._is_shared(name):
            return value
        return self._hook("to_cell" if self._is_cell(name) else "to_variable", at, value, *self._place(name))

    # statements ------------------------------------------------------------------------------------------------------

    def _block(self, body: list[ast.stmt]) -> list[ast.stmt]:
        done: list[ast.stmt] = []
        for statement in body:
            new = self.visit(statement)
            done.extend(new if isinstance(new, list) else [new])
        return done

    def _does(self, name: str, at: ast.AST, *arguments: ast.expr) -> ast.stmt:
        return located(ast.Expr(self._hook(name, at, *arguments)), at)


def located(node: Node, at: ast.AST) -> Node:
    """Give a new node the place of one that it stands for."""
    return ast.copy_location(node, at)


def load(name: str) -> ast.expr:
    """Return the reading of a name."""
    return ast.Name(name, ast.Load())


def assigned(name: str, value: ast.expr, at: ast.AST) -> ast.stmt:
    """Return an assignment to a name that is not shared, or whose writing was announced."""
    return located(ast.Assign([ast.Name(name, ast.Store())], value), at)


def placeholder(name: str) -> bytes:
    """Return the constant that stands for a hook until the tree is compiled."""
    return (PREFIX + name).encode()


def hook(name: str) -> ast.expr:
    """Return a hook, to be called."""
    return ast.Constant(placeholder(name))


def the_globals() -> ast.expr:
    """Return a call of ``globals``, whatever the program calls so."""
    return ast.Call(hook("globals"), [], [])


def index(node: ast.expr) -> ast.expr:
    """Return an index as an expression that can be an argument."""
    if isinstance(node, ast.Slice):
        parts = [each or ast.Constant(None) for each in (node.lower, node.upper, node.step)]
        return ast.Call(hook("slice"), parts, [])
    if isinstance(node, ast.Tuple) and any(isinstance(each, ast.Slice) for each in node.elts):
        return ast.Tuple([index(each) for each in node.elts], ast.Load())
    return node
