"""Rewrite functions so that every access to what threads may share is a call of a hook that receives the object.

``self.n = self.n + 1`` becomes ``_lf_set(self, "n", _lf_get(self, "n", 7) + 1, 7)``. Only the bodies of functions are
rewritten: modules and classes are made once, before threads run. Each hook gets its line as the last argument (calls:
the first). Private names are mangled here, as the compiler would. Names of hooks have one underscore, as two would be
mangled.
"""

from __future__ import annotations

import ast
from typing import Final, TypeVar

from latchfree_explore.python.rewriting.scopes import closure_variables, module_variables

Node = TypeVar("Node", bound=ast.AST)

PREFIX: Final = "_lf_"
_PLAIN: Final = frozenset(
    {"super", "globals", "locals", "vars", "dir", "eval", "exec", "slice", "breakpoint", "__import__"}
)
_READ_BY_OPERATORS: Final = (ast.Add, ast.Sub, ast.Mult, ast.BitOr, ast.BitAnd, ast.BitXor)
_COMPARED: Final = {ast.Eq: "eq", ast.NotEq: "ne", ast.Lt: "lt", ast.LtE: "le", ast.Gt: "gt", ast.GtE: "ge"}
_OPERATORS: Final = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.MatMult: "matmul", ast.Div: "truediv", ast.Mod: "mod",
    ast.Pow: "pow", ast.LShift: "lshift", ast.RShift: "rshift", ast.BitOr: "or", ast.BitXor: "xor",
    ast.BitAnd: "and", ast.FloorDiv: "floordiv",
}  # fmt: skip


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


