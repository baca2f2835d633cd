"""Rewrite what reads: variables, attributes, items, calls, operators, and the truth of a container.

In line 7, ``self.n`` becomes ``_lf_get(self, "n", 7)``, ``self.add(x)`` becomes ``_lf_bound(self, "add", 7)(x)``,
``x in y`` becomes ``_lf_contains(x, y, 7)``, and the test of
``if self.items:`` asks ``_lf_truth``. A hook is told of each new list, set and dictionary, too: from then on the
container may be shared.
"""

from __future__ import annotations

import ast
from typing import Final

from latchfree_explore.python.rewriting.trees import OPERATORS, Hooks, index, located

_PLAIN: Final = frozenset(
    {"super", "globals", "locals", "vars", "dir", "eval", "exec", "slice", "breakpoint", "__import__"}
)
_NAMES: Final = frozenset({"locals", "vars", "dir"})
"""Functions that return, without an argument, the names of the function that calls them."""
_COMPARED: Final = {ast.Eq: "eq", ast.NotEq: "ne", ast.Lt: "lt", ast.LtE: "le", ast.Gt: "gt", ast.GtE: "ge"}
_UNARY: Final = {ast.USub: "neg", ast.UAdd: "pos", ast.Invert: "invert"}
_TESTED: Final = (
    ast.Attribute, ast.Subscript, ast.Name, ast.NamedExpr, ast.Call, ast.Await, ast.Yield, ast.YieldFrom,
)  # fmt: skip
"""Expressions whose value may be a container that others change."""


