"""The generations of an arena run out: snapshots, forks, clear and new tries are refused, and nothing else is."""

import numpy as np
import pytest

from latchfree import Arena, Ctrie
from latchfree.arena.layout import H_GENERATION
from latchfree.ctrie.kernels.nodes import LAST_GENERATION
from latchfree.ctrie.kernels.registry import GEN
from latchfree.ctrie.kernels.shape import REGISTERED
from latchfree.errors import GenerationsExhausted
from latchfree_fsck import fsck

LAST = int(LAST_GENERATION)
NEEDS_ONE = {
    "snapshot": lambda trie: trie.readonly_snapshot(),
    "fork": lambda trie: trie.snapshot(),
    "clear": lambda trie: trie.clear(),
    "len": len,
    "new": lambda trie: Ctrie(keys=int, values=int, arena=trie.arena),
}


@pytest.fixture
def trie(arena):
    trie = Ctrie({n: n for n in range(100)}, keys=int, values=int, arena=arena)
    arena.words[H_GENERATION] = LAST - 2
    return trie


def state(trie):
    words = trie.arena.words
    return int(words[H_GENERATION]), int(words[trie._store.trie + int(REGISTERED)]), trie.arena.used


@pytest.mark.parametrize("name", NEEDS_ONE)
def test_what_needs_a_generation_is_refused_and_the_rest_goes_on(trie, name):
    before, fork = trie.readonly_snapshot(), None
    trie[5] = 50
    if name != "fork":
        trie.readonly_snapshot()
    else:
        fork = trie._store.hold()  # a fork takes two
    trie.arena.collect()  # an idle snapshot needs no generation
    whole = state(trie)
    assert whole[0] == LAST
    for _ in range(300):
        with pytest.raises(GenerationsExhausted, match=r"1,099,511,626,752 generations of <Arena .* Save backups"):
            NEEDS_ONE[name](trie)
    assert state(trie)[:2] == whole[:2]

    assert trie[5] == 50
    trie.put_many(np.arange(200), np.arange(200) + 1)
    assert trie.get_many([7, 199]) == [8, 200]
    assert trie.pop(7) == 8
    assert trie.replace(8, 9, 10)
    assert dict(before) == {n: n for n in range(100)}
    before.close()
    assert fork is None or int(trie.arena.words[fork.slot + int(GEN)]) > 0
    assert trie.put(9, 0) == 10


def test_a_fork_that_finds_only_one_generation_gives_the_snapshot_back(trie):
    trie.arena.words[H_GENERATION] = LAST - 1
    with pytest.raises(GenerationsExhausted):
        trie.snapshot()
    assert state(trie)[1] == 0
    assert trie[99] == 99


def test_the_way_out_is_a_backup(tmp_path):
    with Arena.create(path=tmp_path / "old", capacity=16 << 20) as arena:
        trie = Ctrie.create(arena, "stock", keys=int, values=int)
        trie.update((n, n) for n in range(100))
        arena.words[H_GENERATION] = LAST - 1
        trie.readonly_snapshot().save(tmp_path / "backup")
        with pytest.raises(GenerationsExhausted):
            trie.readonly_snapshot()
    assert fsck(path=tmp_path / "old").clean
    with Arena.create(path=tmp_path / "new", capacity=16 << 20) as arena:
        again = Ctrie.load(tmp_path / "backup", arena=arena, name="stock")
        assert len(again) == 100
        again.clear()
