"""The shared recorder: tickets in the order of what happened, in threads and processes, also when they are killed."""

import os
import pickle
import signal
import subprocess
import sys
import threading
from contextlib import suppress

import pytest

from latchfree_lincheck import check
from latchfree_lincheck.record import Fault, SharedRecorder, Unrecordable
from latchfree_model import UNKNOWN


class Refused(Exception):
    pass


@pytest.fixture
def recorder():
    with SharedRecorder() as made:
        yield made


def child(recorder, text, **more):
    """Run a program in a process of its own, with the recorder as `recorder`."""
    program = f"import os, pickle, sys\nrecorder = pickle.loads({pickle.dumps(recorder)!r})\n{text}"
    return subprocess.Popen(
        [sys.executable, "-c", program],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}, **more,
    )  # fmt: skip


def test_calls_become_operations(recorder):
    with recorder.call(0, "write", 1):
        pass
    with recorder.call(1, "read") as call:
        call.result = 1
    write, read = recorder.history("h").operations
    assert (write.f, write.arguments, write.result, write.invoke, write.return_) == ("write", (1,), UNKNOWN, 0, 1)
    assert (read.result, read.invoke, read.return_) == (1, 2, 3)


def test_a_definite_error_leaves_the_operation_out(recorder):
    with pytest.raises(Refused), recorder.call(0, "write", 1, definite=(Refused,)):
        raise Refused("not the leader")
    with recorder.call(0, "read") as call:
        call.result = None
    (read,) = recorder.history("h").operations
    assert (read.process, read.f) == (0, "read")
    assert recorder.records().calls[0].error == "Refused: not the leader"


def test_a_call_that_is_dropped_is_left_out(recorder):
    with recorder.call(0, "write", 1) as call:
        call.drop()
    with suppress(TimeoutError), recorder.call(0, "write", 2) as call:
        call.drop()
        raise TimeoutError
    assert len(recorder.history("h")) == 0
    assert [each.end for each in recorder.records().calls] == ["fail", "fail"]


def test_any_other_error_leaves_it_pending_and_the_process_goes_on_under_a_new_name(recorder):
    for value in (1, 2):
        with pytest.raises(TimeoutError), recorder.call(0, "write", value, definite=(Refused,)):
            raise TimeoutError
    with recorder.call(0, "read") as call:
        call.result = 1
    one, two, read = recorder.history("h").operations
    assert [each.process for each in (one, two, read)] == [0, "0'1", "0'2"]
    assert one.return_ is two.return_ is None
    assert check(recorder.history("h"), "register").verdict == "ok"


def test_a_call_that_still_runs_is_pending(recorder):
    with recorder.call(0, "write", 1):
        with recorder.call(1, "read") as call:
            call.result = 1
        assert [each.return_ for each in recorder.history("h").operations] == [None, 2]


def test_two_calls_at_once_under_one_name_are_refused(recorder):
    with recorder.call(0, "write", 1), recorder.call(0, "write", 2):
        pass
    with pytest.raises(ValueError, match="process 0 called write while its write was under way: give each thread"):
        recorder.history("h")


def test_values_are_those_at_the_call_and_at_the_return(recorder):
    rows = [1, [2]]
    with recorder.call(0, "put", rows, {"a": rows}) as call:
        rows.append(3)
        call.result = rows
    rows.append(4)
    (put,) = recorder.history("h").operations
    assert put.arguments == ((1, (2,)), (("a", (1, (2,))),))
    assert put.result == (1, (2,), 3)


@pytest.mark.parametrize("value", [b"x", object(), float("nan"), [1, b"x"], {b"x": 1}, float("inf"), 1j])
def test_what_no_history_can_hold_is_refused(recorder, value):
    ran = []
    with pytest.raises(Unrecordable, match=r"^an argument of write is "), recorder.call(0, "write", value):
        ran.append(value)
    assert not ran
    assert len(recorder.history("h")) == 0
    with pytest.raises(Unrecordable, match=r"^the result of read is "), recorder.call(0, "read") as call:
        call.result = value
    assert [each.return_ for each in recorder.history("h").operations] == [None]


def test_a_process_is_a_number_or_text(recorder):
    with (
        pytest.raises(Unrecordable, match=r"the process \(0, 1\) is neither a number nor text"),
        recorder.call((0, 1), "f"),
    ):
        pass
    assert len(recorder.history("h")) == 0


def nested(depth):
    value = ()
    for _ in range(depth - 1):
        value = (value,)
    return value


def test_what_is_nested_too_deeply_is_refused_before_the_call(recorder):
    with (
        pytest.raises(Unrecordable, match="more than 400 values inside each other"),
        recorder.call(0, "f", nested(401)),
    ):
        pass
    with recorder.call(0, "write", nested(400)) as call:
        call.result = nested(400)
    (write,) = recorder.history("h").operations
    assert (write.arguments, write.result) == ((nested(400),), nested(400))


