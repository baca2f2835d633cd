"""Code objects that call the hooks: the functions of a module, as they are and rewritten.

The tree of ``self.n`` in line 7 is that of ``b"_lf_get"(self, "n", 7)``. After compilation the hook itself takes the
place of that constant. So a program's modules get no new names, and a generator that an exploration leaves behind
goes on later: the hooks do then what the program says, and no more.
"""

from __future__ import annotations

import ast
import types
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any, Final, TypeAlias

from latchfree_explore.python.hooks import bound, calls, flow, items, names, operators, state, variables
from latchfree_explore.python.library.twins import twin
from latchfree_explore.python.rewriting.rewriter import rewritten
from latchfree_explore.python.rewriting.trees import PREFIX, placeholder

HOOKS: Final[dict[str, Callable[..., Any]]] = {
    "get": state.get,
    "set": state.put,
    "delete": state.delete,
    "variable": variables.variable,
    "to_variable": variables.to_variable,
    "cell": variables.cell,
    "to_cell": variables.to_cell,
    "own_cell": names.own_cell,
    "binds_variable": names.binds_variable,
    "binds_cell": names.binds_cell,
    "gone_variable": names.gone_variable,
    "gone_cell": names.gone_cell,
    "visible": names.visible,
    "item": items.item,
    "set_item": items.set_item,
    "delete_item": items.delete_item,
    "contains": items.contains,
    "truth": items.truth,
    "seen": items.seen,
    "text": items.text,
    "matched": operators.matched,
    "each": items.each,
    "delegated": items.delegated,
    "operate": operators.operate,
    "unary": operators.unary,
    "called": bound.called,
    "bound": bound.bound,
    "spreading": bound.spreading,
    "entered": calls.entered,
    "made": calls.made,
    "enter": flow.enter,
    "resumed": flow.resumed,
    "again": flow.again,
    "globals": globals,
    "slice": slice,
    "twin": lambda value, line: twin(value),
}


Codes: TypeAlias = dict[tuple[str, int], list[types.CodeType]]
"""The code objects of a module, by qualified name and first line."""


@lru_cache(maxsize=64)
def of_module(source: str, file: str, shared: frozenset[str] = frozenset()) -> tuple[Codes, Codes]:
    """Return the code of the functions of a module, as they are and rewritten.

    Parameters
    ----------
    source, file : str
        The text of the module, and the file that tracebacks name.
    shared : frozenset of str
        Variables of the module that others write.

    Raises
    ------
    SyntaxError
        If the source is not Python.
    """
    old, new = (_compiled(tree, file) for tree in (source, rewritten(source, file, shared)))
    hooks = {placeholder(name): hook for name, hook in HOOKS.items()}
    return _by_name(old), _by_name(_with_hooks(new, hooks))


def _compiled(tree: str | ast.Module, file: str) -> types.CodeType:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)  # a constant is called; the rest was said at the import
        return compile(tree, file, "exec", dont_inherit=True)


def nested(code: types.CodeType) -> Iterator[types.CodeType]:
    """Yield a code object and those inside."""
    yield code
    for each in code.co_consts:
        if isinstance(each, types.CodeType):
            yield from nested(each)


def is_of_hooks(code: types.CodeType) -> bool:
    """Return whether rewriting made a function, to reach a variable of a closure."""
    return code.co_varnames[:1] == (PREFIX + "cell",)


def _with_hooks(code: types.CodeType, hooks: dict[bytes, Callable[..., Any]]) -> types.CodeType:
    """Put the hooks in the places of the constants that stand for them."""

    def replaced(constant: Any) -> Any:
        if isinstance(constant, types.CodeType):
            return _with_hooks(constant, hooks)
        return hooks.get(constant, constant) if isinstance(constant, bytes) else constant

    return code.replace(co_consts=tuple(map(replaced, code.co_consts)))


def _by_name(code: types.CodeType) -> Codes:
    """Return the code of the functions of a module, by name and line; not of those that the hooks made."""
    found: Codes = defaultdict(list)
    for each in nested(code):
        if not is_of_hooks(each):
            found[each.co_qualname, each.co_firstlineno].append(each)
    return found
