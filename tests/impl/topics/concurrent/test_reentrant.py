"""Calls inside calls on one matcher: from signal handlers, finalizers, and the subscribers' own code.

A hook runs between every two instructions of the interpreter in this package, so every place is tried.
"""

import os
import signal
import sys
import threading
from contextlib import contextmanager

import pyarrow as pa
import pytest

from latchfree import Arena
from latchfree.topics import ConcurrentTrie

_CODE = "/latchfree/topics/concurrent/"


@contextmanager
def interrupted(hook):
    """Call a hook between every two instructions in this package; it is not interrupted itself."""

    def trace(frame, event, argument):
        if _CODE not in frame.f_code.co_filename:
            return None
        frame.f_trace_opcodes = True
        if event == "opcode":
            hook()
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        yield
    finally:
        sys.settrace(before)


def filled(make):
    """Return a matcher, and the answer to each topic."""
    trie = make()
    for k in range(40):
        trie.subscribe(f"a/{k % 4}/+", k)
        trie.subscribe("b/#", f"s{k}")
    trie.subscribe("+/long/" + "x" * 500, "long")
    topics = ["a/1/x", "b", "b/long/" + "x" * 500, "nobody", "a/2/y"]
    return trie, {topic: trie.match(topic) for topic in topics}


def shared():
    """Return a trie whose subscribers stand in the S-nodes."""
    return ConcurrentTrie.create(Arena.anonymous(64 << 20), "trie", "mqtt")


OUTER = {
    "match": lambda trie, topic: trie.match(topic),
    "matching": lambda trie, topic: frozenset(each.subscriber for each in trie.matching(topic)),
    "many": lambda trie, topic: frozenset(map(str, trie.match_many(pa.array([topic])).to_pylist()[0])),
    "interest": lambda trie, topic: trie.has_interest(topic),
    "snapshot": lambda trie, topic: trie.snapshot().match(topic),
}


def expected(what, found):
    return {"many": frozenset(map(str, found)), "interest": bool(found)}.get(what, found)


@pytest.mark.parametrize("what", OUTER)
@pytest.mark.parametrize("make", [lambda: ConcurrentTrie("mqtt"), shared], ids=["own", "shared"])
def test_a_call_in_the_midst_of_another_changes_no_answer(make, what):
    trie, answers = filled(make)
    topics = list(answers)
    calls = 0

    def hook():
        nonlocal calls
        calls += 1
        topic = topics[calls % len(topics)]
        assert trie.match(topic) == answers[topic]
        if calls % 3 == 0:
            trie.unsubscribe(trie.subscribe("other/" + "y" * (calls % 700), f"guest {calls % 5}"))

    for topic, found in answers.items():
        if what == "many" and topic != "b" and topic != "a/1/x":
            continue
        OUTER[what](trie, topic)
        with interrupted(hook):
            assert OUTER[what](trie, topic) == expected(what, found)
    assert calls > 100


@pytest.mark.parametrize("make", [lambda: ConcurrentTrie("mqtt"), shared], ids=["own", "shared"])
def test_changes_in_the_midst_of_changes_and_the_counts_of_all(make):
    trie, answers = filled(make)
    before = trie.stats()
    live, calls, nested = [], 0, 0

    def hook():
        nonlocal calls, nested
        calls += 1
        if calls % 7 == 0:
            nested += 1
            made = trie.subscribe(f"x/{calls % 5}/" + "z" * (calls % 600), f"n{calls % 3}")
            live.append(made) if calls % 2 else trie.unsubscribe(made)

    mine = []
    with interrupted(hook):
        for k in range(6):
            mine.append(trie.subscribe(f"x/{k}/mine", f"me {k}"))
        for each in mine[::2]:
            trie.unsubscribe(each)
    after = trie.stats()
    assert nested > 50
    assert after.subscribes - before.subscribes == nested + 6
    assert after.unsubscribes - before.unsubscribes == nested - len(live) + 3
    assert after.subscriptions - before.subscriptions == len(live) + 3
    for each in mine[1::2]:
        assert each in trie.matching(each.pattern)
    assert set(live) < set(trie.subscriptions())
    assert {topic: trie.match(topic) for topic in answers} == answers


