"""The reaper: it looks after what it was given until that is closed or gone, and knows nothing else of it."""

import errno
import gc
import threading
import time

import pytest

from latchfree import Arena, Ctrie
from latchfree.arena import reaper

PATIENCE = 300


class Reaped:
    """What a reaper looks after, here nothing."""

    def __init__(self):
        self.closed = False
        self.looks = threading.Semaphore(0)

    def reap(self):
        self.looks.release()


@pytest.fixture
def quickly(monkeypatch):
    monkeypatch.setattr(reaper, "_PERIOD", 0.001)


def test_it_looks_again_and_again_until_closed(quickly):
    thing = Reaped()
    thread = reaper.start(thing)
    for _ in range(5):
        assert thing.looks.acquire(timeout=PATIENCE)
    thing.closed = True
    thread.join(PATIENCE)
    assert not thread.is_alive()


def test_it_keeps_nothing_alive(quickly):
    thing = Reaped()
    thread = reaper.start(thing)
    assert thing.looks.acquire(timeout=PATIENCE)
    del thing
    end = time.monotonic() + PATIENCE
    while thread.is_alive() and time.monotonic() < end:
        gc.collect()
        thread.join(0.01)
    assert not thread.is_alive()


def _no_thread(self):
    raise RuntimeError("can't start new thread")


def test_without_a_thread_for_the_reaper_there_is_no_arena(tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", _no_thread)
        with pytest.raises(OSError, match=r"needs a thread of its own.*ulimit -u") as caught:
            Arena.create(path=tmp_path / "main", capacity=4 << 20)
    assert caught.value.errno == errno.EAGAIN
    assert not (tmp_path / "main").exists()


def test_without_a_thread_for_the_reaper_an_arena_is_not_opened_and_stays_as_it_is(tmp_path, monkeypatch):
    with Arena.create(path=tmp_path / "main", capacity=4 << 20) as arena:
        Ctrie.create(arena, "stock", keys=int, values=int)[1] = 2
    before = (tmp_path / "main").read_bytes()
    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", _no_thread)
        with pytest.raises(OSError, match="needs a thread of its own"):
            Arena.open(tmp_path / "main")
    assert (tmp_path / "main").read_bytes() == before
    with Arena.open(tmp_path / "main") as arena:
        assert Ctrie.open(arena, "stock") == {1: 2}
