"""Mark and poison what is freed, see `latchfree_evidence.poison`; free lists work on bare memory.

In a process that is stressed on poisoned memory, the functions stand for those of `latchfree.arena.kernels.freelists`.
On any other memory they are those functions.
"""

from latchfree.arena.kernels import freelists
from latchfree.jit import kernel
from latchfree.kinds import Handle, Word
from latchfree_evidence.poison import mark_freed, mark_taken, plain

_carve = freelists.carve
_class_size = freelists.class_size
_give = freelists.give
_put_back = freelists.put_back
_take = freelists.take


@kernel
def give(mem: Handle, me: Word, node: Word, size: Word) -> None:
    """Free a node of a rounded size."""
    mark_freed(mem, node, size)
    _give(plain(mem), me, node, size)


@kernel
def put_back(mem: Handle, me: Word, node: Word, kind: Word) -> None:
    """Put a free node of class `kind` on a free list."""
    mark_freed(mem, node, _class_size(kind))
    _put_back(plain(mem), me, node, kind)


@kernel
def carve(mem: Handle, me: Word, start: Word, end: Word) -> None:
    """Free the words from `start` to `end`."""
    mark_freed(mem, start, end - start)
    _carve(plain(mem), me, start, end)


@kernel
def take(mem: Handle, me: Word, size: Word, urgent: Word) -> Word:
    """Take a node of a rounded size."""
    node = _take(plain(mem), me, size, urgent)
    if node != 0:
        mark_taken(mem, node, size)
    return node
