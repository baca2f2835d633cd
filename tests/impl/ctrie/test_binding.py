"""Builtins: bound to a context, which they keep alive."""

import gc
import sys

from latchfree import Arena, Ctrie
from latchfree.ctrie.binding import builtin, new_context


def test_a_builtin_keeps_its_context_alive(arena):
    trie = Ctrie({5: 7}, keys=int, values=int, arena=arena)
    context = new_context(arena.base, trie._store.trie, arena.participant_address(), 0)
    before = sys.getrefcount(context)
    find = builtin("find_ww", context)
    assert sys.getrefcount(context) == before + 1
    assert (find(5), find(6)) == (7, None)
    del find
    gc.collect()
    assert sys.getrefcount(context) == before


def test_a_call_that_does_nothing_says_so():
    trie = Ctrie({5: 7}, keys=int, values=int, arena=Arena.anonymous(4 << 20))
    insert = trie._store.builtin("insert_ww")
    for n in range(10, 10**6):
        if insert(n, n, 0, n) is NotImplemented:
            break
    assert n > 1000
    assert n not in trie
    assert trie[5] == 7
