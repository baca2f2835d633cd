"""Regions: files that appear whole or not at all, who is alone, and damage that is always found."""

import errno
import gc
import os
import random
import resource
import signal
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from numba.core.compiler_lock import global_compiler_lock

from latchfree.arena import files, header, layout
from latchfree.arena.directory import Directory
from latchfree.arena.memory import Memory
from latchfree.arena.region import Region
from latchfree.errors import ArenaInvalid
from latchfree.structures import CTRIE

CAPACITY = 4 << 20
SOURCES = [str(Path(__file__).parents[3] / floor) for floor in ("support", "impl")]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "arena"


@pytest.fixture
def name(shared_name):
    return shared_name


@pytest.fixture
def made():
    """Regions closed at the end."""
    regions = []
    yield lambda region: regions.append(region) or region
    for region in regions:
        region.close()


def snapshot(path):
    return path.read_bytes(), path.stat().st_mtime_ns


def listing(folder):
    return sorted(file.name for file in folder.iterdir())


def open_descriptors():
    """How many are open, after what other tests have left is closed: mappings, and reapers, which look into /proc."""
    gc.collect()
    for thread in threading.enumerate():
        if thread.name == "latchfree-arena-reaper":
            thread.join(10)
    return len(listing(Path("/proc/self/fd")))


def state_of(path):
    fd = os.open(path, os.O_RDONLY)
    try:
        return header.tag(int(header.read(fd)[layout.H_STATE]))
    finally:
        os.close(fd)


