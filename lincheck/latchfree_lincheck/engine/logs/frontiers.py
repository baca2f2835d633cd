"""The tables of a frontier, made in compiled code."""

from __future__ import annotations

import numpy as np

from latchfree.jit import kernel
from latchfree_lincheck.engine.frontier.kernels.configurations import (
    COLUMNS,
    CONTROL_FIELDS,
    FLIGHT_FIELDS,
    SLOTS,
    FrontierArrays,
)


@kernel
def tables_for(configurations: int, log: int) -> FrontierArrays:
    """Return tables with room for that many configurations, and for paths to them."""
    return FrontierArrays(
        np.zeros(CONTROL_FIELDS, np.int64), np.zeros(FLIGHT_FIELDS, np.int64), np.zeros(SLOTS, np.int64),
        np.zeros(SLOTS, np.int64), np.zeros(SLOTS, np.int64), np.empty((configurations, COLUMNS), np.int64),
        np.empty((configurations, COLUMNS), np.int64), np.zeros(4 * configurations, np.int64),
        np.empty((log, 2), np.int64),
    )  # fmt: skip
