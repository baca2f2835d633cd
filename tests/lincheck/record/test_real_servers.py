"""Real servers, what they promise and what they do not: a fault forces each anomaly, none is met by chance."""

import os
import pickle
import sys
import time
from pathlib import Path

import pytest
import real_clients
from real_clients import CAS_REGISTER, REGISTER, reads, writes
from real_servers import (
    Aborted,
    Etcd,
    Postgres,
    Redis,
    etcd_cluster,
    etcd_with_learner,
    postgres,
    redis,
    replicated_redis,
)

from latchfree_lincheck import check, read_history
from latchfree_lincheck.record import Server, Share, SharedRecorder, hold, kill, pause, run

pytestmark = pytest.mark.servers

#: Writes that return while a reader is cut off, then reads: more than can have been under way before.
WHILE_CUT_OFF = [{"write": 5}, {"read": 5}]


def found(ran, folder, model):
    """Save a run; return its verdict, which its file has, too."""
    verdict = ran.save(folder, model)
    (history,) = read_history(folder / "history.jsonl")
    assert check(history, model).verdict == verdict.verdict
    assert f'<strong class="badge {verdict.verdict}">' in (folder / "report.html").read_text()
    assert (folder / "history.html").stat().st_size > 10_000
    return verdict


def test_redis_alone_is_a_register(tmp_path):
    server, port = redis()
    with server:
        ran = run(lambda client: Redis(port), REGISTER, clients=4, operations=100)
    assert found(ran, tmp_path, "register").verdict == "ok"


def test_redis_forgets_what_it_had_answered_when_it_is_killed(tmp_path):
    """Nothing is on disk (``save ""``), so a read after the restart that precedes all writes finds nothing."""
    server, port = redis()
    with server, SharedRecorder() as recorder:
        client = Redis(port)
        with recorder.call(0, "write", 1):
            client.write(1)
        with recorder.fault(kill(server)):
            client.close()
        client = Redis(port)
        with recorder.call(0, "read") as call:
            call.result = client.read()
        client.close()
        verdict = check(recorder.history("forgotten"), "register")
    assert verdict.verdict == "violation"
    assert verdict.message == "read() returned None, but the register held 1"


def test_reads_of_a_redis_replica_are_stale(tmp_path):
    with replicated_redis() as (primary, replica, proxy):
        ran = run(
            lambda client: Redis((primary, replica)[client]),
            Share([writes, reads]),
            clients=2,
            rate=500,
            faults=[hold(proxy).window({"write": 20, "read": 20}, WHILE_CUT_OFF)],
        )
    assert found(ran, tmp_path, "register").verdict == "violation"
    assert "hold replication" in (tmp_path / "report.html").read_text()


def test_a_redis_lock_has_two_holders_when_the_first_one_is_stopped():
    server, port = redis()
    with server, SharedRecorder() as recorder:
        script = [sys.executable, real_clients.__file__, str(port), pickle.dumps(recorder).hex()]
        paths = os.pathsep.join([*sys.path, str(Path(real_clients.__file__).parent)])

        def exists(name):
            if not (holder.folder / name).exists():
                raise OSError(f"not {name} yet")

        holder = Server(script, name="holder", ready=lambda: exists("held"), environment={"PYTHONPATH": paths})
        with holder:
            rival = Redis(port, token="rival")
            with recorder.fault(pause(holder)):
                taken = False
                while not taken:  # until the lock expires
                    with recorder.call("rival", "try_acquire") as call:
                        call.result = taken = rival.try_acquire()
                    time.sleep(0.01)
            (holder.folder / "enough").touch()
            deadline = time.monotonic() + 60
            while not (holder.folder / "released").exists():
                assert time.monotonic() < deadline
                time.sleep(0.01)
            with recorder.call("rival", "release"):
                rival.release()
            rival.close()
        verdict = check(recorder.history("lock"), "mutex")
    assert verdict.verdict == "violation"
    assert verdict.excerpt[0].process == "rival"
    assert verdict.message == "try_acquire() returned True, but the mutex was held"


def test_linearizable_reads_of_etcd_are_so_while_members_are_killed(tmp_path):
    with etcd_cluster() as (members, servers):
        ran = run(
            lambda client: Etcd(members[client % 3].port, patience=2),
            CAS_REGISTER,
            clients=6,
            rate=100,
            faults=[kill(server).window({"read": 20}, {"write": 10, "read": 10}) for server in servers]
            + [kill(servers[0]).window({"read": 20}, {"write": 10, "read": 10})],
        )
    assert len(ran.records.faults) == 4
    assert found(ran, tmp_path, "cas-register").verdict == "ok"


def test_serializable_reads_of_etcd_are_stale(tmp_path):
    with etcd_with_learner() as (voter, learner, fault):
        ports = [(voter.port, False), (learner.port, True)]
        ran = run(
            lambda client: Etcd(ports[client][0], serializable=ports[client][1]),
            Share([writes, reads]),
            clients=2,
            rate=200,
            faults=[fault.window({"write": 20, "read": 20}, WHILE_CUT_OFF)],
        )
    assert found(ran, tmp_path, "register").verdict == "violation"


def test_a_serializable_register_of_postgres(tmp_path):
    server, port = postgres()
    with server:
        client = Postgres(port)
        client.create()
        client.close()
        ran = run(lambda client: Postgres(port), CAS_REGISTER, clients=4, operations=50, definite=(Aborted,))
    assert found(ran, tmp_path, "cas-register").verdict == "ok"


@pytest.mark.parametrize(("level", "expected"), [("READ COMMITTED", "violation"), ("SERIALIZABLE", "ok")])
def test_a_counter_of_postgres_loses_an_update_when_reads_are_only_committed(level, expected):
    server, port = postgres()
    with server, SharedRecorder() as recorder:
        one, other = Postgres(port, level), Postgres(port, level)
        one.create()

        def meanwhile():
            with recorder.call(1, "add", 1):
                other.add(1)

        try:
            with recorder.call(0, "add", 1, definite=(Aborted,)):
                one.add(1, between=meanwhile)
        except Aborted:
            assert level == "SERIALIZABLE"
        with recorder.call(0, "read") as call:
            call.result = one.count()
        one.close()
        other.close()
        history = recorder.history("counter")
    verdict = check(history, "counter")
    assert verdict.verdict == expected
    assert len(history) == (3 if expected == "violation" else 2)
    if expected == "violation":
        assert verdict.message == "read() returned 1, but the counter held 2"
