"""Kernels as plain Python functions, made when they are asked for, with one of them mutated if wanted.

Example: ``World()[insert]`` is a function of Python that does what the kernel `insert` does, and calls the other
kernels in the same form. Nothing is compiled: making the functions of a whole trie takes milliseconds, and so does a
mutant.
"""

from __future__ import annotations

import ast
import copy
import functools
import inspect
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import CodeType, FunctionType, ModuleType, SimpleNamespace
from typing import Any, Final

import numpy as np

from latchfree import atomics
from latchfree.jit import Kernel, Named
from latchfree_evidence.systematic.limits import step
from latchfree_evidence.systematic.plain.arrays import NUMPY
from latchfree_evidence.systematic.plain.translation import Callee, Translation
from latchfree_evidence.systematic.plain.words import ACCESSES, INSTRUCTIONS, OTHERS, bits, fine, signed, signed_32

_CONVERSIONS: Final = {
    np.uint64: Callee("uint64"),
    np.int64: Callee("int64", "_signed"),
    np.int32: Callee("int32", "_signed_32"),
}
#: Whose kernels fail where they shift a word by 64 bits or more, for which machine code has no result.
_SHIFTS_LOOKED_AT: Final = "latchfree."
_ACCESS_OF: Final = {id(getattr(atomics, name)): name for name in ACCESSES}
_INSTRUCTION_OF: Final = {id(getattr(atomics, name)): name for name in INSTRUCTIONS}


@functools.cache
def tree_of(module: str) -> ast.Module:
    """Return the syntax tree of a module that is loaded."""
    return ast.parse(inspect.getsource(sys.modules[module]))


def _is_overload(node: ast.stmt, name: str) -> bool:
    """Return whether a function says how compiled code calls the function `name`."""
    return isinstance(node, ast.FunctionDef) and any(
        ast.unparse(each) == f"overload({name})" for each in node.decorator_list
    )


def _kind_of(value: Any) -> Any:
    """Return what the choosers of overloads take for the type of a value."""
    return SimpleNamespace(count=len(value)) if isinstance(value, tuple) else value


