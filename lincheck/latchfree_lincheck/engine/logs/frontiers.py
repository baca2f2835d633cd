"""The tables of a frontier in memory that the caller gives.

Arrays made in compiled code have owners, which are counted, atomically, in every call of a function; these have none.
"""

from __future__ import annotations

from latchfree.jit import kernel
from latchfree_lincheck.engine.frontier.kernels.configurations import FrontierArrays


@kernel
def cleared(frontier: FrontierArrays, configurations: int, log: int) -> FrontierArrays:
    """Return empty tables with room for that many configurations, and for paths to them; both are there."""
    frontier.control[:] = 0
    frontier.flight[:] = 0
    frontier.table[: 4 * configurations] = 0
    return FrontierArrays(
        frontier.control, frontier.flight, frontier.owner, frontier.lost_owner, frontier.twins,
        frontier.configurations[:configurations], frontier.kept[:configurations],
        frontier.table[: 4 * configurations], frontier.log[:log],
    )  # fmt: skip
