"""Rewrite what gives names a value without ``=``: loops, ``with``, ``def``, ``import``, ``except``, ``match``.

Where such a name is a shared variable, or an attribute stands in its place, the value goes to a name of ours first:
``for self.n in items:`` becomes ``for _lf_1 in items: _lf_set(_lf_1, self, "n", 7)``.
"""

from __future__ import annotations

import ast

from latchfree_explore.python.rewriting.finding import Function
from latchfree_explore.python.rewriting.reading import Reading
from latchfree_explore.python.rewriting.trees import PREFIX, assigned, load, located
from latchfree_explore.python.rewriting.writing import Writing


class Binding(Reading, Writing):
    """Turns what binds names into calls of hooks."""

    # loops and blocks ------------------------------------------------------------------------------------------------

    def _for(self, node: ast.For | ast.AsyncFor) -> ast.AST:
        """Rewrite a loop: each item of a container is an access."""
        node.iter = self._iterated(node.iter) if isinstance(node, ast.For) else self.visit(node.iter)
        node.target, extra = self._target(node.target, node)
        node.body, node.orelse = [*extra, *self._block(node.body)], self._block(node.orelse)
        return node

    visit_For = visit_AsyncFor = _for

    def _with(self, node: ast.With | ast.AsyncWith) -> ast.AST:
        """Rewrite a block: what the first item gives has its place before the second one is asked for."""
        first, *others = node.items
        first.context_expr = self.visit(first.context_expr)
        if self._depth and isinstance(node, ast.With):
            first.context_expr = self._hook("entered", first.context_expr, first.context_expr)
        extra: list[ast.stmt] = []
        if first.optional_vars is not None:
            first.optional_vars, extra = self._target(first.optional_vars, node)
        inner = self._block([located(type(node)(others, node.body), node)] if others else node.body)
        node.items, node.body = [first], [*extra, *inner]
        return node

    visit_With = visit_AsyncWith = _with

    def _comprehension(self, node: ast.comprehension, first: bool) -> list[ast.comprehension]:
        """Rewrite a loop of a comprehension; `first` if its items were visited before."""
        if not first:
            node.iter = self.visit(node.iter) if node.is_async else self._iterated(node.iter)
        conditions = [self._truth(each) for each in node.ifs]
        loops = [node]
        if self._depth and not self._is_free(node.target):
            node.target, extra = self._target(node.target, node.iter)
            loops += [_once(each) for each in extra]
        node.ifs, loops[-1].ifs = [], conditions
        return loops

    def _all_comprehensions(self, node: ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp) -> None:
        """Rewrite a comprehension: the first items belong to the scope around."""
        first = node.generators[0]
        if first.is_async:
            first.iter = self.visit(first.iter)
        else:
            first.iter = self._iterated(first.iter)
        scope, self._scope = self._scope, self._scopes.of[node]
        node.generators = [loop for each in node.generators for loop in self._comprehension(each, each is first)]
        if isinstance(node, ast.DictComp):
            node.key, node.value = self.visit(node.key), self.visit(node.value)
        else:
            node.elt = self.visit(node.elt)
        self._scope = scope

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> ast.AST:
        """Rewrite a generator."""
        self._all_comprehensions(node)
        return node

    def _container(self, node: ast.ListComp | ast.SetComp | ast.DictComp) -> ast.AST:
        """Rewrite a comprehension that makes a container."""
        self._all_comprehensions(node)
        return self._hook("made", node, node) if self._depth else node

    visit_ListComp = visit_SetComp = visit_DictComp = _container

    # definitions -----------------------------------------------------------------------------------------------------

    def _announced(self, node: Function | ast.ClassDef) -> None:
        """Have the last decorator announce the writing of a shared variable: the function, or class, is known then."""
        if self._is_shared(node.name):
            at = node.decorator_list[0] if node.decorator_list else node
            word = "binds_cell" if self._is_cell(node.name) else "binds_variable"
            node.decorator_list.insert(0, self._hook(word, at, *self._place(node.name)))

    def visit_Import(self, node: ast.Import | ast.ImportFrom) -> ast.AST | list[ast.stmt]:
        """Exchange what a function imports for what is under control."""
        if self._depth == 0 or any(alias.name == "*" for alias in node.names):
            return node
        done: list[ast.stmt] = []
        for alias in node.names:
            name = alias.asname or alias.name.partition(".")[0]
            kept = self._temporary() if self._is_shared(name) else name
            for each in _imports(node, alias, kept) if kept != name else [alias]:
                done.append(located(_with_names(node, each), node))
            found = self._hook("twin", node, load(kept))
            done.append(assigned(name, self._written(name, found, node), node))
        return done

    visit_ImportFrom = visit_Import

    # handlers and patterns -------------------------------------------------------------------------------------------

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> ast.AST:
        """Rewrite a handler: the error has its name as long as the handler runs."""
        node.type = node.type and self.visit(node.type)
        body = self._block(node.body)
        if node.name is not None and self._is_shared(node.name):
            name, kept = node.name, self._temporary()
            nothing = self._store(ast.Name(name, ast.Store()), ast.Constant(None), node)
            gone = self._removal(ast.Name(name, ast.Del()), node)
            block = located(ast.Try(body, [], [], [*nothing, *gone]), node)
            node.name = kept
            body = [*self._store(ast.Name(name, ast.Store()), load(kept), node), block]
        node.body = body
        return node

    def visit_Match(self, node: ast.Match) -> ast.AST:
        """Rewrite the subject, the names that patterns give, the guards and the bodies."""
        subject = self.visit(node.subject)
        if self._depth:
            depth = max(_depth(case.pattern) for case in node.cases)
            subject = self._hook("matched", node.subject, subject, ast.Constant(depth))
        node.subject = subject
        for case in node.cases:
            case.guard = case.guard and self._truth(case.guard)
            captured = self._captured(case.pattern)
            if captured:
                case.guard = _last([*captured, case.guard or ast.Constant(True)], case.pattern)
            case.body = self._block(case.body)
        return node

    def _captured(self, pattern: ast.pattern) -> list[ast.expr]:
        """Have the patterns give names of ours in place of shared variables; return the assignments to those."""
        kept: dict[str, str] = {}  # alternatives give the same names
        for each in ast.walk(pattern):
            field = "rest" if isinstance(each, ast.MatchMapping) else "name"
            name: str | None = getattr(each, field, None)
            if name is not None and self._is_shared(name):
                kept[name] = kept.get(name) or self._temporary()
                setattr(each, field, kept[name])
        return [
            located(ast.NamedExpr(ast.Name(name, ast.Store()), self._written(name, load(ours), pattern)), pattern)
            for name, ours in kept.items()
        ]