def test_a_subscriber_that_leaves_in_the_midst_is_not_left_out_of_an_instant():
    """At every instant ann or carol is subscribed; an answer without either is of no instant."""
    trie = ConcurrentTrie("mqtt", arena=Arena.anonymous(8 << 20))
    live, calls, stop = [], 0, 0

    def hook():
        nonlocal calls
        calls += 1
        if calls == stop:
            live.append(trie.subscribe("a/b", "carol"))
            trie.unsubscribe(live.pop(0))

    while calls >= stop:
        live.append(trie.subscribe("a/+", "ann"))
        calls, stop = 0, stop + 1
        with interrupted(hook):
            found = [trie.match("a/b"), frozenset(each.subscriber for each in trie.matching("a/b"))]
            found.append(frozenset(trie.match_many(["a/b"]).to_pylist()[0]))
        assert all(each in ({"ann"}, {"ann", "carol"}, {"carol"}) for each in found), (stop, found)
        trie.unsubscribe(live.pop())
    assert stop > 300


@pytest.mark.parametrize("step", range(1, 40, 3))
def test_a_signal_handler_uses_the_matcher(step):
    trie, answers = filled(lambda: ConcurrentTrie("mqtt"))
    wrong, heard, depth = [], 0, 0

    def handler(number, frame):
        nonlocal heard, depth
        heard += 1
        if depth == 3:  # a slow machine: the next signal comes before this handler ends
            return
        depth += 1
        wrong.extend(topic for topic, found in answers.items() if trie.match(topic) != found)
        trie.unsubscribe(trie.subscribe("from/the/handler", "handler"))
        depth -= 1

    before = signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, 0.0005 * step, 0.0007)
    try:
        while heard < 20:
            wrong.extend(topic for topic, found in answers.items() if trie.match(topic) != found)
            wrong.extend(
                topic for topic, found in answers.items() if {x.subscriber for x in trie.matching(topic)} != found
            )
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert not wrong


class Name:
    """A subscriber whose comparison runs a hook."""

    hook = None

    def __init__(self, name):
        self.name = name

    def __hash__(self):
        return 7

    def __eq__(self, other):
        hook, Name.hook = Name.hook, None
        if hook is not None:
            hook()
        return isinstance(other, Name) and self.name == other.name


def test_the_comparison_of_a_subscriber_subscribes_and_unsubscribes():
    trie = ConcurrentTrie("mqtt")
    first = trie.subscribe("a", Name("ann"))
    inner, turns = [], iter(range(1000))

    def hook():
        turn = next(turns)
        inner.append(trie.subscribe("a", Name("ann" if turn % 2 else "bob")))
        if turn % 3 == 0:
            trie.unsubscribe(inner.pop())

    for _ in range(50):
        Name.hook = hook
        outer = trie.subscribe("a", Name("bob"))
        Name.hook = None
        assert trie.match("a") == {Name("ann"), Name("bob")}
        for each in [outer, *inner]:
            trie.unsubscribe(each)
        inner.clear()
        assert trie.match("a") == {Name("ann")}
    trie.unsubscribe(first)
    assert trie.match("a") == set()


def test_the_comparison_waits_for_a_thread_that_subscribes():
    trie = ConcurrentTrie("mqtt")
    trie.subscribe("a", Name("ann"))

    def hook():
        other = threading.Thread(target=lambda: trie.subscribe("a", "carol"))
        other.start()
        other.join(60)
        assert not other.is_alive()

    Name.hook = hook
    trie.subscribe("a", Name("bob"))
    assert trie.match("a") == {Name("ann"), Name("bob"), "carol"}


def test_a_child_forked_in_the_midst_subscribes():
    trie = ConcurrentTrie("mqtt")
    trie.subscribe("a", Name("ann"))
    children = []

    def hook():
        child = os.fork()
        if child == 0:
            signal.alarm(60)  # a child that waits for ever is killed
            trie.subscribe("a", "carol")
            os._exit(0 if "carol" in trie.match("a") else 1)
        children.append(child)

    Name.hook = hook
    trie.subscribe("a", Name("bob"))
    assert [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children] == [0]
    assert trie.match("a") == {Name("ann"), Name("bob")}


def test_a_subscriber_that_cannot_be_compared_any_more_changes_nothing():
    trie = ConcurrentTrie("mqtt")
    made = trie.subscribe("a", Name("ann"))

    def hook():
        raise RuntimeError("no")

    Name.hook = hook
    with pytest.raises(RuntimeError):
        trie.subscribe("a", Name("bob"))
    assert len(trie) == 1
    other = trie.subscribe("a", Name("bob"))
    Name.hook = hook
    trie.unsubscribe(other)
    Name.hook = None
    assert trie.match("a") == {Name("ann")}
    trie.unsubscribe(made)
