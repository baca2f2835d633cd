"""Rewrite what writes: assignments, ``x += y`` and ``del``.

In line 7, ``self.n = v`` becomes ``_lf_set(v, self, "n", 7)``. Where an attribute or item is one of several targets, as
in ``self.n, b = v``, its value goes to a name first, and from there to its place.
"""

from __future__ import annotations

import ast

from latchfree_explore.python.rewriting.trees import OPERATORS, Hooks, index, located, the_globals


class Writing(Hooks):
    """Turns what writes into calls of hooks."""

    def visit_Assign(self, node: ast.Assign) -> ast.AST | list[ast.stmt]:
        """Rewrite an assignment, target by target from the left."""
        value: ast.expr = self.visit(node.value)
        if self._depth == 0:
            node.value = value
            return node
        if len(node.targets) == 1:
            return self._store(node.targets[0], value, node)
        kept = self._temporary()
        done: list[ast.stmt] = [located(ast.Assign([ast.Name(kept, ast.Store())], value), node)]
        for target in node.targets:
            done += self._store(target, ast.Name(kept, ast.Load()), node)
        return done

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST | list[ast.stmt]:
        """Rewrite an assignment with an annotation."""
        if node.value is None:
            return node
        value: ast.expr = self.visit(node.value)
        if self._depth == 0 or (isinstance(node.target, ast.Name) and not self._is_shared(node.target)):
            node.value = value
            return node
        return self._store(node.target, value, node)

    def _store(self, target: ast.expr, value: ast.expr, at: ast.AST) -> list[ast.stmt]:
        """Return statements that assign a visited value."""
        if isinstance(target, ast.Attribute):
            owner: ast.expr = self.visit(target.value)
            return [self._does("set", at, value, owner, self._mangled(target.attr))]
        if isinstance(target, ast.Subscript):
            return [self._does("set_item", at, value, self.visit(target.value), index(self.visit(target.slice)))]
        if isinstance(target, ast.Name) and self._is_cell(target.id):
            value = self._hook("to_cell", at, value, self._cell(target.id))
        elif isinstance(target, ast.Name) and target.id in self._variables:
            value = self._hook("to_variable", at, value, ast.Constant(target.id), the_globals())
        elif isinstance(target, ast.Tuple | ast.List):
            value = self._hook("seen", at, value)
        new, extra = self._target(target, at)
        return [located(ast.Assign([new], value), at), *extra]

    def _does(self, name: str, at: ast.AST, *arguments: ast.expr) -> ast.stmt:
        return located(ast.Expr(self._hook(name, at, *arguments)), at)

    def _target(self, target: ast.expr, at: ast.AST) -> tuple[ast.expr, list[ast.stmt]]:
        """Return a target of plain names only, and statements that hand them on to the places meant."""
        if self._depth == 0:
            return target, []
        if isinstance(target, ast.Tuple | ast.List):
            pairs = [self._target(each, at) for each in target.elts]
            new = type(target)([each for each, _ in pairs], ast.Store())
            return located(new, target), [statement for _, extra in pairs for statement in extra]
        if isinstance(target, ast.Starred):
            inner, extra = self._target(target.value, at)
            return located(ast.Starred(inner, ast.Store()), target), extra
        if isinstance(target, ast.Name):
            return target, []
        kept = self._temporary()
        return located(ast.Name(kept, ast.Store()), target), self._store(target, ast.Name(kept, ast.Load()), at)

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST | list[ast.stmt]:
        """Rewrite ``x += y`` as a read, the operation and a write."""
        value: ast.expr = self.visit(node.value)
        if self._depth == 0:
            node.value = value
            return node
        word = ast.Constant("i" + OPERATORS[type(node.op)])
        target = node.target
        if isinstance(target, ast.Name):
            old: ast.expr = self.visit(located(ast.Name(target.id, ast.Load()), node))
            return self._store(target, self._hook("binary", node, word, old, value), node)
        owner = self._temporary()
        before: list[ast.stmt] = [located(ast.Assign([ast.Name(owner, ast.Store())], self.visit(target.value)), node)]
        base = ast.Name(owner, ast.Load())
        if isinstance(target, ast.Attribute):
            name = self._mangled(target.attr)
            old = self._hook("get", node, base, name)
            return [*before, self._does("set", node, self._hook("binary", node, word, old, value), base, name)]
        key = self._temporary()
        before.append(located(ast.Assign([ast.Name(key, ast.Store())], index(self.visit(target.slice))), node))
        at = ast.Name(key, ast.Load())
        old = self._hook("item", node, base, at)
        return [*before, self._does("set_item", node, self._hook("binary", node, word, old, value), base, at)]

    def visit_Delete(self, node: ast.Delete) -> ast.AST | list[ast.stmt]:
        """Rewrite the removal of attributes and items."""
        if self._depth == 0:
            return node
        done: list[ast.stmt] = []
        for target in node.targets:
            if isinstance(target, ast.Attribute):
                done.append(self._does("delete", node, self.visit(target.value), self._mangled(target.attr)))
            elif isinstance(target, ast.Subscript):
                key = index(self.visit(target.slice))
                done.append(self._does("delete_item", node, self.visit(target.value), key))
            else:
                done.append(located(ast.Delete([target]), node))
        return done