@pytest.mark.parametrize("value", ["\ud800", "a\nb", 'é"\\', "\x00", 2**70, -1, 1.5, True, None, ""])
def test_odd_values_come_back(recorder, value):
    with recorder.call("p\n", "write", value, object="o\ud800") as call:
        call.result = value
    (write,) = recorder.history("h").operations
    assert (write.process, write.arguments, write.result, write.object) == ("p\n", (value,), value, "o\ud800")
    assert type(write.result) is type(value)


def test_threads_share_it(recorder):
    def client(process):
        for turn in range(200):
            with recorder.call(process, "write", 200 * process + turn) as call:
                call.result = None

    threads = [threading.Thread(target=client, args=(process,)) for process in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    history = recorder.history("h")
    assert len(history) == 800
    assert all(each.return_ is not None for each in history.operations)


def test_tickets_of_processes_are_in_the_order_of_what_happened(recorder):
    """Three processes take turns, each after it was told that the one before has returned."""
    text = """
for line in sys.stdin:
    with recorder.call(os.getpid(), "write", int(line)) as call:
        call.result = None
    print(line, end="", flush=True)
"""
    programs = [child(recorder, text) for _ in range(3)]
    for turn in range(90):
        program = programs[turn * 7 % 3]
        program.stdin.write(f"{turn}\n")
        program.stdin.flush()
        assert program.stdout.readline() == f"{turn}\n"
    for program in programs:
        program.communicate()
    operations = recorder.history("h").operations
    assert [each.arguments[0] for each in operations] == list(range(90))
    tickets = [ticket for each in operations for ticket in (each.invoke, each.return_)]
    assert tickets == list(range(180))
    assert {each.process for each in operations} == {program.pid for program in programs}


def test_what_a_killed_process_had_begun_is_pending(recorder):
    text = "with recorder.call(0, 'write', 5):\n    print('begun', flush=True)\n    sys.stdin.read()"
    program = child(recorder, text)
    assert program.stdout.readline() == "begun\n"
    os.kill(program.pid, signal.SIGKILL)
    program.communicate()
    with recorder.call(0, "read") as call:
        call.result = 5
    write, read = recorder.history("h").operations
    assert (write.process, write.return_) == (0, None)
    assert (read.process, read.result) == ("0'1", 5)


@pytest.mark.parametrize("cut", range(1, 12))
def test_a_line_that_was_cut_short_damages_no_other(recorder, cut):
    with recorder.call(0, "write", 1) as call:
        call.result = None
    line = b'\n["call","f.0.0",0,"write",[2],null,7]'
    with recorder.path.open("ab") as file:
        file.write(line[: -3 * cut])
    with recorder.call(1, "read") as call:
        call.result = 1
    assert [each.f for each in recorder.history("h").operations] == ["write", "read"]


def test_a_full_disk_is_an_error_and_what_was_recorded_stays(recorder):
    text = """
import resource
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
try:
    for turn in range(1000):
        with recorder.call(0, "write", turn) as call:
            call.result = None
except OSError as error:
    print(turn, type(error).__name__)
"""
    done, _ = child(recorder, text).communicate()
    turn, error = done.split()
    assert error == "OSError"
    operations = recorder.history("h").operations
    assert [each.arguments[0] for each in operations] in (list(range(int(turn))), list(range(int(turn) + 1)))
    assert all(each.return_ is not None for each in operations[: int(turn)])
    with recorder.call(1, "read"):
        pass
    assert recorder.history("h").operations[-1].f == "read"


def test_a_file_that_is_there_is_not_touched(tmp_path):
    (tmp_path / "file").write_text("mine")
    with pytest.raises(FileExistsError):
        SharedRecorder(tmp_path / "file")
    assert (tmp_path / "file").read_text() == "mine"


def test_a_temporary_file_is_removed_by_who_made_it_and_a_named_one_stays(tmp_path):
    recorder = SharedRecorder()
    pickle.loads(pickle.dumps(recorder)).close()
    assert recorder.path.exists()
    recorder.close()
    assert not recorder.path.exists()
    with SharedRecorder(tmp_path / "named") as named, named.call(0, "read"):
        pass
    assert (tmp_path / "named").read_text().count("\n") == 2


def test_a_fault_ends_whatever_happens(recorder):
    done = []
    fault = Fault("demo", lambda: done.append("begun"), lambda: done.append("ended"))
    with pytest.raises(KeyboardInterrupt), recorder.fault(fault):
        raise KeyboardInterrupt
    assert done == ["begun", "ended"]
    (seen,) = recorder.records().faults
    assert (seen.name, seen.first, seen.last) == ("demo", 0, 1)


def test_a_fault_that_cannot_begin_is_undone(recorder):
    done = []

    def begin():
        raise OSError("no")

    with pytest.raises(OSError, match="no"), recorder.fault(Fault("demo", begin, lambda: done.append("ended"))):
        done.append("ran")
    assert done == ["ended"]
