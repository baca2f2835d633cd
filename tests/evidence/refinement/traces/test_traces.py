"""Recorded runs are behaviours of the specification; what was never recorded is none, and the event is named."""

import json
import os
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

import latchfree
from latchfree_evidence.refinement.labels import accesses, ctrie_actions
from latchfree_evidence.refinement.traces.batch import check_batch, module_text
from latchfree_evidence.refinement.traces.campaign import SCHEDULES, THREADS, trace_of, validate_traces
from latchfree_evidence.refinement.traces.events import Event, events_of
from latchfree_evidence.refinement.traces.explored import log_schedules
from latchfree_evidence.refinement.traces.files import TraceError, read_trace, to_json
from latchfree_evidence.refinement.traces.logger import log_threads
from latchfree_evidence.refinement.traces.mains import mains_of
from latchfree_evidence.targets.ctrie import CTRIE
from latchfree_explore.scenario import Scenario
from latchfree_explore.steps import Step

SCENARIO = Scenario.parse("init: put(0, 1); put(1, 1) | remove(0) | put(2, 3); snapshot | keys: pairs")

#: What every event could also have seen.
OTHERWISE = {
    "I-node": "descriptor", "descriptor": "I-node", "yes": "no", "no": "yes", "null": "pending", "pending": "null",
    "failed": "null", "COMMIT": "ABORT", "ABORT": "COMMIT", "UNDECIDED": "COMMIT",
}  # fmt: skip

#: A run of one thread of mutated code, in a process of its own; its output is the event that is rejected.
MUTATED = """
import sys
from latchfree_evidence.mutants import apply_mutant
apply_mutant(sys.argv[1])
from latchfree_evidence.targets.ctrie import CTRIE
from latchfree_explore.steps import Step
from latchfree_explore.scenario import Scenario
from latchfree_evidence.refinement.traces.batch import check_batch
from latchfree_evidence.refinement.traces.campaign import trace_of
from latchfree_evidence.refinement.traces.explored import log_schedules
scenario = Scenario.parse(sys.argv[2])
trace = trace_of(scenario, next(log_schedules(CTRIE, scenario, 0, 1)), "one schedule")
rejection = check_batch([trace])
print("accepted" if rejection is None else trace.events[rejection.event])
"""

#: The first put makes a child of the new generation; then the second one renews the older child, and S1 both.
RENEWAL = "init: put(0, 1); put(1, 1); put(2, 1) | snapshot; put(3, 2); put(0, 2) | keys: pairs"


def recorded(scenario=SCENARIO, seed=7):
    return trace_of(scenario, next(log_schedules(CTRIE, scenario, seed, 1)), SCHEDULES)


@pytest.fixture(scope="module")
def trace():
    return recorded()


def test_recorded_runs_are_behaviours_of_the_specification():
    campaign = validate_traces(40, seed=11)
    assert campaign.rejected is None, (campaign.rejection, campaign.rejected)
    assert campaign.complete
    assert campaign.traces == {SCHEDULES: 20, THREADS: 20}
    assert campaign.events > 1_000
    assert len(campaign.actions) > 10


