"""C3 (the published subscription trie): a match does not validate what it has collected.

It reads one path, a subscription there comes, another one on the path it reads next goes, and it has seen neither.
"""

from latchfree.jit import kernel
from latchfree.kinds import Flag, Handle, Word


@kernel
def holds(mem: Handle, trie: Word, root: Word, noted: Word, words: Word) -> Flag:
    """Say that nothing has changed since it was collected."""
    return True
