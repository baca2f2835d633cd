"""An opening lives as long as the kernel says so: through closed descriptors and until its mapping is gone."""

import contextlib
import errno
import gc
import itertools
import os
import resource
import signal
import subprocess
import sys
import threading
import weakref
from pathlib import Path

import pytest
from children import in_child

from latchfree import Arena, ArenaClosed, Ctrie, RingBuffer
from latchfree.arena import arena as arena_module
from latchfree.arena import filelocks, reaper
from latchfree.arena import region as region_module
from latchfree.arena.memory import Memory
from latchfree.arena.region import Region

pytestmark = pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")

CAPACITY = 32 << 20


@pytest.fixture
def path(tmp_path):
    return tmp_path / "arena"


@pytest.fixture
def trie(path):
    with Arena.create(path=path, capacity=CAPACITY) as arena:
        yield Ctrie.create(arena, "stock", keys=int, values=int)


def contents(path):
    with Arena.open(path) as arena:
        return dict(Ctrie.open(arena, "stock").items())


def descriptors():
    return sorted(int(each.name) for each in Path("/proc/self/fd").iterdir())


def test_closing_one_opening_leaves_the_others_of_the_process_alone(trie, path):
    other = Arena.open(path)
    again = Ctrie.open(other, "stock")
    again.put_many(range(1000), range(1000))
    held = trie.readonly_snapshot()
    other.close()
    trie.put_many(range(1000), [0] * 1000)
    assert len(trie) == 1000
    assert list(held.values()) == list(held)


def test_an_opening_is_dead_for_others_when_it_is_closed_and_not_before(trie, path):
    other = Arena.open(path)
    identity = other.identity
    assert not trie.arena.region.is_dead(identity)
    assert not trie.arena.region.is_dead(trie.arena.identity)
    other.close()
    assert trie.arena.region.is_dead(identity)


def test_what_nobody_can_tell_counts_as_alive(trie, path):
    other = Arena.open(path)
    dead = other.identity
    other.close()
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    os.close(trie.arena.region.fd)
    path.rename(path.with_name("elsewhere"))
    try:
        assert not trie.arena.region.is_dead(dead), "there is no descriptor to ask with"
        path.with_name("elsewhere").rename(path)
        assert trie.arena.region.is_dead(dead)
        resource.setrlimit(resource.RLIMIT_NOFILE, (3, limits[1]))
        assert not trie.arena.region.is_dead(dead), "there is none to be had"
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)


def test_before_linux_5_14_nothing_is_reserved_through_a_number_that_is_another_files(path, tmp_path, monkeypatch):
    monkeypatch.setattr(region_module, "reserves_pages", lambda: False)
    unrelated = tmp_path / "unrelated"
    unrelated.write_text("hello")
    with Arena.create(path=path, capacity=CAPACITY) as arena:
        trie = Ctrie.create(arena, "stock", keys=int, values=int)
        blocks = path.stat().st_blocks
        trie.put_many(range(40_000), range(40_000))
        assert path.stat().st_blocks > blocks
        with unrelated.open("r+b") as other:
            os.dup2(other.fileno(), arena.region.fd)
        trie.update(dict.fromkeys(range(40_000, 60_000), 1))
        trie.put_many(range(60_000, 120_000), range(60_000, 120_000))
        assert unrelated.read_text() == "hello"
        os.close(arena.region.fd)
        trie.put_many(range(120_000, 180_000), range(120_000, 180_000))
        assert len(trie) == 180_000
    assert len(contents(path)) == 180_000


def test_a_descriptor_closed_underneath_and_used_for_another_file(trie, path, tmp_path):
    """As a daemonizer does; the other file is neither written nor asked."""
    foreign = tmp_path / "foreign"
    foreign.write_bytes(b"hello")
    fd = trie.arena.region.fd
    os.dup2(os.open(foreign, os.O_RDWR), fd)
    with Arena.open(path) as other:
        assert other.region.others()
        assert trie.arena.region.others()
        assert other.adopt() == 0
        trie.put_many(range(200_000), range(200_000))
        in_child(lambda: len(trie) == 200_000)
    trie.arena.close()
    assert foreign.read_bytes() == b"hello"
    assert os.fstat(fd).st_size == 5, "nobody has closed it"
    os.close(fd)
    assert len(contents(path)) == 200_000


@pytest.fixture
def taken(tmp_path, monkeypatch):
    """Each descriptor that a byte is asked for becomes another file's at that moment, as beside a daemonizer."""
    file = tmp_path / "foreign"
    file.write_bytes(b"hello")
    numbers = []
    take, is_taken = filelocks.take, filelocks.is_taken

    def lose(fd):
        foreign = os.open(file, os.O_RDWR)
        os.dup2(foreign, fd)
        os.close(foreign)
        numbers.append(fd)

    def on(question):
        if question == "take":
            monkeypatch.setattr(filelocks, "take", lambda fd, identity: (lose(fd), take(fd, identity))[1])
        else:
            monkeypatch.setattr(filelocks, "is_taken", lambda fd, identity: (lose(fd), is_taken(fd, identity))[1])

    yield on
    assert file.read_bytes() == b"hello"
    assert numbers
    for number in numbers:
        assert os.path.samestat(os.fstat(number), file.stat()), "nobody has closed it"
        os.close(number)


