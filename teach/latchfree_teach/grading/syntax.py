"""The allow-list: a submission is a program of atomic accesses, or it is not run.

Example: a hole asks for ``increment``. The student hands in the whole file of the hole. What stands there word for word
as it was given is left aside; the rest must be functions decorated with ``@kernel`` and constants, made of the
statements below and of the names that the lesson lists. ``import os`` is refused with its line, and so is
``X = exec("...")``, for ``exec`` is on no list.

Invariant: what is admitted can call nothing but the lesson's names, ``range``, ``np.uint64``, ``np.int64`` and its own
earlier functions; and whatever takes the memory takes the parameter ``mem`` itself, for compiled code would take any
number for the address of a memory. So it cannot reach the checker, though it is compiled in the checker's process.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from latchfree_teach.course.lesson import Lesson

MOST_BYTES: Final = 64 << 10
MOST_NODES: Final = 5_000
MOST_DEPTH: Final = 60
MOST_NAME: Final = 80
_MEMORY: Final = "mem"
_ATOMICS: Final = (
    "load", "load_seq", "load_unsure", "peek", "store", "poke", "cas", "exchange", "fetch_add", "fetch_or", "fetch_and",
    "fetch_max", "fetch_min", "fence", "barrier", "prefetch", "prefetch_read", "pause",
)  # fmt: skip
_CODING: Final = re.compile(r"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")  # as Python finds it in the first two lines

_STATEMENTS: Final = (
    ast.Assign, ast.AugAssign, ast.Expr, ast.Return, ast.While, ast.For, ast.If, ast.Break, ast.Continue, ast.Pass,
)  # fmt: skip
_EXPRESSIONS: Final = (
    ast.BoolOp, ast.BinOp, ast.UnaryOp, ast.Compare, ast.Call, ast.Constant, ast.Name, ast.IfExp, ast.Attribute,
    ast.expr_context, ast.boolop, ast.operator, ast.unaryop, ast.cmpop, ast.arguments, ast.arg,
)  # fmt: skip
_CASTS: Final = ("np.uint64", "np.int64")
_BUILTINS: Final = frozenset({"range"})
_WORDS: Final = {
    "Import": "no imports: what the lesson gives is imported already",
    "ImportFrom": "no imports: what the lesson gives is imported already",
    "Subscript": "no subscripts: use load(mem, at) and store(mem, at, value)",
    "JoinedStr": "no strings",
    "Tuple": "no tuples: compare with one number after the other, joined by or",
    "List": "no lists: compare with one number after the other, joined by or",
    "Set": "no sets: compare with one number after the other, joined by or",
    "Lambda": "no lambdas",
    "ClassDef": "no classes",
    "FunctionDef": "no functions inside a function",
    "NamedExpr": "no assignment inside an expression: write it as a line of its own",
    "Pow": "no powers: write the number",
}


class Refused(Exception):
    """A submission is no program of atomic accesses; the message says where and why."""


@dataclass(frozen=True)
class Program:
    """A submission that was admitted: what the lesson gives before and after, and the student's own statements."""

    before: list[ast.stmt]
    own: list[ast.stmt]
    after: list[ast.stmt]


def admit(text: str, lesson: Lesson) -> Program:
    """Return the parts of the program that a submission makes; raise `Refused` unless it is one of atomic accesses."""
    tree = _parsed(text)
    given = ast.parse(lesson.hole).body
    shapes = {ast.dump(node) for node in given if getattr(node, "name", "") not in lesson.holes}
    own = [node for node in tree.body if ast.dump(node) not in shapes and not _is_text(node)]
    reserved = {name for node in given for name in _bound(node)} - set(lesson.holes)
    known = set(lesson.names) | _BUILTINS
    asked = {node.name: _parameters(node) for node in given if isinstance(node, ast.FunctionDef)}
    for node in own:
        if isinstance(node, ast.FunctionDef) and node.name in lesson.holes and _parameters(node) != asked[node.name]:
            raise _refuse(node, f"{node.name} takes ({', '.join(asked[node.name])}), as it is given")
        _admit_statement(node, known, reserved | _BUILTINS)
        known.update(_bound(node))
    for name in lesson.holes:
        if name not in known:
            raise Refused(f"there is no function {name}: the lesson asks for it")
    _admit_memory(given, own)
    places = [place for place, node in enumerate(given) if getattr(node, "name", "") in lesson.holes]
    rest = [node for node in given if getattr(node, "name", "") not in lesson.holes]
    return Program(rest[: places[0]], own, rest[places[0] :])


