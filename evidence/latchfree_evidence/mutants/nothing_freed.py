"""Retire nothing: a node that an update replaces is never freed, as under a garbage collector.

The published algorithms run under a garbage collector. Their mutants still use nodes that the correct algorithm has
retired. If such nodes were freed, a mutant would corrupt memory and end the process before the map showed the bug.
"""

from latchfree.jit import kernel
from latchfree.kinds import Handle, Word


@kernel
def begin_retiring(mem: Handle, trie: Word, me: Word, death: Word, room: Word) -> None:
    """Make no room for nodes to retire."""


@kernel
def retire_node(mem: Handle, me: Word, node: Word) -> None:
    """Leave a node as it is."""


@kernel
def finish_retiring(mem: Handle, me: Word) -> None:
    """Do nothing: no node was retired."""


@kernel
def retire_pair(mem: Handle, trie: Word, me: Word, death: Word, a: Word, b: Word) -> None:
    """Leave two nodes as they are."""


@kernel
def retire_subtree(mem: Handle, trie: Word, me: Word, root: Word, death: Word) -> None:
    """Leave a tree as it is."""


@kernel
def abandon(mem: Handle, me: Word) -> None:
    """Keep what a failed attempt has allocated."""
