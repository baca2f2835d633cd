"""The first use of an arena by two threads that come together: the main thread and the reaper, for instance."""

import threading

import pytest

from latchfree import Arena, Ctrie


@pytest.mark.parametrize("shared", [False, True])
def test_two_threads_that_come_first_share_one_slot(shared, tmp_path, monkeypatch):
    """Both claim a slot before either has chosen one; one slot is chosen, and the other one can be lent."""
    monkeypatch.setattr(Arena, "reap", lambda arena: None)  # the reaper would be a third
    arena = Arena.create(path=tmp_path / "arena", capacity=4 << 20) if shared else Arena.anonymous(4 << 20)
    lender, both, found = arena._lender, threading.Barrier(2, timeout=600), []
    another = type(lender).another

    def together(self, **options):
        slot = another(self, **options)
        both.wait()
        return slot

    monkeypatch.setattr(type(lender), "another", together)
    threads = [threading.Thread(target=lambda: found.append(arena.interpreter_participant())) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    monkeypatch.undo()
    assert len(found) == 2
    assert found[0] == found[1] == arena.interpreter_participant()
    slots = set(lender._states)
    assert found[0] in slots
    assert set(lender.free) == slots - {found[0]}, "nothing stays taken that nobody uses"
    trie = Ctrie(keys=int, values=int, arena=arena)
    trie.put_many([1, 2], [3, 4])
    assert len(trie) == 2
    assert set(lender._states) == slots, "the other slot was lent"
    arena.close()
