"""What is told of a judged log: how many operations there are; of a violation also the calls to be shown."""

from __future__ import annotations

from typing import Final

from latchfree.jit import kernel
from latchfree_lincheck.engine.logs.lines import COLUMNS, INVOKE, RETURN, RETURNED, STATE
from latchfree_lincheck.history.timeline import Ints

# Places: how many operations there are, what of a violation; then the calls shown, the failing one first.
OPERATIONS: Final = 0
PARTIAL: Final = 1
HELD: Final = 2
SHOWN: Final = 3
# Of records: the model, the token of the history's name, whether most parts were judged by a monitor, and whether the
# model allows the failing call.
MODEL: Final = 4
NAME: Final = 5
MONITORED: Final = 6
LEGAL: Final = 7
FIRST: Final = 8
MOST: Final = 10
TOLD: Final = FIRST + COLUMNS * (MOST + 1)


@kernel
def tell_running(calls: Ints, kept: Ints, failing: int, told: Ints) -> None:
    """Tell the failing call, and the first of the others that ran while it did."""
    for column in range(COLUMNS):
        told[FIRST + column] = calls[failing, column]
    told[SHOWN] = 1
    for call in kept:
        over = calls[call, STATE] == RETURNED and calls[call, RETURN] < calls[failing, INVOKE]
        if call != failing and not over and calls[call, INVOKE] < calls[failing, RETURN] and told[SHOWN] <= MOST:
            for column in range(COLUMNS):
                told[FIRST + told[SHOWN] * COLUMNS + column] = calls[call, column]
            told[SHOWN] += 1
