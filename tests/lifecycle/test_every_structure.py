"""Rings, sketches, limiters, topic tries in every life of a program: closed twice, forked, sent, waited in, ended."""

import asyncio
import pickle
import threading
import time

import pytest
from children import in_child
from programs import Program, wait_for

from latchfree import Arena, ConcurrentTrie, MessageRing, RateLimiter, RingBuffer, sketches
from latchfree.errors import ArenaClosed, LatchfreeError
from latchfree_fsck import fsck

pytestmark = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")

PATIENCE = 1200

#: For each class: how one is made, what changes it, and how often it was changed.
KINDS = {
    "RingBuffer": ("RingBuffer.create(arena, name, 8)", "made.put(7)", "len(made)"),
    "MessageRing": ("MessageRing.create(arena, name, 8, 'str')", "made.put('tea')", "len(made)"),
    "RateLimiter": ("RateLimiter.create(arena, name, 1e-6, 9)", "made.acquire()", "made.counts().granted"),
    "ConcurrentTrie": ("ConcurrentTrie.create(arena, name)", "made.subscribe('a.b', 1)", "len(made)"),
    "Bloom": ("sketches.Bloom.create(arena, name, 100)", "made.add('tea')", "made.added"),
    "HyperLogLog": ("sketches.HyperLogLog.create(arena, name)", "made.add('tea')", "made.added"),
    "CountMin": ("sketches.CountMin.create(arena, name, 0.1)", "made.add('tea')", "made.estimate('tea')"),
    "InverseBloom": ("sketches.InverseBloom.create(arena, name, 8)", "made.add('tea')", "made.added"),
    "PartitionedBloom": ("sketches.PartitionedBloom.create(arena, name, 100)", "made.add('tea')", "made.added"),
    "CountingBloom": ("sketches.CountingBloom.create(arena, name, 100)", "made.add('tea')", "made.count('tea')"),
    "ScalableBloom": ("sketches.ScalableBloom.create(arena, name, 9, most=20)", "made.add('tea')", "made.added"),
    "StableBloom": ("sketches.StableBloom.create(arena, name, 640)", "made.add('tea')", "made.added"),
    "TopK": ("sketches.TopK.create(arena, name, 2, 0.1)", "made.add('tea')", "made.estimate('tea')"),
    "MinHash": ("sketches.MinHash.create(arena, name, 8)", "made.add('tea')", "made.added"),
    "KLL": ("sketches.KLL.create(arena, name, 0.1)", "made.add(1.5)", "made.count"),
}  # fmt: skip

NAMES = {
    "RingBuffer": RingBuffer, "MessageRing": MessageRing, "RateLimiter": RateLimiter, "ConcurrentTrie": ConcurrentTrie,
    "sketches": sketches,
}  # fmt: skip


def do(code, **names):
    return eval(code, NAMES | names)


def make(arena, name):
    return do(KINDS[name][0], arena=arena, name=name)


def change(made, name):
    do(KINDS[name][1], made=made)


def count(made, name):
    return do(KINDS[name][2], made=made)


@pytest.fixture
def arena(tmp_path):
    with Arena.create(path=tmp_path / "arena", capacity=16 << 20) as made:
        yield made


@pytest.mark.parametrize("name", KINDS)
def test_closed_twice_and_used_afterwards(arena, name):
    made = make(arena, name)
    change(made, name)
    if hasattr(made, "close"):
        made.close()
        made.close()
        with pytest.raises(LatchfreeError, match="closed here"):
            change(made, name)
    arena.close()
    arena.close()
    for _ in range(2):
        with pytest.raises(ArenaClosed, match=r"is closed; open it again with Arena\.open"):
            change(made, name)
        with pytest.raises(ArenaClosed, match=r"is closed; open it again with Arena\.open"):
            count(made, name)
        assert name in repr(made)


@pytest.mark.parametrize("name", KINDS)
def test_a_forked_child_and_its_child_use_it(arena, name):
    made = make(arena, name)
    change(made, name)

    def child():
        change(made, name)
        in_child(lambda: change(made, name))
        return count(made, name) == 3

    in_child(child)
    change(made, name)
    assert count(made, name) == 4


def test_all_are_sent_to_another_program(arena, tmp_path):
    """One program that was not forked: it reads what pickle has written, and changes each."""
    made = {name: make(arena, name) for name in KINDS}
    (tmp_path / "sent").write_bytes(pickle.dumps(made))
    source = (
        "import pickle, sys\nfrom pathlib import Path\n"
        "sent = pickle.loads(Path(sys.argv[1]).read_bytes())\n"
        f"changes = { ({name: KINDS[name][1] for name in KINDS})!r}\n"
        "for name, made in sent.items():\n    exec(changes[name])\n    exec(changes[name])\n"
    )
    with Program(source, tmp_path / "sent") as program:
        assert program.ended() == ""
    assert {name: count(each, name) for name, each in made.items()} == dict.fromkeys(KINDS, 2)


