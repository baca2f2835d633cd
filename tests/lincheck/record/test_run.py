"""Runs: clients as threads and processes, seeded workloads, faults by a plan, all of it undone at the end."""

import os
import random
import signal
import subprocess
import sys
import threading
import time
from itertools import islice
from pathlib import Path

import pytest
import toy_client
from toy_client import Client, LaterClient, Refused, To, own_writes, reads, toy, writes

from latchfree_lincheck import read_history
from latchfree_lincheck.record import (
    Fault,
    Mix,
    OnKeys,
    Proxy,
    RunError,
    ServerError,
    Share,
    cut,
    hold,
    kill,
    pause,
    random_windows,
    restart,
    run,
    together,
    unique,
)
from latchfree_lincheck.record.plan import Plan
from latchfree_lincheck.record.shared import SharedRecorder

PATIENCE = 120
NOTHING = Fault("look", lambda: None, lambda: None)


# workloads -----------------------------------------------------------------------------------------------------------


def drawn(workload, client, seed, count=50):
    return list(islice(workload(client, random.Random(f"{seed} {client} 0")), count))


def test_a_mix_is_drawn_with_a_seed():
    mix = Mix({"read": 3, "write": 1, "never": 0}, {"write": unique})
    first = drawn(mix, 0, 1)
    assert first == drawn(mix, 0, 1) != drawn(mix, 0, 2)
    assert {call[0] for call in first} == {"read", "write"}
    written = [call[1] for client in range(3) for call in drawn(mix, client, 1) if call[0] == "write"]
    assert len(written) == len(set(written))


def test_keys_and_shares():
    workload = Share([OnKeys(Mix({"put": 1}, {"put": unique}), "ab"), Mix({"get": 1}, {})])
    assert {call[:2] for call in drawn(workload, 0, 1)} == {("put", "a"), ("put", "b")}
    assert drawn(workload, 1, 1, 2) == drawn(workload, 2, 1, 2) == [("get",), ("get",)]


def test_keys_hand_results_on():
    seen = []

    def asking(client, rng):
        seen.append((yield ("get",)))
        seen.append((yield ("get",)))

    calls = OnKeys(asking, "a")(0, random.Random(0))
    assert next(calls) == ("get", "a")
    assert calls.send(5) == ("get", "a")
    with pytest.raises(StopIteration):
        calls.send(6)
    assert seen == [5, 6]


@pytest.mark.parametrize(
    ("weights", "arguments", "message"),
    [
        ({}, {}, "give each operation 0 or more"),
        ({"read": -1, "write": 2}, {}, "give each operation 0 or more"),
        ({"read": 0}, {}, "give each operation 0 or more"),
        ({"read": 1}, {"wirte": unique}, "arguments are given for wirte, which has no weight"),
    ],
)
def test_mixes_that_make_no_sense_are_refused(weights, arguments, message):
    with pytest.raises(ValueError, match=message):
        Mix(weights, arguments)


def test_windows():
    with pytest.raises(ValueError, match="look: -1 lies in the past"):
        NOTHING.window(-1, 0)
    with pytest.raises(ValueError, match="lies in the past"):
        NOTHING.window(0, [{"write": 1}, {"read": -2}])
    assert random_windows([NOTHING], seed=1, count=3) == random_windows([NOTHING], seed=1, count=3)
    assert random_windows([NOTHING], seed=1, count=3) != random_windows([NOTHING], seed=2, count=3)


def test_faults_together_are_all_undone():
    done = []

    def fault(name):
        return Fault(name, lambda: done.append(f"+{name}"), lambda: done.append(f"-{name}"))

    both = together(fault("a"), fault("b"))
    assert both.name == "a and b"
    both.begin()
    both.end()
    assert done == ["+a", "+b", "-b", "-a"]

    def broken():
        raise OSError("no")

    with pytest.raises(OSError, match="no"):
        together(fault("c"), Fault("d", broken, broken)).end()
    assert done[-1] == "-c"


# runs ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("apart", [False, True])
def test_a_register_is_one_and_a_cache_is_not(apart, tmp_path):
    server, port = toy()
    with server:
        good = run(To(port), own_writes, clients=3, apart=apart, operations=20, seed=7)
    assert good.counts()["write"]["return"] == good.counts()["read"]["return"] == 30
    assert good.check("register").verdict == "ok"
    server, port = toy("--cache", 10)
    with server:
        bad = run(To(port), own_writes, clients=1, apart=apart, operations=20)
    assert bad.check("register").verdict == "violation"


