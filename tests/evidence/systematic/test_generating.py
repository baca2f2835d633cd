"""Mutants have names that last, and each operator makes the change that it says."""

import ast
from collections import Counter

import pytest

from latchfree_evidence.systematic.generating import all_mutants, mutants_of
from latchfree_evidence.systematic.interleaved.scenarios import PROGRAMS
from latchfree_evidence.systematic.kernels import MODULES
from latchfree_evidence.systematic.trials.table import TRIALS

GCAS = "latchfree.ctrie.kernels.gcas"


def named(text: str, module: str = GCAS):
    found = [mutant for mutant in mutants_of(module) if text in mutant.name]
    assert found, text
    return found[0]


def test_names_are_unique_and_hold_no_line():
    names = [mutant.name for mutant in all_mutants()]
    assert len(names) == len(set(names)) > 2_000


def test_every_operator_is_used():
    kinds = Counter(mutant.operator for mutant in all_mutants())
    assert {
        "drop access", "drop call", "cas without write", "cas without comparison", "cas never fails", "swap", "negate",
        "and/or", "drop condition", "off by one", "exchange without write", "fetch_add without write",
    } <= set(kinds)  # fmt: skip


@pytest.mark.parametrize(
    ("text", "old", "new"),
    [
        ("gcas: cas without write", "if not cas(mem, i + MAIN, old, new):", "if not load(mem, i + MAIN) == old:"),
        ("gcas: drop call: complete", "complete(mem, trie, i, new)", "pass"),
        ("read_root: negate: word & PENDING", "if word & PENDING == NIL:", "if word & PENDING != NIL:"),
        ("gcas: drop access: poke", "poke(mem, new + PREV, old)", "pass"),
        ("complete: off by one: m + PREV", "prev = load(mem, m + PREV)", "prev = load(mem, m + np.uint64(2))"),
    ],
)
def test_a_diff_shows_one_change(text, old, new):
    lines = named(text).diff().splitlines()[2:]
    changed = [line for line in lines if line.startswith(("+", "-"))]
    assert [line.lstrip("+- ") for line in changed] == [old, new]


def test_a_swap_exchanges_two_lines():
    swap = next(mutant for mutant in all_mutants() if mutant.operator == "swap")
    changed = ast.unparse(swap.make())
    assert changed.index(swap.after) < changed.index(swap.before)


def test_mutants_compile():
    for mutant in all_mutants()[::40]:
        compile(ast.fix_missing_locations(ast.Module([mutant.make()], [])), "mutant", "exec")


def test_every_group_has_modules_trials_and_programs():
    assert set(MODULES) == set(TRIALS) == set(PROGRAMS)
