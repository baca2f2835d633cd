"""R4: the new nodes of a failed update are freed at once, though others may have seen them."""

from latchfree.arena.kernels.allocator import undo
from latchfree.jit import kernel
from latchfree.kinds import Handle, Word


@kernel
def abandon(mem: Handle, me: Word) -> None:
    """Free every node of the current attempt."""
    undo(mem, me)  # wrong: a thread that has read the I-node meanwhile still reads the new main
