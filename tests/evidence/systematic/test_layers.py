"""The layers pass the code as it is, kill some mutants of each kind, and leave an equivalent one alone."""

import pytest

from latchfree_evidence.systematic.equivalents import KINDS, kinds, reasons
from latchfree_evidence.systematic.generating import all_mutants
from latchfree_evidence.systematic.judging import judged
from latchfree_evidence.systematic.kernels import MODULES
from latchfree_evidence.systematic.layers import LAYERS, interleaved, sequential

MUTANTS = {mutant.name: mutant for mutant in all_mutants()}


@pytest.mark.parametrize("group", MODULES)
def test_the_code_as_it_is_passes_all_layers(group):
    sequential(group, {})
    interleaved(group, {})


def verdict_on(group, name):
    mutant = MUTANTS[name]
    return judged(LAYERS, group, {(mutant.module, mutant.function): mutant.make()})


@pytest.mark.parametrize(
    ("group", "name", "layer"),
    [
        ("ring", "streams/kernels/ring.py fill: drop access: store(mem, cell + VALUE, value)", "sequential"),
        ("ring", "streams/kernels/roster.py leave: drop call: unpin(mem, me)", "sequential"),
        ("ring", "streams/kernels/positions.py is_full: off by one: mask + _1 -> mask + np.uint64(2)", "sequential"),
        ("arena", "arena/kernels/epochs.py try_advance: negate: return False -> return True", "sequential"),
        (
            "ring",
            "streams/kernels/roster.py end_ring: swap: exchange(mem, ring + NUMBER, _0) -> "
            "store(mem, ring + GONE, load_seq(mem, H_EPOCH))",
            "sequential",
        ),
        ("objects", "ctrie/kernels/by_reference.py _compared: negate: same == 1 -> same != 1", "sequential"),
        ("objects", "ctrie/kernels/objects.py _blob: drop call: give_up(made)", "sequential"),
        ("objects", "ctrie/kernels/taking.py _end_hold: drop access: poke(this, HOLD_SLOT, _0)", "sequential"),
        ("arena", "arena/kernels/epochs.py retire: drop call: _add(mem, me, entry_for(mem, node))", "sequential"),
    ],
)
def test_mutants_are_killed(group, name, layer):
    verdict = verdict_on(group, name)
    assert verdict.layer == layer, verdict


def test_a_mutant_that_only_interleavings_show():
    name = "streams/kernels/ring.py claim: cas without comparison: cas(mem, counter, position, position + _1) -> "
    name = next(each for each in MUTANTS if each.startswith(name))
    assert verdict_on("ring", name).layer == "interleaved"


def test_an_equivalent_mutant_survives():
    name = next(each for each in reasons() if "parking.py tell: drop access: fence" in each)
    assert verdict_on("ring", name).layer is None


def test_a_hang_is_a_verdict():
    verdict = verdict_on(
        "arena", "arena/kernels/freelists.py _power_for: off by one: size <<= _1 -> size <<= np.uint64(0)"
    )
    assert (verdict.layer, verdict.how) == ("sequential", "hang")


def test_equivalents_name_mutants_that_there_are():
    for name, reason in reasons().items():
        assert name in MUTANTS, name
        assert reason.endswith("."), reason
    assert set(kinds().values()) == set(KINDS)
