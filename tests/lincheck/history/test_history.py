"""Histories are validated, and recorded."""

import threading

import pytest

from latchfree_lincheck import History, Operation, Recorder, check
from latchfree_model import UNKNOWN


@pytest.mark.parametrize(
    ("operations", "message"),
    [
        ([Operation(0, "get", (1,), None, 5, 4)], r"get\(1\) -> None, from 5 to 4: it must not return before"),
        ([Operation(0, "get", (1,), None, 5.0, 6)], "times must be integers"),
        ([Operation(0, "get", (1,), None, 5, 1 << 63)], "times must fit 64 bits"),
        ([Operation(0, "get", (1,), None, 5, 6), Operation(0, "get", (1,), None, 5, 6)], "it is listed twice"),
        ([Operation(0, "get", (1,), 7, 5, None)], r"it is pending, so it has no result, but 7 is given"),
        ([Operation(0, "get", (1,), 7, 1, 4), Operation(0, "get", (2,), 7, 3, 5)], r"get\(2\).*had not returned"),
        ([Operation(0, "get", (1,), 7, 1, 4), Operation(0, "get", (2,), 7, 1, 5)], r"get\(2\).*had not returned"),
        (
            [Operation(0, "get", (2,), 7, 3, 5), Operation(0, "put", (1, 1), UNKNOWN, 1, None)],
            r"get\(2\).*still has a pending operation, process 0: put\(1, 1\) pending.*new name",
        ),
    ],
)
def test_what_cannot_be_is_refused(operations, message):
    with pytest.raises(ValueError, match=message):
        History("h", operations)


def test_times_far_apart_are_told_apart():
    far = [
        Operation(0, "write", (1,), None, -(1 << 63), 0),
        Operation(1, "read", (), None, 1, (1 << 63) - 1),
    ]
    assert check(History("far", far), "register").verdict == "violation"


def test_histories_compare_by_value():
    operation = Operation(0, "get", (1,), None, 5, 6)
    assert History("h", [operation]) == History("h", (operation,))
    assert History("h", [operation]) != History("g", [operation])


def test_recorder_records_threads():
    recorder, lock, contents = Recorder(), threading.Lock(), {}

    def run(process):
        for turn in range(50):
            with recorder.call(process, "put", turn % 3, (process, turn)) as call, lock:
                call.result = contents.get(turn % 3)
                contents[turn % 3] = (process, turn)

    threads = [threading.Thread(target=run, args=(process,)) for process in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    history = recorder.history("threads", "map")
    assert len(history) == 200
    assert history.model_hint == "map"
    assert check(history, "map").verdict == "ok"


def test_recorder_finds_a_lost_update():
    recorder, contents = Recorder(), {}
    for process in (0, 1):
        with recorder.call(process, "put", "k", process) as call:
            call.result = None
            contents["k"] = process
    assert check(recorder.history("lost"), "map").verdict == "violation"


def test_a_call_that_raises_or_still_runs_is_pending():
    recorder = Recorder()

    def crash():
        with recorder.call(0, "put", "k", 1):
            raise KeyError("lost connection")

    with pytest.raises(KeyError):
        crash()
    with recorder.call(0, "get", "k", object="other") as call:
        call.result = None
        running = recorder.history("running")
    finished = recorder.history("finished")
    assert [one.return_ is None for one in running.operations] == [True, True]
    assert [one.return_ is None for one in finished.operations] == [True, False]
    assert [one.process for one in finished.operations] == [0, "0'1"]
    assert [one.object for one in finished.operations] == [None, "other"]
