"""Rewrite functions so that every access to what threads may share is a call of a hook that receives the object.

``self.n = self.n + 1`` becomes ``_lf_set(self, "n", _lf_get(self, "n", 7) + 1, 7)``. Only the bodies of functions are
rewritten: modules and classes are made once, before threads run. Each hook gets its line as the last argument (calls:
the first). Private names are mangled here, as the compiler would. Names of hooks have one underscore, as two would be
mangled.
"""

from __future__ import annotations

import ast

from latchfree_explore.python.rewriting.reading import Reading
from latchfree_explore.python.rewriting.scopes import closure_variables, module_variables
from latchfree_explore.python.rewriting.trees import located
from latchfree_explore.python.rewriting.writing import Writing


def rewritten(source: str, file: str) -> ast.Module:
    """Return the tree of a module whose functions call the hooks.

    Raises
    ------
    SyntaxError
        If the source is not Python.
    """
    tree = ast.parse(source, file)
    Rewriter(module_variables(tree)).visit(tree)
    return ast.fix_missing_locations(tree)


class Rewriter(Reading, Writing):
    """Turns accesses into calls of hooks: `Reading`, `Writing`, and the statements that do both or neither."""

    # functions and classes -------------------------------------------------------------------------------------------

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        """Rewrite the methods; the body of a class is run once and stays."""
        depth, self._depth = self._depth, 0
        self._classes.append(node.name)
        node.body = self._block(node.body)
        self._classes.pop()
        self._depth = depth
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> ast.AST:
        """Rewrite the body; the function begins with a poll of the interpreter."""
        node.decorator_list = [self.visit(each) for each in node.decorator_list]
        node.args.defaults = [self.visit(each) for each in node.args.defaults]
        node.args.kw_defaults = [each and self.visit(each) for each in node.args.kw_defaults]
        self._cells.append(closure_variables(node))
        self._depth += 1
        body = self._block(node.body)
        self._depth -= 1
        self._cells.pop()
        documented = isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant)
        body.insert(int(documented), located(ast.Expr(self._hook("enter", node)), body[0]))
        node.body = body
        return node

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        """Rewrite the expression."""
        self._depth += 1
        entered = self._hook("enter", node)
        node.body = located(
            ast.Subscript(ast.Tuple([entered, self.visit(node.body)], ast.Load()), ast.Constant(1), ast.Load()), node
        )
        self._depth -= 1
        return node

    # loops -----------------------------------------------------------------------------------------------------------

    def visit_While(self, node: ast.While) -> ast.AST | list[ast.stmt]:
        """Rewrite a loop; each round but the first begins with a jump back."""
        node.test = self._truth(node.test)
        node.body, node.orelse = self._block(node.body), self._block(node.orelse)
        if self._depth == 0:
            return node
        rounds = self._temporary()
        count = self._hook("again", node, ast.Name(rounds, ast.Load()))
        node.body.insert(0, located(ast.Assign([ast.Name(rounds, ast.Store())], count), node))
        return [located(ast.Assign([ast.Name(rounds, ast.Store())], ast.Constant(0)), node), node]

    def visit_For(self, node: ast.For) -> ast.AST:
        """Rewrite a loop: each item of a container is an access."""
        target, extra = self._target(node.target, node)
        node.target = target
        node.iter = self._iterated(node.iter)
        node.body, node.orelse = [*extra, *self._block(node.body)], self._block(node.orelse)
        return node

    def visit_comprehension(self, node: ast.comprehension) -> ast.AST:
        """Rewrite a loop of a comprehension."""
        node.iter = self.visit(node.iter) if node.is_async else self._iterated(node.iter)
        node.ifs = [self._truth(each) for each in node.ifs]
        return node

    def visit_Yield(self, node: ast.Yield) -> ast.AST:
        """Have a generator that goes on poll first."""
        self.generic_visit(node)
        return self._hook("resumed", node, node)

    # the rest --------------------------------------------------------------------------------------------------------

    def visit_With(self, node: ast.With) -> ast.AST:
        """Entering a block may call Python code, where the interpreter polls."""
        extra: list[ast.stmt] = []
        for item in node.items:
            item.context_expr = self.visit(item.context_expr)
            if self._depth:
                item.context_expr = self._hook("entered", item.context_expr, item.context_expr)
            if item.optional_vars is not None:
                item.optional_vars, more = self._target(item.optional_vars, node)
                extra += more
        node.body = [*extra, *self._block(node.body)]
        return node

    def visit_Import(self, node: ast.Import | ast.ImportFrom) -> ast.AST | list[ast.stmt]:
        """Exchange what a function imports for what is under control."""
        if self._depth == 0 or any(alias.name == "*" for alias in node.names):
            return node
        names = [alias.asname or alias.name.partition(".")[0] for alias in node.names]
        exchanged = [
            located(
                ast.Assign([ast.Name(name, ast.Store())], self._hook("twin", node, ast.Name(name, ast.Load()))), node
            )
            for name in names
        ]
        return [node, *exchanged]

    visit_ImportFrom = visit_Import

    def visit_Match(self, node: ast.Match) -> ast.AST:
        """Rewrite the subject, the guards and the bodies; patterns stay."""
        subject = self.visit(node.subject)
        node.subject = self._hook("matched", node.subject, subject) if self._depth else subject
        for case in node.cases:
            case.guard = case.guard and self._truth(case.guard)
            case.body = self._block(case.body)
        return node