BEGIN = """
import asyncio, os, signal, sys, threading, time
from pathlib import Path
from latchfree import Arena, ConcurrentTrie, LockedTrie, MessageRing, RateLimiter, RingBuffer, TopicFilter, sketches
from latchfree.topics import CachedMatcher, LimitedMatcher, NotifyingMatcher, RetainedTopics

arena = Arena.create(path=Path(sys.argv[1]), capacity=16 << 20)
"""

#: Calls that wait, in a program with an arena, and how to see that somebody waits.
WAITS = {
    "get": ("ring = RingBuffer.create(arena, 'r', 2)", "ring.get()", "ring.counts().get_waits"),
    "get of messages": ("ring = MessageRing.create(arena, 'r', 2, 'str')", "ring.get()", "ring.counts().get_waits"),
    "get_many": ("ring = RingBuffer(2, arena=arena)", "ring.get_many(2, timeout=None)", "ring.counts().get_waits"),
    "put": ("ring = RingBuffer.create(arena, 'r', 2); ring.put_many([1, 2])", "ring.put(3)", "ring.counts().put_waits"),
    "put of messages": (
        "ring = MessageRing(2, 'str', arena=arena); ring.put_many(['a', 'b'])", "ring.put('c')",
        "ring.counts().put_waits",
    ),
    "put_many": ("ring = RingBuffer(2)", "ring.put_many([1, 2, 3], timeout=None)", "ring.counts().put_waits"),
    "aget": ("ring = RingBuffer.create(arena, 'r', 2)", "asyncio.run(ring.aget())", "ring.counts().get_waits"),
    "aput": ("ring = RingBuffer(2); ring.put_many([1, 2])", "asyncio.run(ring.aput(3))", "ring.counts().put_waits"),
    "acquire": (
        "ring = RateLimiter.create(arena, 'r', 1e-6); ring.acquire(); began = []",
        "(began.append(1), ring.acquire())", "began",
    ),
    "aacquire": (
        "ring = RateLimiter(1e-6); ring.acquire(); began = []", "(began.append(1), asyncio.run(ring.aacquire()))",
        "began",
    ),
}  # fmt: skip

UNTIL = """
def waits():
    until = time.monotonic() + 600
    while not {seen}:
        assert time.monotonic() < until
        time.sleep(0.001)
    time.sleep(0.02)
"""


@pytest.mark.parametrize("wait", WAITS)
def test_a_program_ends_beside_a_daemon_thread_that_waits(tmp_path, wait):
    made, call, seen = WAITS[wait]
    source = (
        f"{BEGIN}{made}\n{UNTIL.format(seen=seen)}\n"
        f"threading.Thread(target=lambda: {call}, daemon=True).start()\nwaits()\nprint('end')"
    )
    for turn in range(3):
        with Program(source, tmp_path / f"arena{turn}") as program:
            assert program.ended() == "end\n"
    assert not fsck(path=tmp_path / "arena2", repair=True).damage


def test_a_thread_that_waits_ends_without_a_word_when_the_interpreter_does(arena, monkeypatch):
    """It printed the traceback of an ArenaClosed now and then."""
    said = []
    monkeypatch.setattr(threading, "excepthook", said.append)
    rings = RingBuffer.create(arena, "ints", 2), MessageRing.create(arena, "texts", 2, "str")
    threads = [threading.Thread(target=ring.get) for ring in rings]
    for thread in threads:
        thread.start()
    wait_for(lambda: all(ring.counts().get_waits for ring in rings))
    arena._lifetime.leave(time.monotonic() + PATIENCE)  # as `atexit` calls it
    for thread in threads:
        thread.join()
    assert [each.exc_type for each in said] == [SystemExit] * 2  # of which Python itself says nothing


#: Calls of coroutines, each of a structure in an arena.
COROUTINES = {
    "aget": ("RingBuffer.create(arena, 'r', 2)", "made.aget()"),
    "aput": ("RingBuffer.create(arena, 'r', 2)", "made.aput(1)"),
    "aget of messages": ("MessageRing.create(arena, 'r', 2, 'str')", "made.aget()"),
    "aput of messages": ("MessageRing.create(arena, 'r', 2, 'str')", "made.aput('tea')"),
    "aacquire": ("RateLimiter.create(arena, 'r', 1e6)", "made.aacquire()"),
}


