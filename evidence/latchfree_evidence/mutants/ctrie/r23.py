"""R23: an update does not drop the idle snapshot.

Shortest: A takes a snapshot and gives it back; then B puts. The snapshot stays idle though it is old.
"""

from latchfree.jit import kernel
from latchfree.kinds import Handle, Word


@kernel
def unpark(mem: Handle, trie: Word, me: Word) -> None:
    """Leave the idle snapshot where it is."""