class OtherProcess:
    """A Python process that has run some lines and waits."""

    def __init__(self, lines):
        program = f"import sys\nsys.path[:0] = {SOURCES!r}\nfrom latchfree.arena.region import Region\n"
        program += lines + "\nprint('ready', flush=True)\nsys.stdin.read()\n"
        self.process = subprocess.Popen(
            [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert self.process.stdout.readline() == "ready\n"

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.communicate()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.kill()


def test_an_anonymous_region():
    region = Region.anonymous(CAPACITY)
    assert (region.kind, region.shared, region.fd, region.closed) == ("anonymous", False, None, False)
    assert region.words.nbytes == CAPACITY
    assert not region.others()
    header.validate(region.words, CAPACITY, region.where, alone=True)
    region.unlink()
    region.close()
    region.words[layout.FIRST_NODE] = 1


def test_a_path_is_created_closed_and_opened(path, made):
    region = Region.create(path=path, capacity=CAPACITY + 1)
    assert (region.kind, region.shared, region.where) == ("path", True, str(path))
    assert path.stat().st_size == region.words.nbytes == CAPACITY + (2 << 20)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert path.stat().st_blocks * 512 < 2 << 20, "sparse"
    assert state_of(path) == layout.IN_USE
    identity = region.words[layout.H_IDENTITY]
    region.words[layout.FIRST_NODE] = 4711
    assert not region.closed
    region.close()
    assert region.closed
    region.close()
    assert state_of(path) == layout.CLEAN
    again = made(Region.open(path=str(path)))
    assert not again.others()
    assert state_of(path) == layout.IN_USE
    assert again.words[layout.FIRST_NODE] == 4711
    assert again.words[layout.H_IDENTITY] == identity
    assert "arena, 6,291,456 bytes" in repr(again)


def test_a_name_is_in_shared_memory(name, made):
    region = made(Region.create(name=name, capacity=CAPACITY))
    file = Path("/dev/shm") / f"latchfree-{name}"
    assert region.kind == "name"
    assert region.where == str(file)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    other = made(Region.open(name=name))
    other.words[layout.FIRST_NODE] = 5
    assert region.words[layout.FIRST_NODE] == 5
    region.unlink()
    assert not file.exists()
    region.words[layout.FIRST_NODE] = 6
    assert other.words[layout.FIRST_NODE] == 6
    with pytest.raises(FileNotFoundError):
        other.unlink()


@pytest.mark.parametrize("name", ["", "a/b", "..\0", "x" * 101, "ä", "a b", "a\n"])
def test_refuses_a_name(name):
    with pytest.raises(ValueError, match=r"1 to 100 of the characters A-Z a-z 0-9 \. _ -"):
        Region.create(name=name, capacity=CAPACITY)


@pytest.mark.parametrize("where", [{}, {"name": "x", "path": "y"}])
def test_wants_a_name_or_a_path(where):
    with pytest.raises(TypeError, match="give one of the two"):
        Region.open(**where)


def test_refuses_other_systems(monkeypatch, path):
    monkeypatch.setattr(sys, "platform", "plan9")
    for call in (lambda size: Region.create(path=path, capacity=size), lambda _: Region.open(path=path)):
        with pytest.raises(OSError, match=r"need Linux .* this is plan9"):
            call(CAPACITY)


def test_what_exists_is_not_created_again(path):
    path.write_bytes(b"precious")
    with pytest.raises(FileExistsError, match=f"exists already: open it, .*{path}"):
        Region.create(path=path, capacity=CAPACITY)
    assert path.read_bytes() == b"precious"
    assert listing(path.parent) == ["arena"]


def test_what_does_not_exist_is_not_opened(path, name):
    with pytest.raises(FileNotFoundError, match=str(path)):
        Region.open(path=path)
    with pytest.raises(FileNotFoundError, match=name):
        Region.open(name=name)
    with pytest.raises(FileNotFoundError, match=str(path)):
        Region.create(path=path / "deeper", capacity=CAPACITY)


def without_unnamed_files(monkeypatch):
    genuine = os.open

    def strict(file, flags, *mode, **more):
        if flags & os.O_TMPFILE == os.O_TMPFILE:
            raise OSError(errno.EOPNOTSUPP, "not supported")
        return genuine(file, flags, *mode, **more)

    monkeypatch.setattr(os, "open", strict)


def test_creates_where_files_need_names(path, monkeypatch):
    without_unnamed_files(monkeypatch)
    region = Region.create(path=path, capacity=CAPACITY)
    assert listing(path.parent) == ["arena"]
    region.close()
    Region.open(path=path).close()


@pytest.mark.parametrize("named", [False, True])
@pytest.mark.parametrize("step", ["ftruncate", "posix_fallocate", "link"])
def test_a_failed_creation_leaves_nothing(path, monkeypatch, step, named):
    if named:
        without_unnamed_files(monkeypatch)

    def fail(*_, **__):
        raise OSError(errno.ENOSPC, "disk full")

    descriptors = open_descriptors()
    monkeypatch.setattr(os, step, fail)
    with pytest.raises(OSError, match=f"no room for the header of an arena .1523712 bytes.*{path}") as caught:
        Region.create(path=path, capacity=CAPACITY)
    assert caught.value.errno == errno.ENOSPC
    del caught
    assert listing(path.parent) == []
    assert open_descriptors() == descriptors


def test_a_file_size_limit_is_an_error(path):
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, limits[1]))
    try:
        with pytest.raises(OSError, match="does not allow a file of that capacity"):
            Region.create(path=path, capacity=CAPACITY)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert listing(path.parent) == []


