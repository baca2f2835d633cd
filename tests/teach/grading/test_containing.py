"""The second wall: a contained process cannot write, connect, start or end processes, nor use much of anything."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import ctypes, errno, json, os, resource, signal, socket, sys, threading
from pathlib import Path
from latchfree_teach.grading.containing import contain, limit

inside, outside = Path(sys.argv[1]), Path(sys.argv[2])
sys.stdin.read(1)
limit(100, 256)
held = contain(inside, [sys.prefix, sys.base_prefix, "/usr", "/lib"])
found = {}

def attempt(name, function):
    try:
        function()
        found[name] = "done"
    except BaseException as error:
        found[name] = type(error).__name__

libc = ctypes.CDLL(None, use_errno=True)

def call(number, *arguments):
    if libc.syscall(number, *arguments) == -1:
        raise PermissionError(os.strerror(ctypes.get_errno()))

attempt("write inside", lambda: (inside / "a").write_text("x"))
attempt("write outside", lambda: (outside / "b").write_text("x"))
attempt("read outside", lambda: (outside / "secret").read_text())
attempt("list outside", lambda: os.listdir(outside))
attempt("remove outside", lambda: (outside / "secret").unlink())
attempt("link outside", lambda: os.symlink(outside, inside / "link") or (inside / "link" / "secret").read_text())
attempt("socket", socket.socket)
attempt("udp", lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
attempt("unix", lambda: socket.socket(socket.AF_UNIX))
attempt("fork", os.fork)
attempt("exec", lambda: os.execv("/bin/true", ["true"]))
attempt("spawn", lambda: os.posix_spawn("/bin/true", ["true"], {}))
attempt("kill", lambda: os.kill(os.getppid(), signal.SIGTERM))
attempt("ptrace", lambda: call({"x86_64": 101, "aarch64": 117}[os.uname().machine], 16, os.getppid(), 0, 0))
attempt("memory", lambda: bytearray(1 << 30))
attempt("large file", lambda: (inside / "large").write_bytes(bytes(32 << 20)))
attempt("more time", lambda: resource.setrlimit(resource.RLIMIT_CPU, (1000, 1000)) if os.getuid() else 1 / 0)

def thread():
    one = threading.Thread(target=lambda: found.update(thread="ran"))
    one.start()
    one.join()

attempt("thread started", thread)
print(json.dumps({"held": held, **found}), flush=True)
"""

DENIED = ("write outside", "read outside", "list outside", "remove outside", "link outside")
CLOSED = ("socket", "udp", "unix", "fork", "exec", "spawn", "kill", "ptrace")


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    inside, outside = tmp_path_factory.mktemp("inside"), tmp_path_factory.mktemp("outside")
    (outside / "secret").write_text("secret")
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(inside), str(outside)],
        input="x", capture_output=True, text=True, env=environment, check=False, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert Path(outside, "secret").exists()
    return json.loads(done.stdout)


@pytest.mark.parametrize("attempt", DENIED)
def test_the_file_system_is_closed(found, attempt):
    if "files" not in found["held"]:
        pytest.skip("this kernel has no Landlock")
    assert found[attempt] == "PermissionError"


@pytest.mark.parametrize("attempt", CLOSED)
def test_the_network_and_other_processes_are_closed(found, attempt):
    if "calls" not in found["held"]:
        pytest.skip("this machine has no filter of system calls")
    assert found[attempt] == "PermissionError"


def test_memory_and_files_have_limits(found):
    assert found["memory"] == "MemoryError"
    assert found["large file"] == "OSError"
    assert found["more time"] in ("ValueError", "ZeroDivisionError")


def test_what_a_grade_needs_is_there(found):
    assert found["write inside"] == "done"
    assert (found["thread started"], found["thread"]) == ("done", "ran")
    assert found["held"][0] == "limits"
