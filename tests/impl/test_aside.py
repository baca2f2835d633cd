"""What is done aside goes on while a signal handler runs, and the handler may have something done aside, too."""

import os
import signal
import threading

import pytest

from latchfree.jit import aside


@pytest.fixture
def handler():
    """Have SIGUSR1 call a function."""
    before = signal.getsignal(signal.SIGUSR1)
    yield lambda function: signal.signal(signal.SIGUSR1, lambda number, frame: function())
    signal.signal(signal.SIGUSR1, before)


def test_a_handler_in_the_midst_of_it(handler):
    handled, found = threading.Event(), []

    def act():
        found.append(aside(lambda: threading.current_thread() is threading.main_thread()))
        handled.set()

    def work():
        os.kill(os.getpid(), signal.SIGUSR1)
        assert handled.wait(600)
        return "done"

    handler(act)
    assert aside(work) == "done"
    assert found == [False]


def test_a_handler_that_raises_ends_the_waiting_and_not_the_work(handler):
    handled, done = threading.Event(), threading.Event()

    def act():
        handled.set()
        raise KeyboardInterrupt

    def work():
        os.kill(os.getpid(), signal.SIGUSR1)
        assert handled.wait(600)
        done.set()

    handler(act)
    with pytest.raises(KeyboardInterrupt):
        aside(work)
    assert done.wait(600)


def test_an_error_is_that_of_the_work():
    with pytest.raises(ZeroDivisionError):
        aside(lambda: 1 // 0)
