"""The Ctrie as the explorer has it, but for lookups: they start where they help.

A lookup first tries its luck without helping anybody, and if it has none starts over. That is one more way through the
same actions, with a restart that the specification does not have; here lookups are made of the second part alone.
(Traces of real runs, see `latchfree_evidence.refinement.traces`, have both.)
"""

from __future__ import annotations

from typing import Final

from latchfree.arena.kernels.epochs import pin, unpin
from latchfree.ctrie.kernels.lookup import lookup_helping
from latchfree.ctrie.kernels.snode import full_hash, placed
from latchfree.jit import kernel
from latchfree.kinds import Handle, Word
from latchfree_evidence.targets.ctrie import CTRIE, CtrieTarget, participant_at, value_or_none, value_word
from latchfree_evidence.targets.reclaiming import RECLAIMING
from latchfree_explore.target import Operation


@kernel
def get(mem: Handle, trie: Word, thread: Word, key: Word) -> Word:
    """Look a key up by the helping traversal alone."""
    me = participant_at(thread)
    pin(mem, me)
    held = value_word(mem, lookup_helping(mem, trie, me, placed(mem, trie, full_hash(key)), key))
    unpin(mem, me)
    return held


HELPING: Final = CtrieTarget(
    "ctrie", "map", {**CTRIE.operations, "get": Operation(get, value_or_none)}, layouts=CTRIE.layouts
)

RECLAIMING_HELPING: Final = CtrieTarget(
    "reclaiming-ctrie", "map", {**RECLAIMING.operations, "get": HELPING.operation("get")}, layouts=RECLAIMING.layouts
)
"""The same, whose updates free whatever is due before they return: for models that say who is dead."""