def test_a_run_is_saved(tmp_path):
    server, port = toy("--cache", 10)
    with server:
        ran = run(To(port), own_writes, clients=1, operations=6, name="stale")
    assert ran.save(tmp_path / "out", "register").verdict == "violation"
    (history,) = read_history(tmp_path / "out" / "history.jsonl")
    assert history == ran.history("register")
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"history.jsonl", "history.html", "report.html"}


def test_asynchronous_clients():
    server, port = toy()
    with server:
        ran = run(lambda client: LaterClient.connected(port), own_writes, clients=2, operations=10)
    assert ran.check("register").verdict == "ok"
    assert len(ran.history()) == 20


def test_results_come_back_to_the_workload():
    seen = []

    def asking(client, rng):
        yield "write", 5
        seen.append((yield ("read",)))

    server, port = toy()
    with server:
        run(To(port), asking, clients=1, seconds=PATIENCE)
    assert seen == [5]


def test_definite_errors_leave_operations_out():
    server, port = toy("--refuse", 2)
    with server:
        ran = run(To(port), own_writes, clients=1, operations=40, definite=(Refused,))
    assert ran.counts()["write"] == {"return": 10, "fail": 10}
    assert len(ran.history()) == 30
    assert ran.check("register").verdict == "ok"


def test_a_durable_server_is_one_under_kill(tmp_path):
    server, port = toy("--file", tmp_path / "values")
    with server:
        faults = [
            kill(server).window({"write": 5}, 0),
            restart(server).window({"write": 5}, 0),
            NOTHING.window({"read": 5}, 0),
        ]
        ran = run(To(port), own_writes, clients=2, faults=faults)
    assert [fault.name for fault in ran.records.faults] == ["kill -9 toy", "restart toy", "look"]
    assert all(fault.ended >= fault.begun for fault in ran.records.faults)
    assert ran.check("register").verdict == "ok"


def test_calls_before_the_plan_looks_count():
    """Clients may be faster than the plan, which waited for ever for calls that had been made."""
    with SharedRecorder() as recorder:
        for turn in range(5):
            with recorder.call(0, "write", turn) as call:
                call.result = None
        plan = Plan(recorder, [NOTHING.window({"write": 5}, 0)])
        plan.start()
        deadline = time.monotonic() + PATIENCE
        while not plan.over and time.monotonic() < deadline:
            time.sleep(0.01)
        plan.end()
    assert plan.missed == ()


def test_a_forgetful_server_is_found_by_a_kill():
    server, port = toy()
    with server:
        faults = [kill(server).window({"write": 20}, 0), NOTHING.window({"read": 5}, 0)]
        ran = run(To(port), Share([writes, reads]), clients=2, faults=faults)
    verdict = ran.check("register")
    assert verdict.verdict == "violation"
    assert "read() returned None" in verdict.message


def test_what_is_cut_off_is_pending():
    server, port = toy()
    with server, Proxy(port) as proxy:

        def connect(client):
            return Client(proxy.port, patience=0.2)

        faults = [
            hold(proxy).window({"read": 3}, 0.5),
            cut(proxy).window({"read": 3}, 0.05),
            NOTHING.window({"read": 3}, 0),
        ]
        ran = run(connect, own_writes, clients=2, faults=faults)
    lost = [call for call in ran.records.calls if call.end == "lost"]
    assert lost
    pending = [each for each in ran.history().operations if each.return_ is None]
    assert len(pending) >= len(lost)
    assert ran.check("register").verdict == "ok"


def test_a_client_that_is_a_process_can_be_killed_and_paused():
    server, port = toy()
    with server:
        ran = run(
            To(port),
            own_writes,
            clients=2,
            apart=True,
            faults=lambda clients: [
                kill(clients[0]).window({"write": 5}, {"read": 5}),
                pause(clients[1]).window({"write": 5}, {"read": 5}),
                NOTHING.window({"read": 5}, 0),
            ],
        )
    assert [fault.name for fault in ran.records.faults] == ["kill -9 client 0", "pause client 1", "look"]
    assert ran.check("register").verdict == "ok"
    assert {call.process for call in ran.records.calls} == {0, 1}


def test_a_rate_bounds_calls():
    server, port = toy()
    with server:
        begun = time.monotonic()
        run(To(port), reads, clients=1, operations=5, rate=20)
    assert time.monotonic() - begun > 0.19


def test_a_run_ends_after_its_seconds_and_names_the_faults_it_missed():
    server, port = toy()
    with server:
        ran = run(To(port), reads, clients=1, seconds=0.1, faults=[NOTHING.window(600, 1)])
    assert ran.missed == ("look",)
    assert ran.records.faults == ()


