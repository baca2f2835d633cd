"""The compiled half of the arena: nodes are allocated, retired and freed here, without a lock.

Example: an operation calls `allocator.begin`, allocates two nodes from its participant's `freelists`, links them by a
compare-and-swap, and calls `epochs.retire` for the node that they replace. The node waits in a `blocks` queue, the
limbo, until no `participants` slot is pinned in an epoch in which somebody could have seen it.

`counting` and `pieces` are what `latchfree.arena.census` and `Arena.merge` run.
"""
