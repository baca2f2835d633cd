"""N3 (ABA): a retired node is free at once, without grace for those who still read it."""

from latchfree.arena.kernels.freelists import free
from latchfree.jit import kernel
from latchfree.kinds import Handle, Word


@kernel
def retire(mem: Handle, me: Word, node: Word) -> None:
    """Free a node, which nothing links to any more."""
    free(mem, me, node)  # wrong: a thread that was pinned before may hold the node