def test_one_wrong_event_is_rejected_and_named(trace):
    for number in (0, len(trace.events) // 2, len(trace.events) - 1):
        while trace.events[number].seen not in OTHERWISE:
            number -= 1
        events = list(trace.events)
        events[number] = events[number]._replace(seen=OTHERWISE[events[number].seen])
        rejection = check_batch([trace, replace(trace, events=tuple(events))])
        assert rejection is not None
        assert (rejection.trace, rejection.event) == (1, number), rejection


def test_a_trace_that_stops_is_rejected(trace):
    # The second read of a committed main is no step: an operation returns with the step before.
    last = max(k for k, event in enumerate(trace.events) if event.action != "GcasReadPrev")
    rejection = check_batch([replace(trace, events=trace.events[:last])])
    assert rejection is not None
    assert (rejection.event, rejection.reason) == (last, "operations have not returned")


def test_a_wrong_answer_is_rejected(trace):
    results = list(trace.results)
    assert results[2] == 1
    results[2] = None
    rejection = check_batch([replace(trace, results=tuple(results))])
    assert rejection is not None
    assert trace.events[rejection.event].thread == 0
    assert not any(event.thread == 0 for event in trace.events[rejection.event + 1 :])


def test_an_answer_that_another_order_explains_is_rejected():
    """Put and get overlap. The get may answer 1 or 2, and the map holds 2 after both: only the step's answer tells."""
    scenario = Scenario.parse("init: put(0, 1) | put(0, 2) | get(0) | keys: pairs")
    runs = (recorded(scenario, seed) for seed in range(200))
    run = next(run for run in runs if _overlap(run.events) and run.results[2] == 2)
    assert check_batch([run]) is None
    rejection = check_batch([replace(run, results=(*run.results[:2], 1))])
    assert rejection is not None
    assert rejection.event == max(k for k, event in enumerate(run.events) if event.thread == 1)


def _overlap(events):
    """Whether each of two threads makes its first step before the last one of the other."""
    places = [[k for k, event in enumerate(events) if event.thread == thread] for thread in (0, 1)]
    return places[0][0] < places[1][-1] and places[1][0] < places[0][-1]


def test_a_conditional_operation_answers_what_the_specification_says():
    text = "put_if_absent(0, 2); replace(0, 3); replace_if(0, 3, 4); remove_if(0, 3); remove_if(0, 4); replace(0, 5)"
    run = recorded(Scenario.parse(f"init: put(0, 1) | {text} | keys: pairs"))
    assert run.results == (None, 1, 1, True, False, True, None)
    for number, other in ((1, None), (2, None), (3, False), (4, True), (5, False), (6, 1)):
        results = (*run.results[:number], other, *run.results[number + 1 :])
        rejection = check_batch([run, replace(run, results=results)])
        assert rejection is not None
        assert rejection.trace == 1


@pytest.mark.parametrize("wrong", [("k0=1", "k0=2"), ("C ", "T "), (" +1", "")])
def test_another_main_node_than_the_one_read_is_rejected(trace, wrong):
    number = next(
        k for k, event in enumerate(trace.events) if event.action == "GcasReadMain" and wrong[0] in event.seen
    )
    events = list(trace.events)
    events[number] = events[number]._replace(seen=events[number].seen.replace(*wrong))
    rejection = check_batch([replace(trace, events=tuple(events))])
    assert rejection is not None
    assert rejection.event == number
    assert rejection.reason.endswith("at GcasReadMain, where it sees or answers something else")


def test_a_run_in_which_memory_may_be_freed_is_refused():
    file = Path(latchfree.__file__).parent / "arena" / "kernels" / "epochs.py"
    line = next(line for line, _, labels, _ in accesses(file.read_text()) if labels == ("Reclamation!AdvanceCas",))
    step = Step(0, "cas", 9, 1, 2, f"latchfree/arena/kernels/epochs.py:{line}", 0, True)
    assert mains_of([step, replace(step, succeeded=False)], []) == {}
    with pytest.raises(RuntimeError, match="memory may have been freed"):
        mains_of([step, step], [])


def test_steps_in_another_order_are_rejected(trace):
    number = next(k for k, event in enumerate(trace.events) if event.action == "GcasCas")
    events = list(trace.events)
    events.insert(0, events.pop(number))
    rejection = check_batch([replace(trace, events=tuple(events))])
    assert rejection is not None
    assert rejection.event == 0


def mutated(mutant, scenario):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", MUTATED, mutant, scenario]
    done = subprocess.run(command, capture_output=True, text=True, timeout=1200, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_a_run_of_mutated_code_is_rejected():
    assert check_batch([recorded(Scenario.parse(RENEWAL))]) is None
    assert mutated("S1", RENEWAL).startswith("GcasReadMain of thread 0")


def test_threads_are_recorded_in_the_order_of_their_accesses():
    scenario = Scenario.parse("put(0, 1); put(0, 2) | put(0, 3) | keys: flat")
    steps, results, _ = log_threads(CTRIE, scenario, 3)
    words = {}
    for step in steps:
        assert words.get(step.at, step.old) == step.old, step
        words[step.at] = step.new
        assert step.succeeded or step.new == step.old
    assert {step.thread for step in steps} == {0, 1}
    assert results[0] in (None, 3)
    assert [step.call for step in steps if step.thread == 0] == sorted(s.call for s in steps if s.thread == 0)


def test_events_are_the_labelled_accesses():
    log = next(log_schedules(CTRIE, Scenario.parse("init: put(0, 1); put(1, 1) | remove(0) | keys: pairs"), 0, 1))
    labelled = [step for step in log.steps if ctrie_actions(step.site)]
    events = events_of(log.steps, log.mains)
    # A tomb is made and pulled up: its main is read once more, and that is left out.
    assert len(labelled) - len(events) == 2
    actions = Counter(event.action for event in events)
    assert (actions["GcasCas"], actions["CompleteCommit"], actions["CompleteReadRoot"]) == (2, 2, 2)
    assert [event.action for event in events[:3]] == ["RdcssRead", "GcasReadMain", "GcasReadPrev"]
    mains = [event.seen for event in events if event.action == "GcasReadMain"]
    # The root, and the node of both keys; when key 0 is gone, the tomb below, and the root to pull it up into.
    assert mains == ["C +1", "C k0=1 k1=1", "T k1=1", "C +1"]


def test_only_the_second_look_at_a_tomb_is_left_out():
    file = Path(latchfree.__file__).parent / "ctrie" / "kernels" / "gcas.py"
    lines = {labels[0].removeprefix("Ctrie!"): line for line, _, labels, _ in accesses(file.read_text())}

    def step(action, at, old):
        return Step(0, "load", at, old, old, f"latchfree/ctrie/kernels/gcas.py:{lines[action]}", 0, True)

    def read(at, main):
        return [step("GcasReadMain", at, main), step("GcasReadPrev", main + 1, 0)]

    # A remover climbs: a tomb in I-node 30, whose parent 20 has let go of it already, and is no tomb itself.
    up, second, parent, next_up = read(31, 33), read(31, 33), read(21, 23), read(21, 23)
    mains = {33: "T k1=1", 23: "C k0=1"}
    assert [event.action for event in events_of([*up, *second, *parent, *next_up], mains)] == [
        event.action for part in (up, parent, next_up) for event in events_of(part, mains)
    ]
    # An attempt has failed: it reads the root, looks at the tomb again, then at the parent.
    root, cas = step("RdcssRead", 5, 10), step("GcasCas", 21, 23)
    assert [event.action for event in events_of([*up, *second, *parent, cas, root, *second, *parent], mains)] == [
        "GcasReadMain", "GcasReadPrev", "GcasReadMain", "GcasReadPrev", "GcasCas", "RdcssRead", "GcasReadMain",
        "GcasReadPrev",
    ]  # fmt: skip


def test_a_lookup_that_starts_over_is_taken_from_there():
    def files(text, seed):
        events = recorded(Scenario.parse(f"init: put(0, 1); put(1, 1) | {text} | keys: pairs"), seed=seed).events
        return {event.site.partition(":")[0] for event in events if not event.thread}

    undisturbed = {"latchfree/ctrie/kernels/lookup.py"}
    assert files("get(1)", 0) == undisturbed
    assert undisturbed < files("snapshot; get(1)", 0), "an older child is no reason to start over"
    beside_a_put = [files("get(1) | put(0, 2)", seed) for seed in range(60)]
    assert undisturbed in beside_a_put
    assert {"latchfree/ctrie/kernels/gcas.py"} in beside_a_put, "it met a pending put, and helped"


def test_what_has_no_counterpart_is_refused(trace):
    with pytest.raises(ValueError, match="a batch has one"):
        module_text([replace(trace, scenario=replace(SCENARIO, keys="list"))])
    with pytest.raises(ValueError, match="puts of value 1 and nothing else"):
        module_text([replace(trace, scenario=replace(SCENARIO, before=SCENARIO.threads[0]))])
    with pytest.raises(ValueError, match="no operation size"):
        module_text([replace(trace, scenario=Scenario.parse("size | keys: pairs"), results=(0,))])
    with pytest.raises(ValueError, match="more than two slots"):
        module_text([replace(trace, scenario=Scenario.parse("get(5) | keys: pairs"), results=(None,))])


def test_a_trace_survives_its_file(trace, tmp_path):
    file = tmp_path / "trace.json"
    file.write_text(json.dumps(to_json(trace)))
    assert read_trace(file) == trace


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"latchfree": "replay"}, '"latchfree": "trace"'),
        ({"version": 1}, "version 1 of the format"),
        ({"events": [[0, "GcasCas"]]}, "'events' is a list of"),
        ({"events": [[0, "GcasReadMain", "main", ""]]}, "a main node seen: C k0=1"),
        ({"events": [[9, "GcasCas", "yes", ""]]}, "a thread that is not in"),
        ({"scenario": "put(1"}, "'scenario': "),
        ({"results": []}, "'results' is a list"),
    ],
)
def test_a_malformed_file_is_named(trace, tmp_path, change, message):
    file = tmp_path / "trace.json"
    file.write_text(json.dumps({**to_json(trace), **change}))
    with pytest.raises(TraceError, match=message) as caught:
        read_trace(file)
    assert str(caught.value).startswith(str(file))
    file.write_text("{")
    with pytest.raises(TraceError, match="expected JSON"):
        read_trace(file)


def test_an_event_says_where_it_comes_from():
    event = Event(1, "GcasCas", "yes", "latchfree/ctrie/kernels/gcas.py:70")
    assert str(event) == "GcasCas of thread 1, which saw yes (latchfree/ctrie/kernels/gcas.py:70)"


@pytest.mark.slow
def test_a_thousand_traces():
    campaign = validate_traces(1_000, seed=20120225)
    assert campaign.rejected is None, (campaign.rejection, campaign.rejected)
    assert campaign.complete
    assert campaign.traces.total() == 1_000
    assert len(campaign.actions) == 17


def test_a_mutant_can_be_applied_after_the_campaign_is_loaded():
    code = """
import sys
import latchfree_evidence.refinement.traces.campaign
from latchfree_evidence.mutants import apply_mutant
apply_mutant("S1")
"""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr
