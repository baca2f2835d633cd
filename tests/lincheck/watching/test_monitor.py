"""A monitor's verdict is that of `check`, after each event, and its memory does not grow with the history."""

import random
from dataclasses import replace

import pytest
from lincheck_brute import brute, brute_failing
from lincheck_random import KINDS, model_of, random_history

from latchfree_lincheck import History, Operation, check
from latchfree_lincheck.watching import Event, InvalidEvent, Monitor
from latchfree_model import UNKNOWN, Call, SequentialModel, define


def events_of(history, rng=None):
    """Return the events of a history in order of time; pending operations are lost at random moments, or still run."""
    timed = []
    for each in history.operations:
        timed.append((each.invoke, Event("invoke", each.process, each.f, each.arguments, object=each.object)))
        if each.return_ is not None:
            timed.append((each.return_, Event("ok", each.process, result=each.result)))
        elif rng is not None and rng.random() < 0.7:
            timed.append((each.invoke + rng.random() * 20, Event("info", each.process)))
    return [event for _, event in sorted(timed, key=lambda pair: pair[0])]


def first_violation(monitor, events):
    """Return after how many events the monitor said so, or None."""
    for number, event in enumerate(events, start=1):
        monitor.feed(event)
        if monitor.verdict == "violation":
            return number
    return None


def first_bad_prefix(history, model, events):
    """Return the number of the first event after which the history is a violation, by the definition."""
    for number in range(1, len(events) + 1):
        if events[number - 1].type == "ok" and not brute(prefix(events[:number]), model):
            return number
    return None


def prefix(events):
    """Return the operations of some events; those that have not returned are pending."""
    operations, running = [], {}
    for time, event in enumerate(events):
        if event.type == "invoke":
            running[event.process] = Operation(
                event.process, event.f, event.arguments, UNKNOWN, time, None, event.object
            )
        elif event.type == "ok":
            operations.append(replace(running.pop(event.process), result=event.result, return_=time))
        else:
            lost = running.pop(event.process)
            operations += [] if event.type == "fail" else [lost]
    return [*operations, *running.values()]


@pytest.mark.parametrize("kind", KINDS)
def test_the_moment_is_that_of_the_first_prefix_that_is_a_violation(kind):
    model, found = model_of(kind), 0
    for seed in range(120):
        history = random_history(kind, seed)
        events = events_of(history, random.Random(seed))
        monitor = Monitor(model, split=not kind.startswith("whole-"))
        moment = first_violation(monitor, events)
        assert moment == first_bad_prefix(history, model, events), (seed, [str(each) for each in history.operations])
        assert (moment is None) == (check(history, model, engine="python").verdict == "ok")
        if moment is not None:
            found += 1
            assert monitor.excerpt[0].return_ == moment
            assert monitor.explain().startswith("violation: no order explains ")
    assert found > 5


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_the_moment_for_many_histories(kind):
    model = model_of(kind)
    for seed in range(3000):
        history = random_history(kind, 1000 + seed, most=9)
        events = events_of(history, random.Random(seed))
        monitor = Monitor(model, split=not kind.startswith("whole-"))
        assert first_violation(monitor, events) == first_bad_prefix(history, model, events), seed


def test_operations_that_failed_did_nothing(rng):
    """With some operations failed, whose effect others may have seen, the moment is still that of the first prefix."""
    model, moments = model_of("cas-register"), []
    for seed in range(400):
        events = events_of(random_history("cas-register", seed))
        events = [Event("fail", each.process) if each.type == "ok" and rng.random() < 0.3 else each for each in events]
        expected = next(
            (number for number in range(1, len(events) + 1) if not brute(prefix(events[:number]), model)), None
        )
        monitor = Monitor(model)
        assert first_violation(monitor, events) == expected, seed
        moments.append(None if expected is None else events[expected - 1].type)
    assert {None, "ok", "fail"} == set(moments)


class PlainRegister:
    """A model that is no `SequentialModel`."""

    name = "plain"

    def init(self):
        return 0

    def step(self, state, call):
        if call.f == "write":
            return True, call.arguments[0]
        return call.result in (state, UNKNOWN), state

    def describe(self, state, call):
        return f"{call} returned {call.result!r}, but it held {state!r}"

    def partition(self, call):
        return None


LOSSY = define(
    "lossy",
    None,
    {"write": lambda state, x: [(None, x), (None, state)], "read": lambda state: (state, state)},
)


