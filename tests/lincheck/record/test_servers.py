"""Servers as child processes: started, killed, paused, restarted, and never left behind."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

import pytest

from latchfree_lincheck.record import (
    Proxy,
    Server,
    ServerError,
    cut,
    delay,
    free_port,
    hold,
    kill,
    listens,
    pause,
    restart,
)

PATIENCE = 120


def wait_for(condition, what):
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, what
        time.sleep(0.01)


def state(pid):
    """The letter of a process's state; empty if there is none."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return ""


def gone(pid):
    return state(pid) in ("", "Z")


def test_a_server_is_killed_paused_and_started_again():
    with Server(["sleep", "600"], name="sleeper") as server:
        first = server.pid
        server.start()
        assert server.pid == first, "it runs already"
        pause(server).begin()
        assert state(first) == "T"
        pause(server).end()
        wait_for(lambda: state(first) == "S", "goes on")
        kill(server).begin()
        assert gone(first)
        assert server.pid == 0
        server.kill()
        server.stop()
        server.resume()
        with pytest.raises(ServerError, match="sleeper does not run, so it cannot be paused"):
            server.pause()
        kill(server).end()
        second = server.pid
        assert second not in (0, first)
        fault = restart(server)
        fault.begin()
        assert server.pid == 0
        fault.end()
        third = server.pid
        folder = server.folder
    assert gone(third)
    assert not folder.exists()


def test_a_paused_server_is_stopped_at_the_end():
    with Server(["sleep", "600"]) as server:
        pid = server.pid
        server.pause()
    assert gone(pid)


def test_the_whole_group_ends(tmp_path):
    command = ["sh", "-c", "trap '' TERM; sleep 600 & echo $! > child; wait; sleep 600"]
    ready = tmp_path / "child"

    def written():
        if not ready.exists() or not ready.read_text().strip():
            raise OSError("not yet")

    with Server(command, folder=tmp_path, ready=written) as server:
        child = int(ready.read_text())
        assert not gone(child)
        server.kill()
    wait_for(lambda: gone(child), "the child of the server ends, too")
    assert tmp_path.exists(), "a folder that was given stays"


def test_a_server_that_ends_by_itself_says_its_last_words():
    server = Server(["sh", "-c", "echo no such option >&2; exit 3"], ready=listens(free_port()))
    with pytest.raises(ServerError, match=r"sh ended by itself; its last words:\nno such option"):
        server.__enter__()
    assert not server.folder.exists()


def test_there_is_no_such_program():
    with pytest.raises(FileNotFoundError, match="there is no program 'no-such-server': install it"):
        Server(["no-such-server"])


def test_the_folder_and_the_environment_are_the_server_s(tmp_path):
    done = tmp_path / "done"

    def written():
        if not done.exists():
            raise OSError("not yet")

    command = ["sh", "-c", 'echo "$1 $WORD $PWD" > not-yet; mv not-yet done; exec sleep 600', "sh", "{folder}/data"]
    with Server(command, folder=tmp_path, environment={"WORD": "x"}, ready=written):
        assert done.read_text() == f"{tmp_path}/data x {tmp_path}\n"


@pytest.mark.skipif(os.getuid() != 0, reason="only root may become another user")
def test_a_server_of_another_user():
    with Server(["sleep", "600"], user="nobody") as server:
        wait_for(lambda: Path(f"/proc/{server.pid}/comm").read_text() == "sleep\n", "it is what it becomes")
        assert Path(f"/proc/{server.pid}").stat().st_uid == server.folder.stat().st_uid != 0


PROGRAM = """
import sys, time
from latchfree_lincheck.record import Server
with Server(["sleep", "600"]) as server:
    print(server.pid, server.folder, flush=True)
    time.sleep(600)
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL, signal.SIGTERM])
def test_no_server_outlives_a_program_that_is_ended(number):
    program = subprocess.Popen(
        [sys.executable, "-c", PROGRAM], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
    )  # fmt: skip
    pid, folder = program.stdout.readline().split()
    assert not gone(pid)
    program.send_signal(number)
    program.wait(PATIENCE)
    program.stdout.close()
    wait_for(lambda: gone(pid), "the server ends")
    if number == signal.SIGINT:
        assert not Path(folder).exists()
    else:  # nobody was left to remove it
        shutil.rmtree(folder)


def test_a_server_survives_the_thread_that_restarted_it():
    with Server(["sleep", "600"]) as server:
        server.kill()
        thread = threading.Thread(target=server.start)
        thread.start()
        thread.join()
        pid = server.pid
        for _ in range(20):
            time.sleep(0.01)
            assert not gone(pid)


# the proxy -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def echo():
    """A server that sends back what it gets, the proxy to it, and a connection through the proxy."""
    listening = socket.create_server(("127.0.0.1", 0))

    def serve(connection):
        with connection, suppress(OSError):
            while content := connection.recv(1 << 16):
                connection.sendall(content)

    def accept():
        while True:
            try:
                connection, _ = listening.accept()
            except OSError:
                return
            threading.Thread(target=serve, args=(connection,), daemon=True).start()

    thread = threading.Thread(target=accept, daemon=True)
    thread.start()
    with (
        Proxy(listening.getsockname()[1], name="echo") as proxy,
        socket.create_connection(("127.0.0.1", proxy.port), PATIENCE) as connection,
    ):
        yield proxy, connection
    listening.shutdown(socket.SHUT_RDWR)
    listening.close()
    thread.join(PATIENCE)


def received(connection, count):
    content = b""
    while len(content) < count:
        more = connection.recv(1 << 16)
        assert more
        content += more
    return content


def refused(port):
    with socket.create_connection(("127.0.0.1", port), PATIENCE) as connection:
        connection.recv(1)


def test_bytes_pass(echo):
    _, connection = echo
    for size in (1, 100_000, 3):
        connection.sendall(b"x" * size)
        assert received(connection, size) == b"x" * size


def test_what_is_held_arrives_later_in_order(echo):
    proxy, connection = echo
    fault = hold(proxy)
    assert fault.name == "hold echo"
    fault.begin()
    connection.sendall(b"one")
    connection.settimeout(0.1)
    with pytest.raises(TimeoutError):
        connection.recv(1)
    connection.settimeout(PATIENCE)
    connection.sendall(b"two")
    fault.end()
    assert received(connection, 6) == b"onetwo"


def test_what_is_delayed_takes_that_long(echo):
    proxy, connection = echo
    fault = delay(proxy, 0.1)
    fault.begin()
    begun = time.monotonic()
    connection.sendall(b"one")
    assert received(connection, 3) == b"one"
    assert time.monotonic() - begun > 0.19, "there and back"
    fault.end()
    connection.sendall(b"two")
    assert received(connection, 3) == b"two"
    with pytest.raises(ValueError, match="a delay of -1 s: give 0 or more"):
        proxy.delay(-1)


def test_what_is_cut_is_reset_and_heals(echo):
    proxy, connection = echo
    fault = cut(proxy)
    fault.begin()
    with pytest.raises(ConnectionResetError):
        connection.recv(1)
    with pytest.raises(ConnectionResetError):  # while it connects, or later
        refused(proxy.port)
    fault.end()
    with socket.create_connection(("127.0.0.1", proxy.port), PATIENCE) as again:
        again.sendall(b"x")
        assert received(again, 1) == b"x"
        again.shutdown(socket.SHUT_WR)
        assert again.recv(1) == b""


def test_a_server_that_is_not_there_ends_the_connection():
    with Proxy(free_port()) as proxy, socket.create_connection(("127.0.0.1", proxy.port), PATIENCE) as connection:
        assert connection.recv(1) == b""
