"""Each operation retires exactly the old nodes that the new tree does without, and puts each where it belongs."""

import numpy as np
import pytest
from ctrie_exact import settle
from ctrie_pools import MASKS
from ctrie_walk import header, root_of
from free_memory import slots

from latchfree import Ctrie
from latchfree.arena import layout
from latchfree.arena.kernels import blocks
from latchfree.ctrie.kernels import registry
from latchfree.ctrie.kernels.shape import SNAPSHOTS

TAG = 1 << 63
#: An entry without the size of its node.
PLACE = np.uint64(TAG | (1 << 40) - 1)
I_NODE, C_NODE, T_NODE, L_NODE, S_NODE, ROOT, RDCSS = range(1, 8)


def below(words, i):
    """All nodes of the tree below an I-node, which is at rest."""
    found, stack = set(), [i]
    while stack:
        node = stack.pop()
        if node in found:
            continue
        found.add(node)
        kind, size, _ = header(words, node)
        if kind == I_NODE:
            stack.append(int(words[node + 1]))
        elif kind == T_NODE:
            stack.append(int(words[node + 2]))
        elif kind in (C_NODE, L_NODE):
            assert words[node + 1] == 0
            stack += [int(slot) & ~TAG for slot in words[node + 3 : node + size]]
    return found


def levels_above(words, i, key):
    """I-nodes between `i` and the S-node of a key that is below it."""

    def holds(node):
        return any(header(words, each)[0] == S_NODE and words[each + 1] == key for each in below(words, node))

    main = int(words[i + 1])
    slots_ = [int(slot) for slot in words[main + 3 : main + header(words, main)[1]]]
    children = [slot & ~TAG for slot in slots_ if slot & TAG and holds(slot & ~TAG)]
    return 1 + levels_above(words, children[0], key) if children else 0


def _entries(words, block):
    """Entries of a chain of blocks."""
    found = []
    while block and not block & TAG:
        count = int(words[block + int(blocks.COUNT)])
        found += (words[block + int(blocks.ENTRIES) :][:count] & PLACE).tolist()
        block = int(words[block + int(blocks.LINK)])
    return found


def limbo(arena):
    """Nodes retired and not yet free; trees are told node by node, descriptors are left out."""
    found = []
    for slot in slots(arena):
        for entry in _entries(arena.words, int(arena.words[slot + int(layout.P_OLDEST)])):
            if entry & TAG:
                found += below(arena.words, entry & ~TAG)
            elif header(arena.words, entry)[0] != RDCSS:
                found.append(entry)
    return found


def waiting(trie):
    """Nodes on the deadlists of a trie's snapshots."""
    words = trie.arena.words
    found = []
    table = int(words[trie._store.trie + int(SNAPSHOTS)])
    while table:
        for slot in range(table + int(registry.FIRST_SLOT), table + int(registry.FIRST_SLOT + registry.TABLE_SLOTS)):
            if words[slot]:
                found += _entries(words, int(words[slot + int(registry.HEAD)]))
        table = int(words[table + int(registry.NEXT)])
    return found


class Watch:
    """Tells what an operation on a trie retires, and that it went where it should."""

    def __init__(self, trie):
        self.trie = trie
        self.words = trie.arena.words
        self.first = header(self.words, trie._store.trie)[2]

    def retired(self, operation, newest=0):
        """Run an operation; `newest` is the generation of the newest snapshot, 0 for none."""
        settle(self.trie.arena)
        assert limbo(self.trie.arena) == []
        before, waited = below(self.words, root_of(self.trie)), waiting(self.trie)
        kinds, births = ({node: header(self.words, node)[k] for node in before} for k in (0, 2))
        operation()
        retired = limbo(self.trie.arena)
        put_off = [node for node in waiting(self.trie) if node not in waited]
        after = below(self.words, root_of(self.trie))
        gone = {node for node in before - after if births[node] >= self.first}
        assert len(retired) == len(set(retired)), "a node was retired twice"
        # What was made and replaced again on the way, as tombs are, was in the tree neither before nor after.
        assert gone <= {*retired, *put_off}
        assert not {*retired, *put_off} & after
        assert {*retired, *put_off} & before == gone
        assert len(retired + put_off) == len({*retired, *put_off})
        assert all(header(self.words, node)[2] <= newest for node in put_off)
        assert all(header(self.words, node)[2] > newest for node in retired)
        return sorted(kinds[node] for node in gone)


@pytest.fixture
def flat(arena):
    return Ctrie({1: 1, 2: 2}, keys=int, values=int, arena=arena)


@pytest.fixture
def colliding(arena):
    return Ctrie({1: 1}, keys=int, values=int, arena=arena, hash_mask=0)


def test_insert_retires_the_old_main(flat):
    assert Watch(flat).retired(lambda: flat.put(3, 3)) == [C_NODE]


def test_replace_retires_the_old_main_and_the_old_entry(flat):
    assert Watch(flat).retired(lambda: flat.put(1, 3)) == [C_NODE, S_NODE]


