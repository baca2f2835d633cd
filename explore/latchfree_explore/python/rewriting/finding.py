"""Find the scopes of a module, and which variables threads may share.

A variable of a module is shared if some function declares it ``global``, or if it is known that others write it. A
variable of a function is shared if a function inside captures it and it may change after that: an inner function
assigns it, or its own does so further down, or in the same loop. Anything else that is captured has its last value by
then.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import TypeAlias

from latchfree_explore.python.rewriting.scopes import Kind, Moment, Scope, mangled

Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef
Comprehension: TypeAlias = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp


class Scopes(ast.NodeVisitor):
    """The scopes of a module.

    Parameters
    ----------
    tree : ast.Module
    shared : iterable of str
        Variables of the module that others write.

    Attributes
    ----------
    module : Scope
    of : dict
        The scope of each node that has one.
    shared : set of str
        Variables of the module that functions assign, or others.
    """

    def __init__(self, tree: ast.Module, shared: Iterable[str] = ()) -> None:
        self.module = self._scope = Scope(None, Moment(0, frozenset()), Kind.MODULE)
        self.of: dict[ast.AST, Scope] = {}
        self.shared: set[str] = set(shared)
        self._classes: list[str] = []
        self._loops: tuple[int, ...] = ()
        self._count = 0
        self._all: list[Scope] = [self.module]
        self.generic_visit(tree)
        for scope in self._all:
            self._find_bound_inside(scope)
        for scope in self._all:
            self._find_captured(scope)

    # what changes ----------------------------------------------------------------------------------------------------

    @staticmethod
    def _find_bound_inside(scope: Scope) -> None:
        """Note which variables of scopes around one scope assigns."""
        for name in scope.bound:
            home = scope.home(name)
            if home is None or home is scope:
                continue
            path = list(scope.path_from(home))
            if any(each.later for each in path):
                home.changing.add(name)
            else:
                home.bound.setdefault(name, []).append(path[-1].made)

    @staticmethod
    def _find_captured(scope: Scope) -> None:
        """Note which variables of scopes around may change after this scope has captured them."""
        for name in scope.used:
            home = scope.home(name)
            if home is None or home is scope:
                continue
            path = list(scope.path_from(home))
            captured = any(each.later for each in path)
            if captured and any(each.may_follow(path[-1].made) for each in home.bound.get(name, ())):
                home.changing.add(name)

    # names -----------------------------------------------------------------------------------------------------------

    def _now(self) -> Moment:
        self._count += 1
        return Moment(self._count, frozenset(self._loops))

    def _bind(self, name: str) -> None:
        name = mangled(name, self._classes)
        self._scope.bound.setdefault(name, []).append(self._now())

    def visit_Name(self, node: ast.Name) -> None:
        """Note a name."""
        if isinstance(node.ctx, ast.Load):
            self._scope.used.add(mangled(node.id, self._classes))
        else:
            self._bind(node.id)

    def visit_Global(self, node: ast.Global) -> None:
        """Note that names are those of the module."""
        names = [mangled(name, self._classes) for name in node.names]
        self._scope.declared.update(dict.fromkeys(names, "global"))
        if self._scope is not self.module:
            self.shared.update(names)

    def visit_Nonlocal(self, node: ast.Nonlocal) -> None:
        """Note that names are those of a function around."""
        self._scope.declared.update(dict.fromkeys((mangled(name, self._classes) for name in node.names), "nonlocal"))

    def visit_NamedExpr(self, node: ast.NamedExpr) -> None:
        """Note a name that the function around a comprehension gets."""
        self.visit(node.value)
        self._bind(node.target.id)
        scope, name = self._scope, mangled(node.target.id, self._classes)
        while scope.kind in (Kind.GENERATOR, Kind.CONTAINER) and scope.outer is not None:
            scope.declared[name] = "nonlocal"
            scope = scope.outer
            scope.bound.setdefault(name, []).append(self._now())

    def visit_alias(self, node: ast.alias) -> None:
        """Note what an import binds."""
        self._bind(node.asname or node.name.partition(".")[0])

    def _captures(self, node: ast.ExceptHandler | ast.MatchAs | ast.MatchStar) -> None:
        if node.name is not None:
            self._bind(node.name)
        self.generic_visit(node)

    visit_MatchAs = visit_MatchStar = _captures

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        """Note the name of the error, which is deleted at the end."""
        self._captures(node)
        if node.name is not None:
            self._bind(node.name)

    def visit_MatchMapping(self, node: ast.MatchMapping) -> None:
        """Note what the rest of a mapping is bound to."""
        self.generic_visit(node)
        if node.rest is not None:
            self._bind(node.rest)

    # statements: in the order in which they are run ------------------------------------------------------------------

    def visit_Assign(self, node: ast.Assign) -> None:
        """Visit the value first, unless it is a function, which is not called before it has its name."""
        parts = [*node.targets, node.value] if isinstance(node.value, ast.Lambda) else [node.value, *node.targets]
        self._each(parts)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        """Visit the value first."""
        self._each([node.annotation, node.value])
        if node.simple or node.value is not None or not isinstance(node.target, ast.Name):
            self.visit(node.target)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        """Visit the value first."""
        self._each([node.value, node.target])
        if isinstance(node.target, ast.Name):
            self._scope.used.add(mangled(node.target.id, self._classes))

    def _for(self, node: ast.For | ast.AsyncFor) -> None:
        self.visit(node.iter)
        self._loop([node.target, *node.body])
        self._each(node.orelse)

    visit_For = visit_AsyncFor = _for

    def visit_While(self, node: ast.While) -> None:
        """Visit what goes round."""
        self._loop([node.test, *node.body])
        self._each(node.orelse)

    def _loop(self, nodes: Iterable[ast.AST]) -> None:
        self._count += 1
        self._loops = (*self._loops, self._count)
        self._each(nodes)
        self._loops = self._loops[:-1]

    def _each(self, nodes: Iterable[ast.AST | None]) -> None:
        for node in nodes:
            if node is not None:
                self.visit(node)

    # scopes ----------------------------------------------------------------------------------------------------------

    def _enter(self, node: ast.AST | None, kind: Kind = Kind.FUNCTION) -> tuple[Scope, tuple[int, ...]]:
        """Go into a new scope; return what `_leave` needs."""
        before = self._scope, self._loops
        self._scope = Scope(self._scope, self._now(), kind)
        self._loops = ()
        self._all.append(self._scope)
        if node is not None:
            self.of[node] = self._scope
        return before

    def _leave(self, before: tuple[Scope, tuple[int, ...]]) -> None:
        self._scope, self._loops = before

    def visit_FunctionDef(self, node: Function) -> None:
        """Visit what the scope around evaluates, then the function."""
        self._each([*node.decorator_list, *node.args.defaults, *node.args.kw_defaults])
        if not node.decorator_list:  # nobody calls it before it has its name
            self._bind(node.name)
        around = self._enter_types(node)
        self._each([*(each.annotation for each in _parameters(node.args)), node.returns])
        before = self._enter(node)
        for each in _parameters(node.args):
            self._bind(each.arg)
        self._each(node.body)
        self._leave(before)
        self._leave(around)
        if node.decorator_list:
            self._bind(node.name)

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_Lambda(self, node: ast.Lambda) -> None:
        """Visit the defaults, then the function."""
        self._each([*node.args.defaults, *node.args.kw_defaults])
        before = self._enter(node)
        for each in _parameters(node.args):
            self._bind(each.arg)
        self.visit(node.body)
        self._leave(before)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        """Visit decorators and bases, then the body."""
        self._each(node.decorator_list)
        if not node.decorator_list:
            self._bind(node.name)
        around = self._enter_types(node)
        self._each([*node.bases, *node.keywords])
        self._classes.append(node.name)
        before = self._enter(node, Kind.CLASS)
        self._each(node.body)
        self._leave(before)
        self._classes.pop()
        self._leave(around)
        if node.decorator_list:
            self._bind(node.name)

    def _enter_types(self, node: Function | ast.ClassDef) -> tuple[Scope, tuple[int, ...]]:
        """Go into the scope of the type parameters, if there are some."""
        parameters: list[ast.AST] = getattr(node, "type_params", [])
        if not parameters:
            return self._scope, self._loops
        before = self._enter(None, Kind.TYPES)
        for each in parameters:
            self._bind(each.name)  # type: ignore[attr-defined]
        return before

    def _comprehension(self, node: Comprehension) -> None:
        first, *others = node.generators
        self.visit(first.iter)
        before = self._enter(node, Kind.GENERATOR if isinstance(node, ast.GeneratorExp) else Kind.CONTAINER)
        rest: list[ast.AST] = [first.target, *first.ifs]
        for each in others:
            rest += [each.iter, each.target, *each.ifs]
        rest += [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        self._loop(rest)
        self._leave(before)

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = _comprehension


def _parameters(args: ast.arguments) -> list[ast.arg]:
    found = [*args.posonlyargs, *args.args, args.vararg, *args.kwonlyargs, args.kwarg]
    return [each for each in found if each is not None]