@pytest.mark.parametrize("model", [PlainRegister(), LOSSY], ids=["plain", "nondeterministic"])
def test_models_of_ones_own(model):
    found = 0
    for seed in range(150):
        history = random_history("register", seed)
        events = events_of(history, random.Random(seed))
        moment = first_violation(Monitor(model), events)
        assert moment == first_bad_prefix(history, model, events), seed
        found += moment is not None
    assert 5 < found < 150


def test_a_model_whose_state_depends_on_the_result_is_undecided_by_name():
    class Bag:
        """Returns any item; which one, the result says."""

        name = "bag"

        def init(self):
            return frozenset({1, 2})

        def step(self, state, call):
            if call.result is UNKNOWN:
                return bool(state), state - {min(state, default=0)}
            return call.result in state, state - {call.result}

        def describe(self, state, call):
            return "no"

        def partition(self, call):
            return None

    monitor = Monitor(Bag())
    for event in (Event("invoke", 0, "take"), Event("invoke", 1, "take"), Event("ok", 0, result=2)):
        monitor.feed(event)
    assert monitor.verdict == "unknown"
    assert "depends on its result; derive the model 'bag' from NondeterministicModel" in monitor.reason


def test_what_an_operation_that_still_runs_wrote_may_be_read():
    monitor = Monitor("register")
    for event in (Event("invoke", 0, "write", (1,)), Event("invoke", 1, "read"), Event("ok", 1, result=1)):
        monitor.feed(event)
    assert (monitor.verdict, monitor.running, monitor.operations) == ("ok", 1, 1)


def test_a_violation_says_where():
    monitor = Monitor("map")
    with monitor.call(0, "put", "x", 1) as call:
        call.result = None
    monitor.feed(Event("invoke", 2, "put", ("x", 9)))
    with monitor.call(1, "get", "x") as call:
        call.result = 5
    assert monitor.explain().splitlines() == [
        "violation: no order explains get('x') by process 1 (5 events, 2 operations, 1 in flight)",
        "  get('x') returned 5, but key 'x' held 9",
        "  no order explains: process 1: get('x') -> 5, from 4 to 5",
        "  while these ran:",
        "    process 2: put('x', 9) pending, invoked at 3",
        "  after these:",
        "    process 0: put('x', 1) -> None, from 1 to 2",
    ]


def test_calls_of_threads_end_as_they_end():
    monitor = Monitor("register")
    with pytest.raises(TimeoutError), monitor.call(0, "write", 1):
        raise TimeoutError
    with monitor.call(0, "write", 2) as call:
        call.drop()
    for value in (1, 1):
        with monitor.call(0, "read") as call:
            call.result = value
    assert monitor.verdict == "ok"
    with monitor.call(0, "read") as call:
        call.result = 2
    assert monitor.verdict == "violation"


@pytest.mark.parametrize(
    ("events", "message"),
    [
        (
            [Event("invoke", 0, "read"), Event("invoke", 0, "read")],
            r"process 0 calls read\(\) while its read\(\) of event 1",
        ),
        ([Event("ok", 0)], "process 0 has no call that could end; got 'ok'"),
        ([Event("invoke", 0, "pop")], "the model 'register' has no operation 'pop'"),
        ([Event("invoke", 0, "write", ([],))], "unhashable"),
    ],
)
def test_events_that_cannot_be_are_refused_and_change_nothing(events, message):
    monitor = Monitor("register")
    for event in events[:-1]:
        monitor.feed(event)
    before = monitor.explain()
    with pytest.raises(InvalidEvent, match=message):
        monitor.feed(events[-1])
    assert monitor.explain() == before


def test_an_operation_on_the_whole_object_is_undecided_or_judged_whole():
    events = [Event("invoke", 0, "put", ("x", 1)), Event("ok", 0), Event("invoke", 0, "size"), Event("ok", 0, result=0)]
    split, whole = Monitor("map"), Monitor("map", split=False)
    for event in events:
        split.feed(event)
        whole.feed(event)
    assert (split.verdict, whole.verdict) == ("unknown", "violation")
    assert "size() touches the whole of the object, whose keys were judged apart; judge it whole with split=False" in (
        split.reason
    )
    monitor = Monitor("map")
    for event in [*events[2:], *events[:2]]:
        monitor.feed(event)
    assert monitor.verdict == "ok", "the whole first, and keys after it, need no option"


def test_other_objects_are_judged_though_one_is_undecided():
    monitor = Monitor("map")
    for name, f, arguments, result in (
        ("a", "put", ("x", 1), None), ("a", "size", (), 1), ("a", "get", ("x",), 7),
        ("b", "get", ("x",), 7),
    ):  # fmt: skip
        monitor.feed(Event("invoke", 0, f, arguments, object=name))
        monitor.feed(Event("ok", 0, result=result))
    assert monitor.verdict == "violation"
    assert monitor.excerpt[0].object == "b"


