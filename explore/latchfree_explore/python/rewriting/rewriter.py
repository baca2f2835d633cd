"""Rewrite functions so that every access to what threads may share is a call of a hook that receives the object.

``self.n = self.n + 1`` becomes ``_lf_set(self, "n", _lf_get(self, "n", 7) + 1, 7)``. Only the bodies of functions are
rewritten: modules and classes are made once, before threads run. Each hook gets its line as the last argument.
Private names are mangled here, as the compiler would. Names of hooks have one underscore, as two would be
mangled.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable

from latchfree_explore.python.rewriting.binding import Binding
from latchfree_explore.python.rewriting.finding import Function, Scopes
from latchfree_explore.python.rewriting.trees import assigned, load, located


def rewritten(source: str, file: str, shared: Iterable[str] = ()) -> ast.Module:
    """Return the tree of a module whose functions call the hooks.

    Parameters
    ----------
    source, file : str
        The text of the module, and the file that tracebacks name.
    shared : iterable of str
        Variables of the module that others write.

    Raises
    ------
    SyntaxError
        If the source is not Python.
    """
    tree = ast.parse(source, file)
    Rewriter(Scopes(tree, shared)).visit(tree)
    return ast.fix_missing_locations(tree)


class Rewriter(Binding):
    """Turns accesses into calls of hooks: `Binding`, and the functions, classes and loops around."""

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        """Rewrite the methods, and the body of a class that a function makes."""
        node.decorator_list = [self.visit(each) for each in node.decorator_list]
        node.bases = [self.visit(each) for each in node.bases]
        node.keywords = [self.visit(each) for each in node.keywords]
        self._announced(node)
        scope, self._scope = self._scope, self._scopes.of[node]
        self._classes.append(node.name)
        body = [new for statement in node.body for new in self._of_class(statement)]
        node.body = self._entered(body, node) if self._depth else body
        self._classes.pop()
        self._scope = scope
        return node

    def _entered(self, body: list[ast.stmt], node: Function | ast.ClassDef) -> list[ast.stmt]:
        """Return a body that begins with a poll, after the documentation."""
        documented = isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant)
        return [*body[:documented], located(ast.Expr(self._hook("enter", node)), body[0]), *body[documented:]]

    def _of_class(self, statement: ast.stmt) -> list[ast.stmt]:
        """Rewrite a statement of a class; one that needs names of ours stays, as the class would get them."""
        depth = self._depth
        self._depth = depth if _needs_no_names(statement) else 0
        done = self._block([statement])
        self._depth = depth
        return done

    def visit_FunctionDef(self, node: Function) -> ast.AST:
        """Rewrite the body; the function begins with a poll of the interpreter."""
        node.decorator_list = [self.visit(each) for each in node.decorator_list]
        self._visit_defaults(node.args)
        self._announced(node)
        scope, self._scope = self._scope, self._scopes.of[node]
        self._depth += 1
        node.body = self._entered(self._block(node.body), node)
        self._depth -= 1
        self._scope = scope
        return node

    visit_AsyncFunctionDef = visit_FunctionDef

    def _visit_defaults(self, args: ast.arguments) -> None:
        args.defaults = [self.visit(each) for each in args.defaults]
        args.kw_defaults = [each and self.visit(each) for each in args.kw_defaults]

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        """Rewrite the expression."""
        self._visit_defaults(node.args)
        scope, self._scope = self._scope, self._scopes.of[node]
        self._depth += 1
        entered = self._hook("enter", node)
        node.body = located(
            ast.Subscript(ast.Tuple([entered, self.visit(node.body)], ast.Load()), ast.Constant(1), ast.Load()), node
        )
        self._depth -= 1
        self._scope = scope
        return node

    def visit_While(self, node: ast.While) -> ast.AST | list[ast.stmt]:
        """Rewrite a loop; each round but the first begins with a jump back."""
        node.test = self._truth(node.test)
        node.body, node.orelse = self._block(node.body), self._block(node.orelse)
        if self._depth == 0:
            return node
        rounds = self._temporary()
        node.body.insert(0, assigned(rounds, self._hook("again", node, load(rounds)), node))
        return [assigned(rounds, ast.Constant(0), node), node]

    def visit_Yield(self, node: ast.Yield) -> ast.AST:
        """Have a generator that goes on poll first."""
        self.generic_visit(node)
        return self._hook("resumed", node, node)


def _needs_no_names(statement: ast.stmt) -> bool:
    """Return whether a statement is rewritten with no name of ours."""
    if isinstance(statement, ast.If):
        return all(map(_needs_no_names, [*statement.body, *statement.orelse]))
    if isinstance(statement, ast.Assign):
        return len(statement.targets) == 1 and isinstance(statement.targets[0], ast.Name)
    if isinstance(statement, ast.AnnAssign | ast.AugAssign):
        return isinstance(statement.target, ast.Name)
    return isinstance(statement, ast.Expr | Function | ast.ClassDef)
