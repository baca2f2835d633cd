"""What a name means: as the compiler says, for modules of the standard library, and which variables threads share."""

import ast
import asyncio
import collections
import symtable
import sys
from pathlib import Path

import pytest

pytest.importorskip("greenlet")

import racy_names
from racy_names import RACES, Shared

from latchfree_explore import explore_threads
from latchfree_explore.python.rewriting.codes import of_module
from latchfree_explore.python.rewriting.finding import Scopes

LIBRARY = Path(collections.__file__).parents[1]
MODULES = ["argparse", "ast", "bdb", "calendar", "contextlib", "dataclasses", "enum", "functools", "inspect",
           "ipaddress", "pdb", "pickle", "statistics", "subprocess", "tarfile", "threading", "typing"]  # fmt: skip


IMPLIED = {".0", ".type_params", "__class__", "__classdict__", "__conditional_annotations__"}
"""Names that the compiler makes."""


def names_of(tree):
    """The names of each scope, by its line: whether they are the scope's own, a function's around, or the module's."""
    found = collections.Counter()
    for node, scope in Scopes(tree).of.items():
        for name in scope.used | scope.bound.keys():
            home = scope.home(name)
            found[node.lineno, name, "own" if home is scope else "module" if home is None else "around"] += 1
    return found


def names_by_the_compiler(source):
    found = collections.Counter()
    waiting = symtable.symtable(source, "source", "exec").get_children()
    while waiting:
        table = waiting.pop()
        waiting += table.get_children()
        for symbol in table.get_symbols():
            if symbol.is_referenced() or symbol.is_assigned() or symbol.is_parameter() or symbol.is_imported():
                word = "around" if symbol.is_free() else "module" if symbol.is_global() else "own"
                found[table.get_lineno(), symbol.get_name(), word] += 1
    return found


BEFORE_3_12 = pytest.mark.skipif(
    sys.version_info >= (3, 12), reason="the compiler's table has the names of comprehensions in the function around"
)


@BEFORE_3_12
@pytest.mark.parametrize("name", MODULES)
def test_names_mean_what_the_compiler_says(name):
    source = LIBRARY.joinpath(f"{name}.py").read_text() if LIBRARY.joinpath(f"{name}.py").exists() else ""
    ours, theirs = names_of(ast.parse(source)), names_by_the_compiler(source)
    differ = (ours - theirs) + (theirs - ours)
    assert not [each for each in differ if each[1] not in IMPLIED]


TRICKY = """
class Tricky:
    def __method(self, __a: int, *__b, c=(lambda d: d)(1), **e):
        global __g
        __g = [f := g for g in c if (h := g)]
        (i): int
        j: int
        class Inner(list):
            nonlocal c
            c = __a
            k = c
            l = [k for k in j]
            def method(self, l=k):
                return l, f, __b, __g, Inner
        def m():
            nonlocal f
            def n():
                global f
                return lambda: (f, j)
            return (c for c in j for d in c if (lambda: c + d)())
        try:
            import o.p, q.r as s
            from t import u as v
        except* (w, x) as y:
            del y
        match z:
            case {"a": A, **B} | [A, *B] if C: D = A
            case E(F, G=H) as I: pass
        for J, (K, *L) in M:
            with N as O, P as (Q, R): S += 1
        return [[T := 1 for _ in U] for _ in V], {W: X for W, X in Y}
"""


@BEFORE_3_12
def test_names_of_a_tricky_class():
    ours, theirs = names_of(ast.parse(TRICKY)), names_by_the_compiler(TRICKY)
    differ = (ours - theirs) + (theirs - ours)
    assert {each[1] for each in differ} <= IMPLIED | {"T"}  # the outer of two comprehensions does not mention T itself


def functions_of(codes):
    """Return the name, the line and the captured names of each function, but for those that the hooks make."""
    return {(*key, code.co_freevars) for key, each in codes.items() for code in each}


@pytest.mark.parametrize("file", sorted(Path(asyncio.__file__).parent.glob("*.py")), ids=lambda file: file.name)
def test_rewritten_functions_capture_what_they_did(file):
    plain, new = of_module(file.read_text(), "source")
    assert functions_of(plain) == functions_of(new)


def test_the_class_of_a_method_is_no_variable_of_the_module():
    source = "class A:\n    def f(self): return __class__\ndef g():\n    global __class__\n    __class__ = 1"
    plain, new = of_module(source, "source")
    assert functions_of(plain) == functions_of(new)


@pytest.mark.parametrize(("threads", "reached"), RACES, ids=lambda each: getattr(each, "__name__", None))
def test_races_of_variables_are_found(threads, reached):
    found = explore_threads(*threads, setup=Shared, check=lambda it: it.seen != reached, strategy="dpor", raises=False)
    assert found.verdict == "violation", found.explain()
    assert "the check does not hold" in found.reason


def test_variables_that_do_not_change_any_more_are_no_steps():
    tree = ast.parse(Path(racy_names.__file__).read_text())
    changing = {node.name: scope.changing for node, scope in Scopes(tree).of.items() if hasattr(node, "name")}
    assert changing["settled"] == set()
    assert changing["captured"] == {"ready"}
    assert changing["captured_by_a_loop"] == {"i"}
    assert changing["two_of_a_closure"] == {"a", "b"}


def test_a_deleted_variable_is_told():
    found = explore_threads(
        racy_names.reads_gone, racy_names.deletes, setup=Shared, check=lambda it: it.seen != "gone", raises=False
    )
    assert "delete gone" in found.explain()


def test_no_check_sees_a_run_that_does_not_count():
    def adds(it):
        racy_names.outside = racy_names.outside_by_name() + 1

    seen = []
    explore_threads(
        adds, adds, setup=Shared, check=lambda it: seen.append(racy_names.outside), strategy="dpor", switches="gil"
    )
    assert set(seen) == {2}