def _parsed(text: str) -> ast.Module:
    if len(text.encode(errors="replace")) > MOST_BYTES:
        raise Refused(f"the file has more than {MOST_BYTES >> 10} kB; a lesson's answer is short")
    for number, line in enumerate(text.splitlines()[:2], start=1):
        if (coding := _CODING.match(line)) and coding[1].lower().replace("_", "-") not in ("utf-8", "utf8"):
            raise Refused(f"line {number}: the file is UTF-8, and names no other coding")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of ``1 is 1``
            tree = ast.parse(text)
            _measure(tree)
            compile(tree, "submission", "exec", dont_inherit=True)  # what is wrong beyond the grammar: a stray break
    except SyntaxError as error:
        raise Refused(f"line {error.lineno or '?'}: {error.msg}") from None
    except (ValueError, RecursionError, MemoryError):
        raise Refused("this is no Python text, or it is nested too deeply") from None
    return tree


def _measure(tree: ast.Module) -> None:
    """Raise `Refused` if a program has too many nodes, nodes that are too deep, or names that are none of its own."""
    todo: list[tuple[ast.AST, int]] = [(tree, 0)]
    nodes = 0
    while todo:
        node, depth = todo.pop()
        nodes += 1
        if nodes > MOST_NODES:
            raise Refused("the program is too large; a lesson's answer is short")
        if depth > MOST_DEPTH:
            raise _refuse(node, "this is nested too deeply")
        for name in (getattr(node, "id", ""), getattr(node, "name", ""), getattr(node, "arg", "")):
            if isinstance(name, str) and name.startswith("__"):
                raise _refuse(node, f"{name[:MOST_NAME]}: names that begin with two underscores are Python's own")
            if isinstance(name, str) and len(name) > MOST_NAME:
                raise _refuse(node, f"a name has at most {MOST_NAME} letters")
        todo += [(child, depth + 1) for child in ast.iter_child_nodes(node)]