@pytest.mark.parametrize("name", COROUTINES)
def test_coroutines_rest_when_the_interpreter_ends_beside_them(arena, name):
    """SystemExit ended the loop, and asyncio printed it, as of a task that nobody asks for."""
    make, call = COROUTINES[name]
    made, found = do(make, arena=arena), []

    async def several():
        tasks = [asyncio.ensure_future(do(call, made=made)) for _ in range(3)]
        for _ in range(9):  # turns of the loop: each task has called in the first
            await asyncio.sleep(0)
        found.extend(task.done() for task in tasks)
        for task in tasks:
            task.cancel()
        found.extend(await asyncio.gather(*tasks, return_exceptions=True))

    arena._lifetime.leave(time.monotonic() + PATIENCE)  # as `atexit` calls it
    thread = threading.Thread(target=lambda: asyncio.run(several()))
    thread.start()
    thread.join()
    assert found[:3] == [False] * 3
    assert [type(each) for each in found[3:]] == [asyncio.CancelledError] * 3
    with pytest.raises(ArenaClosed, match="is closed"):  # in the main thread
        asyncio.run(do("wrap(made)", made=made, wrap=lambda made: do(call, made=made)))


@pytest.mark.parametrize("name", COROUTINES)
def test_a_program_ends_beside_several_coroutines_of_a_daemon_thread(tmp_path, name):
    make, call = COROUTINES[name]
    source = (
        "import atexit, time\natexit.register(time.sleep, 0.2)\n"  # later than the arena is left
        f"{BEGIN}made = {make}\nturned = []\n"
        "async def again():\n    while True:\n        turned.append(1)\n"
        f"        task = asyncio.ensure_future({call})\n"
        "        await asyncio.wait({task}, timeout=0.01)\n        task.cancel()\n"
        "async def several():\n    await asyncio.gather(*[again() for _ in range(3)])\n"
        "threading.Thread(target=lambda: asyncio.run(several()), daemon=True).start()\n"
        "while len(turned) < 9:\n    time.sleep(0.001)\n"
        "print('end')"
    )
    with Program(source, tmp_path / "arena") as program:
        assert program.ended() == "end\n"
    assert not fsck(path=tmp_path / "arena", repair=True).damage


@pytest.mark.parametrize("wait", WAITS)
def test_control_c_ends_a_wait(tmp_path, wait):
    made, call, seen = WAITS[wait]
    source = (
        f"{BEGIN}{made}\n{UNTIL.format(seen=seen)}\n"
        "def press():\n    waits()\n    os.kill(os.getpid(), signal.SIGINT)\n"
        "threading.Thread(target=press).start()\n"
        f"try:\n    {call}\nexcept KeyboardInterrupt:\n    print('interrupted')\n"
        "print(repr(ring) != '')\n"
        "if isinstance(ring, RingBuffer):\n    ring.try_get(), ring.shutdown()\n"
    )
    with Program(source, tmp_path / "arena") as program:
        assert program.ended() == "interrupted\nTrue\n"
    assert not fsck(path=tmp_path / "arena", repair=True).damage


def test_what_is_waited_in_is_not_collected(tmp_path):
    """The program forgets its rings while threads wait in them; another opening puts, and they come back."""
    source = BEGIN + (
        "import gc\n"
        "got = []\n"
        "def wait(cls, name):\n    got.append(cls.open(arena, name).get())\n"
        "RingBuffer.create(arena, 'ints', 2).close(), MessageRing.create(arena, 'texts', 2, 'str').close()\n"
        "rings = (RingBuffer, 'ints'), (MessageRing, 'texts')\n"
        "threads = [threading.Thread(target=wait, args=each) for each in rings]\n"
        "for each in threads:\n    each.start()\n"
        "ints, texts = RingBuffer.open(arena, 'ints'), MessageRing.open(arena, 'texts')\n"
        "while not (ints.counts().get_waits and texts.counts().get_waits):\n    time.sleep(0.001)\n"
        "for _ in range(3):\n    gc.collect()\n    arena.collect()\n"
        "ints.put(5), texts.put('tea')\n"
        "for each in threads:\n    each.join()\n"
        "print(sorted(map(str, got)))\n"
    )
    with Program(source, tmp_path / "arena") as program:
        assert program.ended() == "['5', 'tea']\n"