def test_opening_beside_a_daemonizer(trie, path, taken):
    taken("take")
    with pytest.raises(OSError, match="descriptor was closed while it was opened") as caught:
        Arena.open(path)
    assert (caught.value.errno, caught.value.filename) == (errno.EBADF, str(path))


def test_creating_beside_a_daemonizer(path, taken):
    taken("take")
    with pytest.raises(OSError, match="descriptor was closed while it was opened"):
        Arena.create(path=path)
    assert not path.exists()


def test_asking_who_is_alive_beside_a_daemonizer(trie, path, taken):
    os.close(trie.arena.region.fd)
    taken("is_taken")
    assert not trie.arena.region.is_dead(12345), "nobody can tell"


def test_closed_where_another_file_has_taken_the_place_no_descriptor_is_left(trie, path, tmp_path):
    (tmp_path / "other").write_bytes(b"hello")
    os.close(trie.arena.region.fd)
    (tmp_path / "other").rename(path)
    before = descriptors()
    trie.arena.close()
    assert descriptors() == before
    assert path.read_bytes() == b"hello"


def test_a_program_that_is_replaced_is_dead(trie, path):
    """Its descriptors are closed at exec, and its mapping is gone, though the process goes on."""
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            with trie.arena.lend():
                os.write(write, b"%d." % trie.arena.identity)
                os.execvp("sleep", ["sleep", "600"])
        finally:
            os._exit(70)
    try:
        identity = int(os.read(read, 100).split(b".")[0])
        arena = trie.arena
        for _ in range(60_000):
            if arena.region.is_dead(identity):
                break
            threading.Event().wait(0.001)
        assert arena.region.is_dead(identity)
        assert os.waitpid(pid, os.WNOHANG) == (0, 0), "the process is there"
        arena.adopt()
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        os.close(read)
        os.close(write)
    trie[1] = 1


def test_a_child_goes_on_when_its_parent_is_gone(trie, path):
    """The child's mapping does not keep the parent's opening alive."""
    read, write = os.pipe()

    def parent():
        os.write(write, b"%d." % trie.arena.identity)
        go, wait = os.pipe()
        if os.fork() == 0:
            os.close(wait)
            os.read(go, 1)
            os.write(write, b"%d." % trie.arena.identity)
            threading.Event().wait(60)
            os._exit(0)
        os.close(go)
        os.write(wait, b"x")
        threading.Event().wait(0.2)
        return True

    in_child(parent)
    said = b""
    while said.count(b".") < 2:
        said += os.read(read, 100)
    gone, there = map(int, said.split(b".")[:2])
    assert trie.arena.region.is_dead(gone)
    assert not trie.arena.region.is_dead(there)
    os.close(read)
    os.close(write)


@pytest.mark.parametrize("at", range(8))
def test_an_arena_that_a_finalizer_closes_in_the_midst_of_a_fork(trie, path, monkeypatch, at):
    """Whether the arena is closed before, while or after it is opened for the child, nothing of it is left there."""
    other = Arena.open(path)
    is_of_file, calls = Region._is_of_file, itertools.count()

    def finalize_and_look(region, fd):
        if threading.current_thread() is threading.main_thread() and next(calls) == at:
            other.close()
        return is_of_file(region, fd)

    def child():
        found = 0
        for fd in descriptors():
            with contextlib.suppress(OSError):  # the descriptor of the listing itself
                found += os.path.samestat(os.fstat(fd), path.stat())
        return found == 1 + (not other.closed) and len(trie) == 0

    monkeypatch.setattr(Region, "_is_of_file", finalize_and_look)
    try:
        in_child(child)
    finally:
        other.close()  # before monkeypatch drops the last reference: CPython 3.11 does not survive a finalizer there


FORKS_IN_THE_MIDST_OF_A_FORK = """
import os, sys
from latchfree import Arena, Ctrie
from latchfree.arena.region import Region

arena = Arena.create(path=sys.argv[1], capacity=32 << 20)
trie = Ctrie.create(arena, "stock", keys=int, values=int)
read, write = os.pipe()
inherit, inner = Region.inherit, []

def in_child(body):
    pid = os.fork()
    if pid == 0:
        code = 70
        try:
            code = 0 if body() else 1
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])

def interrupted(region, *bequest):
    if not inner:
        inner.append(True)
        assert in_child(lambda: os.write(write, b"%d." % arena.identity) and len(trie) == 0) == 0
    return inherit(region, *bequest)

def child():
    os.write(write, b"%d." % arena.identity)
    trie[1] = 1
    return bool(inner) and not arena.region.is_dead(arena.identity) and arena.region.others()

Region.inherit = interrupted
assert in_child(child) == 0
said = b""
while said.count(b".") < 2:
    said += os.read(read, 100)
identities = {arena.identity, *map(int, said.split(b".")[:2])}
assert len(identities) == 3
assert dict(trie) == {1: 1}
arena.close()
"""


