"""Clients and workloads of real servers, at the top of a module, and the holder of a lock as a program."""

import pickle
import sys
import time
from pathlib import Path

from latchfree_lincheck.record import Mix, unique

REGISTER = Mix({"read": 2, "write": 1}, {"write": unique})

CAS_REGISTER = Mix(
    {"read": 2, "write": 1, "cas": 2},
    {
        "write": lambda client, rng, turn: (rng.randrange(5),),
        "cas": lambda client, rng, turn: (rng.randrange(5), rng.randrange(5)),
    },
)


def writes(client, rng):
    """Write 1, 2, 3 and so on."""
    value = 0
    while True:
        value += 1
        yield "write", value


def reads(client, rng):
    """Read for ever."""
    while True:
        yield ("read",)


def hold_a_lock(port, pickled):
    """Take the lock, say so, and give it back when asked."""
    from real_servers import Redis

    recorder = pickle.loads(bytes.fromhex(pickled))
    client = Redis(port, token="holder")
    with recorder.call("holder", "try_acquire") as call:
        call.result = client.try_acquire()
    Path("held").touch()
    while not Path("enough").exists():
        time.sleep(0.01)
    with recorder.call("holder", "release") as call:
        call.result = client.release()
    Path("released").touch()
    sys.stdin.read()


if __name__ == "__main__":
    hold_a_lock(int(sys.argv[1]), sys.argv[2])
