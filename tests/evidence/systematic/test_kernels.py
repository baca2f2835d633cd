"""Every file with compiled functions is mutated, or left out with a reason."""

import pytest

from latchfree_evidence.systematic.generating import mutants_of
from latchfree_evidence.systematic.kernels import LEFT_OUT, MODULES, with_kernels


def test_every_kernel_is_mutated_or_left_out_with_a_reason():
    mutated = [module for modules in MODULES.values() for module in modules]
    assert len(mutated) == len(set(mutated))
    assert sorted([*mutated, *LEFT_OUT]) == sorted(with_kernels())
    assert all(LEFT_OUT.values())


@pytest.mark.parametrize("module", ["latchfree.ctrie.kernels.context"])
def test_what_no_operator_changes_has_no_mutants(module):
    import importlib

    importlib.import_module(module)
    assert not list(mutants_of(module))
