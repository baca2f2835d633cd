"""Retiring left out: nothing that an update replaces or gives up is freed, as under a garbage collector.

The published algorithms have one. A mutant of theirs keeps using nodes that the correct algorithm is done with; with
them freed it would corrupt memory and end the process before anybody could see what went wrong with the map.
"""

from latchfree.jit import kernel
from latchfree.kinds import Handle, Word


@kernel
def begin_retiring(mem: Handle, trie: Word, me: Word, death: Word, room: Word) -> None:
    pass


@kernel
def retire_node(mem: Handle, me: Word, node: Word) -> None:
    pass


@kernel
def finish_retiring(mem: Handle, me: Word) -> None:
    pass


@kernel
def retire_pair(mem: Handle, trie: Word, me: Word, death: Word, a: Word, b: Word) -> None:
    pass


@kernel
def retire_subtree(mem: Handle, trie: Word, me: Word, root: Word, death: Word) -> None:
    pass


@kernel
def abandon(mem: Handle, me: Word) -> None:
    pass