def test_a_handler_that_forks_in_the_midst_of_a_fork(path):
    """The child of the handler, the child and the parent have an opening each; none closes another's descriptor."""
    # In a process of its own: the hooks of some modules of Python's, which a test may have imported, do not nest.
    command = [sys.executable, "-W", "ignore", "-c", FORKS_IN_THE_MIDST_OF_A_FORK, str(path)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    subprocess.run(command, env=environment, check=True, timeout=300)


def test_a_child_forked_without_descriptors_finds_everything_closed(trie):
    ring = RingBuffer(8, arena=trie.arena)
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)

    def child():
        calls = [
            lambda: trie.put(1, 1), lambda: trie.put_many([1], [1]), trie.arena.collect, trie.arena.structures,
            lambda: ring.try_put(1), lambda: ring.put_many([1]), lambda: ring.get_many(1), lambda: len(ring),
        ]  # fmt: skip
        for call in calls:
            with pytest.raises(ArenaClosed):
                call()
        return True

    ring.put_many([1]), ring.get_many(1), ring.try_put(1), trie.put_many([1], [1]), trie.put(1, 1)  # compiled
    resource.setrlimit(resource.RLIMIT_NOFILE, (3, limits[1]))
    try:
        in_child(child)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)


@pytest.mark.parametrize("steps", [("show",), ("show", "hide")])
def test_a_child_forked_without_memory_for_its_mapping_finds_everything_closed(trie, path, monkeypatch, steps):
    def refuse(*_):
        raise OSError(errno.ENOMEM, "no memory")

    def child():
        for call in (lambda: trie.put(1, 2), lambda: trie.put_many([1], [2])):
            with pytest.raises(ArenaClosed):
                call()
        trie.arena.close()

    trie[1] = 1
    trie.put_many([2], [2])
    for step in steps:
        monkeypatch.setattr(Memory, step, refuse)
    in_child(child)
    monkeypatch.undo()
    with Arena.open(path) as other:
        assert other.region.others()
        assert other.adopt() == 0
        assert dict(trie) == {1: 1, 2: 2}


def test_unclosed_arenas_that_are_collected_while_one_is_opened(trie, path):
    class Cycle:
        pass

    gc.collect()
    for _ in range(700):
        cycle = Cycle()
        cycle.itself, cycle.arena = cycle, Arena.open(path)
    del cycle
    gc.collect()
    assert not trie.arena.region.others()


def test_a_call_between_the_steps_of_closing_finds_the_arena_closed(trie, monkeypatch):
    release_all, errors = trie.arena._lender.release_all, []

    def call_and_release_all():
        for call in (lambda: trie.put(1, 1), lambda: trie.arena.collect()):
            with pytest.raises(ArenaClosed) as error:
                call()
            errors.append(error)
        release_all()

    monkeypatch.setattr(trie.arena._lender, "release_all", call_and_release_all)
    trie.arena.close()
    with pytest.raises(ArenaClosed):
        trie.put(1, 1)
    assert len(errors) == 2


def test_a_handler_that_forks_in_the_midst_of_opening(trie, path):
    """In the child an arena that is half open when the process forks is opened to the end, as in the parent."""
    before, steps, interrupted, errors = sys.gettrace(), 0, True, []
    while interrupted:
        interrupted, left = False, steps

        def trace(frame, event, argument):
            nonlocal interrupted, left
            if frame.f_code.co_filename != arena_module.__file__ or interrupted:
                return None
            if event == "line":
                left -= 1
                if left < 0:
                    interrupted = True
                    in_child(lambda: not errors)
            return trace

        hook, sys.unraisablehook = sys.unraisablehook, errors.append
        sys.settrace(trace)
        try:
            Arena.open(path).close()
        finally:
            sys.settrace(before)
            sys.unraisablehook = hook
        assert not errors
        steps += 1
    assert steps > 20


def test_an_interrupt_in_the_callback_of_a_holding_that_is_gone_leaves_the_arena_able_to_close(trie):
    class Holding:
        rank = 0

    holding = Holding()
    trie.arena.holdings.data.add(weakref.ref(holding))  # as if the callback, which discards it, had been interrupted
    del holding
    trie.arena.close()
    assert trie.arena.closed


def test_closed_twice_by_threads_at_once(path):
    arena = Arena.create(path=path, capacity=CAPACITY)
    barrier = threading.Barrier(8)

    def close():
        barrier.wait()
        arena.close()

    threads = [threading.Thread(target=close) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert arena.closed
    Arena.open(path).close()


def test_the_reaper_goes_on_after_an_error(monkeypatch):
    monkeypatch.setattr(reaper, "_PERIOD", 0.001)

    class Failing:
        closed = False
        left = threading.Semaphore(0)

        def reap(self):
            self.left.release()
            raise OSError("too many open files")

    thing = Failing()
    thread = reaper.start(thing)
    for _ in range(3):
        assert thing.left.acquire(timeout=60)
    thing.closed = True
    thread.join(60)
    assert not thread.is_alive()