def test_a_limiter_that_is_waited_in_is_not_collected(tmp_path):
    """Threads wait in limiters, and coroutines do, which the program forgets together with the arena."""
    source = BEGIN + (
        "import gc\n"
        "got = []\n"
        "def wait(ring, call):\n    got.append(call(ring))\n"
        "calls = RateLimiter.acquire, lambda ring: asyncio.run(ring.aacquire())\n"
        "threads = []\n"
        "for ring in RateLimiter(5.0), RateLimiter.create(arena, 'r', 5.0):\n"
        "    ring.acquire()\n"
        "    threads += [threading.Thread(target=wait, args=(ring, call)) for call in calls]\n"
        "for each in threads:\n    each.start()\n"
        "del ring, arena\n"
        "while any(each.is_alive() for each in threads):\n    gc.collect()\n"
        "print(got)\n"
    )
    with Program(source, tmp_path / "arena") as program:
        assert program.ended() == "[True, True, True, True]\n"
    assert not fsck(path=tmp_path / "arena").damage


@pytest.mark.parametrize("how", ["globals", "a circle", "atexit", "a daemon thread", "closed before"])
def test_all_are_there_when_the_interpreter_ends(tmp_path, how):
    """The interpreter takes modules, globals and circles apart in its own order; nothing is said, and nothing lost."""
    source = BEGIN + (
        f"makers = { ({name: KINDS[name][0] for name in KINDS})!r}\n"
        f"changes = { ({name: KINDS[name][1] for name in KINDS})!r}\n"
        "held = {}\n"
        "for name in makers:\n    made = held[name] = eval(makers[name])\n    exec(changes[name])\n"
        "private = [RingBuffer(8), MessageRing(8, 'pickle'), RateLimiter(1.0), ConcurrentTrie(), sketches.Bloom(9)]\n"
        "private += [RetainedTopics(), CachedMatcher(ConcurrentTrie()), LimitedMatcher(LockedTrie())]\n"
        "private += [TopicFilter(['a.b']), NotifyingMatcher(ConcurrentTrie(), print)]\n"
        "private += [private[3].snapshot(), private[3].freeze()]\n"
        "buffers = [held[name].buffered() for name in ('Bloom', 'CountMin', 'TopK', 'HyperLogLog')]\n"
        "for each in buffers:\n    each.add('oat')\n"
    )
    source += {
        "globals": "",
        "a circle": "class Circle: pass\ncircle = Circle()\n"
        "circle.itself, circle.held = circle, [held, private, buffers]\n"
        "del held, private, buffers, made, each\n",
        "atexit": "import atexit\natexit.register(lambda: held['RingBuffer'].put(8))\n"
        "atexit.register(lambda: held['Bloom'].add('late'))\n",
        "a daemon thread": "def work():\n    while True:\n"
        "        held['Bloom'].add('x'), held['CountMin'].add_many(['y'] * 9)\n"
        "        private[0].put(1), private[0].get()\n"
        "threading.Thread(target=work, daemon=True).start()\ntime.sleep(0.05)\n",
        "closed before": "for each in buffers:\n    each.close()\narena.close()\narena.close()\n",
    }[how]
    with Program(source, tmp_path / "arena") as program:
        assert program.ended() == ""
    assert not fsck(path=tmp_path / "arena").damage
    with Arena.open(tmp_path / "arena") as arena:
        assert sketches.CountMin.open(arena, "CountMin").estimate("oat") == 1
        assert len(RingBuffer.open(arena, "RingBuffer")) == (2 if how == "atexit" else 1)


def test_a_program_that_becomes_another_one(tmp_path):
    """By exec, beside a thread that waits, with rings of its own: these come back, and named structures stay."""
    after = (
        "import sys\nfrom pathlib import Path\nfrom latchfree import Arena, RingBuffer, sketches\n"
        "with Arena.open(Path(sys.argv[1])) as arena:\n"
        "    ring = RingBuffer.open(arena, 'named')\n"
        "    while arena.allocated > 1 << 20:\n        arena.reap()\n        arena.collect()\n"  # mine has more
        "    print(ring.get(), sketches.Bloom.open(arena, 'Bloom').added)\n"
    )
    source = BEGIN + (
        "named, mine = RingBuffer.create(arena, 'named', 8), RingBuffer(1 << 16, arena=arena)\n"
        "made = sketches.Bloom.create(arena, 'Bloom', 9)\nmade.add('tea')\n"
        "waiting = RingBuffer.create(arena, 'waiting', 8)\n"
        "threading.Thread(target=waiting.get, daemon=True).start()\n"
        "while not waiting.counts().get_waits:\n    time.sleep(0.001)\n"
        "named.put(5)\n"
        f"os.execv(sys.executable, [sys.executable, '-c', {after!r}, sys.argv[1]])\n"
    )
    with Program(source, tmp_path / "arena") as program:
        assert program.ended() == "5 1\n"
    assert not fsck(path=tmp_path / "arena", repair=True).damage
