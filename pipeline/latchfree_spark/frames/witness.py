"""Witnesses: small histories that show why a history is not linearizable, as text of JSON Lines.

To shrink a history takes up to seconds, so a partition shrinks so many of its violations, for so long, and only
histories that are not too long to be copied. Every violation has its verdict whatever becomes of its witness.
"""

from __future__ import annotations

import time
from typing import Final

from latchfree_lincheck import shrink
from latchfree_lincheck.formats.record import dumps, records
from latchfree_spark.check.decoding import Batch, history_of
from latchfree_spark.check.judging import model_of
from latchfree_spark.check.options import Job, Options
from latchfree_spark.check.saving import SHRINKING

SECONDS: Final = 60.0
"""Seconds that a partition may shrink histories for."""

LONGEST: Final = 20_000
"""Operations of a history that is shrunk, at most."""


class Witnesses:
    """The witnesses that a partition can still afford.

    Parameters
    ----------
    options : Options
        ``saved`` is how many histories are shrunk.
    """

    def __init__(self, options: Options) -> None:
        self._left = options.saved
        self._seconds = SECONDS

    def of(self, batch: Batch, number: int, job: Job) -> str | None:
        """Return the witness of a violation, None if there is none within the bounds."""
        size = int(batch.bounds[number + 1] - batch.bounds[number])
        if self._left <= 0 or self._seconds <= 0 or size > LONGEST:
            return None
        self._left -= 1
        begun = time.monotonic()
        model = str(model_of(batch, number, job))
        try:
            history = history_of(batch, number, model, job)
            small = shrink(history, model, timeout=min(SHRINKING, self._seconds), memory=job.options.memory)
            return "".join(f"{dumps(record)}\n" for record in records(small))
        except ValueError:  # not shown to be a violation in that time
            return None
        finally:
            self._seconds -= time.monotonic() - begun