def test_remove_retires_the_old_main_and_the_entry(flat):
    assert Watch(flat).retired(lambda: flat.remove(1)) == [C_NODE, S_NODE]


@pytest.mark.parametrize(
    "refused",
    [
        lambda t: t.put_if_absent(1, 5),
        lambda t: t.replace(1, 7, 8),
        lambda t: t.put_if_present(9, 9),
        lambda t: t.remove(9),
        lambda t: t.remove(1, 9),
        lambda t: t.get(1),
        lambda t: t.get_many([1, 2, 3]),
    ],
)
def test_what_changes_nothing_retires_nothing(flat, refused):
    assert Watch(flat).retired(lambda: refused(flat)) == []


def test_a_collision_keeps_the_old_entry(colliding):
    assert Watch(colliding).retired(lambda: colliding.put(2, 2)) == [C_NODE]
    assert Watch(colliding).retired(lambda: colliding.put(3, 3)) == [L_NODE]
    assert Watch(colliding).retired(lambda: colliding.put(3, 4)) == [L_NODE, S_NODE]
    assert Watch(colliding).retired(lambda: colliding.remove(1)) == [L_NODE, S_NODE]


def test_the_last_but_one_takes_the_whole_chain_with_it(colliding):
    colliding.put(2, 2)
    retired = Watch(colliding).retired(lambda: colliding.remove(1))
    assert retired == [I_NODE] * 11 + [C_NODE] * 11 + [L_NODE, S_NODE]


def test_a_snapshot_retires_the_old_root(flat):
    watch = Watch(flat)
    gen = header(flat.arena.words, root_of(flat))[2]
    held = []
    assert watch.retired(lambda: held.append(flat.readonly_snapshot()), gen) == [I_NODE]


def test_clear_retires_everything(flat):
    flat.update({k: k for k in range(100)})
    watch = Watch(flat)
    everything = below(flat.arena.words, root_of(flat))
    assert len(watch.retired(flat.clear)) == len(everything)


def test_clear_under_a_snapshot_puts_everything_off(flat):
    flat.update({k: k for k in range(100)})
    snapshot = flat.readonly_snapshot()
    gen = header(flat.arena.words, snapshot._held().root)[2]
    flat[1] = 5
    everything = below(flat.arena.words, root_of(flat))
    assert len(Watch(flat).retired(flat.clear, gen)) == len(everything)
    assert len(snapshot) == 100


@pytest.mark.parametrize("open_", [True, False])
def test_renewing_retires_the_main_and_the_inode_copied(arena, open_):
    trie = Ctrie({k: k for k in range(12)}, keys=int, values=int, arena=arena, hash_mask=MASKS["tree"])
    snapshot = trie.readonly_snapshot()
    gen = header(arena.words, snapshot._held().root)[2]
    if not open_:
        snapshot.close()
        gen = 0
    assert Watch(trie).retired(lambda: trie.get(0), gen) == [], "a lookup reads the older child as it is"
    levels = levels_above(arena.words, root_of(trie), 0)
    assert levels
    retired = Watch(trie).retired(lambda: trie.put(0, 0), gen)
    assert retired == [I_NODE] * levels + [C_NODE] * levels + [L_NODE, S_NODE]


def test_a_fork_retires_only_what_was_born_in_it(flat):
    flat.update({k: k for k in range(100)})
    fork = flat.snapshot()
    watch = Watch(fork)
    assert watch.retired(lambda: fork.put(1, 7)) == [], "nothing of its own yet but what lives on"
    assert S_NODE in watch.retired(lambda: fork.put(1, 8))
    settle(flat.arena)
    assert flat[1] == 1
    watch.retired(fork.clear)
    assert flat[1] == 1
    assert len(flat) == 100


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("kind", ["alone", "snapshots", "fork"])
def test_random_operations_kill_what_they_replace(arena, rng, mask, kind):
    trie = Ctrie(keys=int, values=int, arena=arena, hash_mask=MASKS[mask])
    for k in range(15):
        trie[k] = k
    parent = trie
    if kind == "fork":
        trie = parent.snapshot()
    watch = Watch(trie)
    held, newest = [], 0
    for turn in range(300):
        key, chance = rng.randrange(25), rng.random()
        if chance < 0.05 and kind == "snapshots":
            gen = header(arena.words, root_of(trie))[2]
            watch.retired(lambda: held.append(trie.readonly_snapshot()), max(newest, gen))
            newest = gen
            held[:-3] = []
        elif chance < 0.08:
            watch.retired(trie.clear, newest)
        elif chance < 0.5:
            watch.retired(lambda key=key, turn=turn: trie.put(key, turn), newest)
        elif chance < 0.9:
            watch.retired(lambda key=key: trie.remove(key), newest)
        else:
            watch.retired(lambda key=key: trie.get(key), newest)
    if kind == "fork":
        assert dict(parent.items()) == {k: k for k in range(15)}
