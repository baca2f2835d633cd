"""A reader at rest: while one participant is pinned, no node that it may hold is freed or written again."""

from __future__ import annotations

from latchfree.arena.kernels import epochs
from latchfree_evidence.systematic.plain.world import World
from latchfree_evidence.systematic.trials import walking
from latchfree_evidence.systematic.trials.tries import KINDS, Trial


def reader(world: World, seed: int) -> None:
    """Pin the third participant, note every node of the trie, change the trie much, and read all nodes again."""
    trial = Trial(world, KINDS[seed % len(KINDS)], seed)
    mem, who = trial.mem, trial.place.who[2]
    for _ in range(4):
        for _ in range(60):
            trial.step()
        world[epochs.pin](mem, who)
        nodes = {
            node: [mem[node + k] for k in range(walking.size_of(mem, node))]
            for node in walking.below(mem, mem[trial.trie.at + 1])
        }
        for _ in range(200):
            trial.step()
        for node, words in nodes.items():
            for k, word in enumerate(words):
                now = mem[node + k]  # raises if the node is free
                if now != word and not (k == 1 and walking.kind_of(mem, node) < walking.S_NODE):
                    raise AssertionError(f"word {k} of node {node} has changed under a reader")
        world[epochs.unpin](mem, who)
    trial.check()
    trial.finish()


def churn(world: World, seed: int) -> None:
    """Overwrite few keys often: memory comes back, so little is given out."""
    trial = Trial(world, KINDS[0], seed)
    for round_ in range(25):
        for k in range(80):
            trial.write(trial.trie, k % 5)
        if round_ % 5 == 4:
            trial.freeze(trial.trie)
            trial.take(trial.trie, 3)
            trial.drop(trial.trie, trial.trie.frozen[0])
            trial.clear(trial.trie)
    given = mem_given(trial)
    if given > MOST_GIVEN:
        raise AssertionError(f"{given} words were given out to five keys")
    trial.check()
    trial.finish()


#: Words that `churn` may take; the kernels take about 3,700.
MOST_GIVEN = 4_500


def mem_given(trial: Trial) -> int:
    """Return the words used of all chunks."""
    from latchfree.arena import layout

    mem = trial.mem
    rest = sum(mem.bare[me + int(layout.P_LIMIT)] - mem.bare[me + int(layout.P_BUMP)] for me in trial.place.who)
    return int(mem.bare[int(layout.H_BUMP)] - layout.FIRST_NODE - rest)