class Reading(Hooks):
    """Turns what reads into calls of hooks."""

    def visit_Name(self, node: ast.Name) -> ast.AST:
        """Turn the reading of a variable that others assign into a hook."""
        if not isinstance(node.ctx, ast.Load) or not self._is_shared(node.id):
            return node
        word = "variable" if self._is_variable(node.id) else "own_cell" if self._is_own(node.id) else "cell"
        return self._hook(word, node, *self._place(node.id))

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        """Turn the reading of an attribute into a hook."""
        node.value = self.visit(node.value)
        if self._depth == 0 or not isinstance(node.ctx, ast.Load):
            return node
        return self._hook("get", node, node.value, self._mangled(node.attr))

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        """Turn the reading of an item into a hook."""
        self.generic_visit(node)
        if self._depth == 0 or not isinstance(node.ctx, ast.Load):
            return node
        return self._hook("item", node, node.value, index(node.slice))

    # calls -----------------------------------------------------------------------------------------------------------

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """Have a hook look up the function, or method, before the arguments are evaluated."""
        if self._depth == 0 or self._is_plain(node):
            return self._call_of_names(node)
        function = node.func
        arguments = [self._spread(each) for each in node.args]
        keywords = [ast.keyword(each.arg, self._spread_keyword(each)) for each in node.keywords]
        if any(isinstance(each, ast.Starred) for each in node.args) or any(each.arg is None for each in keywords):
            called = self._hook("spreading", node, self.visit(function))
        elif isinstance(function, ast.Attribute):
            called = self._hook("bound", node, self.visit(function.value), self._mangled(function.attr))
        else:
            called = self._hook("called", node, self.visit(function))
        return located(ast.Call(called, arguments, keywords), node)

    def _is_plain(self, node: ast.Call) -> bool:
        """Return whether a call is one of a built-in function that looks at the function that calls it."""
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        return name in _PLAIN and self._means_built_in(name) and not (name == "vars" and node.args)

    def _call_of_names(self, node: ast.Call) -> ast.AST:
        names = self._depth and isinstance(node.func, ast.Name) and node.func.id in _NAMES and not node.args
        self.generic_visit(node)
        return self._hook("visible", node, node) if names else node

    def _spread_keyword(self, node: ast.keyword) -> ast.expr:
        new: ast.expr = self.visit(node.value)
        return self._seen(new, node.value) if node.arg is None else new

    def _spread(self, node: ast.expr) -> ast.expr:
        if isinstance(node, ast.Starred):
            return located(ast.Starred(self._seen(self.visit(node.value), node), ast.Load()), node)
        new: ast.expr = self.visit(node)
        return new

    def _seen(self, new: ast.expr, at: ast.AST) -> ast.expr:
        """Return an expression whose value, if a container, is read there and then."""
        return new if self._depth == 0 or isinstance(new, ast.Constant) else self._hook("seen", at, new)

    def visit_Starred(self, node: ast.Starred) -> ast.AST:
        """Read what is spread out in a list or tuple."""
        node.value = self.visit(node.value)
        if isinstance(node.ctx, ast.Load):
            node.value = self._seen(node.value, node)
        return node

    def visit_FormattedValue(self, node: ast.FormattedValue) -> ast.AST:
        """Read what is put into a text."""
        self.generic_visit(node)
        node.value = self._hook("text", node.value, node.value) if self._depth else node.value
        return node

    # operators -------------------------------------------------------------------------------------------------------

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        """Read the contents of shared operands."""
        formats = isinstance(node.op, ast.Mod) and isinstance(node.left, ast.Constant | ast.JoinedStr)
        plain = not formats and not isinstance(node.op, ast.Mult) and _are_plain(node.left, node.right)
        self.generic_visit(node)
        if self._depth == 0 or plain:
            return node
        return self._hook("operate", node, ast.Constant(OPERATORS[type(node.op)]), node.left, node.right)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        """Rewrite the operand of ``not``; read that of another operator."""
        if isinstance(node.op, ast.Not):
            node.operand = self._truth(node.operand)
            return node
        plain = _are_plain(node.operand)
        self.generic_visit(node)
        if self._depth == 0 or plain:
            return node
        return self._hook("unary", node, ast.Constant(_UNARY[type(node.op)]), node.operand)

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        """Read the contents of shared operands, and whether an item is in a container."""
        plain = _are_plain(node.left, *node.comparators)
        self.generic_visit(node)
        if self._depth == 0:
            return node
        if len(node.ops) != 1:
            operands = [
                each if isinstance(each, ast.Constant) else self._hook("text", node, each)
                for each in (node.left, *node.comparators)
            ]
            node.left, node.comparators = operands[0], operands[1:]
            return node
        if isinstance(node.ops[0], ast.In | ast.NotIn):
            found = self._hook("contains", node, node.left, node.comparators[0])
            return found if isinstance(node.ops[0], ast.In) else located(ast.UnaryOp(ast.Not(), found), node)
        word = _COMPARED.get(type(node.ops[0]))
        if word is None or plain:
            return node
        return self._hook("operate", node, ast.Constant(word), node.left, node.comparators[0])

    # truth -----------------------------------------------------------------------------------------------------------

    def _truth(self, node: ast.expr) -> ast.expr:
        """Return a visited test: the truth of a container is its length."""
        if isinstance(node, ast.BoolOp):
            node.values = [self._truth(each) for each in node.values]
            return node
        if isinstance(node, ast.IfExp):
            node.test, node.body, node.orelse = map(self._truth, (node.test, node.body, node.orelse))
            return node
        asks = isinstance(node, _TESTED)
        new: ast.expr = self.visit(node)
        return self._hook("truth", node, new) if asks and self._depth else new

    def visit_If(self, node: ast.If) -> ast.AST:
        """Rewrite test and branches."""
        node.test = self._truth(node.test)
        node.body, node.orelse = self._block(node.body), self._block(node.orelse)
        return node

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        """Rewrite test and values."""
        node.test, node.body, node.orelse = self._truth(node.test), self.visit(node.body), self.visit(node.orelse)
        return node

    def visit_Assert(self, node: ast.Assert) -> ast.AST:
        """Rewrite the test."""
        node.test, node.msg = self._truth(node.test), node.msg and self.visit(node.msg)
        return node

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        """Rewrite the operands; the last one's truth is asked by whoever uses the value."""
        node.values = [*map(self._truth, node.values[:-1]), self.visit(node.values[-1])]
        return node

    # items one by one, and new containers ----------------------------------------------------------------------------

    def _iterated(self, node: ast.expr, how: str = "each") -> ast.expr:
        new: ast.expr = self.visit(node)
        return self._hook(how, node, new) if self._depth else new

    def visit_YieldFrom(self, node: ast.YieldFrom) -> ast.AST:
        """Each item that is handed on is an access."""
        node.value = self._iterated(node.value, "delegated")
        return node

    def _made(self, node: ast.AST) -> ast.AST:
        self.generic_visit(node)
        context = getattr(node, "ctx", None)
        if self._depth == 0 or isinstance(context, ast.Store | ast.Del):
            return node
        assert isinstance(node, ast.expr)
        return self._hook("made", node, node)

    visit_List = visit_Set = _made

    def visit_Dict(self, node: ast.Dict) -> ast.AST:
        """Read what is spread out in a dictionary."""
        new = self._made(node)
        node.values = [
            self._seen(value, node) if key is None else value for key, value in zip(node.keys, node.values, strict=True)
        ]
        return new


def _are_plain(*operands: ast.expr) -> bool:
    """Return whether an operand tells that none is a container: a text, or a number beside a number."""
    constants = [each for each in operands if isinstance(each, ast.Constant)]
    if len(constants) == len(operands) or any(isinstance(each, ast.JoinedStr) for each in operands):
        return True
    return any(not isinstance(each.value, int | float | complex | bytes) for each in constants)
