"""Closing an arena while a column call is at work in Arrow, which gives up the interpreter lock."""

import threading
from types import SimpleNamespace

import pyarrow as pa
import pytest

from latchfree import Arena, ArenaClosed, ConcurrentTrie
from latchfree.topics.concurrent import bulk, reader


@pytest.fixture
def trie(tmp_path):
    with Arena.create(path=tmp_path / "arena", capacity=16 << 20) as arena:
        yield ConcurrentTrie.create(arena, "subscriptions")


class Closer:
    """Closes an arena in another thread while a function is called for the first time."""

    def __init__(self, arena):
        self.arena, self.thread, self.was_closed = arena, threading.Thread(target=arena.close), None

    def during(self, function):
        def called(*arguments, **keywords):
            if self.was_closed is None:
                self.thread.start()
                self.thread.join(0.3)  # long enough to close, if nothing keeps the arena open
                self.was_closed = self.arena.closed
            return function(*arguments, **keywords)

        return called


def test_closing_waits_for_the_columns_of_a_result(trie, monkeypatch):
    trie.subscribe("a.*", 7)
    closer = Closer(trie.arena)
    arrow = SimpleNamespace(array=closer.during(pa.array), int32=pa.int32, ListArray=pa.ListArray)
    monkeypatch.setattr(reader, "pa", arrow)
    assert trie.match_many(["a.b", "c"]).to_pylist() == [[7], []]
    closer.thread.join()
    assert closer.was_closed is False
    assert trie.arena.closed


def test_closing_waits_for_the_columns_of_a_change(trie, monkeypatch):
    closer = Closer(trie.arena)
    monkeypatch.setattr(bulk, "number_column", closer.during(bulk.number_column))
    assert len(trie.subscribe_column(["a.*"], [7])) == 1, "a call under way goes on to its end"
    closer.thread.join()
    assert closer.was_closed is False
    assert trie.arena.closed
    with pytest.raises(ArenaClosed):
        trie.subscribe_column(["a.*"], [7])
