"""The reaper: it looks after what it was given until that is closed or gone, and knows nothing else of it."""

import gc
import threading
import time

import pytest

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