class Rewriter(ast.NodeTransformer):
    """Turns accesses into calls of hooks.

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

    # helpers ---------------------------------------------------------------------------------------------------------

    def _hook(self, name: str, at: ast.AST, *arguments: ast.expr) -> ast.expr:
        call = ast.Call(ast.Name(PREFIX + name, ast.Load()), [*arguments, ast.Constant(at.lineno)], [])  # type: ignore[attr-defined]
        return _located(call, at)

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
        body.insert(int(documented), _located(ast.Expr(self._hook("enter", node)), body[0]))
        node.body = body
        return node

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        """Rewrite the expression."""
        self._depth += 1
        entered = self._hook("enter", node)
        node.body = _located(
            ast.Subscript(ast.Tuple([entered, self.visit(node.body)], ast.Load()), ast.Constant(1), ast.Load()), node
        )
        self._depth -= 1
        return node

    # reading ---------------------------------------------------------------------------------------------------------

    def visit_Name(self, node: ast.Name) -> ast.AST:
        """Turn the reading of a variable that others assign into a hook."""
        if self._depth == 0 or not isinstance(node.ctx, ast.Load):
            return node
        if self._is_cell(node.id):
            return self._hook("cell", node, self._cell(node.id))
        if node.id in self._variables:
            return self._hook("variable", node, ast.Constant(node.id), _globals())
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
        return self._hook("item", node, node.value, _index(node.slice))

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """Hand function and arguments to a hook, which makes the call."""
        function = node.func
        if self._depth == 0 or (isinstance(function, ast.Name) and function.id in _PLAIN):
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
        return _located(ast.Call(ast.Name(PREFIX + name, ast.Load()), [*head, *arguments], keywords), node)

    def _spread(self, node: ast.expr) -> ast.expr:
        if isinstance(node, ast.Starred):
            return _located(ast.Starred(self._seen(self.visit(node.value), node), ast.Load()), node)
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
        node.value = self._seen(node.value, node.value)
        return node

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        """Read the contents of shared operands."""
        shared = _shared(node.left, node.right)
        self.generic_visit(node)
        if self._depth == 0 or not shared or not isinstance(node.op, _READ_BY_OPERATORS):
            return node
        return self._hook("binary", node, ast.Constant(_OPERATORS[type(node.op)]), node.left, node.right)

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        """Read the contents of shared operands, and whether an item is in a container."""
        shared = _shared(node.left, *node.comparators)
        self.generic_visit(node)
        if self._depth == 0 or len(node.ops) != 1:
            return node
        if isinstance(node.ops[0], ast.In | ast.NotIn):
            found = self._hook("contains", node, node.left, node.comparators[0])
            return found if isinstance(node.ops[0], ast.In) else _located(ast.UnaryOp(ast.Not(), found), node)
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

    # loops -----------------------------------------------------------------------------------------------------------

    def visit_While(self, node: ast.While) -> ast.AST | list[ast.stmt]:
        """Rewrite a loop; each round but the first begins with a jump back."""
        node.test = self._truth(node.test)
        node.body, node.orelse = self._block(node.body), self._block(node.orelse)
        if self._depth == 0:
            return node
        rounds = self._temporary()
        count = self._hook("again", node, ast.Name(rounds, ast.Load()))
        node.body.insert(0, _located(ast.Assign([ast.Name(rounds, ast.Store())], count), node))
        return [_located(ast.Assign([ast.Name(rounds, ast.Store())], ast.Constant(0)), node), node]

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

    def visit_YieldFrom(self, node: ast.YieldFrom) -> ast.AST:
        """Each item that is handed on is an access."""
        node.value = self._iterated(node.value)
        return node

    def visit_Yield(self, node: ast.Yield) -> ast.AST:
        """Have a generator that goes on poll first."""
        self.generic_visit(node)
        return self._hook("resumed", node, node)

    def _iterated(self, node: ast.expr) -> ast.expr:
        new: ast.expr = self.visit(node)
        return self._hook("each", node, new) if self._depth else new

    # making ----------------------------------------------------------------------------------------------------------

    def _made(self, node: ast.AST) -> ast.AST:
        self.generic_visit(node)
        context = getattr(node, "ctx", None)
        if self._depth == 0 or isinstance(context, ast.Store | ast.Del):
            return node
        assert isinstance(node, ast.expr)
        return self._hook("made", node, node)

    visit_List = visit_Dict = visit_Set = visit_ListComp = visit_SetComp = visit_DictComp = _made

    # writing ---------------------------------------------------------------------------------------------------------

    def visit_Assign(self, node: ast.Assign) -> ast.AST | list[ast.stmt]:
        """Rewrite an assignment, target by target from the left."""
        value: ast.expr = self.visit(node.value)
        if self._depth == 0:
            node.value = value
            return node
        if len(node.targets) == 1:
            return self._store(node.targets[0], value, node)
        kept = self._temporary()
        done: list[ast.stmt] = [_located(ast.Assign([ast.Name(kept, ast.Store())], value), node)]
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
            return [self._does("set_item", at, value, self.visit(target.value), _index(self.visit(target.slice)))]
        if isinstance(target, ast.Name) and self._is_cell(target.id):
            value = self._hook("to_cell", at, value, self._cell(target.id))
        elif isinstance(target, ast.Name) and target.id in self._variables:
            value = self._hook("to_variable", at, value, ast.Constant(target.id), _globals())
        elif isinstance(target, ast.Tuple | ast.List):
            value = self._hook("seen", at, value)
        new, extra = self._target(target, at)
        return [_located(ast.Assign([new], value), at), *extra]

    def _does(self, name: str, at: ast.AST, *arguments: ast.expr) -> ast.stmt:
        return _located(ast.Expr(self._hook(name, at, *arguments)), at)

    def _target(self, target: ast.expr, at: ast.AST) -> tuple[ast.expr, list[ast.stmt]]:
        """Return a target of plain names only, and statements that hand them on to the places meant."""
        if self._depth == 0:
            return target, []
        if isinstance(target, ast.Tuple | ast.List):
            pairs = [self._target(each, at) for each in target.elts]
            new = type(target)([each for each, _ in pairs], ast.Store())
            return _located(new, target), [statement for _, extra in pairs for statement in extra]
        if isinstance(target, ast.Starred):
            inner, extra = self._target(target.value, at)
            return _located(ast.Starred(inner, ast.Store()), target), extra
        if isinstance(target, ast.Name):
            return target, []
        kept = self._temporary()
        return _located(ast.Name(kept, ast.Store()), target), self._store(target, ast.Name(kept, ast.Load()), at)

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST | list[ast.stmt]:
        """Rewrite ``x += y`` as a read, the operation and a write."""
        value: ast.expr = self.visit(node.value)
        if self._depth == 0:
            node.value = value
            return node
        word = ast.Constant("i" + _OPERATORS[type(node.op)])
        target = node.target
        if isinstance(target, ast.Name):
            old: ast.expr = self.visit(_located(ast.Name(target.id, ast.Load()), node))
            return self._store(target, self._hook("binary", node, word, old, value), node)
        owner = self._temporary()
        before: list[ast.stmt] = [_located(ast.Assign([ast.Name(owner, ast.Store())], self.visit(target.value)), node)]
        base = ast.Name(owner, ast.Load())
        if isinstance(target, ast.Attribute):
            name = self._mangled(target.attr)
            old = self._hook("get", node, base, name)
            return [*before, self._does("set", node, self._hook("binary", node, word, old, value), base, name)]
        key = self._temporary()
        before.append(_located(ast.Assign([ast.Name(key, ast.Store())], _index(self.visit(target.slice))), node))
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
                key = _index(self.visit(target.slice))
                done.append(self._does("delete_item", node, self.visit(target.value), key))
            else:
                done.append(_located(ast.Delete([target]), node))
        return done

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
            _located(
                ast.Assign([ast.Name(name, ast.Store())], self._hook("twin", node, ast.Name(name, ast.Load()))), node
            )
            for name in names
        ]
        return [node, *exchanged]

    visit_ImportFrom = visit_Import

    def visit_Match(self, node: ast.Match) -> ast.AST:
        """Rewrite the subject, the guards and the bodies; patterns stay."""
        node.subject = self._seen(self.visit(node.subject), node.subject)
        for case in node.cases:
            case.guard = case.guard and self._truth(case.guard)
            case.body = self._block(case.body)
        return node


def _located(node: Node, at: ast.AST) -> Node:
    return ast.copy_location(node, at)


def _globals() -> ast.expr:
    return ast.Call(ast.Name("globals", ast.Load()), [], [])


def _index(node: ast.expr) -> ast.expr:
    """Return an index as an expression that can be an argument."""
    if isinstance(node, ast.Slice):
        return ast.Call(
            ast.Name("slice", ast.Load()),
            [each or ast.Constant(None) for each in (node.lower, node.upper, node.step)],
            [],
        )
    if isinstance(node, ast.Tuple) and any(isinstance(each, ast.Slice) for each in node.elts):
        return ast.Tuple([_index(each) for each in node.elts], ast.Load())
    return node


def _shared(*operands: ast.expr) -> bool:
    """Return whether an operand may be a container that others change, and no operand is a number or a text."""
    return any(isinstance(each, ast.Attribute | ast.Subscript) for each in operands) and not any(
        isinstance(each, ast.Constant) for each in operands
    )
