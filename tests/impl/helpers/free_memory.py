"""The free memory of an arena at rest, read from its words: each free node, spare block and unused end of a chunk."""

import numpy as np

from latchfree.arena import layout
from latchfree.arena.kernels.blocks import BLOCK_WORDS, LINK
from latchfree.arena.kernels.freelists import CLASSES, class_size

OFFSET = (1 << 40) - 1


def slots(arena):
    """Offsets of all participants that were ever claimed."""
    count = int(arena.words[layout.H_CLAIMED])
    return [layout.PARTICIPANTS + k * layout.PARTICIPANT_WORDS for k in range(count)]


def _chain(words, node, link=0):
    while node:
        yield node
        node = int(words[node + link]) & OFFSET


def private_list(arena, slot, kind):
    """Nodes on a participant's free list."""
    return list(_chain(arena.words, int(arena.words[slot + int(layout.P_FREE) + kind])))


def shared_list(arena, kind):
    """Batches on a shared free list, each a list of nodes."""
    head = int(arena.words[int(layout.SHARED_LISTS) + kind]) & OFFSET
    return [list(_chain(arena.words, first)) for first in _chain(arena.words, head, 1)]


def free_spans(arena):
    """Start and size of everything that is free."""
    words = arena.words
    spans = []
    for kind in range(int(CLASSES)):
        size = int(class_size(np.uint64(kind)))
        nodes = [node for batch in shared_list(arena, kind) for node in batch]
        for slot in slots(arena):
            nodes += private_list(arena, slot, kind)
        spans += [(node, size) for node in nodes]
    for slot in slots(arena):
        bump, limit = (int(words[slot + int(field)]) for field in (layout.P_BUMP, layout.P_LIMIT))
        if bump < limit:
            spans.append((bump, limit - bump))
        spare = _chain(words, int(words[slot + int(layout.P_SPARES)]), int(LINK))
        spans += [(block, int(BLOCK_WORDS)) for block in spare]
    return spans
