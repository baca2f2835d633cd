"""What a process has of its own in a shared arena, seen from a child that it forks: refused, and not touched."""

import gc
import os
import traceback

import numpy as np
import pytest

from latchfree import Arena, ConcurrentTrie, Ctrie, MadeBeforeFork
from latchfree_fsck import fsck

MANY = list(range(5_000))

MAP_CALLS = {
    "get": lambda t: t.get(1),
    "getitem": lambda t: t[1],
    "contains": lambda t: 1 in t,
    "setitem": lambda t: t.__setitem__(1, 2),
    "delitem": lambda t: t.__delitem__(1),
    "pop": lambda t: t.pop(1, None),
    "popitem": lambda t: t.popitem(),
    "put": lambda t: t.put(1, 2),
    "put_if_absent": lambda t: t.put_if_absent(-1, 2),
    "put_if_present": lambda t: t.put_if_present(1, 2),
    "get_or_insert": lambda t: t.get_or_insert(-1, 2),
    "setdefault": lambda t: t.setdefault(-1, 2),
    "replace": lambda t: t.replace(1, 1, 2),
    "remove": lambda t: t.remove(1),
    "remove if": lambda t: t.remove(1, 1),
    "clear": lambda t: t.clear(),
    "len": len,
    "bool": bool,
    "list": list,
    "items": lambda t: list(t.items()),
    "values": lambda t: list(t.values()),
    "eq": lambda t: t == {},
    "update": lambda t: t.update({1: 2}),
    "into another": lambda t: Ctrie(keys=int, values=int).update(t),
    "get_many": lambda t: t.get_many([1, 2]),
    "put_many": lambda t: t.put_many([1, 2], [1, 2]),
    "remove_many": lambda t: t.remove_many(np.arange(3)),
    "snapshot": lambda t: t.snapshot(),
    "read-only snapshot": lambda t: t.readonly_snapshot(),
}
READS = ["getitem", "contains", "get", "len", "list", "items", "values", "eq", "into another"]
TOPIC_CALLS = {
    "subscribe": lambda t: t.subscribe("a/c", 3),
    "subscribe object": lambda t: t.subscribe("a/c", "ann"),
    "subscribe_many": lambda t: t.subscribe_many(["a/c", "a/d"], 3),
    "subscribe_column": lambda t: t.subscribe_column(["a/c", "a/d"], [3, 4]),
    "unsubscribe": lambda t: t.unsubscribe(t.first),
    "match": lambda t: t.match("a/b"),
    "matching": lambda t: t.matching("a/b"),
    "has_interest": lambda t: t.has_interest("a/b"),
    "match_many": lambda t: t.match_many(["a/b"]),
    "len": len,
    "subscriptions": lambda t: list(t.subscriptions()),
    "snapshot": lambda t: t.snapshot(),
}
TOPIC_READS = ["match", "matching", "has_interest", "match_many", "len", "subscriptions"]


class Topics(ConcurrentTrie):
    """With a subscription to name."""

    first = None


def a_map(arena):
    trie = Ctrie(keys=int, values=int, arena=arena)
    trie.put_many(MANY, MANY)
    return trie


def a_writable_snapshot(arena):
    return a_map(arena).snapshot()


def of_a_named_map(arena):
    trie = Ctrie.create(arena, "named", keys=int, values=int)
    trie.put_many(MANY, MANY)
    return trie.snapshot()


def a_readonly_snapshot(arena):
    return a_map(arena).readonly_snapshot()


def a_matcher(arena):
    trie = Topics(arena=arena)
    trie.first = trie.subscribe("a/b", 1)
    trie.subscribe_many([f"a/{n}/+" for n in range(500)], 2)
    return trie


def a_snapshot_of_topics(arena):
    return a_matcher(arena).snapshot()


KINDS = {
    a_map: MAP_CALLS,
    a_writable_snapshot: MAP_CALLS,
    of_a_named_map: MAP_CALLS,
    a_readonly_snapshot: {name: MAP_CALLS[name] for name in READS},
    a_matcher: TOPIC_CALLS,
    a_snapshot_of_topics: {name: TOPIC_CALLS[name] for name in TOPIC_READS},
}


def outcome(call, thing):
    try:
        return f"returned {call(thing)!r}"
    except MadeBeforeFork as error:
        return "" if "before the fork and belongs to the parent process" in str(error) else str(error)
    except Exception:
        return traceback.format_exc()


def in_a_child(body, *, after=lambda: None):
    """Fork, do `after` in the parent, and then the body in the child; return what the child says and its exit code."""
    go, said = os.pipe(), os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.close(go[1])
            os.read(go[0], 1)
            os.write(said[1], body().encode()[:60_000])
        except BaseException:
            os.write(said[1], traceback.format_exc().encode())
        finally:
            os._exit(0)
    os.close(said[1])
    after()
    os.close(go[1])
    text = b"".join(iter(lambda: os.read(said[0], 1 << 16), b"")).decode()
    for fd in (go[0], said[0]):
        os.close(fd)
    return text, os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


@pytest.mark.parametrize("kind", KINDS)
def test_each_call_is_refused_after_the_parent_has_dropped_it(tmp_path, kind):
    with Arena.create(path=tmp_path / "arena", capacity=32 << 20) as arena:
        kept = [kind(arena)]
        other = Ctrie.create(arena, "other", keys=int, values=int)

        def drop_and_use_again():
            kept.clear()
            gc.collect()
            other.put_many(MANY, [(1 << 63) - 1] * len(MANY))  # where the nodes were are such words now

        def use():
            thing = kept.pop()
            said = {name: outcome(call, thing) for name, call in KINDS[kind].items()}
            del thing
            gc.collect()
            other[1] = 1  # this process works in the arena all the same
            return "\n".join(f"{name}: {text}" for name, text in said.items() if text)

        assert in_a_child(use, after=drop_and_use_again) == ("", 0)
        assert (other[1], len(other)) == (1, len(MANY))
    report = fsck(path=tmp_path / "arena")
    assert report.clean, report


def test_the_parent_keeps_what_the_child_was_refused(tmp_path):
    with Arena.create(path=tmp_path / "arena", capacity=32 << 20) as arena:
        trie, topics = a_map(arena), a_matcher(arena)

        def use():
            said = [outcome(call, trie) for call in MAP_CALLS.values()]
            return "".join(said + [outcome(call, topics) for call in TOPIC_CALLS.values()])

        assert in_a_child(use) == ("", 0)
        assert dict(trie.items()) == {n: n for n in MANY}
        assert (len(topics), topics.match("a/b")) == (501, {1})


def test_a_child_makes_its_own_and_its_child_is_refused_those(tmp_path):
    with Arena.create(path=tmp_path / "arena", capacity=32 << 20) as arena:
        first = a_map(arena)

        def child():
            second = a_map(arena)

            def grandchild():
                third = a_map(arena)
                return f"{outcome(len, first)}{outcome(len, second)}{len(third)}"

            said, code = in_a_child(grandchild)
            return f"{outcome(len, first)}{len(second)} {said} {code}"

        assert in_a_child(child) == ("5000 5000 0", 0)
        assert len(first) == len(MANY)
        arena.adopt()


def test_in_a_private_arena_the_child_has_a_copy():
    trie = a_map(None)
    topics = Topics()
    topics.subscribe("a/b", 1)
    snapshot = trie.readonly_snapshot()

    def use():
        trie[1] = 7
        return f"{trie[1]} {snapshot[1]} {len(trie)} {sorted(topics.match('a/b'))}"

    assert in_a_child(use) == ("7 1 5000 [1]", 0)
    assert trie[1] == 1
