"""What a participant remembers of the registry is a hint, and what a dead one leaves behind is not even that.

Example: a participant knows that of the snapshots older than generation 9 the newest is in the slot at word 192,514. If
the generation 192,514 comes one day, that is a number like any other: nothing is known of the snapshots older than it.
"""

from __future__ import annotations

from typing import Any

from latchfree.arena import layout
from latchfree.arena.kernels import epochs
from latchfree.ctrie.kernels import insert, snapshot
from latchfree_evidence.systematic.plain.memory import MARKING
from latchfree_evidence.systematic.plain.world import World
from latchfree_evidence.systematic.trials.place import require
from latchfree_evidence.systematic.trials.retirements import deadlists, kept
from latchfree_evidence.systematic.trials.tries import KINDS, Frozen, Trial, Trie

_GENERATION, _WALK = int(layout.H_GENERATION), int(layout.P_SCRATCH_MORE)


def _put(trial: Trial, trie: Trie, me: int, number: int, value: int) -> None:
    trial.place.pinned(me, insert.insert, trie.at, me, trial.key(number), value, 0, 0)
    trie.held[number] = value


def _freeze(trial: Trial, trie: Trie, me: int) -> Frozen:
    slot = trial.place.pinned(me, snapshot.freeze, trie.at, me)
    trie.frozen.append(Frozen(slot, dict(trie.held)))
    return trie.frozen[-1]


def numbers(world: World, seed: int) -> None:
    """Let the generation come to the number of the word where a slot is, and then update."""
    trial = Trial(world, KINDS[0], 0)
    mem, trie, (me, other, _) = trial.mem, trial.trie, trial.place.who
    for number in range(6):
        _put(trial, trie, me, number, 1)
    slot = _freeze(trial, trie, other).slot
    for number in range(6):
        _put(trial, trie, me, number, 2)
    mem[_GENERATION] = slot - 1
    _freeze(trial, trie, other)
    require(mem[_GENERATION] == slot, "the generation is the number of a word")
    for number in range(6):
        _put(trial, trie, me, number, 3)
    trial.check()
    kept(trial)
    trial.finish()


def generations(world: World, seed: int) -> None:
    """Do random operations in generations whose numbers are beyond the words of the arena."""
    trial = Trial(world, KINDS[0], seed)
    trial.mem[_GENERATION] = 1 << 39
    for _ in range(300):
        trial.step()
    trial.check()
    trial.finish()


def leftovers(world: World, seed: int) -> None:
    """Clear where the participant's last owner was killed in the middle of a walk."""
    trial = Trial(world, KINDS[0], seed)
    mem, trie, me = trial.mem, trial.trie, trial.place.who[0]
    for number in range(40):
        _put(trial, trie, me, number, 1)
    _freeze(trial, trie, me)
    for number in range(0, 40, 3):
        _put(trial, trie, me, number, 2)
    for k in range(6):
        mem[me + _WALK + k] = trie.at  # as of a walk that has come somewhere
    trial.place.pinned(me, snapshot.clear, trie.at, me)
    trie.held.clear()
    kept(trial)
    trial.check()
    trial.finish()


def unused_words(world: World, seed: int) -> None:
    """Drop snapshots where the word of a block that a deadlist has no use for is 0: memory comes back all the same."""

    def zeroing(made: Any, steps: bool) -> Any:
        def format_block(mem: Any, block: int, words: int) -> None:
            made(mem, block, words)
            mem[block + 3] = 0

        return format_block

    place = "latchfree.arena.kernels.blocks:format_block"
    trial = Trial(world.with_wrapped({**MARKING, place: zeroing}), KINDS[0], 0)
    mem, trie, (writer, dropper, _) = trial.mem, trial.trie, trial.place.who
    trial.me = lambda: dropper  # type: ignore[method-assign]
    for turn in range(60):
        frozen = _freeze(trial, trie, writer)
        for number in range(12):
            _put(trial, trie, writer, number, turn)
        trial.drop(trie, frozen)
    waiting, block = 0, mem[dropper + int(layout.P_OLDEST)]
    while block:
        waiting += mem[block + 2]
        block = mem[block + 1]
    require(waiting < 200, "who only drops keeps up", waiting)
    old = _freeze(trial, trie, writer)
    for number in range(12):
        _put(trial, trie, writer, number, 100)
    new = _freeze(trial, trie, writer)
    _put(trial, trie, writer, 1, 200)
    seen = mem[old.slot]
    trial.drop(trie, new)
    for block in deadlists(mem, trie.at):
        for k in range(mem[block + 2]):
            node = mem[block + 4 + k] & (1 << 40) - 1
            require(mem[node] & (1 << 40) - 1 <= seen, "what waits for a snapshot is what it sees", node)
    for _ in range(3):
        world[epochs.try_advance](mem)
    trial.check()
    trial.finish()