def _parameters(function: ast.FunctionDef) -> list[str]:
    return [each.arg for each in function.args.args]


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _bound(node: ast.AST) -> Iterator[str]:
    """Yield the names that a statement of a module binds there."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        yield node.name
    elif isinstance(node, ast.Import | ast.ImportFrom):
        yield from (alias.asname or alias.name.partition(".")[0] for alias in node.names)
    else:
        yield from (each.id for each in ast.walk(node) if isinstance(each, ast.Name) and _is_store(each))


def _is_store(node: ast.Name) -> bool:
    return isinstance(node.ctx, ast.Store)


def _refuse(node: ast.AST, why: str) -> Refused:
    return Refused(f"line {getattr(node, 'lineno', '?')}: {why}")


def _admit_statement(node: ast.stmt, known: set[str], reserved: set[str]) -> None:
    """Raise `Refused` unless a statement of the module is a kernel or a constant."""
    taken = sorted(reserved.intersection(_bound(node)))
    if taken and not isinstance(node, ast.Import | ast.ImportFrom):
        raise _refuse(node, f"{taken[0]} is given, and may not be changed or defined again")
    if isinstance(node, ast.FunctionDef):
        _admit_kernel(node, known, reserved)
    elif isinstance(node, ast.Assign) and all(isinstance(each, ast.Name) for each in node.targets):
        again = sorted(known.intersection(_bound(node)))
        if again:
            raise _refuse(node, f"{again[0]} is defined already")
        for each in ast.walk(node.value):
            _admit_node(each, known, calls=_CASTS)
    else:
        raise _refuse(node, _WORDS.get(type(node).__name__, "only functions and constants may stand here"))


def _admit_kernel(function: ast.FunctionDef, known: set[str], reserved: set[str]) -> None:
    wanted = ["kernel"] if "kernel" in known else []
    if [ast.unparse(each) for each in function.decorator_list] != wanted:
        what = "decorated with @kernel, and with nothing else" if wanted else "a plain function, without a decorator"
        raise _refuse(function, f"{function.name} must be {what}")
    if function.name in known:
        raise _refuse(function, f"{function.name} is defined already")
    given = function.args
    if getattr(function, "type_params", None):
        raise _refuse(function, "no type parameters")
    if given.defaults or given.kw_defaults or given.vararg or given.kwarg or given.kwonlyargs or given.posonlyargs:
        raise _refuse(function, f"{function.name} takes plain parameters: no defaults, no *")
    for annotation in (function.returns, *(each.annotation for each in given.args)):
        if annotation is not None:
            raise _refuse(annotation, "no annotations here")
    body = function.body[1:] if _is_text(function.body[0]) else function.body
    local = {each.arg for each in given.args} | {name for node in body for name in _bound(node)}
    if function.name in local or (shadowed := sorted(local & (reserved | known))):
        raise _refuse(function, f"{function.name if function.name in local else shadowed[0]} has a meaning already")
    for statement in body:
        for node in ast.walk(statement):
            _admit_node(node, known | local, calls=(*_CASTS, *(known - {"kernel", "np"})))


def _admit_memory(given: list[ast.stmt], own: list[ast.stmt]) -> None:
    """Raise `Refused` unless every call that takes the memory is given the memory of the function that it stands in.

    Example: ``load(np.int64(root), at)`` would read at an address that the student has made up. A helper's parameter
    that is handed on as the memory is a memory, too, whatever it is called.
    """
    takes = {name: {0} for name in _ATOMICS}
    for node in given:
        if isinstance(node, ast.FunctionDef) and _MEMORY in _parameters(node):
            takes[node.name] = {_parameters(node).index(_MEMORY)}
    for function in own:
        if not isinstance(function, ast.FunctionDef):
            again = next(
                (each.id for each in ast.walk(function) if isinstance(each, ast.Name) and each.id in takes), ""
            )
            if again:
                raise _refuse(function, f"{again} has one name, and gets no other")
            continue
        names = _parameters(function)
        changed = {name for node in function.body for name in _bound(node)}
        wanted = takes.get(function.name, set())  # of a function that the lesson asks for
        found = set()
        for call in ast.walk(function):
            if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
                continue
            for place in takes.get(call.func.id, ()):
                what = call.args[place] if place < len(call.args) else None
                if what is None:
                    continue  # the compiler says so
                if not isinstance(what, ast.Name) or what.id not in names or what.id in changed:
                    raise _refuse(call, f"{call.func.id} takes mem, as it was given, and nothing else in its place")
                found.add(names.index(what.id))
        if function.name in takes and not found <= wanted:
            raise _refuse(function, f"{function.name}: the memory is mem, and no other parameter")
        takes[function.name] = wanted | found


def _admit_node(node: ast.AST, known: set[str], calls: tuple[str, ...]) -> None:
    """Raise `Refused` unless a node inside a function or a constant is one of the list."""
    name = type(node).__name__
    if not isinstance(node, (*_STATEMENTS, *_EXPRESSIONS)) or isinstance(node, ast.Pow):
        raise _refuse(node, _WORDS.get(name, f"{name} is not used here"))
    if isinstance(node, ast.Constant) and node.value is not None:
        if not isinstance(node.value, int):
            raise _refuse(node, "the constants are whole numbers, True, False and None")
        if node.value >= 1 << 64:
            raise _refuse(node, "a word has 64 bits")
    if isinstance(node, ast.Attribute) and ast.unparse(node) not in _CASTS:
        raise _refuse(node, "no attributes but np.uint64 and np.int64")
    if isinstance(node, ast.Name) and node.id not in known:
        raise _refuse(node, f"{node.id} is not known here; what a function uses stands above it")
    if isinstance(node, ast.Assign | ast.AugAssign):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        if not all(isinstance(each, ast.Name) for each in targets):
            raise _refuse(node, "only a name can be assigned to")
    if isinstance(node, ast.For) and not (isinstance(node.iter, ast.Call) and ast.unparse(node.iter.func) == "range"):
        raise _refuse(node, "a for loop runs over a range")
    if isinstance(node, ast.Call):
        called = ast.unparse(node.func)
        if called not in calls:
            raise _refuse(node, f"{called[:40]} is nothing to call here; a function stands above its use")
        if node.keywords:
            raise _refuse(node, "no keyword arguments")
