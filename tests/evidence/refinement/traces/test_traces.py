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
from latchfree_evidence.refinement.traces.campaign import PROCESSES, SCHEDULES, THREADS, trace_of, validate_traces
from latchfree_evidence.refinement.traces.events import Event, events_of
from latchfree_evidence.refinement.traces.explored import log_schedules
from latchfree_evidence.refinement.traces.files import TraceError, read_trace, to_json
from latchfree_evidence.refinement.traces.forked import TRACED
from latchfree_evidence.refinement.traces.logger import log_threads
from latchfree_evidence.refinement.traces.mains import Main, TooLong, mains_of
from latchfree_evidence.refinement.traces.processes import TwoProcesses
from latchfree_evidence.targets.ctrie import CTRIE
from latchfree_explore.scenario import Scenario
from latchfree_explore.steps import Step

HELPERS = Path(__file__).parents[2] / "helpers"
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
    campaign = validate_traces(32, seed=11)
    assert campaign.rejected is None, (campaign.rejection, campaign.rejected)
    assert campaign.complete
    assert campaign.traces == {SCHEDULES: 16, THREADS: 12, PROCESSES: 4}
    assert campaign.events > 1_500
    assert len(campaign.actions) > 10
    # Scenarios are of the seed; what is drawn anew because it was too long to be recorded depends on real threads, too.
    assert campaign.seen["four threads"] > 2
    assert campaign.seen["L-nodes"] > 2
    assert campaign.seen["writable snapshot"] > 0