class World:
    """Kernels in plain Python.

    Parameters
    ----------
    steps : bool
        Whether kernels that access memory others change are generators, which yield each such access.
    replaced : mapping, optional
        (module, function) -> the tree of the function in its place.
    wrapped : mapping, optional
        "module:function" -> a function that takes the translated one, and returns what is called instead.
    called : set, optional
        Where to note (module, function) of each kernel that is called.
    named : mapping, optional
        What to do for functions of C, by their names.
    """

    def __init__(
        self,
        *,
        steps: bool = False,
        replaced: Mapping[tuple[str, str], ast.FunctionDef] | None = None,
        wrapped: Mapping[str, Callable[[Any, bool], Any]] | None = None,
        called: set[tuple[str, str]] | None = None,
        named: Mapping[str, Callable[..., Any]] | None = None,
    ) -> None:
        self._steps = steps
        self._replaced = dict(replaced or {})
        self._wrapped = dict(wrapped or {})
        self._called = called
        self._named = dict(named or {})
        self._made: dict[tuple[str, str], tuple[Any, bool]] = {}

    def __getitem__(self, kernel: Any) -> Callable[..., Any]:
        """Return a kernel in plain Python: a generator function if it makes steps."""
        chooser = self._chooser(kernel) if isinstance(kernel, FunctionType) else None
        return chooser or self._function(kernel)[0]

    def with_named(self, named: Mapping[str, Callable[..., Any]]) -> World:
        """Return the same kernels with other functions of C."""
        return World(
            steps=self._steps, replaced=self._replaced, wrapped=self._wrapped, called=self._called, named=named
        )

    def with_wrapped(self, wrapped: Mapping[str, Callable[[Any, bool], Any]]) -> World:
        """Return the same kernels with others wrapped."""
        return World(steps=self._steps, replaced=self._replaced, wrapped=wrapped, called=self._called)

    def stepping(self) -> World:
        """Return the same kernels as generators, which yield each access of memory that others change."""
        return World(steps=True, replaced=self._replaced, wrapped=self._wrapped, called=self._called)

    def makes_steps(self, kernel: Any) -> bool:
        """Return whether a kernel is a generator here."""
        return self._function(kernel)[1]

    def _function(self, kernel: Any) -> tuple[Any, bool]:
        python = getattr(kernel, "py_func", kernel)
        place = (python.__module__, python.__qualname__)
        if place not in self._made:
            made, steps = self._made_of(python, place)
            wrapper = self._wrapped.get(":".join(place))
            made = wrapper(made, steps) if wrapper else made
            self._made[place] = (made if self._called is None else _noting(made, place, self._called), steps)
        return self._made[place]

    def _made_of(self, python: FunctionType, place: tuple[str, str]) -> tuple[Any, bool]:
        """Return a function in plain Python, from its template if the functions that it calls are of the same kinds."""
        key = *place, self._steps
        template = None if place in self._replaced else _TEMPLATES.get(key)
        if template is None or not all(self._steps_of(found) == steps for found, steps in template.callees.values()):
            template = self._translated(python, self._tree(*place))
            if place not in self._replaced:
                _TEMPLATES[key] = template
        scope = {**template.constants, **{f"_do_{name}": function for name, function in self._named.items()}}
        for name, (found, _) in template.callees.items():
            scope[name] = self[found]
        exec(template.code, scope)  # the kernel's own source, translated
        return scope[place[1]], template.makes_steps

    def _steps_of(self, found: Any) -> bool:
        return isinstance(found, Kernel) and self._function(found)[1]

    def _tree(self, module: str, name: str) -> ast.FunctionDef:
        if (module, name) in self._replaced:
            return copy.deepcopy(self._replaced[module, name])
        for node in ast.walk(tree_of(module)):
            if isinstance(node, ast.FunctionDef) and node.name == name:
                return copy.deepcopy(node)
        raise LookupError(f"no function {name} in {module}")

    def _translated(self, python: FunctionType, tree: ast.FunctionDef) -> _Template:
        scope: dict[str, Any] = {"_signed": signed, "_signed_32": signed_32, "_do_memory": int, "_take_step": step}
        outer = {"np": np, "load": atomics.load, **python.__globals__}
        for name in {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}:
            if name in outer:
                scope[name] = int(outer[name]) if isinstance(outer[name], np.integer) else outer[name]
        scope["np"] = NUMPY
        for node in list(ast.walk(tree)):
            self._fold(node, outer)
        if python.__module__.startswith(_SHIFTS_LOOKED_AT):
            _look_at_shifts(tree, scope)
        callees: dict[str, tuple[Any, bool]] = {}
        translation = Translation(lambda function: self._callee(function, outer, scope, callees), steps=self._steps)
        module = ast.fix_missing_locations(ast.Module([translation.visit(tree)], []))
        code = compile(module, python.__code__.co_filename, "exec")
        return _Template(code, scope, callees, translation.makes_steps)

    @staticmethod
    def _fold(node: ast.AST, outer: Mapping[str, Any]) -> None:
        """Put numbers in the place of constants of other modules, such as ``layout.P_PIN``."""
        for field, value in ast.iter_fields(node):
            for each in value if isinstance(value, list) else [value]:
                if not (isinstance(each, ast.Attribute) and isinstance(each.value, ast.Name)):
                    continue
                module = outer.get(each.value.id)
                if isinstance(module, ModuleType) and isinstance(getattr(module, each.attr, None), np.integer):
                    number = ast.copy_location(ast.Constant(int(getattr(module, each.attr))), each)
                    if isinstance(value, list):
                        value[value.index(each)] = number
                    else:
                        setattr(node, field, number)

    def _callee(
        self, function: ast.expr, outer: Mapping[str, Any], scope: dict[str, Any], callees: dict[str, tuple[Any, bool]]
    ) -> Callee:
        found = found_by(function, outer)
        if isinstance(found, type) and found in _CONVERSIONS:
            return _CONVERSIONS[found]
        if id(found) in _ACCESS_OF:
            name = _ACCESS_OF[id(found)]
            scope[f"_do_{name}"] = ACCESSES[name]
            return Callee("access", name)
        return self._other(found, scope, callees)

    def _other(self, found: Any, scope: dict[str, Any], callees: dict[str, tuple[Any, bool]]) -> Callee:
        if id(found) in _INSTRUCTION_OF:
            name = _INSTRUCTION_OF[id(found)]
            scope[f"_do_{name}"] = INSTRUCTIONS[name]
            return Callee("kernel", f"_do_{name}")
        if isinstance(found, Named):
            scope[f"_do_{found.__name__}"] = OTHERS.get(found.__name__, fine)
            return Callee("kernel", f"_do_{found.__name__}")
        if isinstance(found, Kernel):
            steps = self._steps_of(found)
            name = f"_k_{found.__module__.replace('.', '_')}_{found.__name__}"
            callees[name] = found, steps
            return Callee("steps" if steps else "kernel", name)
        if isinstance(found, FunctionType) and _chooser_of(found) is not None:
            callees[f"_c_{found.__name__}"] = found, False
            return Callee("kernel", f"_c_{found.__name__}")
        return Callee("other")

    def _chooser(self, stub: FunctionType) -> Callable[..., Any] | None:
        """Return a function that does what the overloads of `stub` do, None if it has none."""
        chooser = _chooser_of(stub)
        if chooser is None:
            return None
        choose = self[chooser]
        return lambda *given: choose(*map(_kind_of, given))(*given)


@dataclass(frozen=True, slots=True)
class _Template:
    """A translated function, without the functions that it calls, which differ from world to world."""

    code: CodeType
    constants: dict[str, Any]
    callees: dict[str, tuple[Any, bool]]
    makes_steps: bool


_TEMPLATES: Final[dict[tuple[str, str, bool], _Template]] = {}


def _look_at_shifts(tree: ast.AST, scope: dict[str, Any]) -> None:
    """Have a shift by a number that is not a constant fail where the number is 64 or more."""
    scope["_bits"] = bits
    for node in list(ast.walk(tree)):
        if isinstance(node, ast.BinOp | ast.AugAssign) and isinstance(node.op, ast.LShift | ast.RShift):
            name = "right" if isinstance(node, ast.BinOp) else "value"
            by = getattr(node, name)
            if not isinstance(by, ast.Constant) and not isinstance(getattr(by, "id", None) and scope.get(by.id), int):
                setattr(node, name, ast.Call(ast.Name("_bits", ast.Load()), [by], []))


@functools.cache
def _chooser_of(stub: FunctionType) -> Any:
    for node in tree_of(stub.__module__).body:
        if _is_overload(node, stub.__name__):
            return getattr(sys.modules[stub.__module__], node.name)  # type: ignore[attr-defined]
    return None


def _noting(made: Callable[..., Any], place: tuple[str, str], called: set[tuple[str, str]]) -> Callable[..., Any]:
    def noted(*arguments: Any) -> Any:
        called.add(place)
        return made(*arguments)

    return noted


def found_by(function: ast.expr, outer: Mapping[str, Any]) -> Any:
    """Return what an expression in the place of a function stands for, None if nobody knows before it runs."""
    if isinstance(function, ast.Name):
        return outer.get(function.id)
    if isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name):
        module = outer.get(function.value.id)
        if module is np or isinstance(module, ModuleType):
            return getattr(module, function.attr, None)
    return None
