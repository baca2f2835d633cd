"""The compiled functions that order the events of histories, as Python calls them."""

from typing import Final

import latchfree_lincheck.history.kernels as kernels
from latchfree.border import GIVEN_INTS, INT, INTS, NONE, Array, Border, Call
from latchfree_lincheck.native import LINCHECK

_GIVEN_FLAGS: Final = Array("bool_", written=False)
_FLAGS: Final = Array("bool_")

HISTORY: Final = Border(
    __name__,
    {
        "span": Call(kernels.span, (GIVEN_INTS, GIVEN_INTS, _GIVEN_FLAGS, INTS), NONE, nogil=True),
        "count_events": Call(
            kernels.count_events,
            (GIVEN_INTS, GIVEN_INTS, _GIVEN_FLAGS, INT, Array("int32"), INTS),
            NONE,
            nogil=True,
        ),
        "insert_all": Call(
            kernels.insert_all,
            (GIVEN_INTS, GIVEN_INTS, GIVEN_INTS, _GIVEN_FLAGS, INTS, INTS, INTS, _FLAGS, _FLAGS, INT),
            NONE,
            nogil=True,
        ),
        "first_overlap": Call(kernels.first_overlap, (GIVEN_INTS, GIVEN_INTS, INTS), NONE, nogil=True),
        "find_overlaps": Call(
            kernels.find_overlaps, (GIVEN_INTS, GIVEN_INTS, GIVEN_INTS, GIVEN_INTS, INTS, _FLAGS), NONE, nogil=True
        ),
    },
    LINCHECK,
)
