"""The layers pass the code as it is, kill some mutants of each kind, and leave an equivalent one alone."""

import pytest

from latchfree_evidence.systematic.equivalents import KINDS, kinds, reasons
from latchfree_evidence.systematic.generating import all_mutants
from latchfree_evidence.systematic.interleaved.exploring import Explorer
from latchfree_evidence.systematic.interleaved.scenarios import PROGRAMS
from latchfree_evidence.systematic.judging import judged
from latchfree_evidence.systematic.kernels import MODULES
from latchfree_evidence.systematic.layers import LAYERS, coverage, interleaved
from latchfree_evidence.systematic.plain.memory import MARKING, UseAfterFree
from latchfree_evidence.systematic.plain.world import World
from latchfree_evidence.systematic.trials import topic_changes, topic_tombs, topic_visits
from latchfree_evidence.systematic.trials.table import TRIALS

COLLECT = "topics/concurrent/kernels/collect.py"
MUTANTS = {mutant.name: mutant for mutant in all_mutants()}


#: Groups of which mutants are judged below: all seeds of their trials run in any case.
JUDGED = ("ring", "arena", "objects")
SEEDS = 2


@pytest.mark.parametrize(
    "group", [group if group in JUDGED else pytest.param(group, marks=pytest.mark.slow) for group in MODULES]
)
def test_the_code_as_it_is_passes_all_layers(group):
    coverage(group)  # runs each trial as `sequential` does, and raises what one raises
    interleaved(group, {})


@pytest.mark.parametrize("group", [group for group in MODULES if group not in JUDGED])
def test_the_code_as_it_is_passes_each_trial_and_each_program(group):
    world = World(wrapped=MARKING)
    for trial, seeds in TRIALS[group]:
        for seed in range(min(seeds, SEEDS)):
            trial(world, seed)
    for make, texts in PROGRAMS[group]:
        prepare = make({}, None)
        for text in texts:
            Explorer(prepare(text), bound=2, schedules=60).run()


def world_of(mutant):
    return World(replaced={(mutant.module, mutant.function): mutant.make()}, wrapped=MARKING)


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


def test_two_subscriptions_of_a_pattern_below_a_dollar_sign_show_a_mutant():
    mutant = MUTANTS[f"{COLLECT} _below_branch: drop condition: hidden and at == NIL -> hidden"]
    with pytest.raises(AssertionError, match="who is matched"):
        topic_changes.all_short(world_of(mutant), 0)


def test_which_nodes_are_visited_shows_a_mutant_that_finds_the_same():
    mutant = MUTANTS[f"{COLLECT} _wanted: off by one: at < count -> at <= count"]
    with pytest.raises(AssertionError, match="which nodes are visited"):
        topic_visits.visits(world_of(mutant), 0)


def test_a_tomb_that_holds_nothing_shows_a_mutant_of_the_map():
    name = "drop condition: node == _0 or gen_of(mem, node) < birth -> gen_of(mem, node) < birth"
    mutant = MUTANTS[f"ctrie/kernels/trees.py _free_slot: {name}"]
    with pytest.raises(UseAfterFree, match="are freed"):
        topic_tombs.given_up(world_of(mutant), 0)


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
