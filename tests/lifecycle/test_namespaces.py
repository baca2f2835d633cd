"""Two PID namespaces, as of two containers, on one arena: each has a process 1, and neither sees the other's /proc."""

import functools
import subprocess

import pytest
from programs import Program, wait_for

from latchfree import Arena, Ctrie
from latchfree_fsck import fsck

UNSHARE = ("unshare", "--pid", "--fork", "--kill-child", "--mount-proc")

SERVICE = """
    import os, sys, threading
    from pathlib import Path
    from latchfree import Arena, Ctrie

    first = int(sys.argv[2])
    arena = Arena.open(Path(sys.argv[1]))
    numbers = Ctrie.open(arena, "numbers")
    held = [numbers.readonly_snapshot(), numbers.snapshot()]
    content = dict(held[0])
    held[1].update({k: first for k in range(300)})
    rounds = 0

    def work():
        global rounds
        keys = list(range(first, first + 1000))
        while True:
            numbers.put_many(keys, keys)
            assert list(numbers.get_many(keys)) == keys
            numbers.remove_many(keys)
            rounds += 1

    worker = threading.Thread(target=work, daemon=True)
    worker.start()
    print(os.getpid(), flush=True)
    for line in sys.stdin:
        before = rounds
        while rounds < before + 3:
            assert worker.is_alive()
            numbers[first - 1] = rounds
            assert dict(held[0]) == content, "a snapshot has changed"
        assert all(held[1][k] == first for k in range(300)), "a fork has changed"
        print("alive", flush=True)
"""


@functools.cache
def why_not():
    """Return why this user may not make PID namespaces, "" if they may be made."""
    try:
        tried = subprocess.run([*UNSHARE, "true"], capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return "there is no unshare"
    return tried.stderr.strip() if tried.returncode else ""


@pytest.fixture
def namespace():
    if why_not():
        pytest.skip(f"PID namespaces are not permitted here: {why_not()}")
    return functools.partial(Program, SERVICE, before=UNSHARE)


def check(*programs):
    for program in programs:
        program.say("are you well?")
    for program in programs:
        assert program.line() == "alive"


def test_each_counts_the_other_as_alive(path, namespace):
    with namespace(path, 1000) as one, namespace(path, 3000) as two:
        assert (one.line(), two.line()) == ("1", "1")
        for _ in range(3):
            check(one, two)
        with Arena.open(path) as arena:  # and outside of both
            numbers = Ctrie.open(arena, "numbers")
            for n in range(3):
                arena.adopt()
                numbers.update(dict.fromkeys(range(100), -n))
                check(one, two)
            assert (numbers[500 + 499], numbers[2999]) > (0, 0)


def test_a_killed_one_is_adopted_by_the_other(path, namespace):
    with Arena.open(path) as arena:
        numbers = Ctrie.open(arena, "numbers")
        before = arena.census().nodes
        with namespace(path, 3000) as two:
            assert two.line() == "1"
            with namespace(path, 1000) as one:
                assert one.line() == "1"
                check(one, two)
                one.kill_all()
                one.process.wait()
            for n in range(5):
                check(two)
                numbers.update(dict.fromkeys(range(100), -n))
            two.kill_all()
            two.process.wait()
        numbers.remove_many(list(range(999, 5000)))

        def free():
            arena.adopt()
            arena.collect()
            now = arena.census()
            return now.limbo < 100 and now.nodes < before + 1000

        wait_for(free)
    assert not fsck(path=path, repair=True).damage
