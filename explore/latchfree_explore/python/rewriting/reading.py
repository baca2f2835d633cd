"""Rewrite what reads: variables, attributes, items, calls, operators, and the truth of a container.

In line 7, ``self.n`` becomes ``_lf_get(self, "n", 7)``, ``x in y`` becomes ``_lf_contains(x, y, 7)``, and the test of
``if self.items:`` asks ``_lf_truth``. A hook is told of each new list, set and dictionary, too: from then on the
container may be shared.
"""

from __future__ import annotations

import ast
from typing import Final

from latchfree_explore.python.rewriting.trees import OPERATORS, PREFIX, Hooks, index, located, the_globals

_PLAIN: Final = frozenset(
    {"super", "globals", "locals", "vars", "dir", "eval", "exec", "slice", "breakpoint", "__import__"}
)
_READ_BY_OPERATORS: Final = (ast.Add, ast.Sub, ast.Mult, ast.BitOr, ast.BitAnd, ast.BitXor, ast.Mod, ast.MatMult)
_COMPARED: Final = {ast.Eq: "eq", ast.NotEq: "ne", ast.Lt: "lt", ast.LtE: "le", ast.Gt: "gt", ast.GtE: "ge"}


class Reading(Hooks):
    """Turns what reads into calls of hooks."""

    def visit_Name(self, node: ast.Name) -> ast.AST:
        """Turn the reading of a variable that others assign into a hook."""
        if self._depth == 0 or not isinstance(node.ctx, ast.Load):
            return node
        if self._is_cell(node.id):
            return self._hook("cell", node, self._cell(node.id))
        if node.id in self._variables:
            return self._hook("variable", node, ast.Constant(node.id), the_globals())
        return node

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
        if isinstance(node.slice, ast.Tuple) and any(
            isinstance(each, ast.Starred | ast.Slice) for each in node.slice.elts
        ):
            return node
        return self._hook("item", node, node.value, index(node.slice))

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """Hand function and arguments to a hook, which makes the call."""
        function = node.func
        plain = isinstance(function, ast.Name) and function.id in _PLAIN and not (function.id == "vars" and node.args)
        if self._depth == 0 or plain:
            return self.generic_visit(node)
        line = ast.Constant(node.lineno)
        if isinstance(function, ast.Attribute):
            head = [line, self.visit(function.value), self._mangled(function.attr)]
            name = "method"
        else:
            head = [line, self.visit(function)]
            name = "call"
        arguments = [self._spread(each) for each in node.args]
        keywords = [
            ast.keyword(
                each.arg, self._seen(self.visit(each.value), each.value) if each.arg is None else self.visit(each.value)
            )
            for each in node.keywords
        ]
        return located(ast.Call(ast.Name(PREFIX + name, ast.Load()), [*head, *arguments], keywords), node)

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

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        """Read the contents of shared operands."""
        text = isinstance(node.op, ast.Mod) and isinstance(node.left, ast.Constant | ast.JoinedStr)
        shared = _shared(node.left, node.right) or text or isinstance(node.op, ast.Mult)
        self.generic_visit(node)
        if self._depth == 0 or not shared or not isinstance(node.op, _READ_BY_OPERATORS):
            return node
        return self._hook("binary", node, ast.Constant(OPERATORS[type(node.op)]), node.left, node.right)

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        """Read the contents of shared operands, and whether an item is in a container."""
        shared = _shared(node.left, *node.comparators)
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
        if word is None or not shared:
            return node
        return self._hook("binary", node, ast.Constant(word), node.left, node.comparators[0])

    # truth -----------------------------------------------------------------------------------------------------------

    def _truth(self, node: ast.expr) -> ast.expr:
        """Return a visited test: the truth of a container is its length."""
        new: ast.expr = self.visit(node)
        asks = isinstance(node, ast.Attribute | ast.Subscript | ast.Name | ast.NamedExpr)
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

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        """Rewrite the operand of ``not``."""
        node.operand = self._truth(node.operand) if isinstance(node.op, ast.Not) else self.visit(node.operand)
        return node

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        """Rewrite the operands; the last one's truth is asked by whoever uses the value."""
        node.values = [*map(self._truth, node.values[:-1]), self.visit(node.values[-1])]
        return node

    # items one by one, and new containers ----------------------------------------------------------------------------

    def _iterated(self, node: ast.expr) -> ast.expr:
        new: ast.expr = self.visit(node)
        return self._hook("each", node, new) if self._depth else new

    def visit_YieldFrom(self, node: ast.YieldFrom) -> ast.AST:
        """Each item that is handed on is an access."""
        node.value = self._iterated(node.value)
        return node

    def _made(self, node: ast.AST) -> ast.AST:
        self.generic_visit(node)
        context = getattr(node, "ctx", None)
        if self._depth == 0 or isinstance(context, ast.Store | ast.Del):
            return node
        assert isinstance(node, ast.expr)
        return self._hook("made", node, node)

    visit_List = visit_Dict = visit_Set = visit_ListComp = visit_SetComp = visit_DictComp = _made


def _shared(*operands: ast.expr) -> bool:
    """Return whether an operand may be a container that others change: no operand is a number or a text."""
    return not any(isinstance(each, ast.Constant | ast.JoinedStr) for each in operands)
