"""Builtins: bound to a context, which they keep alive."""

import gc
import weakref

from latchfree import Ctrie
from latchfree.ctrie.binding import builtin, new_context, not_plain


def test_a_builtin_keeps_its_context_alive(arena):
    trie = Ctrie({5: 7}, keys=int, values=int, arena=arena)
    context = new_context(arena.base, trie._store.trie, arena.participant_address, 0)
    alive = weakref.ref(context)
    get = builtin("get", context)
    del context
    gc.collect()
    assert alive() is not None
    assert (get(5), get(6)) == (7, None)
    del get
    gc.collect()
    assert alive() is None


def test_a_call_that_does_nothing_says_so(arena):
    trie = Ctrie({5: 7}, keys=int, values=int, arena=arena)
    get, put = trie._store.builtin("get"), trie._store.builtin("put")
    assert get("5") is NotImplemented
    assert get(True) is NotImplemented
    assert get(1 << 63) is NotImplemented
    assert put(5, 1.5) is NotImplemented
    assert not_plain(5) is NotImplemented
    assert dict(trie) == {5: 7}