@pytest.mark.parametrize("named", [False, True])
def test_of_many_creators_one_wins_and_openers_see_it_whole(tmp_path, monkeypatch, named):
    if named:
        without_unnamed_files(monkeypatch)
    for round_ in range(20):
        path = tmp_path / str(round_)
        won, lost, opened, wrong = [], [], [], []
        barrier = threading.Barrier(5)

        def create(path=path, barrier=barrier, won=won, lost=lost, wrong=wrong):
            barrier.wait()
            try:
                won.append(Region.create(path=path, capacity=CAPACITY))
            except FileExistsError:
                lost.append(1)
            except BaseException as error:
                wrong.append(error)

        def open_(path=path, barrier=barrier, opened=opened, wrong=wrong):
            barrier.wait()
            while not opened:
                try:
                    opened.append(Region.open(path=path))
                except FileNotFoundError:
                    continue
                except BaseException as error:
                    wrong.append(error)
                    return

        threads = [threading.Thread(target=create) for _ in range(4)] + [threading.Thread(target=open_)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert wrong == []
        assert (len(won), len(lost), len(opened)) == (1, 3, 1)
        assert won[0].words[layout.H_IDENTITY] == opened[0].words[layout.H_IDENTITY]
        for region in won + opened:
            region.close()
        assert state_of(path) == layout.CLEAN
        assert listing(tmp_path) == [str(round_)]
        path.unlink()


def test_the_last_to_close_seals(path, made):
    first = Region.create(path=path, capacity=CAPACITY)
    assert not first.others()
    second = Region.open(path=path)
    assert first.others()
    assert second.others()
    first.close()
    assert state_of(path) == layout.IN_USE
    assert not second.others()
    third = Region.open(path=path)
    second.close()
    assert not third.others(), "closing one leaves the locks of another in the same process"
    third.close()
    assert state_of(path) == layout.CLEAN


def test_comings_and_goings_never_seal_what_is_open(name):
    """Four come and go at random; whoever is there finds the region in use, and at the end it is sealed."""
    seed = 7
    print(f"seed {seed}")
    Region.create(name=name, capacity=CAPACITY).close()
    wrong, openings = [], []

    def come_and_go(k):
        rng = random.Random(seed + k)
        try:
            for _ in range(100):
                region = Region.open(name=name)
                openings.append(region.identity)
                for _ in range(rng.randrange(4)):
                    region.others()
                    assert header.tag(int(region.words[layout.H_STATE])) != layout.CLEAN
                region.close()
        except BaseException as error:
            wrong.append(error)

    threads = [threading.Thread(target=come_and_go, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert len(set(openings)) == 400
    assert state_of(files.locate(name=name)) == layout.CLEAN


def test_what_a_seal_vouches_for_is_on_disk_first(path, monkeypatch):
    region = Region.create(path=path, capacity=CAPACITY)
    states = []
    monkeypatch.setattr(os, "fsync", lambda fd: states.append(header.tag(int(header.read(fd)[layout.H_STATE]))))
    region.close()
    assert states == [layout.SEALING, layout.CLEAN]
    states.clear()
    monkeypatch.setattr(Memory, "flush", lambda memory, size: states.append((state_of(path), size)))
    region = Region.open(path=path)
    assert states == [(layout.IN_USE, header.HEADER_BYTES)], "the seal is off the disk before anything changes"
    region.close()


def test_what_cannot_be_written_to_disk_is_not_sealed(path, monkeypatch):
    region = Region.create(path=path, capacity=CAPACITY)

    def fail(_):
        raise OSError(errno.EIO, "bad disk")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", fail)
        with pytest.raises(OSError, match="bad disk"):
            region.close()
    assert region.closed
    assert state_of(path) == layout.IN_USE
    Region.open(path=path).close()
    assert state_of(path) == layout.CLEAN


def test_asking_does_not_let_others_seal(path):
    """However often two ask whether others are there, both are as long as both are."""
    regions = [Region.create(path=path, capacity=CAPACITY), Region.open(path=path)]
    answers = [[], []]

    def ask(k):
        answers[k] = [regions[k].others() for _ in range(1000)]

    threads = [threading.Thread(target=ask, args=(k,)) for k in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == [[True] * 1000] * 2
    for region in regions:
        region.close()


def test_dropped_without_close_it_is_as_killed(path):
    Region.create(path=path, capacity=CAPACITY)
    assert state_of(path) == layout.IN_USE
    region = Region.open(path=path)
    assert not region.others()
    region.close()


def test_a_killed_process_leaves_the_region_to_others(name):
    with OtherProcess(
        f"region = Region.create(name={name!r}, capacity={CAPACITY})\nregion.words[300000] = 42"
    ) as other:
        region = Region.open(name=name)
        assert region.others()
        assert region.words[300000] == 42
        region.close()
        file = Path(region.where)
        assert state_of(file) == layout.IN_USE, "the other one still has it"
        other.kill()
        again = Region.open(name=name)
        assert not again.others()
        again.close()
        assert state_of(file) == layout.CLEAN


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_forked_child_is_a_user_of_its_own(path):
    region = Region.create(path=path, capacity=CAPACITY)
    descriptors = open_descriptors()
    wait, go_on = os.pipe()
    report, say = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.close(go_on)
            answers = [region.others()]
            os.write(say, b"x")
            os.read(wait, 1)
            answers.append(region.others())
            region.words[layout.FIRST_NODE] = 99
            region.close()
            os._exit(0 if answers == [True, False] else 1)
        finally:
            os._exit(2)
    assert os.read(report, 1) == b"x"
    assert open_descriptors() == descriptors + 4, "the parent has closed what it opened for the child"
    assert region.others()
    region.close()
    assert state_of(path) == layout.IN_USE, "the child still has it"
    os.write(go_on, b"x")
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    for fd in (wait, go_on, report, say):
        os.close(fd)
    assert state_of(path) == layout.CLEAN
    again = Region.open(path=path)
    assert again.words[layout.FIRST_NODE] == 99
    again.close()


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_child_can_compile_though_it_was_forked_while_another_thread_did():
    compiling = threading.Event()

    def compile_something():
        with global_compiler_lock:
            compiling.set()
            time.sleep(0.2)

    thread = threading.Thread(target=compile_something)
    thread.start()
    compiling.wait()
    pid = os.fork()
    if pid == 0:
        signal.alarm(600)  # ends a child that waits for ever
        try:
            with global_compiler_lock:
                os._exit(0)
        finally:
            os._exit(1)
    thread.join()
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_child_that_could_not_inherit_does_not_unlock_for_its_parent(path, monkeypatch):
    region = Region.create(path=path, capacity=CAPACITY)

    def fail(*_):
        raise OSError(errno.EMFILE, "too many open files")

    monkeypatch.setattr("latchfree.arena.filelocks.reopen", fail)
    pid = os.fork()
    if pid == 0:
        try:
            region.close()
            os._exit(0 if region.closed else 1)
        finally:
            os._exit(2)
    monkeypatch.undo()
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    assert state_of(path) == layout.IN_USE
    other = Region.open(path=path)
    assert other.others()
    other.close()
    region.close()
    assert state_of(path) == layout.CLEAN


def test_a_symbolic_link_stands_for_its_file(path, name):
    link = path.with_name("link")
    link.symlink_to(path)
    region = Region.create(path=link, capacity=CAPACITY)
    assert region.where == str(path)
    region.close()
    with pytest.raises(FileExistsError):
        Region.create(path=link, capacity=CAPACITY)
    files.locate(name=name).symlink_to(path)
    with pytest.raises(OSError, match="symbolic links") as caught:
        Region.open(name=name)
    assert caught.value.errno == errno.ELOOP, "a name is not to lead out of shared memory"


def other_boot(path):
    """Make it a file that was in use when the system went down."""
    region = Region.create(path=path, capacity=CAPACITY)
    region.words[layout.H_STATE] ^= np.uint64(4)
    region.close()


def test_torn_by_a_crash_of_the_system_it_opens_for_repair_only(path):
    other_boot(path)
    before = snapshot(path)
    with pytest.raises(ArenaInvalid, match=f"latchfree arena fsck {path} --repair"):
        Region.open(path=path)
    region = Region.open(path=path, repair=True)
    with pytest.raises(BlockingIOError, match="being checked or repaired by another process"):
        Region.open(path=path)
    region.close()
    assert snapshot(path) == before, "given up, it is still refused"
    region = Region.open(path=path, repair=True)
    region.words[layout.H_STATE] = header.in_use()
    region.close()
    assert state_of(path) == layout.CLEAN
    Region.open(path=path).close()


def test_repair_needs_the_region_for_itself(path):
    region = Region.create(path=path, capacity=CAPACITY)
    with pytest.raises(BlockingIOError, match=f"in use: a repair needs it for itself.*{path}"):
        Region.open(path=path, repair=True)
    region.close()


def test_unlink_spares_a_file_that_took_its_place(path):
    region = Region.create(path=path, capacity=CAPACITY)
    path.unlink()
    path.write_bytes(b"another")
    with pytest.raises(FileNotFoundError, match="another file has taken the arena's place"):
        region.unlink()
    assert path.exists()
    region.close()


@pytest.mark.parametrize("content", [b"", b"x", b"#!/bin/sh\necho hello\n", bytes(CAPACITY), b"\x7fELF" * (1 << 20)])
def test_a_foreign_file_is_refused_and_left_alone(path, content):
    path.write_bytes(content)
    before = snapshot(path)
    descriptors = open_descriptors()
    with pytest.raises(ArenaInvalid, match=f"{path}: not an arena"):
        Region.open(path=path)
    assert snapshot(path) == before
    assert open_descriptors() == descriptors


def test_what_is_no_file_is_refused(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ArenaInvalid, match="not a regular file"):
        Region.open(path=tmp_path / "pipe")
    with pytest.raises(IsADirectoryError):
        Region.open(path=tmp_path)


@pytest.mark.parametrize("size", [0, 4096, header.HEADER_BYTES, header.TABLE_BYTES, CAPACITY - 1, CAPACITY + 4096])
def test_a_file_of_another_size_is_refused_and_left_alone(path, size):
    Region.create(path=path, capacity=CAPACITY).close()
    os.truncate(path, size)
    before = snapshot(path)
    with pytest.raises(ArenaInvalid, match=f"{size} bytes"):
        Region.open(path=path)
    assert snapshot(path) == before


def corruptions(rng, sound, count):
    """`count` copies of `sound`, each changed in one of five ways."""
    words = len(sound)
    used = [int(k) for k in np.flatnonzero(sound)]
    while count:
        bad = sound.copy()
        where = rng.choice(used) if rng.random() < 0.5 else rng.randrange(words)
        kind = rng.choice(("bit", "byte", "word", "zeros", "swap"))
        if kind == "bit":
            bad[where] ^= np.uint64(1 << rng.randrange(64))
        elif kind == "byte":
            bad.view(np.uint8)[where * 8 + rng.randrange(8)] = rng.randrange(256)
        elif kind == "word":
            bad[where] = rng.choice((rng.getrandbits(64), rng.randrange(4), (int(bad[where]) + 1) % (1 << 64)))
        elif kind == "zeros":
            bad[where : where + rng.choice((1, 8, 64, 512, words))] = 0
        else:
            other = rng.choice(used)
            bad[[where, other]] = bad[[other, where]]
        if not np.array_equal(bad, sound):
            count -= 1
            yield kind, where, bad


def test_every_corruption_of_the_header_is_found_and_nothing_is_touched(path):
    seed = 20261121
    print(f"seed {seed}")
    region = Region.create(path=path, capacity=CAPACITY)
    directory = Directory(region.words, 1, lambda owner: False)
    bump = layout.FIRST_NODE + 65536
    region.words[layout.H_IDENTITY] = seed
    region.words[layout.H_BUMP] = bump
    region.words[layout.H_GENERATION] = 1000
    region.words[layout.H_EPOCH] = 500
    region.words[layout.H_CLAIMED] = 8
    rng = random.Random(seed)
    for k in range(64):
        region.words[int(layout.SHARED_LISTS) + k] = rng.randrange(layout.FIRST_NODE, bump) | rng.getrandbits(20) << 40
    for k in range(20):
        root = rng.randrange(layout.FIRST_NODE, bump)
        directory.create(
            f"structure {k}", kind=CTRIE, keys="str", values="int", hash_mask=(1 << 64) - 1, build=lambda r=root: r
        )
    region.close()
    fd = os.open(path, os.O_RDWR)
    sound = header.read(fd)[: layout.PARTICIPANTS].copy()
    descriptors = open_descriptors()
    for number, (kind, where, bad) in enumerate(corruptions(rng, sound, 10_000)):
        content = bad.tobytes()
        os.pwrite(fd, content, 0)
        before = os.fstat(fd)
        try:
            Region.open(path=path)
            message = "not found"
        except ArenaInvalid as error:
            message = str(error)
        assert message.startswith(f"{path}: "), f"seed {seed}, corruption {number}: {kind} at word {where}: {message}"
        after = os.fstat(fd)
        assert (after.st_mtime_ns, after.st_ctime_ns) == (before.st_mtime_ns, before.st_ctime_ns)
        assert os.pread(fd, header.HEADER_BYTES, 0) == content
    assert open_descriptors() == descriptors
    os.pwrite(fd, sound.tobytes(), 0)
    os.close(fd)
    region = Region.open(path=path)
    assert len(Directory(region.words, 1, lambda owner: False).entries()) == 20
    region.close()
