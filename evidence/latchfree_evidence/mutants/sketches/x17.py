"""X17 (KLL): the copy in use is written anew, in its place.

Shortest: A compacts the new items into the level above, and waits when the level is written and the new items are still
counted. A reader finds items twice. (A writer that is killed there leaves the lane so.)
"""

from latchfree.jit import kernel
from latchfree.kinds import Word
from latchfree.sketches.kernels.lanes import LANE_HEAD


@kernel
def copy_at(lane: Word, version: Word, room: Word) -> Word:
    """Return the first copy, whichever is in use."""
    return lane + LANE_HEAD