@pytest.mark.parametrize(
    ("workload", "message", "apart"),
    [
        (toy_client.broken, "'Client' object has no attribute 'erase'", False),
        (toy_client.raising, "in the workload", False),
        (toy_client.odd, "an argument of write is b'x', of type bytes", False),
        (toy_client.broken, "'Client' object has no attribute 'erase'", True),
    ],
)
def test_a_client_that_cannot_go_on_ends_the_run(workload, message, apart):
    server, port = toy()
    with server, pytest.raises(RunError, match=message):
        run(To(port), workload, clients=1, apart=apart, seconds=PATIENCE)


def test_a_fault_that_cannot_be_undone_ends_the_run():
    def broken():
        raise ServerError("does not start")

    server, port = toy()
    with server, pytest.raises(ServerError, match="does not start"):
        run(To(port), reads, faults=[Fault("x", lambda: None, broken).window(0, 0)], seconds=PATIENCE)


def test_threads_cannot_be_killed():
    server, port = toy()
    with (
        server,
        pytest.raises(TypeError, match=r"client 0 is a thread, which nobody can stop; give run\(\) apart=True"),
    ):
        run(To(port), reads, faults=lambda clients: [kill(clients[0]).window(0, 0)], seconds=PATIENCE)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "nothing ends this run: give operations"),
        ({"clients": 0, "operations": 1}, "0 clients: give at least 1"),
        ({"rate": 0, "operations": 1}, "a rate of 0 calls per second: give more than 0"),
    ],
)
def test_runs_that_make_no_sense_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        run(To(1), reads, **options)


def test_what_cannot_be_pickled_is_named():
    with pytest.raises(TypeError, match="define connect, the workload and what they use at the top of a module"):
        run(lambda client: None, reads, apart=True, operations=1)


def test_a_run_without_an_answer_is_no_pass():
    server, port = toy()
    with server:
        server.pause()
        ran = run(lambda client: Client(port, patience=0.01), reads, clients=1, operations=2)
    assert ran.counts()["read"] == {"lost": 2}
    with pytest.raises(
        ValueError, match="run: no call returned, so there is nothing to judge; the most frequent error"
    ):
        ran.check("register")


def test_a_client_that_never_returns_is_left_behind(monkeypatch):
    monkeypatch.setattr("latchfree_lincheck.record.running.GRACE", 0.2)
    waiting = threading.Event()

    class Stuck:
        def read(self):
            waiting.wait(PATIENCE)

    ran = run(lambda client: Stuck(), reads, clients=1, seconds=0.05)
    assert [each.return_ for each in ran.history().operations] == [None]
    waiting.set()


@pytest.mark.slow
def test_a_script_that_is_not_guarded_is_told_so(tmp_path):
    path = tmp_path / "program.py"
    path.write_text(PROGRAM.format(helpers=str(Path(toy_client.__file__).parent)).replace('"__main__"', "__name__"))
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, env=environment, check=False)
    assert "client 0 did not start; a script that starts clients as processes needs: if __name__" in done.stderr


PROGRAM = """
import sys
sys.path.insert(0, {helpers!r})
from toy_client import To, own_writes, toy
from latchfree_lincheck.record import pause, run
if __name__ == "__main__":
    server, port = toy()
    with server:
        print(server.pid, server.folder, flush=True)
        run(To(port), own_writes, apart=True, seconds=600, faults=[pause(server).window({{"read": 3}}, 600)])
"""


def stat(pid):
    """The fields of a process after its name; none if there is no such process."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    except (FileNotFoundError, ProcessLookupError):
        return ["Z", "0"]


def children(pid):
    """The processes that a process has started, and theirs."""
    numbers = [int(each.name) for each in Path("/proc").iterdir() if each.name.isdigit()]
    started = [each for each in numbers if stat(each)[1] == str(pid)]
    return [each for child in started for each in (child, *children(child))]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_nothing_outlives_a_run_that_is_interrupted(number, tmp_path):
    path = tmp_path / "program.py"
    path.write_text(PROGRAM.format(helpers=str(Path(toy_client.__file__).parent)))
    program = subprocess.Popen(
        [sys.executable, str(path)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path), "TMPDIR": str(tmp_path)},
    )  # fmt: skip
    pid, folder = program.stdout.readline().split()
    deadline = time.monotonic() + PATIENCE
    while stat(pid)[0] != "T":  # until the server is paused in the run
        assert program.poll() is None, program.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.01)
    started = children(program.pid)
    assert len(started) >= 3, "the server and two clients"
    program.send_signal(number)
    _, errors = program.communicate(timeout=PATIENCE)
    assert ("KeyboardInterrupt" in errors) == (number == signal.SIGINT), errors
    for each in started:
        while stat(each)[0] != "Z":
            assert time.monotonic() < deadline, f"{each} is left"
            time.sleep(0.01)
    assert Path(folder).exists() == (number == signal.SIGKILL)