def _once(statement: ast.stmt) -> ast.comprehension:
    """Return a statement of `Writing` as a loop of a comprehension, which goes round once."""
    if isinstance(statement, ast.Assign):
        return ast.comprehension(statement.targets[0], ast.List([statement.value], ast.Load()), [], 0)
    assert isinstance(statement, ast.Expr)
    return ast.comprehension(ast.Name(PREFIX + "done", ast.Store()), ast.List([statement.value], ast.Load()), [], 0)


def _last(values: list[ast.expr], at: ast.AST) -> ast.expr:
    """Return an expression that evaluates some, and has the value of the last one."""
    return located(ast.Subscript(ast.Tuple(values, ast.Load()), ast.Constant(-1), ast.Load()), at)


def _depth(pattern: ast.pattern) -> int:
    """Return how deep a pattern looks into objects: 1 if it asks for attributes of the subject only."""
    inner = [_depth(each) for each in ast.iter_child_nodes(pattern) if isinstance(each, ast.pattern)]
    deeper = isinstance(pattern, ast.MatchClass | ast.MatchSequence | ast.MatchMapping)
    return max(inner, default=0) + deeper


def _imports(node: ast.Import | ast.ImportFrom, alias: ast.alias, name: str) -> list[ast.alias]:
    """Return an import under another name; ``import a.b`` imports ``a.b``, and has ``a``."""
    if isinstance(node, ast.ImportFrom) or alias.asname is not None or "." not in alias.name:
        return [ast.alias(alias.name, name)]
    return [ast.alias(alias.name, name), ast.alias(alias.name.partition(".")[0], name)]


def _with_names(node: ast.Import | ast.ImportFrom, alias: ast.alias) -> ast.stmt:
    if isinstance(node, ast.ImportFrom):
        return ast.ImportFrom(node.module, [alias], node.level)
    return ast.Import([alias])
