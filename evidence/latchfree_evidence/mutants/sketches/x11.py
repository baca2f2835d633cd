"""X11 (Count-Min): the usual conservative update, as if nobody else added.

Shortest: an item that shares one of two counters was added, so the counters are 1 and 0. A has read them and finds the
first one high enough for one more; B adds the same item, and so finds it, too; the first counter stays 1 for two adds.
"""

from latchfree.jit import kernel
from latchfree.kinds import Word
from latchfree.sketches.kernels.conservative import missing as missing_right


@kernel
def missing(held: Word, least: Word, announced: Word, count: Word) -> Word:
    """Take what this thread adds for all that is announced."""
    return missing_right(held, least, count, count)
