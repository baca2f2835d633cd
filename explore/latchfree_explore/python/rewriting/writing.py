"""Rewrite what writes: assignments, ``x += y`` and ``del``.

In line 7, ``self.n = v`` becomes ``_lf_set(v, self, "n", 7)``. Where an attribute, an item or a shared variable is one
of several targets, as in ``self.n, b = v``, each value goes to a name first, and from there to its place, from the
left.
"""

from __future__ import annotations

import ast

from latchfree_explore.python.rewriting.trees import OPERATORS, Hooks, assigned, index, load, located


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
        done: list[ast.stmt] = [assigned(kept, value, node)]
        for target in node.targets:
            done += self._store(target, load(kept), node)
        return done

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST | list[ast.stmt]:
        """Rewrite an assignment with an annotation."""
        if node.value is None:
            return node
        value: ast.expr = self.visit(node.value)
        if self._depth == 0:
            node.value = value
            return node
        if isinstance(node.target, ast.Name):
            node.value = self._written(node.target.id, value, node)
            return node
        mentioned = ast.AnnAssign(ast.Name(self._temporary(), ast.Store()), node.annotation, None, 1)
        return [located(mentioned, node), *self._store(node.target, value, node)]  # what it mentions stays captured

    def visit_NamedExpr(self, node: ast.NamedExpr) -> ast.AST:
        """Announce the writing of a shared variable."""
        node.value = self._written(node.target.id, self.visit(node.value), node)
        return node

    def _store(self, target: ast.expr, value: ast.expr, at: ast.AST) -> list[ast.stmt]:
        """Return statements that assign a visited value."""
        if isinstance(target, ast.Attribute):
            owner: ast.expr = self.visit(target.value)
            return [self._does("set", at, value, owner, self._mangled(target.attr))]
        if isinstance(target, ast.Subscript):
            return [self._does("set_item", at, value, self.visit(target.value), index(self.visit(target.slice)))]
        if isinstance(target, ast.Name):
            return [located(ast.Assign([target], self._written(target.id, value, at)), at)]
        if not isinstance(target, ast.Tuple | ast.List):
            return [located(ast.Assign([target], value), at)]
        new, extra = self._unpacked(target, at)
        return [located(ast.Assign([new], self._hook("seen", at, value)), at), *extra]

    def _is_free(self, target: ast.expr) -> bool:
        """Return whether assigning to a target does no more than to give a variable that nobody else sees a value."""
        if isinstance(target, ast.Starred):
            return self._is_free(target.value)
        return isinstance(target, ast.Name) and not self._is_shared(target.id)

    def _target(self, target: ast.expr, at: ast.AST) -> tuple[ast.expr, list[ast.stmt]]:
        """Return a target that is a plain name, and statements that hand its value on to the places meant."""
        if self._depth == 0 or self._is_free(target):
            return target, []
        kept = self._temporary()
        return located(ast.Name(kept, ast.Store()), target), self._store(target, load(kept), at)

    def _unpacked(self, target: ast.Tuple | ast.List, at: ast.AST) -> tuple[ast.expr, list[ast.stmt]]:
        """Return a target of plain names only, and statements that hand them on to the places meant, from the left."""
        if all(map(self._is_free, target.elts)):
            return target, []
        names: list[ast.expr] = []
        done: list[ast.stmt] = []
        for each in target.elts:
            kept = self._temporary()
            name: ast.expr = ast.Name(kept, ast.Store())
            starred = isinstance(each, ast.Starred)
            names.append(ast.Starred(name, ast.Store()) if starred else name)
            done += self._store(each.value if isinstance(each, ast.Starred) else each, load(kept), at)
        return located(type(target)(names, ast.Store()), target), done

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST | list[ast.stmt]:
        """Rewrite ``x += y`` as a read, the operation and a write."""
        value: ast.expr = self.visit(node.value)
        if self._depth == 0:
            node.value = value
            return node
        word = ast.Constant("i" + OPERATORS[type(node.op)])
        target = node.target
        if isinstance(target, ast.Name):
            old: ast.expr = self.visit(located(load(target.id), node))
            return self._store(target, self._hook("operate", node, word, old, value), node)
        owner = self._temporary()
        before = [assigned(owner, self.visit(target.value), node)]
        base = load(owner)
        if isinstance(target, ast.Attribute):
            name = self._mangled(target.attr)
            old = self._hook("get", node, base, name)
            return [*before, self._does("set", node, self._hook("operate", node, word, old, value), base, name)]
        key = self._temporary()
        before.append(assigned(key, index(self.visit(target.slice)), node))
        at = load(key)
        old = self._hook("item", node, base, at)
        return [*before, self._does("set_item", node, self._hook("operate", node, word, old, value), base, at)]

    def visit_Delete(self, node: ast.Delete) -> ast.AST | list[ast.stmt]:
        """Rewrite the removal of attributes, items and shared variables."""
        if self._depth == 0:
            return node
        return [statement for target in node.targets for statement in self._removal(target, node)]

    def _removal(self, target: ast.expr, at: ast.AST) -> list[ast.stmt]:
        if isinstance(target, ast.Tuple | ast.List):
            return [statement for each in target.elts for statement in self._removal(each, at)]
        if isinstance(target, ast.Attribute):
            return [self._does("delete", at, self.visit(target.value), self._mangled(target.attr))]
        if isinstance(target, ast.Subscript):
            return [self._does("delete_item", at, self.visit(target.value), index(self.visit(target.slice)))]
        removed: list[ast.stmt] = [located(ast.Delete([target]), at)]
        if isinstance(target, ast.Name) and self._is_shared(target.id):
            word = "gone_cell" if self._is_cell(target.id) else "gone_variable"
            removed.insert(0, self._does(word, at, *self._place(target.id)))
        return removed