def test_one_wrong_event_is_rejected_and_named(trace):
    for number in (0, len(trace.events) // 2, len(trace.events) - 1):
        while trace.events[number].seen not in OTHERWISE:
            number -= 1
        events = list(trace.events)
        events[number] = events[number]._replace(seen=OTHERWISE[events[number].seen])
        rejection = check_batch([trace, replace(trace, events=tuple(events))])
        assert rejection is not None
        assert (rejection.trace, rejection.event) == (1, number), rejection


#: A schedule of code that uses the main node before the one that it has read, of equal content; as JSON.
STALE = """
import json, sys
from hashlib import blake2b
from importlib import import_module
from pathlib import Path

from latchfree import jit

_, text, helpers = sys.argv
sources = blake2b(Path(helpers, "stale_read.py").read_bytes(), digest_size=8).hexdigest()
jit.set_variant(f"stale-read-{sources}", ("latchfree.ctrie.", "latchfree_evidence.", "stale_read"))
sys.path.append(helpers)
import stale_read
lookup = import_module("latchfree.ctrie.kernels.lookup")
right = lookup.lookup_undisturbed
for holder in list(sys.modules.values()):
    if holder.__name__.startswith("latchfree.") and getattr(holder, "lookup_undisturbed", None) is right:
        holder.lookup_undisturbed = stale_read.lookup_undisturbed

from latchfree_evidence.refinement import labels
from latchfree_evidence.refinement.traces.campaign import trace_of
from latchfree_evidence.refinement.traces.explored import log_schedules
from latchfree_evidence.refinement.traces.files import to_json
from latchfree_evidence.targets.ctrie import CTRIE
from latchfree_explore.scenario import Scenario

path = Path(helpers, "stale_read.py")
found = {each.line: each.labels for each in labels.accesses(path.read_text())}
usual = labels._labels_in
labels._labels_in = lambda file: found if file.endswith("stale_read.py") else usual(file)
scenario = Scenario.parse(text)
for log in log_schedules(CTRIE, scenario, 0, 500):
    trace = trace_of(scenario, log, "one schedule")
    mine = [event for event in trace.events if event.thread == 0]
    reads = [event.nodes for event in mine if event.action == "GcasReadMain"]
    looks = [event.nodes[0] for event in mine if event.action == "GcasReadPrev"]
    done = [event.action for event in trace.events].index("CompleteCommit")
    late = all(event.thread == 1 for event in trace.events[: done + 1] if event.action != "RdcssRead")
    if late and mine[-1].action == "GcasReadPrev" and any(read[1] != look for read, look in zip(reads, looks)):
        print(json.dumps(to_json(trace)))
        break
"""


def test_a_stale_node_of_equal_content_is_told_apart(tmp_path):
    """The lookup answers what is right, and every node that it reads holds what the specification's does."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", STALE, "init: put(0, 1) | get(0) | put(0, 1) | keys: flat", str(HELPERS)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=1200, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    file = tmp_path / "trace.json"
    file.write_text(done.stdout)
    stale = read_trace(file)
    rejection = check_batch([stale])
    assert rejection is not None
    wrong = stale.events[rejection.event]
    assert (wrong.thread, wrong.action) == (0, "GcasReadPrev")
    # With the node that the thread should have used, all else is a behaviour of the specification: kinds, contents,
    # outcomes and answers.
    events = list(stale.events)
    read = next(event for event in reversed(events[: rejection.event]) if event.thread == 0)
    assert read.nodes[1] != wrong.nodes[0]
    events[rejection.event] = wrong._replace(nodes=(read.nodes[1],))
    assert check_batch([replace(stale, events=tuple(events))]) is None


def test_another_node_of_the_same_content_is_rejected(trace):
    """In each event that shows a node that was shown before, another number."""
    met, tried = set(), 0
    for number, event in enumerate(trace.events):
        if event.nodes and event.nodes[-1] in met and len(met) > 1 and number % 4 == 0:
            other = next(node for node in sorted(met) if node != event.nodes[-1])
            events = list(trace.events)
            events[number] = event._replace(nodes=(*event.nodes[:-1], other))
            rejection = check_batch([replace(trace, events=tuple(events))])
            assert rejection is not None, event
            assert rejection.event == number
            tried += 1
        met.update(event.nodes)
    assert tried > 2


FORKED = Scenario.parse(
    "init: put(0, 1); put(1, 1) | fork; fork_put(0, 2); remove(0) | put(2, 3); put(3, 3); fork_get(0) | keys: pairs"
)


def test_a_writable_snapshot_is_followed():
    runs = [trace_of(FORKED, log, SCHEDULES) for log in log_schedules(TRACED, FORKED, 3, 60)]
    assert check_batch(runs) is None
    assert {run.results[-1] for run in runs} >= {"skipped", 2}
    read = next(run for run in runs if run.results[-1] == 2)
    rejection = check_batch([replace(read, results=(*read.results[:-1], 1))])
    assert rejection is not None
    assert read.events[rejection.event].thread == 1


def test_a_clear_reads_what_a_snapshot_may_see():
    scenario = Scenario.parse("init: put(0, 1); put(1, 1) | fork; clear; put(0, 2) | put(2, 3) | keys: pairs")
    run = next(trace_of(scenario, log, SCHEDULES) for log in log_schedules(TRACED, scenario, 5, 1))
    assert check_batch([run]) is None
    swing = [k for k, event in enumerate(run.events) if event.action == "RdcssSwing" and event.thread == 0][1]
    swept = [
        k for k, event in enumerate(run.events) if k > swing and event.thread == 0 and event.action == "GcasReadMain"
    ]
    assert run.events[swept[0]].site.startswith("latchfree/ctrie/kernels/gcas.py")
    events = list(run.events)
    events[swept[0]] = events[swept[0]]._replace(seen="C k3=1")
    rejection = check_batch([replace(run, events=tuple(events))])
    assert rejection is not None
    assert rejection.event == swept[0]


def test_lists_are_followed_eleven_levels_down():
    scenario = Scenario.parse("init: put(0, 1); put(1, 1) | remove(0) | put(1, 3); get(0) | keys: list")
    run = recorded(scenario, seed=2)
    assert check_batch([run]) is None
    number = next(k for k, event in enumerate(run.events) if event.seen == "L k0=1 k1=1")
    events = list(run.events)
    events[number] = events[number]._replace(seen="L k0=1 k1=2")
    rejection = check_batch([replace(run, events=tuple(events))])
    assert rejection is not None
    assert rejection.event == number


def test_two_processes_are_recorded_in_one_order():
    scenario = Scenario.parse("init: put(0, 1) | put(0, 2); remove(0) | put(0, 3); get(0) | snapshot | keys: flat")
    with TwoProcesses(TRACED) as processes:
        logs = [processes.log(scenario, seed) for seed in range(3)]
    for steps, _, _ in logs:
        words = {}
        for step in steps:
            assert words.get(step.at, step.old) == step.old, step
            words[step.at] = step.new
        assert {step.thread for step in steps} == {0, 1, 2}
    assert check_batch([trace_of(scenario, log, PROCESSES) for log in logs]) is None


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
    with pytest.raises(TooLong, match="memory may have been freed"):
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
    mains = {33: Main("T k1=1"), 23: Main("C k0=1")}
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
        module_text([replace(trace, scenario=replace(SCENARIO, keys="shared"))])
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
        ({"version": 2}, "version 2 of the format"),
        ({"events": [[0, "GcasCas"]]}, "'events' is a list of"),
        ({"events": [[0, "GcasCas", "yes", "", [0]]]}, "'events' is a list of"),
        ({"events": [[0, "GcasReadMain", "main", "", []]]}, "a main node seen: C k0=1"),
        ({"events": [[9, "GcasCas", "yes", "", [1]]]}, "a thread that is not in"),
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
    event = Event(1, "GcasCas", "yes", "latchfree/ctrie/kernels/gcas.py:70", (3, 1, 4))
    assert str(event) == "GcasCas of thread 1, which saw yes [3 1 4] (latchfree/ctrie/kernels/gcas.py:70)"


@pytest.mark.slow
def test_a_thousand_traces():
    campaign = validate_traces(1_000, seed=20120225)
    assert campaign.rejected is None, (campaign.rejection, campaign.rejected)
    assert campaign.complete
    assert campaign.traces.total() == 1_000
    assert len(campaign.actions) == 17
    assert (
        min(campaign.seen[what] for what in ("four threads", "L-nodes", "writable snapshot", "snapshot and clear")) > 50
    )


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
