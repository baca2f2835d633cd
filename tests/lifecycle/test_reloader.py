"""A program that runs itself again by exec, as reloaders do: what the old programs held comes back."""

import os

from programs import Program, wait_for

from latchfree import Arena, Ctrie
from latchfree_fsck import fsck, inspect

RELOADER = """
    import os, sys, threading
    from pathlib import Path
    from latchfree import Arena, Ctrie

    left = int(os.environ.get("LEFT", sys.argv[2]))
    arena = Arena.open(Path(sys.argv[1]))
    numbers = Ctrie.open(arena, "numbers")
    if left:
        held = [numbers.readonly_snapshot(), numbers.snapshot()]
        held[1].update({k: left for k in range(300)})
        started = threading.Event()

        def work():
            keys = list(range(1000, 2000))
            while True:
                numbers.put_many(keys, keys)
                started.set()
                numbers.remove_many(keys)

        threading.Thread(target=work, daemon=True).start()
        started.wait()
    print(os.getpid(), left, flush=True)
    sys.stdin.readline()
    if left:
        os.environ["LEFT"] = str(left - 1)
        os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])
"""
TIMES = 20


def test_pins_and_snapshots_of_the_programs_before_come_back(path):
    with Arena.open(path) as arena:
        numbers = Ctrie.open(arena, "numbers")
        numbers.put_many(range(1000, 2000), range(1000, 2000))
        numbers.remove_many(list(range(1000, 2000)))
        before = arena.census().nodes

        def free():
            arena.adopt()
            arena.collect()
            now = arena.census()
            # A program leaks the nodes that it was about to link; snapshots and limbo of 20 programs are much more.
            return now.limbo < 1000 and now.nodes < before + 500 * TIMES

        with Program(RELOADER, path, TIMES) as program:
            for left in range(TIMES, 0, -1):
                assert program.line() == f"{program.pid} {left}"
                numbers.update(dict.fromkeys(range(100), left))
                program.say()
            assert program.line() == f"{program.pid} 0"
            numbers.remove_many(list(range(1000, 2000)))
            wait_for(free)  # while the last of them runs, which has the id and the start time of all others
            program.say()
            program.ended()
        wait_for(lambda: {each.process for each in inspect(path=path).participants} == {os.getpid()})
        assert dict(numbers) == dict.fromkeys(range(100), 1)
    assert inspect(path=path).sealed
    assert not fsck(path=path, repair=True).damage
