"""A process forks while a thread of it is in the midst of a change of a matcher with a lock."""

import itertools
import signal
import threading

import pytest
from children import in_child

from latchfree.arena import forking
from latchfree.topics import CachedMatcher, LockedTrie, RemoteInterest, RoutedSubKey

pytestmark = pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")


class Slow(str):
    """A string whose second hash takes as long as said: matchers ask for the first before they take the lock."""

    __slots__ = ()
    calls = itertools.count()
    begun = threading.Event()
    enough = threading.Event()
    seconds = 0.3

    def __hash__(self):
        if next(Slow.calls) == 1:
            Slow.begun.set()
            Slow.enough.wait(Slow.seconds)
        return str.__hash__(self)


def plain(matcher):
    return lambda: matcher.subscribe("a.b", Slow("ann")), lambda: matcher.match("a.b") == {"ann"}


def remote():
    interest = RemoteInterest()
    key = RoutedSubKey("east", Slow("account"), "a.b")
    hash(key)
    return lambda: interest.apply(key), lambda: len(interest.match("account", "a.b")) == 1


MATCHERS = {
    "locked": lambda: plain(LockedTrie()),
    "cached": lambda: plain(CachedMatcher(LockedTrie())),
    "remote": remote,
}


@pytest.fixture
def changing():
    """Begin a change in a thread; it is in the midst of it when this returns."""
    threads = []
    Slow.calls = itertools.count()
    Slow.begun.clear()
    Slow.enough.clear()

    def begin(change):
        threads.append(threading.Thread(target=change))
        threads[0].start()
        assert Slow.begun.wait(60)

    yield begin
    Slow.enough.set()
    for thread in threads:
        thread.join()


@pytest.mark.parametrize("which", MATCHERS)
def test_the_child_sees_the_whole_change_and_does_not_hang(changing, which):
    change, is_whole = MATCHERS[which]()

    def child():
        signal.alarm(60)
        return is_whole()

    changing(change)
    in_child(child)


def test_a_fork_does_not_wait_for_ever(changing, monkeypatch):
    """Whoever has the lock may wait for the fork."""
    monkeypatch.setattr(forking, "_PATIENCE", 0.1)
    monkeypatch.setattr(Slow, "seconds", 300)
    matcher, other = LockedTrie(), LockedTrie()
    changing(lambda: matcher.subscribe("a.b", Slow("ann")))
    in_child(lambda: other.match("a.b") == set())
    assert not Slow.enough.is_set()