def test_the_memory_bound_gives_unknown_by_name_and_never_ok():
    monitor = Monitor("queue", memory=1 << 20)
    for process in range(8):
        monitor.feed(Event("invoke", process, "enqueue", (process,)))
    monitor.feed(Event("invoke", 8, "dequeue"))
    monitor.feed(Event("ok", 8, result=99))
    assert monitor.verdict == "unknown"
    assert "the configurations of the object reached the memory bound of 1 MB, with 9 operation(s) in flight" in (
        monitor.reason
    )
    assert monitor.configurations == 0
    many = Monitor("register", memory=1 << 16)
    for number in range(100):
        many.feed(Event("invoke", 0, "write", (1,), object=str(number)))
        many.feed(Event("ok", 0))
    assert many.verdict == "unknown"
    assert "reached the memory bound" in many.reason


def test_a_key_that_was_refused_once_is_never_judged_by_what_came_later():
    reasons = set()
    for memory in range(2000, 12_000, 100):
        monitor = Monitor("set", memory=memory)
        for f, key, result in (("add", 1, True), ("add", 2, True), ("remove", 1, True), ("add", 2, False)):
            monitor.feed(Event("invoke", 0, f, (key,)))
            monitor.feed(Event("ok", 0, result=result))
        assert monitor.verdict in ("ok", "unknown")
        reasons.add(monitor.reason)
    assert "linearizable so far" in reasons
    assert any("1 keys reached the memory bound" in reason for reason in reasons)


def test_a_long_history_keeps_few_configurations(rng):
    """Eight clients that never pause, so nothing is ever quiet: what returned is forgotten all the same."""
    monitor, most, value = Monitor("cas-register"), 0, None
    pending = {}
    for _ in range(3000):
        process = rng.randrange(8)
        if process in pending:
            event = pending.pop(process)
        else:
            f = rng.choice(["read", "write", "cas"])
            arguments = {"read": (), "write": (rng.randrange(5),), "cas": (rng.randrange(5), rng.randrange(5))}[f]
            monitor.feed(Event("invoke", process, f, arguments))
            result, value = _apply(f, arguments, value)
            pending[process] = Event("ok", process, result=result)
            continue
        monitor.feed(event)
        most = max(most, monitor.configurations)
    assert monitor.verdict == "ok"
    assert most < 2000


def _apply(f, arguments, value):
    result, after = model_of("cas-register").apply(value, Call(f, arguments, UNKNOWN))
    return result, after


def test_equal_lost_operations_count_as_one_kind():
    monitor = Monitor("counter")
    for process in range(20):
        monitor.feed(Event("invoke", process, "add", (5,)))
        monitor.feed(Event("info", process))
    for result in (0, 35, 100, 100):
        monitor.feed(Event("invoke", 99, "read"))
        monitor.feed(Event("ok", 99, result=result))
    assert monitor.verdict == "ok"
    monitor.feed(Event("invoke", 99, "read"))
    monitor.feed(Event("ok", 99, result=105))
    assert monitor.verdict == "violation"


def test_keys_that_are_as_at_the_beginning_are_forgotten():
    monitor = Monitor("set")
    for number in range(500):
        for f, result in (("add", True), ("remove", True)):
            monitor.feed(Event("invoke", 0, f, (number,)))
            monitor.feed(Event("ok", 0, result=result))
    assert (monitor.verdict, monitor.configurations) == ("ok", 0)


def test_an_unhashable_result_of_a_model_is_compared():
    class Log(SequentialModel):
        name = "log"
        operations = {"append": 1, "read": 0}  # noqa: RUF012
        readonly = frozenset({"read"})

        def init(self):
            return ()

        def apply(self, state, call):
            return (None, (*state, call.arguments[0])) if call.f == "append" else (list(state), state)

    monitor = Monitor(Log())
    for event in (
        Event("invoke", 0, "append", (1,)), Event("invoke", 1, "read"), Event("ok", 0), Event("ok", 1, result=[]),
        Event("invoke", 1, "read"), Event("ok", 1, result=[1]),
    ):  # fmt: skip
        monitor.feed(event)
    assert monitor.verdict == "ok"


def test_the_moment_is_never_before_that_of_check():
    """`check` knows what running operations return later, so it may name an earlier return; never a later one."""
    for seed in range(200):
        history = random_history("register", seed)
        expected = brute_failing(history.operations, model_of("register"))
        moment = first_violation(Monitor("register"), events_of(history))
        assert (moment is None) == (expected is None)
        assert isinstance(history, History)
