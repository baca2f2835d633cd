"""All mutants of a kernel, of a file, of the package.

Example: ``list(mutants_of("latchfree.ctrie.kernels.gcas"))`` are about a hundred functions, each with one small change.
"""

from __future__ import annotations

import ast
import copy
import functools
import itertools
from collections import Counter
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

import numpy as np

from latchfree.jit import Kernel
from latchfree_evidence.systematic.kernels import MODULES, bodies, is_compiled
from latchfree_evidence.systematic.mutant import Mutant
from latchfree_evidence.systematic.operators import OPERATORS, SHARED, Names, called, weaken
from latchfree_evidence.systematic.plain.world import found_by, tree_of


def mutants_of(module: str) -> Iterator[Mutant]:
    """Yield all mutants of the kernels of a module, in the order of its lines."""
    loaded = import_module(module)
    seen: Counter[tuple[str, str, str, str]] = Counter()
    for function in tree_of(module).body:
        if not isinstance(function, ast.FunctionDef):
            continue
        if is_compiled(function) or (module, function.name) in bodies():
            names = _names(loaded)
            for operator, before, after, line, make in _changes(function, names):
                key = function.name, operator, before, after
                seen[key] += 1
                yield Mutant(module, *key, seen[key], line, function, make)


def all_mutants(groups: tuple[str, ...] = tuple(MODULES)) -> list[Mutant]:
    """Return the mutants of all modules of some groups."""
    return [mutant for group in groups for module in MODULES[group] for mutant in mutants_of(module)]


def _names(module: Any) -> Names:
    numbers, kernels, sharing = {}, set(), set()
    things = dict(vars(module))
    for thing in vars(module).values():
        if isinstance(thing, type(module)) and thing.__name__.startswith("latchfree."):
            things.update({inner: value for inner, value in vars(thing).items() if inner not in things})
    for name, thing in things.items():
        if isinstance(thing, np.integer):
            numbers[name] = int(thing)
        elif isinstance(thing, Kernel):
            kernels.add(name)
            if _shares(thing.__module__, thing.__name__):
                sharing.add(name)
        elif _is_stub(thing):
            kernels.add(name)
    return Names(numbers, kernels, sharing)


def _is_stub(thing: Any) -> bool:
    module = getattr(thing, "__module__", "") or ""
    if not module.startswith("latchfree.") or not hasattr(thing, "__code__"):
        return False
    return any(
        isinstance(node, ast.FunctionDef)
        and any(ast.unparse(each) == f"overload({thing.__name__})" for each in node.decorator_list)
        for node in tree_of(module).body
    )


@functools.cache
def _shares(module: str, function: str) -> bool:
    """Return whether a kernel accesses memory that others may change, itself or through others."""
    seen, ahead = set(), [(module, function)]
    while ahead:
        place = ahead.pop()
        if place in seen:
            continue
        seen.add(place)
        scope = vars(import_module(place[0]))
        for each in ast.walk(_tree_of_kernel(*place)):
            if called(each) in SHARED:
                return True
            found = found_by(each.func, scope) if isinstance(each, ast.Call) else None
            if isinstance(found, Kernel):
                ahead.append((found.__module__, found.__name__))
    return False


def _tree_of_kernel(module: str, function: str) -> ast.AST:
    trees = (each for each in tree_of(module).body if isinstance(each, ast.FunctionDef) and each.name == function)
    return next(trees, ast.Pass())


def _changes(
    function: ast.FunctionDef, names: Names
) -> Iterator[tuple[str, str, str, int, Callable[[], ast.FunctionDef]]]:
    """Yield the kind of each change, the text before and after, its line, and what makes the changed function."""
    unused = {id(each.value) for each in ast.walk(function) if isinstance(each, ast.Expr)}
    for index, node in enumerate(ast.walk(function)):
        for operator in OPERATORS:
            if operator is weaken and id(node) in unused and called(node) != "cas":
                continue  # without its write it is left out: `drop` does that
            for kind, new in operator(node, names):
                if id(node) in unused and kind in ("cas without write", "cas never fails"):
                    continue
                make = functools.partial(_replaced, function, index, [new] if new is not None else [])
                yield kind, _text(node), "" if new is None else _text(new), node.lineno, make  # type: ignore[attr-defined]
        for first, second in _neighbours(node, names):
            if _can_swap(first, second):
                make = functools.partial(_swapped, function, index, first)
                yield "swap", _text(first), _text(second), first.lineno, make


def _text(node: ast.AST) -> str:
    if isinstance(node, ast.If | ast.While):
        return f"{'if' if isinstance(node, ast.If) else 'while'} {ast.unparse(node.test)}"
    return " ".join(ast.unparse(ast.fix_missing_locations(copy.deepcopy(node))).split())


class _Replacing(ast.NodeTransformer):
    def __init__(self, node: ast.AST, new: list[ast.AST]) -> None:
        self._node, self._new = node, new

    def visit(self, node: ast.AST) -> Any:
        if node is not self._node:
            return self.generic_visit(node)
        if self._new:
            return self._new[0]
        return ast.Pass()


def _replaced(function: ast.FunctionDef, index: int, new: list[ast.AST]) -> ast.FunctionDef:
    """Return a copy of a function with another node in the place of one."""
    made = copy.deepcopy(function)
    old = list(ast.walk(made))[index]
    new = [ast.copy_location(copy.deepcopy(each), old) for each in new]
    result: ast.FunctionDef = ast.fix_missing_locations(_Replacing(old, new).visit(made))
    return result


# swaps -------------------------------------------------------------------------------------------------------------


def _neighbours(node: ast.AST, names: Names) -> list[tuple[ast.stmt, ast.stmt]]:
    """Return the pairs of statements of a block that follow each other and both touch memory of others."""
    body = getattr(node, "body", None)
    if not isinstance(body, list):
        return []
    blocks = [body, getattr(node, "orelse", [])]
    return [
        (first, second)
        for block in blocks
        if isinstance(block, list)
        for first, second in itertools.pairwise(block)
        if _touches(first, names) and _touches(second, names)
    ]


def _touches(statement: ast.stmt, names: Names) -> bool:
    if not isinstance(statement, ast.Expr | ast.Assign | ast.AugAssign):
        return False
    return any(called(each) in SHARED or called(each) in names.sharing for each in ast.walk(statement))


def _variables(statement: ast.stmt, kind: type[ast.expr_context]) -> set[str]:
    return {each.id for each in ast.walk(statement) if isinstance(each, ast.Name) and isinstance(each.ctx, kind)}


def _can_swap(first: ast.stmt, second: ast.stmt) -> bool:
    """Return whether neither of two statements computes what the other one needs."""
    written, other = _variables(first, ast.Store), _variables(second, ast.Store)
    return not written & (other | _variables(second, ast.Load)) and not other & _variables(first, ast.Load)


def _swapped(function: ast.FunctionDef, index: int, first: ast.stmt) -> ast.FunctionDef:
    """Return a copy of a function with the statement `first`, of the node number `index`, after the next one."""
    original, made = list(ast.walk(function))[index], copy.deepcopy(function)
    node = list(ast.walk(made))[index]
    for name in ("body", "orelse"):
        block = getattr(original, name, None)
        if isinstance(block, list) and first in block:
            k, copies = block.index(first), getattr(node, name)
            copies[k], copies[k + 1] = copies[k + 1], copies[k]
    return made
